// Roofs, drawn in code.

import { hash } from "./ground.js";
import { box, oval, pick, shape, text } from "./pen.js";

const ROOFS = [
  ["#a4553c", "#8a4330", "#bd6d50"],
  ["#8a7148", "#70593a", "#a58b5c"],
  ["#5f6f80", "#4c5a69", "#778899"],
  ["#7a5a4c", "#64483c", "#94705f"],
  ["#6d7a4c", "#59653d", "#85935f"],
];

/** A roof over w x d tiles; (0, 0) is the house's south-west corner on the ground. */
export function roof(c, house, w, d) {
  const [base, dark, light] = house.snowy
    ? ["#dfe7ec", "#b9c6cf", "#f6fafc"]
    : pick(ROOFS, house.id ?? "", 1);
  const up = 0.95;
  const eave = 0.22;
  const left = -eave;
  const right = w + eave;
  const front = -up + eave;
  const back = -d - up - eave * 0.4;
  const ridge = (front + back) / 2 - 0.5;
  box(c, 0, -up, w, up, "#d9c7a2");
  box(c, 0, -0.16, w, 0.16, "#8d8272");
  for (let x = 0; x <= w; x += 2) box(c, Math.min(x, w - 0.12), -up, 0.12, up, "#6b4a2e");
  for (let x = 1; x < w - 0.6; x += 2) {
    const door = house.south !== undefined && Math.abs(house.south - x) < 1.05;
    if (!door) {
      box(c, x - 0.28, -0.72, 0.56, 0.4, "#5b3f26");
      box(c, x - 0.22, -0.67, 0.2, 0.3, "#f0cf86");
      box(c, x + 0.02, -0.67, 0.2, 0.3, "#e8bf6e");
    }
  }
  if (house.south !== undefined) {
    box(c, house.south + 0.08, -0.78, 0.84, 0.78, "#4a2f1a");
    box(c, house.south + 0.16, -0.72, 0.68, 0.72, "#7d532c");
    oval(c, house.south + 0.68, -0.34, 0.05, 0.05, "#e8b65a");
  }
  shape(c, dark, [left, back], [right, back], [right - 0.1, ridge], [left + 0.1, ridge]);
  shape(c, base, [left + 0.1, ridge], [right - 0.1, ridge], [right, front], [left, front]);
  c.strokeStyle = "rgba(30,18,10,.22)";
  c.lineWidth = 0.05;
  c.beginPath();
  for (let y = ridge + 0.45; y < front; y += 0.45) {
    c.moveTo(left, y);
    c.lineTo(right, y);
  }
  for (let y = ridge - 0.45; y > back; y -= 0.45) {
    c.moveTo(left, y);
    c.lineTo(right, y);
  }
  for (let y = ridge, n = 0; y < front - 0.1; y += 0.45, n += 1)
    for (let x = left + (n % 2 ? 0.3 : 0.6); x < right; x += 0.6) {
      c.moveTo(x, y);
      c.lineTo(x, Math.min(front, y + 0.45));
    }
  c.stroke();
  box(c, left + 0.08, ridge - 0.07, right - left - 0.16, 0.14, light);
  box(c, left, front - 0.07, right - left, 0.1, dark);
  const chimney = w * (0.25 + 0.5 * hash(text(house.id ?? ""), 5));
  box(c, chimney, ridge - 0.75, 0.5, 0.95, "#7d6a5c");
  box(c, chimney - 0.05, ridge - 0.82, 0.6, 0.14, "#94806f");
}
