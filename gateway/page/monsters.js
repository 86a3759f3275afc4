// Monsters that are no animals: ghosts, crawlers, drakes, slimes, bones and the like, drawn in
// code. Each takes its colours and how it moves.

import { box, oval, shade, shape } from "./pen.js";

/** Something that hovers: a wisp, a sprite, a wraith. */
export function ghost(c, o, { time, face }) {
  const s = o.s ?? 1;
  const sway = Math.sin(time / 420) * 0.05;
  shade(c, 0.2);
  c.save();
  c.scale(face < 0 ? -s : s, s);
  c.translate(0, -0.12 + sway);
  c.globalAlpha *= o.thin ?? 0.85;
  c.fillStyle = o.c;
  c.beginPath();
  c.moveTo(-0.24, 0);
  c.quadraticCurveTo(-0.3, -0.72, 0, -0.74);
  c.quadraticCurveTo(0.3, -0.72, 0.24, 0);
  for (let n = 0; n < 4; n += 1)
    c.quadraticCurveTo(0.18 - n * 0.12, n % 2 ? 0.1 : -0.12, 0.12 - n * 0.12, n % 2 ? 0 : -0.02);
  c.fill();
  if (o.core) oval(c, 0, -0.42, 0.12, 0.15, o.core);
  for (const x of [-0.06, 0.1]) oval(c, x, -0.5, 0.035, 0.05, o.eye ?? "#1c2026");
  c.restore();
}

/** Something with many legs, close to the ground. */
export function crawler(c, o, { phase, moving, face }) {
  const s = o.s ?? 1;
  const step = moving ? Math.sin(phase * 9) * 0.05 : 0;
  shade(c, 0.3 * s);
  c.save();
  c.scale(face < 0 ? -s : s, s);
  c.strokeStyle = o.c2;
  c.lineWidth = 0.045;
  c.beginPath();
  for (let n = 0; n < 4; n += 1) {
    const x = -0.18 + n * 0.12;
    const out = (n - 1.5) * 0.1 + (n % 2 ? step : -step);
    for (const side of [-1, 1]) {
      c.moveTo(x, -0.2);
      c.quadraticCurveTo(x + out + side * 0.16, -0.42, x + out + side * 0.26, 0);
    }
  }
  c.stroke();
  oval(c, -0.08, -0.24, 0.25, 0.19, o.c);
  oval(c, -0.12, -0.3, 0.12, 0.07, o.shine ?? "rgba(255,255,255,.22)");
  oval(c, 0.2, -0.2, 0.13, 0.12, o.c2);
  for (const x of [0.2, 0.27]) oval(c, x, -0.24, 0.025, 0.03, o.eye ?? "#f0d060");
  c.restore();
}

/** A small dragon. */
export function drake(c, o, { phase, moving, face, time }) {
  const s = o.s ?? 1.3;
  const beat = Math.sin((moving ? phase * 6 : time / 500) + 1) * 0.12;
  shade(c, 0.42 * s);
  c.save();
  c.scale(face < 0 ? -s : s, s);
  c.strokeStyle = o.c;
  c.lineWidth = 0.1;
  c.beginPath();
  c.moveTo(-0.2, -0.28);
  c.quadraticCurveTo(-0.5, -0.2, -0.56, -0.42);
  c.moveTo(0.2, -0.36);
  c.quadraticCurveTo(0.36, -0.46, 0.32, -0.62);
  c.stroke();
  for (const x of [-0.14, 0.12]) box(c, x - 0.04, -0.2, 0.08, 0.2, o.c2);
  oval(c, 0, -0.32, 0.28, 0.17, o.c);
  oval(c, 0.04, -0.26, 0.18, 0.1, o.belly ?? o.c2);
  shape(c, o.c2, [0.02, -0.42], [-0.42, -0.8 - beat], [-0.3, -0.56], [-0.16, -0.6], [-0.1, -0.42]);
  oval(c, 0.36, -0.66, 0.13, 0.1, o.c);
  shape(c, o.c2, [0.28, -0.74], [0.22, -0.88], [0.34, -0.76]);
  oval(c, 0.4, -0.68, 0.025, 0.03, o.eye ?? "#ffe04a");
  c.restore();
}

/** Something soft that slides. */
export function slime(c, o, { phase, moving, time }) {
  const s = o.s ?? 1;
  const wide = Math.sin(moving ? phase * 6 : time / 600) * 0.04;
  shade(c, 0.3 * s);
  c.save();
  c.scale(s, s);
  oval(c, 0, -0.16, 0.32 + wide, 0.18 - wide * 0.6, o.c);
  oval(c, -0.1, -0.22, 0.1, 0.06, "rgba(255,255,255,.25)");
  for (const x of [0.12, 0.24]) {
    box(c, x - 0.015, -0.42, 0.03, 0.2, o.c2);
    oval(c, x, -0.43, 0.035, 0.035, o.eye ?? "#1c2026");
  }
  c.restore();
}

/** Bones that still go about their business. */
export function bones(c, o, { phase, moving, face }) {
  const sway = moving ? Math.sin(phase * 5) * 0.06 : 0;
  shade(c, 0.24);
  c.save();
  c.scale(face < 0 ? -1 : 1, 1);
  box(c, -0.1 + sway, -0.26, 0.05, 0.26, o.c);
  box(c, 0.05 - sway, -0.26, 0.05, 0.26, o.c);
  box(c, -0.025, -0.6, 0.05, 0.36, o.c);
  for (let n = 0; n < 3; n += 1) box(c, -0.14, -0.56 + n * 0.09, 0.28, 0.035, o.c);
  box(c, -0.22 - sway, -0.56, 0.045, 0.28, o.c);
  box(c, 0.18 + sway, -0.56, 0.045, 0.28, o.c);
  oval(c, 0, -0.76, 0.15, 0.15, o.c);
  for (const x of [-0.03, 0.08]) oval(c, x, -0.77, 0.035, 0.045, "#20201e");
  if (o.c2) box(c, -0.16, -0.94, 0.32, 0.06, o.c2);
  c.restore();
}

/** Three balls of snow with a purpose. */
export function snowman(c, o, { face }) {
  const s = o.s ?? 1.1;
  shade(c, 0.34);
  c.save();
  c.scale(face < 0 ? -s : s, s);
  oval(c, 0, -0.2, 0.28, 0.23, "#e6eef3");
  oval(c, 0, -0.52, 0.2, 0.18, "#f2f7fa");
  oval(c, 0, -0.8, 0.15, 0.14, "#fbfdfe");
  shape(c, "#e8803a", [0.08, -0.82], [0.3, -0.78], [0.08, -0.75]);
  for (const x of [-0.02, 0.09]) oval(c, x, -0.85, 0.02, 0.025, "#20242a");
  box(c, -0.16, -0.98, 0.32, 0.06, o.c);
  box(c, -0.1, -1.14, 0.2, 0.18, o.c);
  box(c, 0.24, -0.9, 0.04, 0.8, "#6d4f2e");
  shape(c, "#b9c2cc", [0.2, -0.9], [0.26, -1.12], [0.32, -0.9]);
  c.restore();
}

/** A piece of fruit that has had enough. */
export function fruit(c, o, { phase, moving, face }) {
  const hop = moving ? Math.abs(Math.sin(phase * 5)) * 0.14 : 0;
  shade(c, 0.24);
  c.save();
  c.scale(face < 0 ? -1 : 1, 1);
  c.translate(0, -hop);
  oval(c, 0, -0.24, 0.26, 0.24, o.c);
  oval(c, -0.08, -0.32, 0.08, 0.06, "rgba(255,255,255,.35)");
  box(c, -0.02, -0.58, 0.05, 0.14, "#5d4630");
  shape(c, o.c2, [0.03, -0.52], [0.22, -0.62], [0.16, -0.46]);
  for (const x of [0.02, 0.14]) oval(c, x, -0.26, 0.03, 0.045, "#2a1c14");
  box(c, 0.02, -0.15, 0.13, 0.025, "#2a1c14");
  c.restore();
}
