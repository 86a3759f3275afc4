// How what is worn looks when it lies in a slot, by where it is worn; weapons have looks of their
// own. A unit is a tile; (0, 0) is where the thing touches the ground, up is negative.

import { box, line, oval, placed, hoop, shape } from "./pen.js";
import { stuff } from "./stuffs.js";

const LIGHT = "rgba(255,255,255,.22)";
const DARK = "rgba(0,0,0,.24)";
const BRASS = "#e8b65a";

/** The mark of what it is made of, if that has one. */
function marked(c, { mark, trim }, x, y, size) {
  if (mark) placed(c, x, y, 0, size, (d) => mark(d, trim));
}

function helmet(c, of) {
  c.fillStyle = of.tone;
  c.beginPath();
  c.arc(0, -0.34, 0.32, Math.PI, 0);
  c.lineTo(0.32, -0.04);
  c.lineTo(0.14, -0.04);
  c.lineTo(0.1, -0.26);
  c.lineTo(-0.1, -0.26);
  c.lineTo(-0.14, -0.04);
  c.lineTo(-0.32, -0.04);
  c.fill();
  box(c, -0.32, -0.36, 0.64, 0.07, of.trim);
  box(c, -0.03, -0.72, 0.06, 0.44, of.trim);
  oval(c, -0.15, -0.52, 0.08, 0.06, LIGHT);
  marked(c, of, 0.17, -0.5, 0.5);
}

function hat(c, of) {
  oval(c, 0, -0.08, 0.4, 0.11, of.tone);
  shape(c, of.tone, [-0.24, -0.1], [0.06, -0.76], [0.24, -0.1]);
  shape(c, DARK, [0.06, -0.76], [0.24, -0.1], [0.08, -0.1]);
  box(c, -0.23, -0.2, 0.45, 0.08, of.trim);
  marked(c, of, 0, -0.36, 0.66);
}

/** Knitted, with a bobble. */
function bobble(c, of) {
  c.fillStyle = of.tone;
  c.beginPath();
  c.arc(0, -0.2, 0.32, Math.PI, 0);
  c.fill();
  marked(c, of, 0, -0.3, 0.9);
  box(c, -0.34, -0.22, 0.68, 0.14, of.trim);
  oval(c, 0, -0.56, 0.12, 0.11, of.trim);
}

function hood(c, of) {
  c.fillStyle = of.tone;
  c.beginPath();
  c.moveTo(-0.36, 0);
  c.quadraticCurveTo(-0.4, -0.7, 0.02, -0.74);
  c.quadraticCurveTo(0.4, -0.66, 0.36, 0);
  c.fill();
  oval(c, 0.04, -0.3, 0.2, 0.24, "#2c221c");
  hoop(c, 0.04, -0.3, 0.2, 0.24, of.trim, 0.05);
  marked(c, of, -0.22, -0.42, 0.5);
}

function coif(c, of) {
  hood(c, of);
  line(c, of.trim, 0.05, -0.2, -0.56, 0.22, -0.58);
  oval(c, 0.02, -0.02, 0.06, 0.06, BRASS);
}

function cowl(c, of) {
  shape(c, of.tone, [-0.42, 0], [-0.3, -0.28], [0.3, -0.28], [0.42, 0]);
  placed(c, 0, -0.16, 0, 0.82, (d) => hood(d, of));
  line(c, of.trim, 0.04, -0.34, -0.08, 0.34, -0.08);
}

function body(c, of) {
  shape(
    c,
    of.tone,
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
  box(c, -0.26, -0.12, 0.52, 0.07, of.trim);
  shape(c, LIGHT, [-0.2, -0.52], [-0.04, -0.5], [-0.08, -0.2], [-0.18, -0.2]);
  marked(c, of, 0.06, -0.34, 0.9);
}

/** Plate: shoulders, and a ridge over the breast. */
function plate(c, of) {
  body(c, of);
  for (const x of [-0.31, 0.31]) oval(c, x, -0.56, 0.13, 0.1, of.trim);
  line(c, of.trim, 0.035, -0.18, -0.34, 0, -0.4, 0.18, -0.34);
  line(c, of.trim, 0.03, 0, -0.56, 0, -0.14);
}

function robe(c, of) {
  shape(c, of.tone, [-0.16, -0.72], [0.16, -0.72], [0.4, -0.3], [0.3, -0.22], [0.36, 0]);
  shape(
    c,
    of.tone,
    [-0.16, -0.72],
    [0.16, -0.72],
    [0.36, 0],
    [-0.36, 0],
    [-0.3, -0.22],
    [-0.4, -0.3],
  );
  box(c, -0.35, -0.06, 0.7, 0.06, of.trim);
  line(c, of.trim, 0.04, 0, -0.7, 0, -0.06);
  marked(c, of, 0, -0.3, 0.95);
}

function coat(c, of) {
  body(c, of);
  shape(c, of.trim, [-0.16, -0.7], [0.16, -0.7], [0.08, -0.44], [-0.08, -0.44]);
  box(c, -0.28, -0.08, 0.56, 0.08, of.trim);
}

function legs(c, of) {
  shape(
    c,
    of.tone,
    [-0.26, -0.66],
    [0.26, -0.66],
    [0.3, 0],
    [0.06, 0],
    [0, -0.42],
    [-0.06, 0],
    [-0.3, 0],
  );
  box(c, -0.26, -0.66, 0.52, 0.09, of.trim);
  marked(c, of, -0.16, -0.3, 0.5);
  marked(c, of, 0.17, -0.3, 0.5);
}

/** Plate for the legs: knees as well. */
function greaves(c, of) {
  legs(c, of);
  for (const x of [-0.18, 0.18]) oval(c, x, -0.32, 0.09, 0.08, of.trim);
}

function skirt(c, of) {
  shape(c, of.tone, [-0.2, -0.62], [0.2, -0.62], [0.38, 0], [-0.38, 0]);
  box(c, -0.2, -0.64, 0.4, 0.09, of.trim);
  line(c, DARK, 0.03, -0.08, -0.5, -0.14, 0);
  line(c, DARK, 0.03, 0.08, -0.5, 0.14, 0);
  marked(c, of, 0, -0.26, 0.9);
}

function shield(c, of) {
  shape(c, of.tone, [-0.32, -0.64], [0.32, -0.64], [0.3, -0.24], [0, 0.04], [-0.3, -0.24]);
  shape(c, LIGHT, [-0.26, -0.58], [0, -0.58], [0, -0.06], [-0.24, -0.26]);
  line(c, of.trim, 0.05, -0.3, -0.62, 0.3, -0.62, 0.28, -0.24, 0, 0.01, -0.28, -0.24, -0.3, -0.62);
  oval(c, 0, -0.36, 0.09, 0.09, BRASS);
  marked(c, of, 0, -0.36, 0.8);
}

/** Round, with a handle: the lid of something. */
function lid(c, of) {
  oval(c, 0, -0.34, 0.36, 0.36, of.trim);
  oval(c, 0, -0.34, 0.31, 0.31, of.tone);
  for (const r of [0.22, 0.13]) hoop(c, 0, -0.34, r, r, of.trim, 0.03);
  box(c, -0.1, -0.37, 0.2, 0.07, "#4d5250");
}

function boots(c, of) {
  for (const x of [-0.2, 0.18]) {
    box(c, x - 0.1, -0.46, 0.18, 0.4, of.tone);
    shape(c, of.tone, [x - 0.1, -0.16], [x + 0.22, -0.1], [x + 0.24, 0], [x - 0.1, 0]);
    box(c, x - 0.1, -0.05, 0.34, 0.05, of.trim);
    box(c, x - 0.12, -0.48, 0.22, 0.07, of.trim);
    marked(c, of, x - 0.01, -0.26, 0.34);
  }
}

function slippers(c, of) {
  for (const x of [-0.26, 0.12]) {
    shape(
      c,
      of.tone,
      [x - 0.1, -0.2],
      [x + 0.08, -0.18],
      [x + 0.24, -0.1],
      [x + 0.26, 0],
      [x - 0.1, 0],
    );
    oval(c, x + 0.25, -0.14, 0.06, 0.06, of.trim);
    oval(c, x - 0.01, -0.18, 0.09, 0.04, "#3a3230");
  }
}

function gloves(c, of) {
  for (const [x, side] of [
    [-0.2, -1],
    [0.2, 1],
  ]) {
    oval(c, x, -0.32, 0.15, 0.18, of.tone);
    oval(c, x + side * 0.15, -0.28, 0.05, 0.1, of.tone);
    box(c, x - 0.13, -0.2, 0.26, 0.2, of.tone);
    box(c, x - 0.13, -0.08, 0.26, 0.06, of.trim);
    marked(c, of, x, -0.3, 0.44);
  }
}

function gauntlets(c, of) {
  gloves(c, of);
  for (const x of [-0.2, 0.2])
    for (const dx of [-0.09, 0, 0.09])
      shape(c, of.trim, [x + dx - 0.04, -0.46], [x + dx, -0.66], [x + dx + 0.04, -0.46]);
}

function bracers(c, of) {
  for (const x of [-0.2, 0.2]) {
    shape(c, of.tone, [x - 0.15, -0.6], [x + 0.15, -0.6], [x + 0.1, -0.02], [x - 0.1, -0.02]);
    for (const y of [-0.5, -0.16]) box(c, x - 0.14, y, 0.28, 0.06, of.trim);
    marked(c, of, x, -0.3, 0.46);
  }
}

function cape(c, of) {
  shape(
    c,
    of.tone,
    [-0.14, -0.7],
    [0.14, -0.7],
    [0.36, 0],
    [0.12, -0.06],
    [-0.1, 0.02],
    [-0.36, -0.03],
  );
  shape(c, DARK, [0.03, -0.7], [0.14, -0.7], [0.36, 0], [0.14, -0.06]);
  oval(c, 0, -0.68, 0.06, 0.06, BRASS);
  marked(c, of, -0.06, -0.3, 0.9);
}

/** Something long to wind around a neck. */
function scarf(c, of) {
  hoop(c, 0, -0.5, 0.26, 0.15, of.tone, 0.17);
  line(c, of.tone, 0.18, 0.14, -0.4, 0.2, -0.06);
  for (const [x, y] of [
    [-0.22, -0.54],
    [0, -0.66],
    [0.17, -0.26],
  ])
    line(c, of.trim, 0.05, x - 0.07, y, x + 0.07, y + 0.02);
  if (of.mark) line(c, of.trim, 0.06, 0.12, -0.02, 0.28, -0.04);
}

const GEMS = /quartz|amber|garnet|sapphire|diamond|ember/;

/** The stone of a jewel: the jewel itself is of gold then, else of what it is named for. */
function setting(id) {
  const gem = GEMS.exec(id)?.[0];
  return { gem: gem && stuff(gem), of: stuff(gem ? "gold" : id, "#c9a04a") };
}

function jewel(c, { tone, trim }, x, y, size) {
  placed(c, x, y, 0, size, (d) => {
    shape(d, trim, [-0.5, -0.1], [-0.26, -0.46], [0.26, -0.46], [0.5, -0.1], [0, 0.5]);
    shape(d, tone, [-0.36, -0.12], [-0.2, -0.36], [0.2, -0.36], [0.36, -0.12], [0, 0.34]);
    shape(d, "rgba(255,255,255,.5)", [-0.22, -0.14], [-0.12, -0.3], [0.04, -0.3], [-0.04, -0.12]);
  });
}

function amulet(c, _, id) {
  const { gem, of } = setting(id);
  hoop(c, 0, -0.42, 0.24, 0.3, id.includes("fang") ? "#7a5532" : of.trim, 0.05);
  if (gem) return jewel(c, gem, 0, -0.1, 0.4);
  if (id.includes("fang")) {
    for (const [x, y, tall] of [
      [0, -0.16, 0.26],
      [-0.14, -0.2, 0.18],
      [0.14, -0.2, 0.18],
    ])
      shape(c, "#f3ead6", [x - 0.06, y], [x + 0.06, y], [x, y + tall]);
    return undefined;
  }
  oval(c, 0, -0.1, 0.15, 0.15, of.trim);
  oval(c, 0, -0.1, 0.12, 0.12, of.tone);
  if (id.includes("button"))
    for (const x of [-0.04, 0.04])
      for (const y of [-0.14, -0.06]) oval(c, x, y, 0.02, 0.02, "#4a3212");
  return undefined;
}

function ring(c, _, id) {
  const { gem, of } = setting(id);
  hoop(c, 0, -0.22, 0.2, 0.2, of.trim, 0.11);
  hoop(c, 0, -0.22, 0.2, 0.2, of.tone, 0.07);
  if (gem) jewel(c, gem, 0, -0.46, 0.36);
  else oval(c, -0.13, -0.37, 0.05, 0.04, "rgba(255,255,255,.7)");
}

/** How it is made, by words in its id: these first, then by where it is worn. */
const MADE = {
  helmet: [
    [/woolly/, bobble],
    [/hat$/, hat],
    [/coif/, coif],
    [/cowl/, cowl],
    [/hood|cap$/, hood],
    [/./, helmet],
  ],
  body: [
    [/breastplate|plate|mail/, plate],
    [/robe/, robe],
    [/coat/, coat],
    [/./, body],
  ],
  legs: [
    [/skirt/, skirt],
    [/greaves|plate/, greaves],
    [/./, legs],
  ],
  shield: [
    [/lid/, lid],
    [/./, shield],
  ],
  boots: [
    [/slippers|shoes/, slippers],
    [/./, boots],
  ],
  gloves: [
    [/bracers/, bracers],
    [/gauntlets/, gauntlets],
    [/./, gloves],
  ],
  cape: [
    [/scarf|stole/, scarf],
    [/./, cape],
  ],
  amulet: [[/./, amulet]],
  ring: [[/./, ring]],
};

/** Draws it; false for what is not worn as clothing. */
export function armour(c, id, place) {
  const made = MADE[place]?.find(([words]) => words.test(id));
  made?.[1](c, stuff(id), id);
  return made !== undefined;
}

/** The word for how it is made, so that it looks alike on somebody who wears it. */
export const cut = (id, place) => MADE[place]?.find(([words]) => words.test(id))?.[1].name;
