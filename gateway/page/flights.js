// Arrows, stones and spells on their way from whoever struck to whom they strike.
// Always: it only shows blows that the server has told of; none changes where anybody stands.

import { line, oval, shape } from "./pen.js";

const START_MS = 140;
const TILE_MS = 45;
const MOST_MS = 560;
/** What a spell looks like, by the first word of its name. */
const SPELLS = {
  gust: ["#dfeef2", "#ffffff"],
  dew: ["#4f9fe8", "#c9e6ff"],
  loam: ["#8fae4c", "#e2f0b0"],
  spark: ["#ff7a2c", "#ffe08a"],
};
const SPELL = ["#9a6fe8", "#ecdcff"];
const FLIES = new Set(["ranged", "magic"]);

export class Flights {
  constructor() {
    this.clear();
  }

  clear() {
    this.all = [];
  }

  /**
   * A blow was struck from `from` at `to`; returns the milliseconds until it lands, none where
   * nothing flies. `spell` is what is known of it.
   */
  strike({ attacker, target, style }, from, to, now, spell) {
    if (!FLIES.has(style) || !from || !to) return 0;
    const far = Math.hypot(to.x - from.x, to.z - from.z);
    const ms = Math.min(MOST_MS, TILE_MS * far + 90);
    const kind = style === "magic" ? "spell" : from.type === "player" ? "arrow" : "stone";
    const colors = SPELLS[spell?.split("_")[0]] ?? SPELL;
    this.all.push({ attacker, target, kind, colors, since: now + START_MS, ms });
    return START_MS + ms;
  }

  /** Draws all that fly; `place(id)` is where somebody stands on the screen, if they are seen. */
  draw(c, now, zoom, place) {
    this.all = this.all.filter(({ since, ms }) => now < since + ms);
    for (const flight of this.all) {
      const [from, to] = [place(flight.attacker), place(flight.target)];
      const done = (now - flight.since) / flight.ms;
      if (from && to && done >= 0) drawOne(c, flight, from, to, done, zoom);
    }
  }
}

function drawOne(c, { kind, colors }, from, to, done, zoom) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const arc = kind === "spell" ? 0.12 : 0.3;
  const high = (t) => -zoom * (0.2 + Math.sin(t * Math.PI) * arc);
  const slope = dy - Math.PI * Math.cos(done * Math.PI) * arc * zoom;
  c.save();
  c.translate(from.x + dx * done, from.y + dy * done + high(done));
  c.rotate(Math.atan2(slope, dx));
  c.scale(zoom, zoom);
  DRAWN[kind](c, colors, done);
  c.restore();
}

/** Each flies to the right. */
const DRAWN = {
  arrow(c) {
    line(c, "rgba(255,255,255,.35)", 0.03, -0.9, 0, -0.3, 0);
    line(c, "#a98555", 0.045, -0.28, 0, 0.26, 0);
    shape(c, "#dfe5ea", [0.22, -0.075], [0.42, 0], [0.22, 0.075]);
    for (const side of [-1, 1])
      shape(c, "#f1ead8", [-0.16, 0], [-0.26, side * 0.09], [-0.38, side * 0.09], [-0.3, 0]);
  },
  stone(c) {
    line(c, "rgba(255,255,255,.3)", 0.05, -0.5, 0, -0.15, 0);
    oval(c, 0, 0, 0.12, 0.11, "#6c6962");
    oval(c, -0.03, -0.03, 0.06, 0.05, "#97938a");
  },
  spell(c, [tone, core], done) {
    for (let n = 6; n > 0; n -= 1) {
      c.globalAlpha = 0.5 - n * 0.07;
      const wave = Math.sin(done * 18 + n) * 0.07;
      oval(c, -n * 0.14, wave, 0.17 - n * 0.02, 0.14 - n * 0.017, tone);
    }
    c.globalAlpha = 0.45;
    oval(c, 0, 0, 0.28, 0.28, tone);
    c.globalAlpha = 1;
    oval(c, 0, 0, 0.16, 0.16, tone);
    oval(c, 0.02, -0.02, 0.09, 0.09, core);
    for (let n = 0; n < 4; n += 1) {
      const a = done * 14 + n * 1.57;
      oval(c, Math.cos(a) * 0.24, Math.sin(a) * 0.24, 0.035, 0.035, core);
    }
  },
};
