// What people leave in the world: fires, graves, felled trees and emptied rocks, drawn in code.

import { box, oval, pick, shade, shape } from "./pen.js";

export function fire(c, time) {
  shade(c, 0.36);
  for (const turn of [-1, 1]) {
    c.save();
    c.translate(0, -0.06);
    c.rotate(turn * 0.35);
    box(c, -0.34, -0.05, 0.68, 0.11, turn < 0 ? "#5d4028" : "#6f4d30");
    c.restore();
  }
  const sway = Math.sin(time / 140) * 0.05;
  const tall = 0.62 + Math.sin(time / 90) * 0.06;
  shape(
    c,
    "#e8602a",
    [-0.24, -0.06],
    [-0.12 + sway, -tall * 0.62],
    [0, -tall],
    [0.14 + sway, -tall * 0.6],
    [0.24, -0.06],
  );
  shape(
    c,
    "#f7b03c",
    [-0.15, -0.06],
    [-0.05 + sway, -tall * 0.5],
    [0.03, -tall * 0.72],
    [0.15, -0.06],
  );
  oval(c, 0, -0.13, 0.09, 0.12, "#fff0b0");
}

export function grave(c) {
  shade(c, 0.42);
  oval(c, 0, 0, 0.44, 0.13, "#6b5a42");
  c.fillStyle = "#8f8c86";
  c.beginPath();
  c.moveTo(-0.26, -0.02);
  c.lineTo(-0.26, -0.5);
  c.arc(0, -0.5, 0.26, Math.PI, 0);
  c.lineTo(0.26, -0.02);
  c.fill();
  box(c, 0.16, -0.52, 0.1, 0.5, "rgba(0,0,0,.16)");
  box(c, -0.03, -0.62, 0.06, 0.34, "#5f5c57");
  box(c, -0.12, -0.53, 0.24, 0.06, "#5f5c57");
  oval(c, -0.3, -0.04, 0.06, 0.05, "#e9a3b4");
  oval(c, -0.2, 0, 0.05, 0.04, "#f6e27a");
}

const BARKS = { tree_birch: "#d8d2c2", tree_yew: "#6b3f2a", tree_palm: "#8a6a44" };

export function stump(c, id) {
  shade(c, 0.34);
  const bark = BARKS[id] ?? "#5f462c";
  shape(c, bark, [-0.24, 0.04], [-0.18, -0.26], [0.18, -0.26], [0.24, 0.04]);
  oval(c, 0, -0.26, 0.18, 0.09, "#d9bd8b");
  oval(c, 0, -0.26, 0.11, 0.055, "#b98f58");
  oval(c, 0, -0.26, 0.05, 0.025, "#d9bd8b");
}

export function empty(c, id) {
  shade(c, 0.48);
  const clay = id === "rock_clay";
  const tone = clay ? "#8a644a" : "#6c6962";
  shape(
    c,
    tone,
    [-0.46, 0.08],
    [-0.4, -0.2],
    [-0.14, -0.38],
    [0.22, -0.34],
    [0.42, -0.14],
    [0.46, 0.08],
  );
  shape(
    c,
    pick(["#7d7a73", "#837f78"], id ?? "", 1),
    [-0.4, -0.2],
    [-0.14, -0.38],
    [0.22, -0.34],
    [0.02, -0.16],
  );
  for (const [x, y] of [
    [-0.2, -0.06],
    [0.06, -0.02],
    [0.26, -0.08],
  ])
    oval(c, x, y, 0.07, 0.05, "rgba(0,0,0,.22)");
}
