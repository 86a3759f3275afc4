// How what is worn looks when it lies in a slot, by where it is worn; weapons have looks of their
// own. A unit is a tile; (0, 0) is where the thing touches the ground, up is negative.

import { box, oval, pick, shape } from "./pen.js";

const METALS = {
  bronze: "#b98146",
  iron: "#8f8f95",
  steel: "#b9c2cc",
  silver: "#d5dce2",
  gold: "#e0b848",
  mithril: "#6f86c8",
  adamant: "#5f9a72",
  rune: "#5fb0c0",
  cobalt: "#4f74c4",
  wolfram: "#6b7079",
  starglass: "#8fdce4",
  ember: "#e07a3c",
};
const CLOTHS = ["#8a5a34", "#5c4a6e", "#3f6b5a", "#7c3b3b", "#54608f"];

export const metal = (id) =>
  METALS[Object.keys(METALS).find((name) => id.includes(name))] ?? "#9aa0a6";

/** What it is made of: a metal that it is named for, else cloth or hide. */
function stuff(id) {
  if (/leather|hide|wolf|bear/.test(id)) return "#8a5a34";
  const named = Object.keys(METALS).find((name) => id.includes(name));
  return named ? METALS[named] : pick(CLOTHS, id, 1);
}

const LIGHT = "rgba(255,255,255,.22)";
const DARK = "rgba(0,0,0,.24)";

function helmet(c, tone) {
  c.fillStyle = tone;
  c.beginPath();
  c.arc(0, -0.34, 0.32, Math.PI, 0);
  c.lineTo(0.32, -0.04);
  c.lineTo(0.14, -0.04);
  c.lineTo(0.1, -0.26);
  c.lineTo(-0.1, -0.26);
  c.lineTo(-0.14, -0.04);
  c.lineTo(-0.32, -0.04);
  c.fill();
  box(c, -0.03, -0.68, 0.06, 0.4, DARK);
  oval(c, -0.14, -0.5, 0.08, 0.06, LIGHT);
}

function hat(c, tone) {
  oval(c, 0, -0.08, 0.4, 0.11, tone);
  shape(c, tone, [-0.24, -0.1], [0.06, -0.76], [0.24, -0.1]);
  box(c, -0.23, -0.2, 0.45, 0.08, "#e8b65a");
}

function body(c, tone) {
  shape(
    c,
    tone,
    [-0.38, -0.6],
    [-0.14, -0.68],
    [0, -0.58],
    [0.14, -0.68],
    [0.38, -0.6],
    [0.3, -0.36],
    [0.26, 0],
    [-0.26, 0],
    [-0.3, -0.36],
  );
  box(c, -0.26, -0.12, 0.52, 0.06, DARK);
  shape(c, LIGHT, [-0.2, -0.52], [-0.04, -0.5], [-0.08, -0.2], [-0.18, -0.2]);
}

function legs(c, tone) {
  shape(
    c,
    tone,
    [-0.26, -0.66],
    [0.26, -0.66],
    [0.3, 0],
    [0.06, 0],
    [0, -0.42],
    [-0.06, 0],
    [-0.3, 0],
  );
  box(c, -0.26, -0.66, 0.52, 0.09, DARK);
}

function shield(c, tone) {
  shape(c, tone, [-0.32, -0.64], [0.32, -0.64], [0.3, -0.24], [0, 0.04], [-0.3, -0.24]);
  shape(c, LIGHT, [-0.26, -0.58], [0, -0.58], [0, -0.06], [-0.24, -0.26]);
  oval(c, 0, -0.36, 0.09, 0.09, "#e8b65a");
}

function boots(c, tone) {
  for (const x of [-0.2, 0.18]) {
    box(c, x - 0.1, -0.46, 0.18, 0.4, tone);
    shape(c, tone, [x - 0.1, -0.16], [x + 0.22, -0.1], [x + 0.24, 0], [x - 0.1, 0]);
    box(c, x - 0.1, -0.04, 0.34, 0.05, DARK);
  }
}

function gloves(c, tone) {
  for (const [x, side] of [
    [-0.2, -1],
    [0.2, 1],
  ]) {
    oval(c, x, -0.32, 0.15, 0.18, tone);
    oval(c, x + side * 0.15, -0.28, 0.05, 0.1, tone);
    box(c, x - 0.13, -0.2, 0.26, 0.2, tone);
    box(c, x - 0.13, -0.08, 0.26, 0.05, DARK);
  }
}

function cape(c, tone) {
  shape(
    c,
    tone,
    [-0.14, -0.7],
    [0.14, -0.7],
    [0.36, 0],
    [0.12, -0.06],
    [-0.1, 0.02],
    [-0.36, -0.03],
  );
  shape(c, DARK, [0.03, -0.7], [0.14, -0.7], [0.36, 0], [0.14, -0.06]);
  oval(c, 0, -0.68, 0.06, 0.06, "#e8b65a");
}

function amulet(c, tone) {
  c.strokeStyle = "#c9a04a";
  c.lineWidth = 0.05;
  c.beginPath();
  c.ellipse(0, -0.42, 0.24, 0.3, 0, 0, 7);
  c.stroke();
  oval(c, 0, -0.1, 0.12, 0.13, tone);
  oval(c, -0.03, -0.13, 0.04, 0.04, LIGHT);
}

function ring(c, tone) {
  c.strokeStyle = tone;
  c.lineWidth = 0.09;
  c.beginPath();
  c.ellipse(0, -0.22, 0.2, 0.2, 0, 0, 7);
  c.stroke();
  shape(c, "#8fc8e8", [-0.09, -0.42], [0, -0.54], [0.09, -0.42], [0, -0.34]);
}

const PLACES = { body, legs, shield, boots, gloves, cape, amulet, ring };

/** Draws it; false for what is not worn as clothing. */
export function armour(c, id, place) {
  const paint = place === "helmet" ? (/hat|hood|cap$/.test(id) ? hat : helmet) : PLACES[place];
  paint?.(c, stuff(id));
  return paint !== undefined;
}
