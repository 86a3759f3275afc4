// The small pictures on tabs and buttons, drawn in code.

import { armour } from "./armour.js";
import { box, oval, shape } from "./pen.js";
import { ware } from "./wares.js";

const GOLD = "#e8b65a";
const PALE = "#f3ead6";

function bars(c) {
  for (const [n, tall] of [0.25, 0.42, 0.6, 0.78].entries())
    box(c, -0.38 + n * 0.2, -0.05 - tall, 0.15, tall, n === 3 ? GOLD : PALE);
}

function swords(c) {
  for (const side of [-1, 1]) {
    c.save();
    c.translate(0, -0.4);
    c.rotate(side * 0.75);
    box(c, -0.04, -0.42, 0.08, 0.62, PALE);
    box(c, -0.13, 0.18, 0.26, 0.06, GOLD);
    box(c, -0.035, 0.22, 0.07, 0.18, "#8a6238");
    c.restore();
  }
}

function star(c) {
  c.fillStyle = GOLD;
  c.beginPath();
  for (let n = 0; n < 16; n += 1) {
    const r = n % 2 ? 0.14 : n % 4 ? 0.28 : 0.44;
    c.lineTo(Math.sin((n * Math.PI) / 8) * r, -0.42 - Math.cos((n * Math.PI) / 8) * r);
  }
  c.fill();
  oval(c, 0, -0.42, 0.09, 0.09, PALE);
}

function scroll(c) {
  box(c, -0.26, -0.72, 0.52, 0.62, PALE);
  oval(c, -0.26, -0.72, 0.07, 0.07, GOLD);
  oval(c, 0.26, -0.72, 0.07, 0.07, GOLD);
  box(c, -0.3, -0.13, 0.6, 0.08, GOLD);
  for (let n = 0; n < 3; n += 1)
    box(c, -0.18, -0.6 + n * 0.14, n === 2 ? 0.2 : 0.36, 0.05, "#6b5a3c");
}

function faces(c) {
  for (const [x, color] of [
    [-0.17, PALE],
    [0.19, GOLD],
  ]) {
    oval(c, x, -0.58, 0.15, 0.16, color);
    shape(c, color, [x - 0.22, -0.08], [x - 0.14, -0.38], [x + 0.14, -0.38], [x + 0.22, -0.08]);
  }
}

function greeting(c) {
  oval(c, -0.12, -0.5, 0.16, 0.17, PALE);
  shape(c, PALE, [-0.36, -0.06], [-0.26, -0.3], [0.02, -0.3], [0.12, -0.06]);
  shape(c, GOLD, [0, -0.28], [0.22, -0.66], [0.34, -0.6], [0.1, -0.2]);
  oval(c, 0.29, -0.68, 0.1, 0.11, GOLD);
}

function sheet(c) {
  for (const [n, color] of ["#d9c48f", PALE, "#d9c48f"].entries()) {
    const [x, high] = [-0.36 + n * 0.24, n % 2 ? 0.06 : 0];
    shape(
      c,
      color,
      [x, -0.1 - high],
      [x, -0.72 - high],
      [x + 0.24, -0.78 + high],
      [x + 0.24, -0.16 + high],
    );
  }
  c.strokeStyle = "#a8382c";
  c.lineWidth = 0.06;
  c.setLineDash([0.09, 0.07]);
  c.beginPath();
  c.moveTo(-0.26, -0.26);
  c.quadraticCurveTo(-0.02, -0.2, 0.22, -0.56);
  c.stroke();
  c.setLineDash([]);
  oval(c, 0.22, -0.58, 0.07, 0.07, "#a8382c");
}

function lute(c) {
  c.save();
  c.translate(-0.08, -0.3);
  c.rotate(0.7);
  box(c, -0.05, -0.66, 0.1, 0.5, "#6b4a22");
  box(c, -0.09, -0.74, 0.18, 0.1, GOLD);
  oval(c, 0, 0, 0.22, 0.27, "#b9783a");
  oval(c, 0, -0.03, 0.08, 0.08, "#3a2412");
  box(c, -0.1, 0.12, 0.2, 0.04, "#3a2412");
  for (const x of [-0.025, 0.025]) box(c, x - 0.008, -0.62, 0.016, 0.76, PALE);
  c.restore();
}

const ICONS = {
  pack: (c) => ware(c, "sack", undefined, ""),
  gear: (c) => armour(c, "bronze_helm", "helmet"),
  "skills-panel": bars,
  combat: swords,
  prayers: star,
  quests: scroll,
  friends: faces,
  emotes: greeting,
  map: sheet,
  sound: lute,
};

/** The picture of a tab or a button. */
export function icon(id) {
  return picture((c) => ICONS[id](c), 56);
}

/** A canvas with something that stands on its foot, `side` pixels wide and high. */
export function picture(paint, side = 80) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = side;
  canvas.setAttribute("aria-hidden", "true");
  const c = canvas.getContext("2d");
  c.setTransform(side, 0, 0, side, side / 2, side * 0.79);
  paint(c);
  return canvas;
}
