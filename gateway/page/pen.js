// Strokes that all glyphs are made of. A unit is a tile; (0, 0) is where the thing touches the
// ground, up is negative.

import { hash } from "./ground.js";

export function oval(c, x, y, w, h, color) {
  c.fillStyle = color;
  c.beginPath();
  c.ellipse(x, y, w, h, 0, 0, 7);
  c.fill();
}

export function shape(c, color, ...points) {
  c.fillStyle = color;
  c.beginPath();
  points.forEach(([x, y], n) => (n ? c.lineTo(x, y) : c.moveTo(x, y)));
  c.fill();
}

export function box(c, x, y, w, h, color) {
  c.fillStyle = color;
  c.fillRect(x, y, w, h);
}

export const shade = (c, w = 0.3) => oval(c, 0.06, 0.02, w, w * 0.42, "rgba(20,24,32,.3)");

export function text(word) {
  let n = 7;
  for (const ch of word) n = (Math.imul(n, 31) + ch.charCodeAt(0)) | 0;
  return n;
}
export const pick = (list, word, salt) => list[Math.floor(hash(text(word), salt) * list.length)];

/** A stroke from point to point: x, y, x, y … */
export function line(c, color, width, ...points) {
  c.strokeStyle = color;
  c.lineWidth = width;
  c.lineCap = c.lineJoin = "round";
  c.beginPath();
  for (let n = 0; n < points.length; n += 2) c.lineTo(points[n], points[n + 1]);
  c.stroke();
}

/** A ring, or a part of one. */
export function hoop(c, x, y, w, h, color, width, from = 0, to = 7) {
  c.strokeStyle = color;
  c.lineWidth = width;
  c.lineCap = "round";
  c.beginPath();
  c.ellipse(x, y, w, h, 0, from, to);
  c.stroke();
}

/** Paints somewhere else, turned and in another size. */
export function placed(c, x, y, turn, size, paint) {
  c.save();
  c.translate(x, y);
  c.rotate(turn);
  c.scale(size, Math.abs(size));
  paint(c);
  c.restore();
}
