// What things are made of: a colour, a trim and a mark for each metal, hide, cloth and gem. A mark
// is half a tile wide, with its middle at (0, 0).

import { box, line, oval, pick, shape } from "./pen.js";

const STUFFS = {
  starglass: ["#8fe6ea", "#3f97a8", gleam],
  bronze: ["#b87a3c", "#74431a"],
  iron: ["#8d8783", "#544f4c"],
  steel: ["#adc0d4", "#6a7f96", gleam],
  cobalt: ["#4a70d4", "#253c78"],
  wolfram: ["#4b4f5a", "#24262c", studs],
  ember: ["#e2703a", "#7a2a16", cracks],
  dustbin: ["#a9b0ad", "#6f7775", rims],
  drawing: ["#f3ead6", "#5a4a3c", scrawl],
  ice_claw: ["#c4e6f4", "#5f9cc0", gleam],
  crab: ["#d2583c", "#f0c8a8", studs],
  boiled: ["#6a4020", "#3d2411", rims],
  studded: ["#93602f", "#d9d3c4", studs],
  wolfhide: ["#80848c", "#4d5158", tufts],
  wolf: ["#80848c", "#4d5158", tufts],
  lurker: ["#56703f", "#35482a", scales],
  rime: ["#a6cfe4", "#5f8cab", scales],
  ashhide: ["#544a4c", "#e07a3c", cracks],
  ash: ["#544a4c", "#e07a3c", cracks],
  leather: ["#9c6434", "#5f3a1c"],
  starry: ["#33448c", "#f2d66a", stars],
  overcast: ["#8f9bb0", "#e9eef4", cloud],
  thunderhead: ["#4d3f6c", "#ffdf4a", bolt],
  conical: ["#8c3b62", "#e8b65a"],
  woolly: ["#c8503c", "#f3ead6", rims],
  patchwork: ["#6f8f4c", "#c8503c", patches],
  scarf: ["#3f7f8c", "#e8d8a8", rims],
  red_cape: ["#c02f2f", "#7a1c1c"],
  fox: ["#c8642c", "#f6e6cc", tufts],
  frost: ["#dfeef6", "#8fb6cf", stars],
  scale: ["#3f7a63", "#27503f", scales],
  fur_coat: ["#8a6848", "#d9c4a0", tufts],
  wellingtons: ["#3f8a4c", "#25552d", gleam],
  mittens: ["#c9573f", "#f3ead6", rims],
  silver: ["#eaeef0", "#a3adb4"],
  gold: ["#ecc04a", "#a87a20"],
  quartz: ["#f2dfe6", "#c9a9b4", gleam],
  amber: ["#eb9a2c", "#a85f10"],
  garnet: ["#a3243c", "#63101f"],
  sapphire: ["#3868d8", "#1c3a86"],
  diamond: ["#e4f6fc", "#9cc4d4", gleam],
};
const CLOTHS = ["#8a5a34", "#5c4a6e", "#3f6b5a", "#7c3b3b", "#54608f"];
const NAMES = Object.keys(STUFFS);
const known = new Map();

/** `{ tone, trim, mark }` of what it is named for; `metal` where it is named for nothing. */
export function stuff(id, tone) {
  let found = known.get(id);
  if (!found) {
    const [own, trim, mark] = STUFFS[NAMES.find((name) => id.includes(name))] ?? [];
    found = { tone: own, trim: trim ?? "#4a3a2c", mark };
    known.set(id, found);
  }
  return found.tone ? found : { ...found, tone: tone ?? pick(CLOTHS, id, 1) };
}

const STEEL = "#9aa0a6";
export const metal = (id) => stuff(id, STEEL).tone;

function studs(c, trim) {
  for (const x of [-0.16, 0, 0.16])
    for (const y of [-0.12, 0.04, 0.2]) oval(c, x, y, 0.032, 0.032, trim);
}

function gleam(c) {
  shape(c, "rgba(255,255,255,.5)", [-0.2, 0.1], [0.02, -0.2], [0.1, -0.2], [-0.12, 0.14]);
  line(c, "rgba(255,255,255,.8)", 0.03, 0.16, -0.2, 0.16, -0.04);
  line(c, "rgba(255,255,255,.8)", 0.03, 0.08, -0.12, 0.24, -0.12);
}

function cracks(c, trim) {
  const glow = trim === "#7a2a16" ? "#ffd25a" : "#ff8a3a";
  line(c, glow, 0.04, -0.16, -0.2, -0.02, -0.06, -0.1, 0.06, 0.02, 0.22);
  line(c, glow, 0.035, 0.2, -0.14, 0.1, 0, 0.16, 0.14);
}

function rims(c, trim) {
  for (const y of [-0.16, 0, 0.16]) line(c, trim, 0.045, -0.22, y, 0.22, y);
}

function scrawl(c, trim) {
  line(c, trim, 0.03, -0.18, -0.18, 0.16, -0.16, 0.12, 0.1, -0.02, 0.24, -0.16, 0.06, -0.18, -0.18);
  line(c, trim, 0.03, 0, -0.14, 0, 0.16);
}

function tufts(c, trim) {
  for (const [x, y] of [
    [-0.16, -0.12],
    [0.02, -0.16],
    [0.18, -0.08],
    [-0.08, 0.02],
    [0.1, 0.06],
    [-0.16, 0.16],
    [0.02, 0.2],
  ])
    line(c, trim, 0.035, x - 0.05, y - 0.03, x, y + 0.04, x + 0.05, y - 0.03);
}

function scales(c, trim) {
  c.strokeStyle = trim;
  c.lineWidth = 0.032;
  c.beginPath();
  for (let row = 0; row < 3; row += 1)
    for (let n = 0; n < 3; n += 1) {
      const x = -0.16 + n * 0.16 + (row % 2) * 0.08 - 0.04;
      c.moveTo(x + 0.08, -0.14 + row * 0.14);
      c.arc(x, -0.14 + row * 0.14, 0.08, 0, Math.PI);
    }
  c.stroke();
}

function stars(c, trim) {
  for (const [x, y, r] of [
    [-0.12, -0.1, 0.07],
    [0.13, -0.02, 0.055],
    [-0.05, 0.16, 0.05],
    [0.08, -0.2, 0.035],
  ])
    shape(
      c,
      trim,
      [x - r, y],
      [x - r * 0.25, y - r * 0.25],
      [x, y - r],
      [x + r * 0.25, y - r * 0.25],
      [x + r, y],
      [x + r * 0.25, y + r * 0.25],
      [x, y + r],
      [x - r * 0.25, y + r * 0.25],
    );
}

function cloud(c, trim) {
  oval(c, -0.08, 0.02, 0.09, 0.07, trim);
  oval(c, 0.08, 0.02, 0.1, 0.08, trim);
  oval(c, 0, -0.05, 0.1, 0.09, trim);
  for (const x of [-0.1, 0, 0.1]) line(c, "#5f8fc0", 0.025, x, 0.14, x - 0.03, 0.22);
}

function bolt(c, trim) {
  shape(
    c,
    trim,
    [0.06, -0.24],
    [-0.12, 0.04],
    [0, 0.04],
    [-0.06, 0.26],
    [0.14, -0.04],
    [0.02, -0.04],
  );
}

function patches(c, trim) {
  box(c, -0.2, -0.2, 0.16, 0.15, trim);
  box(c, 0.02, -0.1, 0.17, 0.16, "#e8b65a");
  box(c, -0.14, 0.06, 0.15, 0.15, "#54608f");
}
