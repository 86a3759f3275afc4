// Ping and pictures a second, for whoever asks for them.

import { $, say } from "./dom.js";
import { heed, setting } from "./settings.js";

const EVERY_MS = 3000;

export class Gauge {
  constructor() {
    this.pictures = 0;
    this.since = 0;
    heed(() => this.turn());
  }

  turn() {
    const on = setting("figures") === "on";
    $("gauge").hidden = !on;
    clearInterval(this.timer);
    if (!on) return;
    this.pictures = 0;
    this.since = performance.now();
    this.timer = setInterval(() => this.look(), EVERY_MS);
    this.look();
  }

  /** Called for every picture. */
  drawn() {
    this.pictures += 1;
  }

  async look() {
    const now = performance.now();
    const rate = Math.round((this.pictures * 1000) / Math.max(1, now - this.since));
    this.pictures = 0;
    this.since = now;
    let ping = "–";
    try {
      const asked = performance.now();
      await fetch("/livez", { cache: "no-store" });
      ping = Math.round(performance.now() - asked);
    } catch {
      /* nobody answers: no time is known */
    }
    say($("gauge"), `${ping} ms, ${rate} pictures a second`);
  }
}
