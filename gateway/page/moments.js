// A level-up, in the picture: rays behind whoever has risen, a ring on the ground, stars that rise,
// and words over it.

import { hash } from "./ground.js";
import { label } from "./labels.js";
import { shape } from "./pen.js";

export const MOMENT_MS = 4200;
const STARS = 18;
const TONES = ["#ffd94a", "#fff3b0", "#f7a83c", "#ffffff"];

export class Moments {
  constructor() {
    this.clear();
  }

  clear() {
    this.all = new Map();
    this.levels = new Map();
  }

  /** Somebody has come to a level. */
  begin(id, words, now) {
    this.all.set(id, { words, since: now });
  }

  /** Whoever in sight has a higher combat level than a moment ago has risen. */
  watch({ id, type, combatLevel }, own, now) {
    if (type !== "player" || combatLevel === undefined) return;
    const before = this.levels.get(id);
    if (before !== undefined && combatLevel > before && id !== own)
      this.begin(id, `Combat level ${combatLevel}`, now);
    if (before !== combatLevel) this.levels.set(id, combatLevel);
    if (this.levels.size > 2000) this.levels.clear();
  }

  /** What lies behind those who have risen. */
  behind(c, now, zoom, place, still) {
    for (const [id, moment] of this.all) {
      const age = now - moment.since;
      if (age > MOMENT_MS) this.all.delete(id);
      const at = place(id);
      if (!at || age > MOMENT_MS) continue;
      c.save();
      c.translate(at.x, at.y);
      c.scale(zoom, zoom);
      c.globalAlpha = fading(age);
      rays(c, still ? 0 : age);
      ringed(c, still ? 500 : age);
      c.restore();
    }
  }

  /** What rises before them, and the words. */
  before(c, now, zoom, place, still) {
    for (const [id, { words, since }] of this.all) {
      const age = now - since;
      const at = place(id);
      if (!at) continue;
      c.save();
      c.translate(at.x, at.y);
      c.scale(zoom, zoom);
      c.globalAlpha = fading(age);
      for (let n = 0; n < STARS; n += 1) star(c, n, still ? 700 : age);
      c.restore();
      c.globalAlpha = fading(age);
      const rise = still ? 1 : Math.min(1, age / 500);
      label(c, words, at.x, at.y - zoom * (1 + 0.75 * rise), "#ffe27a", 21, true);
      c.globalAlpha = 1;
    }
  }
}

const fading = (age) => Math.max(0, Math.min(1, age / 150, (MOMENT_MS - age) / 900));

function rays(c, age) {
  const turn = age / 2600;
  for (let n = 0; n < 12; n += 1) {
    const a = turn + (n / 12) * Math.PI * 2;
    const [long, wide] = [n % 2 ? 1.25 : 1.7, 0.13];
    shape(
      c,
      n % 2 ? "rgba(255,236,150,.34)" : "rgba(255,214,80,.3)",
      [0, -0.15],
      [Math.cos(a - wide) * long, -0.15 + Math.sin(a - wide) * long],
      [Math.cos(a + wide) * long, -0.15 + Math.sin(a + wide) * long],
    );
  }
}

/** Rings that widen on the ground, one after the other. */
function ringed(c, age) {
  for (const late of [0, 450, 900]) {
    const part = (age - late) / 900;
    if (part <= 0 || part >= 1) continue;
    c.strokeStyle = `rgba(255,226,120,${(1 - part) * 0.9})`;
    c.lineWidth = 0.09 * (1 - part) + 0.02;
    c.beginPath();
    c.ellipse(0, 0.32, part * 1.7, part * 0.8, 0, 0, 7);
    c.stroke();
  }
}

/** A star that leaps up, and comes down slowly. */
function star(c, n, age) {
  const begun = age - hash(n, 1) * 700;
  if (begun < 0) return;
  const t = begun / 1500;
  const x = (hash(n, 2) - 0.5) * 2.6 * Math.min(1.2, t + 0.15);
  const y = -0.2 - 2.1 * t * (0.75 + hash(n, 3) * 0.5) + 1.05 * t * t;
  const r = (0.055 + hash(n, 4) * 0.06) * Math.max(0, 1 - t / 2.4);
  const points = Array.from({ length: 8 }, (_, k) => {
    const [a, long] = [(k / 8) * Math.PI * 2 + t * 2, k % 2 ? r * 0.4 : r];
    return [x + Math.sin(a) * long, y + Math.cos(a) * long];
  });
  shape(c, TONES[n % TONES.length], ...points);
}
