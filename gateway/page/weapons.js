// Weapons and tools, drawn in code, in a slot and in somebody's hand.
// A unit is a tile; (0, 0) is where the thing touches the ground, up is negative.

import { box, hoop, line, oval, placed, shape } from "./pen.js";
import { metal, stuff } from "./stuffs.js";

const WOOD = "#7a5532";
const DARK_WOOD = "#5d4630";
const LIGHT = "rgba(255,255,255,.35)";
const BRASS = "#e8b65a";

export function stick(c, x, y, long, turn, color, wide = 0.07) {
  placed(c, x, y, turn, 1, (d) => box(d, -wide / 2, -long, wide, long, color));
}

/** Paints along the diagonal of a slot: up is towards the upper right there. */
const slanted = (c, turn, paint) => placed(c, -0.24, 0.03, turn, 1, paint);

function hatchet(c, id) {
  const { tone, trim } = stuff(id, "#9aa0a6");
  stick(c, -0.22, 0.02, 0.72, 0.7, WOOD);
  shape(c, tone, [0.02, -0.5], [0.3, -0.62], [0.36, -0.36], [0.14, -0.3]);
  shape(c, trim, [0.02, -0.5], [0.14, -0.55], [0.22, -0.32], [0.14, -0.3]);
  line(c, LIGHT, 0.025, 0.3, -0.58, 0.34, -0.4);
}

function pickaxe(c, id) {
  const { tone, trim } = stuff(id, "#9aa0a6");
  stick(c, -0.22, 0.02, 0.7, 0.7, WOOD);
  hoop(c, -0.02, -0.26, 0.42, 0.42, tone, 0.11, -1.5, 0.1);
  hoop(c, -0.02, -0.26, 0.42, 0.42, trim, 0.12, -0.84, -0.56);
}

function auger(c) {
  stick(c, -0.22, 0.02, 0.4, 0.7, "#9aa0a6", 0.05);
  hoop(c, -0.2, 0, 0.1, 0.06, "#9aa0a6", 0.04);
  hoop(c, -0.12, -0.08, 0.1, 0.06, "#9aa0a6", 0.04);
  stick(c, 0.02, -0.28, 0.5, 0.7, WOOD);
  stick(c, 0.1, -0.62, 0.34, 1.9, WOOD);
}

/** A straight blade: how long, how wide, and how its guard looks. */
function blade(c, id, long, wide, guard, grip = 0.16) {
  const { tone, trim } = stuff(id, "#9aa0a6");
  slanted(c, 0.74, (d) => {
    box(d, -0.04, -grip, 0.08, grip, DARK_WOOD);
    oval(d, 0, 0.02, 0.055, 0.055, guard);
    const from = -grip - 0.04;
    shape(d, tone, [-wide, from], [-wide, from - long * 0.84], [0, from - long], [0, from]);
    shape(d, trim, [wide, from], [wide, from - long * 0.84], [0, from - long], [0, from]);
    line(d, LIGHT, 0.025, -wide * 0.5, from - 0.02, -wide * 0.5, from - long * 0.75);
    box(d, -wide - 0.09, from - 0.01, wide * 2 + 0.18, 0.06, guard);
  });
}

const dagger = (c, id) => blade(c, id, 0.36, 0.065, DARK_WOOD);
const shortsword = (c, id) => blade(c, id, 0.56, 0.07, "#8a6238");
const longsword = (c, id) => blade(c, id, 0.76, 0.055, BRASS);
const greatsword = (c, id) => blade(c, id, 0.78, 0.12, "#6b4a22", 0.24);

function sabre(c, id) {
  const { tone, trim } = stuff(id, "#9aa0a6");
  slanted(c, 0.5, (d) => {
    box(d, -0.04, -0.16, 0.08, 0.18, DARK_WOOD);
    hoop(d, 0.03, -0.1, 0.09, 0.1, BRASS, 0.035, -1.4, 1.5);
    d.fillStyle = tone;
    d.beginPath();
    d.moveTo(-0.06, -0.18);
    d.quadraticCurveTo(-0.1, -0.62, 0.32, -0.86);
    d.quadraticCurveTo(0.1, -0.5, 0.06, -0.18);
    d.fill();
    d.strokeStyle = trim;
    d.lineWidth = 0.035;
    d.beginPath();
    d.moveTo(0.05, -0.2);
    d.quadraticCurveTo(0.08, -0.52, 0.3, -0.84);
    d.stroke();
  });
}

function mace(c, id) {
  const { tone, trim } = stuff(id, "#9aa0a6");
  stick(c, -0.22, 0.04, 0.6, 0.7, WOOD);
  for (const [x, y] of [
    [0.4, -0.52],
    [0.28, -0.68],
    [0.06, -0.58],
    [0.3, -0.3],
  ])
    oval(c, x, y, 0.06, 0.06, trim);
  oval(c, 0.22, -0.48, 0.17, 0.17, tone);
  oval(c, 0.17, -0.54, 0.06, 0.05, LIGHT);
}

function collector(c) {
  stick(c, -0.22, 0.04, 0.56, 0.7, "#4a3524", 0.11);
  oval(c, 0.22, -0.48, 0.22, 0.22, "#6b4a22");
  oval(c, 0.22, -0.48, 0.16, 0.16, "#edc25c");
  box(c, 0.2, -0.58, 0.04, 0.2, "#8a6420");
}

function duster(c) {
  stick(c, -0.24, 0.04, 0.46, 0.7, WOOD, 0.06);
  for (let n = 0; n < 7; n += 1)
    placed(c, 0.06, -0.3, 0.7 + (n - 3) * 0.3, 1, (d) =>
      oval(d, 0, -0.24, 0.08, 0.22, n % 2 ? "#f6f3ec" : "#dcd6ca"),
    );
}

function harpoon(c) {
  stick(c, -0.3, 0.06, 0.86, 0.7, WOOD, 0.05);
  shape(c, "#9aa0a6", [0.4, -0.76], [0.2, -0.66], [0.28, -0.6], [0.32, -0.5]);
  line(c, "#d9c79a", 0.03, -0.28, 0.04, -0.34, -0.18, -0.14, -0.28, -0.2, -0.44);
}

function tongs(c) {
  line(c, "#5a5f66", 0.06, -0.32, -0.06, 0.06, -0.36, 0.18, -0.62, 0.34, -0.66);
  line(c, "#757b83", 0.06, -0.2, 0.04, 0.06, -0.36, 0.32, -0.44, 0.38, -0.6);
  oval(c, 0.06, -0.36, 0.05, 0.05, BRASS);
}

function knife(c) {
  stick(c, -0.26, 0.02, 0.26, 0.74, "#8c3b3b", 0.1);
  shape(c, "#d5dbe0", [-0.12, -0.22], [-0.03, -0.12], [0.26, -0.38], [0.32, -0.6]);
  line(c, "#8f979f", 0.02, -0.03, -0.13, 0.26, -0.39);
}

function needle(c) {
  line(c, "#cfd6dc", 0.04, -0.3, 0.02, 0.22, -0.52);
  hoop(c, 0.26, -0.56, 0.05, 0.07, "#cfd6dc", 0.03);
  line(c, "#c8503c", 0.025, 0.26, -0.56, 0.36, -0.36, 0.16, -0.24, 0.3, -0.06);
}

function chisel(c) {
  stick(c, -0.3, 0.04, 0.3, 0.74, "#c9913f", 0.12);
  shape(c, "#9aa4ad", [-0.14, -0.18], [-0.06, -0.1], [0.3, -0.46], [0.2, -0.56]);
  line(c, "#e6edf2", 0.03, 0.2, -0.55, 0.3, -0.46);
}

const BOWS = {
  crooked: "#8a6a41",
  oak: "#b07c3c",
  willow: "#95984e",
  maple: "#c4622f",
  yew: "#7a2f2a",
  hushwood: "#465a78",
  avalanche: "#a8d4ee",
};

/** A bow, short or long; without its string it is nearly straight. */
function bow(c, id) {
  const tone = BOWS[id.split("_")[0]] ?? WOOD;
  const long = id.includes("longbow");
  const strung = !id.includes("unstrung");
  const [tall, bend] = [long ? 0.48 : 0.36, (strung ? 0.3 : 0.12) * (long ? 1.1 : 1)];
  const x = strung ? -0.08 : -0.02;
  c.strokeStyle = tone;
  c.lineWidth = long ? 0.06 : 0.085;
  c.lineCap = "round";
  c.beginPath();
  c.moveTo(x, -0.34 - tall);
  c.quadraticCurveTo(x + bend * 2, -0.34, x, -0.34 + tall);
  c.stroke();
  if (long)
    for (const side of [-1, 1])
      line(c, tone, 0.05, x, -0.34 + side * tall, x - 0.1, -0.34 + side * (tall + 0.03));
  line(c, "rgba(40,26,14,.6)", 0.09, x + bend, -0.42, x + bend, -0.26);
  if (strung) line(c, "#f1ead8", 0.022, x, -0.34 - tall, x, -0.34 + tall);
  else line(c, "rgba(255,255,255,.3)", 0.03, x + bend * 0.5, -0.6, x + bend * 0.9, -0.46);
  if (id.startsWith("crooked"))
    line(c, tone, 0.05, x + bend * 0.8, -0.5, x + bend * 0.8 + 0.12, -0.6);
  if (id.startsWith("avalanche"))
    for (const y of [-0.66, -0.34, -0.04]) oval(c, x + bend * 0.8, y, 0.09, 0.08, "#f6fbff");
}

/** Arrows in a bundle, each with the tip of its metal. */
function arrows(c, id) {
  const plain = id === "arrow";
  for (const x of plain ? [0] : [-0.16, 0.02, 0.2])
    placed(c, x, 0, 0.5, 1, (d) => {
      box(d, -0.02, -0.62, 0.04, 0.62, "#a98555");
      shape(d, stuff(id, "#6d6a66").tone, [-0.09, -0.58], [0, -0.78], [0.09, -0.58]);
      for (const side of [-1, 1])
        shape(
          d,
          plain ? "#d9d3c4" : stuff(id).trim,
          [0, -0.2],
          [side * 0.08, -0.1],
          [side * 0.08, 0.02],
          [0, -0.06],
        );
    });
}

function arrowtips(c, id) {
  const { tone, trim } = stuff(id, "#9aa0a6");
  for (const [x, y] of [
    [-0.2, -0.06],
    [0.14, -0.02],
    [-0.02, -0.34],
  ]) {
    shape(c, tone, [x - 0.13, y], [x, y - 0.32], [x, y - 0.06]);
    shape(c, trim, [x + 0.13, y], [x, y - 0.32], [x, y - 0.06]);
  }
}

function shafts(c) {
  for (const x of [-0.18, -0.04, 0.1]) stick(c, x - 0.1, 0.04, 0.78, 0.45, "#b3905c", 0.05);
  line(c, "#8c3b3b", 0.05, -0.16, -0.22, 0.2, -0.36);
}

function rod(c, id) {
  const fly = id.startsWith("fly");
  stick(c, -0.28, 0.05, 0.95, 0.6, fly ? "#3f6b5a" : "#8a6a41", fly ? 0.05 : 0.07);
  if (fly) oval(c, -0.16, -0.06, 0.09, 0.09, BRASS);
  c.lineWidth = 0.02;
  c.strokeStyle = "#e9e2cf";
  c.beginPath();
  c.moveTo(0.25, -0.73);
  c.quadraticCurveTo(0.4, -0.3, 0.3, -0.05);
  c.stroke();
  if (fly) for (const x of [-0.07, 0.07]) oval(c, 0.3 + x, -0.05, 0.07, 0.04, "#e87a5c");
  else oval(c, 0.3, -0.03, 0.06, 0.06, "#d9604c");
}

function net(c, id) {
  const big = id.startsWith("big");
  const tone = big ? "#a89468" : "#d6c59a";
  if (!big) stick(c, -0.3, 0.06, 0.4, 0.75, WOOD);
  const [x, y, r] = big ? [0, -0.34, 0.38] : [0.1, -0.38, 0.24];
  for (let n = 1; n < 4; n += 1) {
    hoop(c, x, y, r, (r * n) / 4, tone, 0.025);
    hoop(c, x, y, (r * n) / 4, r, tone, 0.025);
  }
  hoop(c, x, y, r, r, big ? "#5f4a30" : WOOD, 0.05);
  if (big)
    for (const a of [0.4, 1.6, 2.7])
      oval(c, x + Math.cos(a) * r, y + Math.sin(a) * r, 0.06, 0.06, "#c8503c");
}

function basket(c) {
  oval(c, 0, -0.26, 0.36, 0.28, "#7a5a34");
  for (let n = -2; n < 3; n += 1)
    line(
      c,
      "#c9a86a",
      0.04,
      n * 0.13,
      -0.5 + Math.abs(n) * 0.06,
      n * 0.15,
      -0.02 - Math.abs(n) * 0.05,
    );
  for (const y of [-0.38, -0.22, -0.08]) line(c, "#c9a86a", 0.04, -0.3, y, 0.3, y);
  oval(c, 0, -0.5, 0.12, 0.06, "#2c2018");
}

function hammer(c, id) {
  stick(c, -0.22, 0.04, 0.62, 0.7, WOOD);
  placed(c, 0.2, -0.46, 0.7, 1, (d) => {
    box(d, -0.24, -0.12, 0.46, 0.22, metal(id));
    box(d, -0.24, -0.12, 0.1, 0.22, "rgba(0,0,0,.3)");
  });
}

/** The head of each staff, with its foot at the upper end of the wood. */
const HEADS = {
  walking: (d) => hoop(d, 0.1, 0, 0.1, 0.1, "#8a5a34", 0.08, 3.1, 6.6),
  weathervane(d) {
    line(d, "#4d5560", 0.05, -0.22, -0.06, 0.22, -0.06);
    shape(d, "#c8503c", [0.22, -0.16], [0.36, -0.06], [0.22, 0.04]);
    shape(d, BRASS, [-0.1, -0.08], [-0.02, -0.3], [0.1, -0.22], [0.12, -0.08]);
  },
  drainpipe(d) {
    box(d, -0.09, -0.1, 0.18, 0.2, "#7f8f94");
    hoop(d, 0.12, -0.1, 0.12, 0.12, "#7f8f94", 0.13, 3.1, 6.2);
    shape(d, "#5c9fe0", [0.24, 0.02], [0.18, 0.14], [0.24, 0.2], [0.3, 0.14]);
  },
  hayfork(d) {
    for (const x of [-0.14, 0, 0.14]) line(d, "#8d939a", 0.045, 0, 0.02, x, -0.06, x, -0.28);
    oval(d, 0.05, 0, 0.12, 0.06, "#e0c25a");
  },
  poker(d) {
    line(d, "#3a3c42", 0.08, 0, 0.1, 0, -0.2);
    line(d, "#3a3c42", 0.06, 0, -0.08, 0.12, -0.18);
    oval(d, 0, -0.2, 0.08, 0.1, "#ff8a2a");
    oval(d, 0, -0.2, 0.04, 0.06, "#ffe08a");
  },
  barometer(d) {
    oval(d, 0, -0.14, 0.18, 0.18, "#8a6238");
    oval(d, 0, -0.14, 0.13, 0.13, "#f6f1e2");
    line(d, "#a8382c", 0.03, 0, -0.14, 0.08, -0.21);
  },
  compost(d) {
    oval(d, 0, -0.1, 0.16, 0.14, "#5a3f26");
    oval(d, -0.08, -0.2, 0.12, 0.06, "#7fae4a");
    oval(d, 0.1, -0.2, 0.1, 0.06, "#a9c85a");
    oval(d, 0.02, -0.1, 0.05, 0.05, "#ff9a3a");
  },
  mumbling(d) {
    oval(d, 0, -0.12, 0.16, 0.17, "#b9a2e6");
    for (const x of [-0.06, 0.06]) oval(d, x, -0.16, 0.028, 0.035, "#2c2140");
    oval(d, 0, -0.06, 0.05, 0.035, "#2c2140");
  },
};

function staff(c, id) {
  const kind = Object.keys(HEADS).find((name) => id.includes(name));
  const wood = { drainpipe: "#8fa0a4", poker: "#4a4c52", compost: "#6a5a34", mumbling: "#4a3a5c" };
  stick(c, -0.24, 0.06, 0.68, 0.5, wood[kind] ?? WOOD);
  placed(c, 0.08, -0.5, 0.5, 0.9, (d) =>
    kind ? HEADS[kind](d) : oval(d, 0, -0.1, 0.13, 0.13, "#8fc8e8"),
  );
}

export const WEAPONS = [
  [/hatchet/, hatchet],
  [/auger/, auger],
  [/pickaxe/, pickaxe],
  [/staff|wand|walking_stick/, staff],
  [/collector/, collector],
  [/duster/, duster],
  [/mace|club|maul/, mace],
  [/hammer/, hammer],
  [/sabre|scimitar/, sabre],
  [/greatsword|halberd/, greatsword],
  [/longsword|spear/, longsword],
  [/^harpoon|trident/, harpoon],
  [/tongs/, tongs],
  [/^knife/, knife],
  [/needle/, needle],
  [/chisel/, chisel],
  [/dagger/, dagger],
  [/sword$|blade$/, shortsword],
  [/bow$|bow_/, bow],
  [/arrowtips/, arrowtips],
  [/shaft$/, shafts],
  [/arrow|bolt$|dart/, arrows],
  [/_rod$/, rod],
  [/lobster_pot/, basket],
  [/_net$/, net],
];

/** Where a hand holds it, how far it leans to the right in its slot, and its size in the hand. */
const GRIPS = new Map([
  [bow, [0.16, -0.34, 0, 0.8]],
  [staff, [-0.1, -0.2, 0.5, 1.05]],
  [rod, [-0.2, -0.08, 0.6, 0.95]],
  [sabre, [-0.22, -0.02, 0.6, 0.68]],
]);
const GRIP = [-0.2, -0.01, 0.74, 0.68];

/** Whether it is a bow, a staff or something to strike with. */
export function kind(id) {
  const look = WEAPONS.find(([words]) => words.test(id))?.[1];
  return look === bow ? "bow" : look === staff ? "staff" : "blade";
}

/** Draws it upright with the hand at (0, 0); false for what is no weapon and no tool. */
export function held(c, id) {
  const look = WEAPONS.find(([words]) => words.test(id))?.[1];
  if (!look) return false;
  const [x, y, lean, size] = GRIPS.get(look) ?? GRIP;
  c.save();
  c.rotate(-lean);
  c.scale(size, size);
  c.translate(-x, -y);
  look(c, id);
  c.restore();
  return true;
}
