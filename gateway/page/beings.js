// Animals and monsters, drawn in code; people are drawn by person.js.

import { box, oval, shade, shape } from "./pen.js";
import { scarecrow } from "./fixtures.js";
import { hash } from "./ground.js";
import { bones, crawler, drake, fruit, ghost, slime, snowman } from "./monsters.js";
import { person } from "./person.js";

function quad(c, o, { phase, moving, face }) {
  const s = o.s ?? 1;
  const step = moving ? Math.sin(phase * 7) * 0.06 : 0;
  shade(c, 0.34 * s);
  c.save();
  c.scale(face < 0 ? -s : s, s);
  for (const [x, n] of [
    [-0.2, 1],
    [-0.1, -1],
    [0.1, 1],
    [0.2, -1],
  ])
    box(c, x - 0.03 + step * n, -0.2, 0.06, 0.2, o.leg ?? o.c2);
  if (o.tail === "bush") oval(c, -0.36, -0.32, 0.16, 0.07, o.c2);
  else if (o.tail) {
    c.strokeStyle = o.c;
    c.lineWidth = 0.05;
    c.beginPath();
    c.moveTo(-0.26, -0.32);
    c.quadraticCurveTo(-0.42, -0.36, -0.38, -0.52);
    c.stroke();
  }
  oval(c, 0, -0.31, 0.3, o.wool ? 0.22 : 0.15, o.c);
  if (o.wool)
    for (let n = 0; n < 6; n += 1)
      oval(c, -0.22 + n * 0.09, -0.4 + (n % 2) * 0.08, 0.1, 0.1, n % 2 ? o.c : "#fff8ea");
  if (o.spots) {
    oval(c, -0.1, -0.34, 0.09, 0.07, o.c2);
    oval(c, 0.12, -0.27, 0.07, 0.05, o.c2);
  }
  oval(c, 0.3, -0.42, 0.13, 0.115, o.head ?? o.c);
  oval(c, 0.4, -0.39, 0.06, 0.055, o.c2);
  if (o.ears === "long") {
    oval(c, 0.24, -0.6, 0.035, 0.13, o.c);
    oval(c, 0.31, -0.6, 0.035, 0.13, o.c);
  } else {
    shape(c, o.c2, [0.2, -0.49], [0.22, -0.6], [0.28, -0.51]);
    shape(c, o.c2, [0.3, -0.51], [0.35, -0.61], [0.38, -0.49]);
  }
  if (o.horns) {
    c.strokeStyle = "#e8dcc0";
    c.lineWidth = 0.04;
    c.beginPath();
    c.moveTo(0.26, -0.52);
    c.quadraticCurveTo(0.2, -0.75, 0.1 * o.horns, -0.72);
    c.moveTo(0.33, -0.53);
    c.quadraticCurveTo(0.36, -0.76, 0.48, -0.76);
    c.stroke();
  }
  if (o.tusk) shape(c, "#f3ead6", [0.42, -0.36], [0.5, -0.44], [0.46, -0.34]);
  oval(c, 0.33, -0.45, 0.02, 0.025, o.eye ?? "#1c140e");
  c.restore();
}

function bird(c, o, { phase, moving, face }) {
  const s = o.s ?? 0.7;
  const nod = moving ? Math.sin(phase * 8) * 0.04 : 0;
  const tall = o.tall ?? 0;
  shade(c, 0.22 * s);
  c.save();
  c.scale(face < 0 ? -s : s, s);
  box(c, -0.06, -0.14 - tall * 0.5, 0.03, 0.14 + tall * 0.5, o.beak);
  box(c, 0.04, -0.14 - tall * 0.5, 0.03, 0.14 + tall * 0.5, o.beak);
  c.translate(0, -tall * 0.5);
  shape(c, o.c2, [-0.2, -0.3], [-0.4, -0.42], [-0.16, -0.2]);
  oval(c, 0, -0.28, 0.23, 0.17, o.c);
  oval(c, -0.04, -0.28, 0.13, 0.09, o.c2);
  if (o.neck) {
    c.strokeStyle = o.c;
    c.lineWidth = 0.09;
    c.beginPath();
    c.moveTo(0.14, -0.34);
    c.quadraticCurveTo(0.26, -0.5, 0.17 + nod, -0.62);
    c.stroke();
  }
  const hy = o.neck ? -0.66 : -0.48;
  oval(c, 0.18 + nod, hy, 0.11, 0.1, o.head ?? o.c);
  shape(c, o.beak, [0.27 + nod, hy - 0.03], [0.42 + nod, hy + 0.02], [0.27 + nod, hy + 0.05]);
  if (o.comb) oval(c, 0.17 + nod, hy - 0.1, 0.06, 0.045, "#c8382c");
  oval(c, 0.21 + nod, hy - 0.02, 0.018, 0.022, "#15100c");
  c.restore();
}

function upright(c, o, { phase, moving, face }) {
  const s = o.s ?? 1;
  const sway = moving ? Math.sin(phase * 5) * 0.05 : 0;
  shade(c, 0.34 * s);
  c.save();
  c.scale(face < 0 ? -s : s, s);
  box(c, -0.16 + sway, -0.22, 0.13, 0.22, o.c2);
  box(c, 0.04 - sway, -0.22, 0.13, 0.22, o.c2);
  oval(c, 0, -0.44, 0.25, 0.28, o.c);
  oval(c, -0.27, -0.42 + sway, 0.08, 0.2, o.c2);
  oval(c, 0.27, -0.42 - sway, 0.08, 0.2, o.c2);
  if (o.belly) oval(c, 0.03, -0.4, 0.15, 0.2, o.belly);
  oval(c, 0.02, -0.76, 0.17, 0.15, o.c);
  if (o.cracks) {
    c.strokeStyle = o.cracks;
    c.lineWidth = 0.04;
    c.beginPath();
    c.moveTo(-0.1, -0.6);
    c.lineTo(0.02, -0.45);
    c.lineTo(-0.06, -0.3);
    c.moveTo(0.1, -0.56);
    c.lineTo(0.16, -0.4);
    c.stroke();
  }
  if (o.horns) {
    shape(c, "#2d1812", [-0.12, -0.86], [-0.16, -1.02], [-0.03, -0.88]);
    shape(c, "#2d1812", [0.08, -0.88], [0.19, -1.02], [0.16, -0.85]);
  }
  oval(c, 0.0, -0.78, 0.03, 0.03, o.eye);
  oval(c, 0.11, -0.78, 0.03, 0.03, o.eye);
  if (o.beak) shape(c, o.beak, [0.14, -0.75], [0.28, -0.71], [0.14, -0.69]);
  c.restore();
}

function low(c, o, { phase, moving, face }) {
  const hop = moving ? Math.abs(Math.sin(phase * 5)) * 0.12 : 0;
  shade(c, 0.28);
  c.save();
  c.scale(face < 0 ? -1 : 1, 1);
  c.translate(0, -hop);
  for (const side of [-1, 1]) {
    oval(c, side * 0.22, -0.08, 0.11, 0.06, o.c2);
    if (o.claws) {
      oval(c, side * 0.33, -0.24, 0.1, 0.075, o.c);
      box(c, side * 0.28 - 0.02, -0.2, 0.04, 0.1, o.c2);
    }
  }
  oval(c, 0, -0.18, 0.25, 0.16, o.c);
  for (const side of [-1, 1]) {
    oval(c, side * 0.1, -0.34, 0.055, 0.06, o.claws ? "#fff" : o.c);
    oval(c, side * 0.1 + 0.015, -0.35, 0.025, 0.03, "#16120c");
  }
  c.restore();
}

function mushroom(c) {
  shade(c, 0.24);
  box(c, -0.1, -0.3, 0.2, 0.3, "#e9dcc2");
  shape(c, "#a8483a", [-0.32, -0.28], [-0.2, -0.52], [0, -0.6], [0.2, -0.52], [0.32, -0.28]);
  for (const [x, y] of [
    [-0.14, -0.42],
    [0.06, -0.5],
    [0.17, -0.37],
  ])
    oval(c, x, y, 0.05, 0.04, "#f6ecd8");
  oval(c, -0.04, -0.17, 0.02, 0.03, "#241a12");
  oval(c, 0.06, -0.17, 0.02, 0.03, "#241a12");
}

function midges(c, o, { time }) {
  for (let n = 0; n < 9; n += 1) {
    const a = time / 400 + n * 2.4;
    oval(
      c,
      Math.cos(a) * 0.25 * hash(n, 1),
      -0.5 + Math.sin(a * 1.3) * 0.25,
      0.03,
      0.025,
      "rgba(30,28,24,.8)",
    );
  }
}

const SHAPES = {
  opinionated_hen: [bird, { c: "#e9dcc4", c2: "#b98a58", beak: "#d98a2c", comb: true, s: 0.8 }],
  pigeon: [bird, { c: "#8f96a6", c2: "#6a7182", beak: "#c58a6a", s: 0.6 }],
  duck: [bird, { c: "#a5845c", c2: "#6d5538", head: "#2f6b4a", beak: "#e0a02c", s: 0.7 }],
  furious_goose: [bird, { c: "#f4f1ea", c2: "#d5d0c4", beak: "#e5802a", neck: true, s: 1 }],
  harbour_gull: [bird, { c: "#f6f6f4", c2: "#98a2ae", beak: "#e0b02c", s: 0.75 }],
  heron: [bird, { c: "#9fb0be", c2: "#6e7f90", beak: "#d8a83c", neck: true, tall: 0.6, s: 0.9 }],
  town_cat: [quad, { c: "#c98a4a", c2: "#8a5a2c", tail: true, s: 0.7 }],
  woolly_philosopher: [quad, { c: "#efe6d4", c2: "#4a4038", head: "#5a4e44", wool: true, s: 1 }],
  patient_cow: [quad, { c: "#e8dcc8", c2: "#6b4a34", spots: true, horns: 1, s: 1.35 }],
  meadow_hare: [quad, { c: "#a88456", c2: "#7a5c38", ears: "long", s: 0.62 }],
  snow_hare: [quad, { c: "#eef3f6", c2: "#b9c6d0", ears: "long", s: 0.62 }],
  field_rat: [quad, { c: "#7d6a58", c2: "#54463a", tail: true, s: 0.55 }],
  red_fox: [quad, { c: "#c8642c", c2: "#f0dcc4", tail: "bush", leg: "#4a2c1c", s: 0.85 }],
  curious_squirrel: [quad, { c: "#a85a2c", c2: "#7c3f1e", tail: "bush", s: 0.55 }],
  deer: [quad, { c: "#b0814e", c2: "#7c5632", horns: 1.6, s: 1.15 }],
  wild_boar: [quad, { c: "#5e4a3a", c2: "#3e3026", tusk: true, s: 1 }],
  mountain_goat: [quad, { c: "#d8d0c0", c2: "#7a7064", horns: -1, s: 0.95 }],
  grey_wolf: [quad, { c: "#7f8288", c2: "#4e5258", tail: "bush", eye: "#e8c04a", s: 1.05 }],
  frost_wolf: [quad, { c: "#cfe0ea", c2: "#7f9cb2", tail: "bush", eye: "#4aa8ff", s: 1.15 }],
  ash_hound: [quad, { c: "#463c3a", c2: "#2a2220", tail: true, eye: "#ff7a2a", s: 1.15 }],
  brown_bear: [quad, { c: "#6e4a2c", c2: "#4a2f1a", s: 1.5 }],
  ice_bear: [quad, { c: "#eef3f5", c2: "#a9bac6", s: 1.6 }],
  stone_gnawer: [quad, { c: "#8a857a", c2: "#57534b", tusk: true, eye: "#ffd24a", s: 1.1 }],
  sidestep_crab: [low, { c: "#c8553a", c2: "#963a26", claws: true }],
  bog_toad: [low, { c: "#6f8242", c2: "#4f6030" }],
  mushroomling: [mushroom, {}],
  midge_cloud: [midges, {}],
  marsh_lurker: [upright, { c: "#4f6440", c2: "#37492f", eye: "#e8e24a", s: 1.15 }],
  penguin_accountant: [
    upright,
    { c: "#2b3038", c2: "#1e2228", belly: "#f2efe6", beak: "#e09a2c", eye: "#f2efe6", s: 0.75 },
  ],
  cinder_imp: [upright, { c: "#a8402c", c2: "#6d2418", horns: true, eye: "#ffe04a", s: 0.8 }],
  cellar_mouse: [quad, { c: "#8f8478", c2: "#6a6058", tail: true, s: 0.42 }],
  hedge_pig: [quad, { c: "#6f5a44", c2: "#c9a98a", wool: true, s: 0.55 }],
  thundersheep: [
    quad,
    { c: "#7d8aa8", c2: "#3e4658", head: "#2c3040", wool: true, eye: "#ffe04a", s: 1.4 },
  ],
  dire_pigeon: [bird, { c: "#7c8394", c2: "#565d6c", beak: "#c58a6a", s: 1.3 }],
  thunderhonk: [bird, { c: "#fdfbf4", c2: "#d8cfb8", beak: "#e86a1a", neck: true, s: 2 }],
  copper_beetle: [crawler, { c: "#b8703c", c2: "#5f3a22" }],
  ledger_spider: [crawler, { c: "#4a4048", c2: "#2c262c", eye: "#d9604c", s: 1.1 }],
  clinker_crab: [low, { c: "#5a4a46", c2: "#e8743a", claws: true }],
  compost_slug: [slime, { c: "#7d8a4c", c2: "#66713c" }],
  pond_sprite: [ghost, { c: "#7fc8b8", core: "#e0fff4", s: 0.7 }],
  heath_wisp: [ghost, { c: "#b8d8f0", core: "#fff6c8", thin: 0.6, s: 0.6 }],
  lingering_meeting: [ghost, { c: "#b8b2c4", eye: "#5a4f6e", s: 1.2 }],
  pine_poltergeist: [ghost, { c: "#8fb89a", s: 1 }],
  soot_wraith: [ghost, { c: "#3a3436", eye: "#ff8a3a", s: 1.15 }],
  the_mumbler: [ghost, { c: "#6a5f8a", core: "#c8a8e8", eye: "#ffe9a8", s: 1.6 }],
  sour_apple: [fruit, { c: "#9ab83c", c2: "#5f8a3c" }],
  skeleton_clerk: [bones, { c: "#e6dfcc", c2: "#2c2622" }],
  snowman_at_arms: [snowman, { c: "#3a4450" }],
  rime_drake: [drake, { c: "#a8cfe0", c2: "#6f9cb8", belly: "#e6f2f8", eye: "#4aa8ff" }],
  ash_drake: [drake, { c: "#4a4040", c2: "#7a3a28", belly: "#c85a2c" }],
  gravel_golem: [
    upright,
    { c: "#8d8a82", c2: "#6c6962", cracks: "#4f4b45", eye: "#e8e24a", s: 1.4 },
  ],
  glass_golem: [upright, { c: "#a8e6e0", c2: "#74bdb8", cracks: "#eafffc", eye: "#fff", s: 1.6 }],
  hill_lummox: [upright, { c: "#b08a66", c2: "#7d5f44", eye: "#f6ecd8", s: 1.6 }],
  moss_lummox: [upright, { c: "#6c8a4c", c2: "#4a6236", eye: "#e8e24a", s: 1.7 }],
  mire_matron: [upright, { c: "#54684a", c2: "#3a4a34", belly: "#7a8a5c", eye: "#e8e24a", s: 1.5 }],
  yeti_of_leisure: [
    upright,
    { c: "#e6eef2", c2: "#b4c4ce", belly: "#f6fafc", eye: "#3a5a78", s: 1.6 },
  ],
  auntie_avalanche: [
    upright,
    { c: "#e4eef6", c2: "#a8c0d8", belly: "#fff", eye: "#3a6aff", s: 2.2 },
  ],
  the_head_stoker: [
    upright,
    { c: "#6a2c1c", c2: "#3c1a12", horns: true, cracks: "#ffb03a", eye: "#fff04a", s: 2.6 },
  ],
  ember_golem: [
    upright,
    { c: "#4c4440", c2: "#332d2a", cracks: "#ff8a3a", eye: "#ffb04a", s: 1.6 },
  ],
  cinder_knight: [
    upright,
    { c: "#54484a", c2: "#382e30", cracks: "#ff6a2a", eye: "#ffd04a", s: 1.2 },
  ],
  stoker: [upright, { c: "#5c3a2c", c2: "#33211a", horns: true, eye: "#ff8a3a", s: 1.5 }],
  the_landlord: [
    upright,
    { c: "#7a8064", c2: "#545a44", belly: "#9aa07e", eye: "#ffe04a", s: 2.2 },
  ],
};

/** Whether it is a person, and neither a beast nor a thing of straw. */
export const human = ({ npcId }) => !SHAPES[npcId] && !/strawman|scarecrow/.test(npcId);

export function npc(c, entity, how) {
  const known = SHAPES[entity.npcId];
  if (known) known[0](c, known[1], how);
  else if (/strawman|scarecrow|straw_/.test(entity.npcId)) scarecrow(c);
  else person(c, entity.name ?? "?", how);
}
