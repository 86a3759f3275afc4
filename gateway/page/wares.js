// How things that can be carried look, drawn in code: by what they are called, else by where they
// are worn. A unit is a tile; (0, 0) is where the thing touches the ground, up is negative.

import { armour, metal } from "./armour.js";
import { box, oval, pick, shape } from "./pen.js";
import { herb } from "./potions.js";

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
  soft_clay: "#c09a7c",
  blank_slate: "#9aa0a6",
  clean_slate: "#c8d0d6",
};

function stone(c, id) {
  const tone = ORES[id] ?? pick(["#5c8fc8", "#4fa86a", "#a8484a"], id, 11);
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
function bag(c, id, name) {
  oval(c, 0, -0.2, 0.3, 0.26, pick(["#8a6d48", "#6f7a52", "#7d5a5e", "#5f6f80"], id, 5));
  shape(c, "#5d4630", [-0.12, -0.42], [0.12, -0.42], [0.2, -0.56], [-0.2, -0.56]);
  c.fillStyle = "#f3ead6";
  c.font = "600 0.26px Georgia,serif";
  c.textAlign = "center";
  c.fillText(name.slice(0, 2), 0, -0.11);
}

function bar(c, id) {
  shape(c, metal(id), [-0.36, 0], [-0.24, -0.26], [0.36, -0.26], [0.28, 0]);
  shape(c, "rgba(255,255,255,.25)", [-0.24, -0.26], [-0.16, -0.38], [0.42, -0.38], [0.36, -0.26]);
  shape(c, "rgba(0,0,0,.2)", [0.28, 0], [0.36, -0.26], [0.42, -0.38], [0.36, -0.12]);
}

const MARKS = { gust: "#dfe8ea", dew: "#6fb0d8", loam: "#8fae4c", spark: "#e8743a" };

function rune(c, id) {
  const tone = MARKS[id.split("_")[0]] ?? pick(["#b9a2e6", "#e9a3b4", "#d8c25a"], id, 6);
  oval(c, 0, -0.28, 0.3, 0.32, "#6d6a66");
  oval(c, -0.03, -0.31, 0.26, 0.27, "#8d8a84");
  c.strokeStyle = tone;
  c.lineWidth = 0.06;
  c.beginPath();
  c.moveTo(-0.12, -0.16);
  c.lineTo(-0.02, -0.46);
  c.lineTo(0.1, -0.18);
  c.moveTo(-0.14, -0.32);
  c.lineTo(0.14, -0.34);
  c.stroke();
}

function staff(c, id) {
  stick(c, -0.24, 0.06, 0.98, 0.5, WOOD);
  oval(c, 0.25, -0.82, 0.13, 0.13, pick(["#8fc8e8", "#e8743a", "#b9a2e6", "#8fae4c"], id, 7));
  oval(c, 0.21, -0.86, 0.05, 0.05, "rgba(255,255,255,.6)");
}

function mace(c, id) {
  stick(c, -0.22, 0.04, 0.6, 0.7, WOOD);
  oval(c, 0.22, -0.48, 0.17, 0.17, metal(id));
  for (const [x, y] of [
    [0.4, -0.52],
    [0.28, -0.68],
    [0.06, -0.58],
    [0.3, -0.3],
  ])
    oval(c, x, y, 0.05, 0.05, metal(id));
}

function hammer(c, id) {
  stick(c, -0.22, 0.04, 0.62, 0.7, WOOD);
  c.save();
  c.translate(0.2, -0.46);
  c.rotate(0.7);
  box(c, -0.24, -0.12, 0.46, 0.22, metal(id));
  c.restore();
}

function flask(c, id) {
  // All doses of a potion look the same.
  const kind = id.replace(/_\d+$/, "");
  const own = { vial: "rgba(235,244,248,.9)", vial_of_water: "#8fc0e0" }[kind];
  const tone = own ?? pick(["#c0503c", "#5c8fc8", "#7fae4a", "#b07ac8", "#d8a83c"], kind, 8);
  box(c, -0.08, -0.66, 0.16, 0.2, "#cfd8dc");
  oval(c, 0, -0.26, 0.26, 0.26, "rgba(220,232,236,.8)");
  oval(c, 0, -0.2, 0.23, 0.19, tone);
  box(c, -0.1, -0.72, 0.2, 0.09, "#8a6238");
}

function gem(c, id) {
  const tone = pick(["#5c8fc8", "#4fa86a", "#c8484a", "#e8f2f6", "#b07ac8"], id, 9);
  shape(c, tone, [0, 0], [-0.32, -0.3], [-0.18, -0.5], [0.18, -0.5], [0.32, -0.3]);
  shape(c, "rgba(255,255,255,.35)", [-0.1, -0.3], [-0.18, -0.5], [0.18, -0.5], [0.1, -0.3]);
}

function book(c, id) {
  shape(
    c,
    pick(["#8c3b3b", "#3f6b8c", "#5b7f3d"], id, 10),
    [-0.3, 0],
    [-0.3, -0.6],
    [0.2, -0.6],
    [0.2, 0],
  );
  box(c, 0.2, -0.58, 0.09, 0.56, "#efe6d2");
  box(c, -0.2, -0.46, 0.28, 0.06, "#e8b65a");
}

function key(c) {
  c.strokeStyle = "#d8b04a";
  c.lineWidth = 0.09;
  c.beginPath();
  c.arc(-0.16, -0.46, 0.14, 0, 7);
  c.moveTo(-0.06, -0.36);
  c.lineTo(0.28, -0.04);
  c.moveTo(0.2, -0.12);
  c.lineTo(0.28, -0.2);
  c.moveTo(0.1, -0.2);
  c.lineTo(0.18, -0.28);
  c.stroke();
}

function letter(c) {
  box(c, -0.36, -0.5, 0.72, 0.46, "#efe6d2");
  shape(c, "#d8cbae", [-0.36, -0.5], [0.36, -0.5], [0, -0.22]);
  oval(c, 0, -0.26, 0.07, 0.07, "#a8382c");
}

function rope(c) {
  c.strokeStyle = "#b08a4a";
  c.lineWidth = 0.09;
  for (let n = 0; n < 3; n += 1) {
    c.beginPath();
    c.ellipse(0, -0.16 - n * 0.1, 0.3, 0.13, 0, 0, 7);
    c.stroke();
  }
}

function candle(c) {
  box(c, -0.09, -0.48, 0.18, 0.48, "#f3ead6");
  shape(c, "#f0a63c", [-0.07, -0.54], [0, -0.78], [0.07, -0.54]);
}

function ash(c) {
  oval(c, 0, -0.06, 0.34, 0.1, "#6b6663");
  oval(c, -0.06, -0.12, 0.22, 0.09, "#8a8480");
}

const LOOKS = [
  [/hatchet/, hatchet],
  [/pickaxe|auger/, pickaxe],
  [/staff|wand|walking_stick/, staff],
  [/mace|club|maul|collector|duster/, mace],
  [/hammer/, hammer],
  [
    /dagger|sword|scimitar|sabre|blade|fang|harpoon|tongs|spear|halberd|claw|horn|knife|needle|chisel/,
    blade,
  ],
  [/bow$|bow_/, bow],
  [/arrow|bolt|feather|shaft|dart/, arrow],
  [/_rod$/, rod],
  [/_?net$|_pot$/, net],
  [/logs$/, logs],
  [/^coins$/, coins],
  [/tinderbox/, tinderbox],
  [/_bar$/, bar],
  [/_rune$/, rune],
  [/bones/, bones],
  [/potion|antipoison|draught|flask|bottle|tonic|oil|vial/, flask],
  [/gem|sapphire|emerald|ruby|diamond|opal|topaz|jewel|quartz|amber|crystal/, gem],
  [/book|tome|ledger|diary|map/, book],
  [/key$/, key],
  [/letter|note|parcel|scroll|invitation|minutes|word$/, letter],
  [/thistle|dock$|leaf$|clover$|sage$|wort$|bane$|mint$/, herb],
  [/rope|thread|string|ribbon|twine|yarn|flax/, rope],
  [/candle|lamp/, candle],
  [/ash(es|_pinch)?$|burnt/, ash],
  [/pelt|hide|leather$|brush|wool|fur|cloth/, pelt],
  [/stew|soup|jam|bucket|bowl|pie|cake|curry|broth|cup_|cider|pot$|jug$|tea$/, bowl],
  [
    /plum|chestnut|mushroom|bread|cheese|acorn|apple|cabbage|berry|egg|onion|loaf|toast|dough|flour/,
    round,
  ],
  [
    /beef|hen|hare|venison|boar|legs|meat|mutton|steak|goose|raw_goat|raw_bear|raw_rat|rat_on/,
    meat,
  ],
  [
    /sprat|mackerel|dace|pike|trout|fin$|eel|fish|salmon|crab|perch|carp|bream|anchovy|whiting|tuna|lobster|shark/,
    fish,
  ],
];

/** Draws the item of that id; `item` is what the content says of it, if anything. */
export function ware(c, id, item, name) {
  if (ORES[id] || /_ore$/.test(id)) return stone(c, id);
  if (item?.equipSlot && armour(c, id, item.equipSlot)) return undefined;
  const look = LOOKS.find(([words]) => words.test(id));
  return (look?.[1] ?? bag)(c, id, name);
}
