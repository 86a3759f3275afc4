// What is eaten and drunk, raw and done, drawn in code.
// A unit is a tile; (0, 0) is where the thing touches the ground, up is negative.

import { box, hoop, line, oval, placed, shape } from "./pen.js";

const SHINE = "rgba(255,255,255,.35)";
const CHAR = "rgba(60,30,10,.55)";
const isRaw = (id) => id.startsWith("raw_");
const bare = (id) =>
  id.replace(/^(raw|smoked|roast|dressed|jugged|fried|grilled|stuffed|pickled)_/, "");

/** A dish under what is done. */
function dish(c) {
  oval(c, 0, -0.08, 0.42, 0.13, "#cfc6b4");
  oval(c, 0, -0.1, 0.36, 0.1, "#f3eee2");
}

/** Stripes of the grill. */
function grilled(c, x, y, wide) {
  for (let n = -1; n < 2; n += 1)
    line(c, CHAR, 0.035, x + n * wide - 0.03, y + 0.07, x + n * wide + 0.05, y - 0.07);
}

/** Raw and done: back, belly; length, height; and what tells it from others. */
const FISHES = {
  sprat: ["#8fa7ba", "#dfe8ee", 0.2, 0.08],
  anchovy: ["#5f7f9c", "#c9d6de", 0.24, 0.06, "pair"],
  mackerel: ["#3f7f8c", "#d5e2e2", 0.3, 0.11, "bars"],
  dace: ["#b0b9a0", "#eef0e2", 0.28, 0.12],
  pike: ["#6f8048", "#cdd2a0", 0.38, 0.1, "spots"],
  trout: ["#a08a5c", "#efe0c4", 0.3, 0.14, "freckles"],
  whiting: ["#d8dcdc", "#ffffff", 0.3, 0.13, "line"],
  salmon: ["#d98a78", "#f6d2c4", 0.34, 0.16, "line"],
  tuna: ["#34507c", "#c8d4e4", 0.36, 0.19, "fins"],
  gloomfish: ["#3c3450", "#6a5f8a", 0.3, 0.19, "lure"],
  shark: ["#7c8a94", "#e4eaee", 0.4, 0.15, "shark"],
  swordfish: ["#4a6f9c", "#cfdce8", 0.3, 0.13, "sword"],
  ashfin: ["#4c4446", "#e07a3c", 0.32, 0.14, "bars"],
  frostfin: ["#b8dcec", "#f2fafd", 0.32, 0.13, "fins"],
};

const MARKINGS = {
  bars: (c, x) =>
    [-0.12, 0, 0.12].forEach((n) => line(c, x, 0.035, n - 0.02, -0.34, n + 0.02, -0.24)),
  spots: (c, x) => [-0.2, -0.06, 0.08, 0.2].forEach((n) => oval(c, n, -0.25, 0.04, 0.03, x)),
  freckles: (c) =>
    [-0.12, -0.02, 0.08, 0.16, 0.03].forEach((n, k) =>
      oval(c, n, -0.26 + (k % 2) * 0.06, 0.024, 0.024, "#b5442c"),
    ),
  line: (c) => line(c, "rgba(90,70,70,.5)", 0.025, -0.2, -0.24, 0.2, -0.24),
  fins: (c, x) => shape(c, x, [-0.1, -0.36], [0.06, -0.58], [0.12, -0.34]),
  lure(c) {
    hoop(c, -0.28, -0.44, 0.1, 0.12, "#6a5f8a", 0.03, 3.1, 6);
    oval(c, -0.36, -0.42, 0.05, 0.05, "#e8f08a");
  },
  shark: (c, x) => shape(c, x, [-0.06, -0.34], [0.06, -0.6], [0.14, -0.34]),
  sword: (c) => line(c, "#b9c8d8", 0.04, -0.28, -0.22, -0.5, -0.2),
  pair(c, x) {
    oval(c, 0.04, -0.06, 0.24, 0.055, x);
    shape(c, x, [0.24, -0.06], [0.36, -0.13], [0.36, 0.01]);
  },
};

function fish(c, id) {
  const [back, belly, long, tall, marking] = FISHES[bare(id)] ?? FISHES.dace;
  const raw = isRaw(id);
  if (!raw) dish(c);
  c.save();
  c.translate(-0.04, raw ? 0 : -0.06);
  shape(
    c,
    back,
    [long * 0.6, -0.24],
    [long + 0.12, -0.24 - tall],
    [long + 0.05, -0.24],
    [long + 0.12, -0.24 + tall],
  );
  MARKINGS[marking]?.(c, back);
  oval(c, 0, -0.24, long, tall, back);
  oval(c, -0.02, -0.24 + tall * 0.4, long * 0.86, tall * 0.56, belly);
  if (marking === "bars" || marking === "spots" || marking === "freckles" || marking === "line")
    MARKINGS[marking](c, raw ? "rgba(20,30,40,.6)" : CHAR);
  oval(c, -long * 0.72, -0.27, 0.035, 0.035, raw ? "#20242a" : "#f3ead6");
  if (!raw) {
    oval(c, 0, -0.24, long, tall, "rgba(150,84,30,.5)");
    grilled(c, 0, -0.24, long * 0.4);
  }
  c.restore();
  if (!raw) oval(c, 0.3, -0.1, 0.08, 0.05, "#f0d84a");
}

function eel(c, id) {
  const raw = isRaw(id);
  if (!raw) dish(c);
  c.strokeStyle = raw ? "#4d5a3c" : "#7a4a24";
  c.lineWidth = 0.13;
  c.lineCap = "round";
  c.beginPath();
  c.moveTo(-0.3, -0.36);
  c.bezierCurveTo(-0.02, -0.66, 0.06, 0.1, 0.32, -0.3);
  c.stroke();
  oval(c, -0.3, -0.37, 0.09, 0.08, raw ? "#5f6e4a" : "#8a5a30");
  oval(c, -0.33, -0.4, 0.022, 0.022, "#f0e8c0");
  if (!raw) grilled(c, 0.02, -0.26, 0.12);
}

function crab(c, id) {
  const tone = isRaw(id) ? "#7a6a58" : "#d8583a";
  if (!isRaw(id)) dish(c);
  for (const side of [-1, 1]) {
    for (const y of [-0.12, -0.22])
      line(c, tone, 0.04, side * 0.16, y - 0.02, side * 0.36, y + 0.1);
    line(c, tone, 0.06, side * 0.18, -0.3, side * 0.34, -0.46);
    oval(c, side * 0.32, -0.54, 0.11, 0.09, tone);
  }
  oval(c, 0, -0.24, 0.24, 0.17, tone);
  for (const x of [-0.08, 0.08]) oval(c, x, -0.38, 0.035, 0.045, "#f6f2e6");
  if (!isRaw(id)) oval(c, 0, -0.24, 0.1, 0.06, "#7fae4a");
}

function lobster(c, id) {
  const tone = isRaw(id) ? "#3c4c6c" : "#d23c2c";
  if (!isRaw(id)) dish(c);
  for (let n = 0; n < 4; n += 1)
    oval(c, 0.06 + n * 0.09, -0.22 + n * 0.05, 0.12 - n * 0.015, 0.1, tone);
  oval(c, -0.1, -0.3, 0.18, 0.12, tone);
  for (const side of [-1, 1]) {
    line(c, tone, 0.05, -0.18, -0.34, -0.28, -0.46 + side * 0.1);
    oval(c, -0.33, -0.48 + side * 0.14, 0.12, 0.075, tone);
    line(c, tone, 0.02, -0.2, -0.36, -0.08 + side * 0.08, -0.66);
  }
  oval(c, 0.42, -0.04, 0.08, 0.06, tone);
}

/** Raw and done, and the shape of it: joint, bird, steak or small. */
const MEATS = {
  hen: ["#f0c8b4", "#c07a34", "bird"],
  goose: ["#ecd6c8", "#8f4f22", "goose"],
  beef: ["#b83c3c", "#6e3a22", "joint"],
  hare: ["#c9877c", "#8a5a3a", "legs"],
  venison: ["#8f2f3c", "#5a2c24", "steak"],
  boar: ["#d09088", "#9a5428", "joint"],
  boar_roast: ["#d09088", "#9a5428", "joint"],
  goat: ["#c26a5c", "#7c4a2c", "rack"],
  bear: ["#7a2a2c", "#4a2a1e", "slab"],
  bear_steak: ["#7a2a2c", "#4a2a1e", "slab"],
  rat: ["#c8a094", "#8a5a3a", "rat"],
  rat_on_a_stick: ["#c8a094", "#8a5a3a", "rat"],
};

const CUTS = {
  bird(c, tone) {
    oval(c, -0.02, -0.26, 0.28, 0.2, tone);
    for (const x of [-0.16, 0.2]) {
      oval(c, x, -0.16, 0.13, 0.09, tone);
      line(c, "#f3ead6", 0.05, x + 0.1, -0.12, x + 0.18, -0.06);
    }
    oval(c, -0.1, -0.36, 0.12, 0.06, SHINE);
  },
  goose(c, tone) {
    CUTS.bird(c, tone);
    line(c, tone, 0.1, -0.2, -0.34, -0.32, -0.56, -0.24, -0.66);
    oval(c, -0.23, -0.67, 0.08, 0.065, tone);
    shape(c, "#e5802a", [-0.17, -0.7], [-0.06, -0.66], [-0.17, -0.63]);
  },
  joint(c, tone) {
    line(c, "#efe6d2", 0.09, 0.14, -0.24, 0.36, -0.44);
    oval(c, 0.38, -0.48, 0.07, 0.06, "#efe6d2");
    oval(c, -0.06, -0.24, 0.28, 0.2, tone);
    oval(c, -0.14, -0.3, 0.14, 0.08, SHINE);
  },
  legs(c, tone) {
    for (const [x, turn] of [
      [-0.1, -0.4],
      [0.12, 0.5],
    ])
      placed(c, x, -0.02, turn, 1, (d) => {
        line(d, "#efe6d2", 0.06, 0, -0.3, 0, -0.54);
        oval(d, 0, -0.2, 0.14, 0.18, tone);
      });
  },
  steak(c, tone) {
    oval(c, 0, -0.24, 0.34, 0.19, tone);
    hoop(c, 0, -0.24, 0.34, 0.19, "#f0dcc4", 0.05, 3.2, 6.2);
    oval(c, 0.1, -0.24, 0.07, 0.06, "#f6ecd8");
  },
  slab(c, tone) {
    shape(c, tone, [-0.38, -0.1], [-0.3, -0.48], [0.1, -0.56], [0.4, -0.3], [0.3, -0.04]);
    line(c, "#e8d0b8", 0.035, -0.2, -0.4, 0.06, -0.3, 0.24, -0.36);
    line(c, "#e8d0b8", 0.035, -0.2, -0.18, 0.14, -0.14);
  },
  rack(c, tone) {
    oval(c, 0, -0.2, 0.34, 0.16, tone);
    for (const x of [-0.22, -0.07, 0.08, 0.23]) line(c, "#efe6d2", 0.055, x, -0.24, x + 0.04, -0.6);
  },
  rat(c, tone) {
    oval(c, 0, -0.22, 0.24, 0.13, tone);
    oval(c, -0.24, -0.26, 0.1, 0.09, tone);
    oval(c, -0.22, -0.35, 0.05, 0.05, tone);
    hoop(c, 0.3, -0.26, 0.12, 0.14, tone, 0.035, 0, 2.4);
    line(c, tone, 0.05, -0.1, -0.12, -0.12, 0);
    line(c, tone, 0.05, 0.12, -0.12, 0.14, 0);
  },
};

function meat(c, id) {
  const [raw, done, made] = MEATS[bare(id)] ?? MEATS.beef;
  if (id === "rat_on_a_stick") line(c, "#a98555", 0.05, -0.42, 0.04, 0.42, -0.56);
  else if (!isRaw(id)) dish(c);
  CUTS[made](c, isRaw(id) ? raw : done);
  if (!isRaw(id)) {
    grilled(c, -0.04, -0.22, 0.11);
    if (id.startsWith("jugged")) box(c, -0.42, -0.16, 0.84, 0.12, "#8a5030");
  }
}

/** A bowl of something: what is in it, the bowl, and what swims in it. */
const BOWLS = {
  deep_stew: ["#8a4a24", "#5a5f66", ["#e0803a", "#d8c47a", "#7fae4a"]],
  eel_soup: ["#7f9c6a", "#3f6b8c", ["#4d5a3c", "#4d5a3c"]],
  goat_curry: ["#e0a02c", "#8a6238", ["#8a3d20", "#c8503c", "#5f8f3c"]],
  barley_broth: ["#c9b27a", "#c9bca4", ["#f0e4bc", "#e8d8a0", "#f0e4bc"]],
};

function bowl(c, id) {
  const [inside, tone, bits] = BOWLS[id] ?? ["#b5602e", "#8a6238", []];
  shape(c, tone, [-0.38, -0.28], [0.38, -0.28], [0.2, 0.02], [-0.2, 0.02]);
  box(c, -0.2, -0.03, 0.4, 0.05, "rgba(0,0,0,.2)");
  oval(c, 0, -0.28, 0.38, 0.13, tone);
  oval(c, 0, -0.28, 0.32, 0.1, inside);
  bits.forEach((bit, n) => oval(c, -0.16 + n * 0.15, -0.29 + (n % 2) * 0.04, 0.075, 0.045, bit));
  if (id === "eel_soup") line(c, "#4d5a3c", 0.06, -0.12, -0.28, -0.02, -0.5, 0.1, -0.5, 0.14, -0.3);
  for (const x of [-0.1, 0.08])
    line(c, "rgba(255,255,255,.6)", 0.03, x, -0.46, x + 0.05, -0.56, x - 0.01, -0.66);
}

const PIES = { plum: "#7a3f7c", fish: "#7f9db0", game: "#8a3d2c" };

function pie(c, id) {
  const kind = Object.keys(PIES).find((name) => id.includes(name));
  const raw = isRaw(id);
  shape(c, raw ? "#b9b2a6" : "#8f8a84", [-0.42, -0.26], [0.42, -0.26], [0.3, 0], [-0.3, 0]);
  oval(c, 0, -0.27, 0.42, 0.15, raw ? "#f0e4c4" : "#c88a3c");
  oval(c, 0, -0.28, 0.32, 0.1, PIES[kind]);
  for (const n of [-0.16, 0, 0.16]) {
    line(c, raw ? "#f6ecd2" : "#dca052", 0.05, n - 0.14, -0.2, n + 0.12, -0.36);
    line(c, raw ? "#f6ecd2" : "#dca052", 0.05, n + 0.14, -0.2, n - 0.12, -0.36);
  }
  if (kind === "fish") shape(c, "#8fa7ba", [0, -0.34], [-0.1, -0.56], [0.1, -0.56]);
  if (kind === "game")
    shape(c, "#efe6d2", [-0.03, -0.3], [-0.1, -0.6], [0.02, -0.52], [0.1, -0.62], [0.05, -0.3]);
}

function loaf(c, id) {
  const fresh = id.startsWith("fresh");
  oval(c, 0, -0.2, 0.36, 0.2, fresh ? "#d99a44" : "#9a6430");
  oval(c, 0, -0.25, 0.3, 0.13, fresh ? "#eebc6a" : "#b57c42");
  for (const x of fresh ? [-0.14, 0, 0.14] : [0])
    line(c, "#f6e2b4", 0.045, x - 0.06, -0.2, x + 0.06, -0.34);
  if (fresh)
    for (const x of [-0.12, 0.1])
      line(c, "rgba(255,255,255,.6)", 0.03, x, -0.46, x + 0.05, -0.56, x, -0.66);
}

function dough(c) {
  oval(c, 0, -0.16, 0.36, 0.18, "#efe2c2");
  oval(c, -0.06, -0.24, 0.22, 0.13, "#f8efd8");
  oval(c, 0.16, -0.12, 0.05, 0.03, "#d8c8a0");
}

function toast(c) {
  shape(c, "#8a5a2c", [-0.3, 0], [-0.3, -0.46], [-0.2, -0.6], [0.2, -0.6], [0.3, -0.46], [0.3, 0]);
  shape(
    c,
    "#e0ac5c",
    [-0.24, -0.05],
    [-0.24, -0.44],
    [-0.16, -0.54],
    [0.16, -0.54],
    [0.24, -0.44],
    [0.24, -0.05],
  );
  box(c, -0.1, -0.38, 0.22, 0.18, "#fff2b0");
}

function cheese(c) {
  shape(c, "#f0c24a", [-0.38, -0.04], [0.34, -0.5], [0.38, -0.04]);
  shape(c, "#d89f2c", [-0.38, -0.04], [0.38, -0.04], [0.38, 0.04], [-0.38, 0.04]);
  for (const [x, y, r] of [
    [0.2, -0.2, 0.07],
    [0, -0.14, 0.05],
    [0.28, -0.36, 0.04],
  ])
    oval(c, x, y, r, r, "#c98a20");
}

function plum(c) {
  oval(c, 0, -0.24, 0.25, 0.25, "#7a3f8c");
  hoop(c, 0.03, -0.24, 0.12, 0.24, "#5a2a6c", 0.03, -1.4, 1.4);
  line(c, "#5d4630", 0.045, 0, -0.46, 0.06, -0.62);
  oval(c, 0.17, -0.56, 0.11, 0.05, "#6f9c4a");
  oval(c, -0.1, -0.32, 0.06, 0.08, SHINE);
}

/** A jar: what is in it, and its lid. */
function jar(c, inside, top) {
  box(c, -0.24, -0.46, 0.48, 0.46, "rgba(220,234,238,.85)");
  box(c, -0.2, -0.38, 0.4, 0.36, inside);
  box(c, -0.26, -0.56, 0.52, 0.12, top);
  line(c, SHINE, 0.04, -0.15, -0.34, -0.15, -0.1);
}

function jam(c) {
  jar(c, "#6e2f6c", "#c8503c");
  box(c, -0.13, -0.3, 0.26, 0.16, "#f3ead6");
}

function egg(c) {
  jar(c, "#b9cc7a", "#8a6238");
  for (const [x, y] of [
    [-0.07, -0.14],
    [0.08, -0.26],
  ])
    oval(c, x, y, 0.09, 0.11, "#faf4e2");
}

function chestnuts(c) {
  shape(c, "#e6d8ba", [-0.32, -0.42], [0.32, -0.42], [0.06, 0.04], [-0.06, 0.04]);
  for (const [x, y] of [
    [-0.18, -0.44],
    [0, -0.5],
    [0.18, -0.44],
    [-0.06, -0.38],
    [0.09, -0.36],
  ]) {
    oval(c, x, y, 0.1, 0.09, "#6b3a1c");
    oval(c, x - 0.02, y - 0.03, 0.035, 0.025, "#c99a6a");
  }
}

function toadLegs(c, id) {
  const fried = id.startsWith("fried");
  const tone = fried ? "#c8873c" : "#7f9a4c";
  if (fried) dish(c);
  for (const side of [-1, 1]) {
    line(c, tone, 0.12, side * 0.06, -0.5, side * 0.26, -0.3, side * 0.1, -0.14);
    line(c, tone, 0.05, side * 0.1, -0.14, side * 0.3, -0.06);
    line(c, tone, 0.05, side * 0.1, -0.14, side * 0.22, 0);
  }
  if (fried) grilled(c, 0, -0.34, 0.16);
}

function mushroom(c, id) {
  const how = id.split("_")[0];
  const cap = { odd: "#8c5a9c", grilled: "#6a4a2c", stuffed: "#b08a5c" }[how];
  if (how !== "odd") dish(c);
  box(c, -0.1, -0.3, 0.2, 0.28, "#efe4cc");
  shape(c, cap, [-0.36, -0.26], [-0.24, -0.52], [0, -0.62], [0.24, -0.52], [0.36, -0.26]);
  if (how === "odd")
    for (const [x, y] of [
      [-0.16, -0.4],
      [0.05, -0.5],
      [0.19, -0.36],
    ])
      oval(c, x, y, 0.055, 0.045, "#e8f08a");
  if (how === "grilled") grilled(c, 0, -0.42, 0.14);
  if (how === "stuffed")
    for (const [x, tone] of [
      [-0.14, "#7fae4a"],
      [0, "#f0d05a"],
      [0.14, "#c8503c"],
    ])
      oval(c, x, -0.58, 0.09, 0.07, tone);
}

function cup(c) {
  hoop(c, 0.28, -0.24, 0.12, 0.12, "#f3ead6", 0.05);
  shape(c, "#f3ead6", [-0.3, -0.42], [0.3, -0.42], [0.2, -0.06], [-0.2, -0.06]);
  oval(c, 0, -0.42, 0.3, 0.09, "#e0d4bc");
  oval(c, 0, -0.42, 0.25, 0.065, "#a8602c");
  oval(c, 0, -0.03, 0.36, 0.07, "#d8cbb0");
  line(c, "#3f7fae", 0.04, -0.26, -0.28, 0.26, -0.28);
}

function mug(c) {
  hoop(c, 0.28, -0.28, 0.13, 0.16, "#7a5532", 0.07);
  box(c, -0.26, -0.52, 0.5, 0.54, "#a87848");
  for (const y of [-0.42, -0.08]) box(c, -0.27, y, 0.52, 0.06, "#5d5f66");
  for (const x of [-0.16, 0.02, 0.16]) oval(c, x, -0.54, 0.14, 0.1, "#fff6dc");
}

function flour(c) {
  shape(
    c,
    "#efe8d8",
    [-0.3, 0],
    [-0.34, -0.36],
    [-0.22, -0.54],
    [0.22, -0.54],
    [0.34, -0.36],
    [0.3, 0],
  );
  box(c, -0.24, -0.56, 0.48, 0.08, "#cfc4a8");
  line(c, "#c9913f", 0.035, 0, -0.12, 0, -0.4);
  for (const y of [-0.22, -0.3, -0.38]) {
    oval(c, -0.06, y, 0.055, 0.03, "#d9a84a");
    oval(c, 0.06, y, 0.055, 0.03, "#d9a84a");
  }
}

/** What was left on the fire for too long. */
function burnt(c, id) {
  const what = id.split("_")[1];
  if (what === "fish") {
    oval(c, -0.04, -0.22, 0.3, 0.14, "#2c2826");
    shape(c, "#2c2826", [0.2, -0.22], [0.42, -0.36], [0.42, -0.08]);
    oval(c, -0.2, -0.25, 0.035, 0.035, "#8a8480");
  } else if (what === "meat") CUTS.joint(c, "#332c29");
  else if (what === "crust") {
    oval(c, 0, -0.18, 0.36, 0.17, "#3a322c");
    line(c, "#6a5f56", 0.045, -0.1, -0.14, 0.1, -0.28);
  } else {
    shape(c, "#4a5058", [-0.36, -0.26], [0.36, -0.26], [0.22, 0.02], [-0.22, 0.02]);
    oval(c, 0, -0.27, 0.36, 0.12, "#1f1c1b");
    oval(c, 0.04, -0.3, 0.16, 0.08, "#3a3432");
  }
  for (const x of [-0.12, 0.06, 0.2])
    line(c, "rgba(90,86,84,.7)", 0.035, x, -0.48, x + 0.05, -0.58, x - 0.01, -0.7);
}

export const VICTUALS = [
  [/^burnt/, burnt],
  [/eel_soup|stew|curry|broth|soup/, bowl],
  [/pie$/, pie],
  [/eel$/, eel],
  [/crab$/, crab],
  [/lobster$/, lobster],
  [/toad_legs/, toadLegs],
  [/mushroom/, mushroom],
  [/loaf|^bread/, loaf],
  [/dough/, dough],
  [/toast/, toast],
  [/cheese/, cheese],
  [/jam$/, jam],
  [/pickled_egg/, egg],
  [/chestnut/, chestnuts],
  [/^plum$/, plum],
  [/tea$|^cup_/, cup],
  [/cider|_ale$|beer/, mug],
  [/flour/, flour],
  [
    /beef|hen$|hare$|venison|boar|goose$|goat$|bear$|bear_steak|raw_rat|rat_on|meat|mutton|steak/,
    meat,
  ],
  [/sprat|mackerel|dace|pike|trout|fin$|fish$|salmon|anchovy|whiting|tuna|shark/, fish],
];
