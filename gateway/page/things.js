// Things that can be carried: what they are called, what is said of them, and how they look.
// A unit is a tile; (0, 0) is where the thing touches the ground, up is negative.

import { box, oval, pick, shape } from "./pen.js";

const FILES = [
  "food",
  "misc",
  "resources",
  "tools",
  "weapons",
  "ammunition",
  "armor",
  "runes",
];
const known = new Map();

/** Reads what the content says of its items; without it, ids serve as names. */
export async function learn() {
  const lists = await Promise.all(
    FILES.map((name) =>
      fetch(`/manifests/items/${name}.json`)
        .then((answer) => (answer.ok ? answer.json() : []))
        .catch(() => []),
    ),
  );
  for (const list of lists)
    for (const item of Array.isArray(list) ? list : (list.items ?? [])) known.set(item.id, item);
}

const plain = (id) => id.charAt(0).toUpperCase() + id.slice(1).replaceAll("_", " ");
const base = (id) => (known.has(id) ? id : id.replace(/_noted$/, ""));
const noted = (id) => (base(id) === id ? "" : " (note)");
export const called = (id) => (known.get(base(id))?.name ?? plain(base(id))) + noted(id);
export const described = (id) =>
  known.get(base(id))?.examine ?? `It is ${called(id).toLowerCase()}.`;
/** Whether it can be worn; a note cannot. */
/** What it is used for by itself, in one word; nothing for most things. */
export function use(id) {
  const item = known.get(id);
  if (item?.healAmount > 0) return "Eat";
  return item?.prayerXp > 0 ? "Bury" : undefined;
}
export const wearable = (id) => Boolean(known.get(id)?.equipSlot);
export const counted = (id, quantity) =>
  quantity > 1 ? `${called(id)} × ${quantity.toLocaleString("en")}` : called(id);

/** A quantity in at most four characters. */
export function short(n) {
  if (n < 10000) return String(n);
  if (n < 10000000) return `${Math.floor(n / 1000)}K`;
  return `${Math.floor(n / 1000000)}M`;
}

const METALS = { bronze: "#b98146", iron: "#8f8f95", steel: "#b9c2cc", silver: "#d5dce2" };
const metal = (id) => METALS[Object.keys(METALS).find((name) => id.includes(name))] ?? "#9aa0a6";
const WOOD = "#7a5532";

function stick(c, x, y, long, turn, color) {
  c.save();
  c.translate(x, y);
  c.rotate(turn);
  box(c, -0.035, -long, 0.07, long, color);
  c.restore();
}

function hatchet(c, id) {
  stick(c, -0.22, 0.02, 0.72, 0.7, WOOD);
  shape(c, metal(id), [0.02, -0.5], [0.3, -0.62], [0.36, -0.36], [0.14, -0.3]);
}

function pickaxe(c, id) {
  stick(c, -0.22, 0.02, 0.7, 0.7, WOOD);
  c.strokeStyle = metal(id);
  c.lineWidth = 0.1;
  c.beginPath();
  c.arc(-0.02, -0.26, 0.42, -1.5, 0.1);
  c.stroke();
}

function blade(c, id) {
  shape(c, metal(id), [-0.2, -0.1], [0.26, -0.62], [0.3, -0.5], [-0.1, 0]);
  stick(c, -0.28, 0.06, 0.24, 0.75, WOOD);
  stick(c, -0.26, -0.2, 0.3, 2.3, "#5d4630");
}

function bow(c) {
  c.lineWidth = 0.07;
  c.strokeStyle = WOOD;
  c.beginPath();
  c.arc(-0.2, -0.3, 0.42, -1.2, 1.2);
  c.stroke();
  c.lineWidth = 0.02;
  c.strokeStyle = "#e9e2cf";
  c.beginPath();
  c.moveTo(-0.05, -0.69);
  c.lineTo(-0.05, 0.09);
  c.stroke();
}

function arrow(c) {
  stick(c, -0.28, 0.02, 0.78, 0.75, "#a98555");
  shape(c, "#9aa0a6", [0.32, -0.62], [0.2, -0.56], [0.26, -0.48]);
  shape(c, "#d9d3c4", [-0.32, 0.06], [-0.16, -0.04], [-0.2, -0.14], [-0.36, 0]);
}

function rod(c) {
  stick(c, -0.28, 0.05, 0.95, 0.6, "#8a6a41");
  c.lineWidth = 0.02;
  c.strokeStyle = "#e9e2cf";
  c.beginPath();
  c.moveTo(0.25, -0.73);
  c.quadraticCurveTo(0.4, -0.3, 0.3, -0.05);
  c.stroke();
  oval(c, 0.3, -0.03, 0.05, 0.05, "#d9604c");
}

function net(c) {
  c.lineWidth = 0.03;
  c.strokeStyle = "#cbb88c";
  for (let n = 0; n < 4; n += 1) {
    c.beginPath();
    c.ellipse(0, -0.28, 0.3, 0.09 + n * 0.07, 0, 0, 7);
    c.ellipse(0, -0.28, 0.09 + n * 0.07, 0.3, 0, 0, 7);
    c.stroke();
  }
}

const LOGS = {
  birch: "#cfc5ae",
  oak: "#8a6238",
  willow: "#75683f",
  plum: "#7c4a4a",
  palm: "#a58a55",
  pine: "#6d4a2c",
  maple: "#9a5a34",
  yew: "#7d4526",
};

function logs(c, id) {
  const bark = LOGS[id.split("_")[0]] ?? "#7a5532";
  for (const [x, y] of [
    [-0.14, -0.08],
    [0.16, -0.08],
    [0.01, -0.28],
  ]) {
    box(c, x - 0.16, y - 0.12, 0.36, 0.22, bark);
    oval(c, x - 0.16, y - 0.01, 0.09, 0.11, "#d9bd8b");
    oval(c, x - 0.16, y - 0.01, 0.045, 0.055, "#b08f5c");
  }
}

const ORES = {
  clay: "#b0876a",
  copper_ore: "#c07a48",
  tin_ore: "#aeb4b8",
  iron_ore: "#8c5a44",
  coal: "#2c2c30",
  silver_ore: "#cfd8de",
  starglass_shard: "#8fc8e8",
  ember_core: "#e8743a",
};

function stone(c, id) {
  const tone = ORES[id];
  shape(c, "#77726a", [-0.34, 0.02], [-0.26, -0.3], [0, -0.42], [0.28, -0.26], [0.34, 0.02]);
  for (const [x, y, r] of [
    [-0.14, -0.16, 0.09],
    [0.12, -0.24, 0.08],
    [0.14, -0.06, 0.1],
    [-0.04, -0.32, 0.05],
  ])
    oval(c, x, y, r, r * 0.8, tone);
}

function coins(c) {
  for (const [x, y] of [
    [-0.18, -0.05],
    [0.14, -0.03],
    [-0.04, -0.14],
    [0.18, -0.18],
    [-0.16, -0.22],
    [0.03, -0.28],
  ]) {
    oval(c, x, y + 0.03, 0.15, 0.085, "#8a6420");
    oval(c, x, y, 0.15, 0.085, "#edc25c");
    oval(c, x - 0.02, y - 0.01, 0.08, 0.04, "#f8dc8c");
  }
}

function fish(c, id) {
  const cooked = !id.startsWith("raw_");
  const tone = cooked ? "#a86a34" : pick(["#7f9db0", "#8fae9b", "#a4a9b8", "#92a0c0"], id, 1);
  oval(c, -0.04, -0.22, 0.3, 0.15, tone);
  shape(c, tone, [0.2, -0.22], [0.42, -0.38], [0.42, -0.06]);
  oval(c, -0.2, -0.26, 0.035, 0.035, "#20242a");
}

function meat(c, id) {
  oval(c, -0.04, -0.22, 0.3, 0.2, id.startsWith("raw_") ? "#c4605a" : "#8a5030");
  stick(c, 0.2, -0.1, 0.3, 1.1, "#efe6d2");
  oval(c, -0.1, -0.28, 0.13, 0.07, "rgba(255,255,255,.25)");
}

function bowl(c, id) {
  oval(c, 0, -0.26, 0.34, 0.1, pick(["#b5602e", "#c9a04a", "#6f8f4c"], id, 2));
  shape(c, "#8a6238", [-0.36, -0.26], [0.36, -0.26], [0.2, 0.02], [-0.2, 0.02]);
}

function round(c, id) {
  oval(c, 0, -0.22, 0.26, 0.24, pick(["#8a4a78", "#b08a4a", "#c0503c", "#7d8f48"], id, 3));
  stick(c, 0, -0.42, 0.14, 0.3, "#5d4630");
  oval(c, -0.09, -0.3, 0.07, 0.06, "rgba(255,255,255,.35)");
}

function pelt(c, id) {
  const tone = pick(["#8a6a48", "#75685a", "#b9c2c8", "#a05a30"], id, 4);
  shape(c, tone, [-0.34, -0.5], [0.34, -0.5], [0.24, -0.26], [0.34, 0], [-0.34, 0], [-0.24, -0.26]);
  oval(c, 0, -0.25, 0.1, 0.16, "rgba(0,0,0,.12)");
}

function bones(c) {
  for (const turn of [0.9, -0.9]) {
    c.save();
    c.translate(0, -0.2);
    c.rotate(turn);
    box(c, -0.04, -0.3, 0.08, 0.6, "#efe6d2");
    for (const y of [-0.3, 0.3])
      for (const x of [-0.05, 0.05]) oval(c, x, y, 0.065, 0.065, "#efe6d2");
    c.restore();
  }
}

function tinderbox(c) {
  box(c, -0.3, -0.3, 0.6, 0.3, "#6d5230");
  box(c, -0.3, -0.38, 0.6, 0.1, "#8a6a41");
  oval(c, 0.02, -0.18, 0.06, 0.06, "#cfd4d8");
  shape(c, "#f0a63c", [-0.06, -0.42], [0, -0.66], [0.07, -0.42]);
}

/** A bag with the first letters of what is in it. */
function bag(c, id) {
  oval(c, 0, -0.2, 0.3, 0.26, pick(["#8a6d48", "#6f7a52", "#7d5a5e", "#5f6f80"], id, 5));
  shape(c, "#5d4630", [-0.12, -0.42], [0.12, -0.42], [0.2, -0.56], [-0.2, -0.56]);
  c.fillStyle = "#f3ead6";
  c.font = "600 0.26px Georgia,serif";
  c.textAlign = "center";
  c.fillText(called(id).slice(0, 2), 0, -0.11);
}

const LOOKS = [
  [/hatchet/, hatchet],
  [/pickaxe|auger/, pickaxe],
  [/dagger|sword|claw|horn/, blade],
  [/bow$/, bow],
  [/^arrow|feather/, arrow],
  [/_rod$/, rod],
  [/net$/, net],
  [/logs$/, logs],
  [/^coins$/, coins],
  [/tinderbox/, tinderbox],
  [/bones/, bones],
  [/pelt|hide|brush|wool/, pelt],
  [/stew|soup|jam|bucket/, bowl],
  [/plum|chestnut|mushroom|bread|cheese|acorn/, round],
  [/beef|hen|hare|venison|boar|legs/, meat],
  [/sprat|mackerel|dace|pike|trout|fin$/, fish],
];

/** A sheet of paper with a small picture of what it stands for. */
function note(c, id) {
  shape(c, "#efe6d2", [-0.3, -0.6], [0.3, -0.56], [0.28, 0.02], [-0.32, 0]);
  c.save();
  c.translate(0, -0.1);
  c.scale(0.6, 0.6);
  thing(c, id);
  c.restore();
}

/** Draws the item. */
export function thing(c, id) {
  if (ORES[id]) return stone(c, id);
  if (noted(id)) return note(c, base(id));
  const look = LOOKS.find(([words]) => words.test(id));
  return (look?.[1] ?? bag)(c, id);
}
