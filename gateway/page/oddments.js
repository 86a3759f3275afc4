// Flasks, runes, lamps, papers and whatever else is carried about, drawn in code.
// A unit is a tile; (0, 0) is where the thing touches the ground, up is negative.

import { box, hoop, line, oval, pick, placed, shape } from "./pen.js";
import { herb } from "./potions.js";

const SHINE = "rgba(255,255,255,.35)";
const PAPER = "#efe6d2";

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

function ribbon(c) {
  for (const side of [-1, 1]) {
    shape(c, "#d8487c", [0, -0.34], [side * 0.32, -0.52], [side * 0.34, -0.2]);
    shape(c, "#a82f5c", [0, -0.34], [side * 0.22, 0.02], [side * 0.06, 0]);
  }
  oval(c, 0, -0.34, 0.08, 0.08, "#f07aa4");
}

/** Colours of what is in a flask. */
const FLASKS = {
  attack: "#d0402c",
  strength: "#e89a2c",
  defense: "#4f74d8",
  ranging: "#4fa04a",
  magic: "#8a4fd0",
  prayer: "#e8d86a",
  antipoison: "#9cd03c",
  energy: "#e87ab4",
};

/** A round flask, as full as it has doses. */
function flask(c, id) {
  const kind = Object.keys(FLASKS).find((name) => id.startsWith(name));
  const doses = Number(/_(\d)$/.exec(id)?.[1] ?? 4);
  box(c, -0.08, -0.66, 0.16, 0.2, "#cfd8dc");
  oval(c, 0, -0.26, 0.27, 0.27, "#dfe9ec");
  c.save();
  c.beginPath();
  c.ellipse(0, -0.26, 0.23, 0.23, 0, 0, 7);
  c.clip();
  const full = 0.12 * doses;
  box(
    c,
    -0.3,
    -0.02 - full,
    0.6,
    full + 0.04,
    FLASKS[kind] ?? pick(["#c0503c", "#5c8fc8", "#7fae4a"], id, 8),
  );
  box(c, -0.3, -0.02 - full, 0.6, 0.03, "rgba(255,255,255,.5)");
  c.restore();
  box(c, -0.1, -0.73, 0.2, 0.09, "#8a6238");
  box(c, -0.1, -0.62, 0.2, 0.09, FLASKS[kind] ?? "#cfd8dc");
  oval(c, -0.11, -0.34, 0.045, 0.07, SHINE);
  if (kind === "prayer") line(c, "#7a5c10", 0.035, 0, -0.32, 0, -0.12);
}

function vial(c, id) {
  const water = id.endsWith("water");
  box(c, -0.13, -0.54, 0.26, 0.5, "#e6f0f3");
  oval(c, 0, -0.06, 0.13, 0.06, water ? "#4f9fe0" : "#d5e2e6");
  if (water) box(c, -0.1, -0.38, 0.2, 0.32, "#5cabf0");
  box(c, -0.17, -0.6, 0.34, 0.08, "#c4d2d8");
  if (water) box(c, -0.09, -0.7, 0.18, 0.12, "#8a6238");
  line(c, "rgba(255,255,255,.8)", 0.03, -0.07, -0.46, -0.07, -0.16);
}

function oil(c) {
  shape(
    c,
    "#d9a23c",
    [-0.26, 0],
    [-0.28, -0.34],
    [-0.08, -0.5],
    [-0.08, -0.68],
    [0.08, -0.68],
    [0.08, -0.5],
    [0.28, -0.34],
    [0.26, 0],
  );
  box(c, -0.1, -0.76, 0.2, 0.1, "#6b4a22");
  shape(c, "#fff0b0", [-0.05, -0.14], [0, -0.34], [0.06, -0.14]);
}

function bottledShip(c) {
  oval(c, -0.06, -0.24, 0.34, 0.22, "rgba(190,224,232,.9)");
  box(c, 0.22, -0.31, 0.16, 0.14, "rgba(190,224,232,.9)");
  box(c, 0.36, -0.32, 0.08, 0.16, "#8a6238");
  shape(c, "#7a4a24", [-0.26, -0.2], [0.14, -0.2], [0.06, -0.1], [-0.18, -0.1]);
  shape(c, "#f6f1e2", [-0.06, -0.4], [-0.06, -0.22], [-0.22, -0.22]);
  shape(c, "#e0d6c0", [-0.02, -0.38], [-0.02, -0.22], [0.12, -0.22]);
}

const RUNES = {
  gust: ["#dfe8ea", (d, t) => line(d, t, 0.05, -0.16, 0.06, 0.08, 0.06, 0.12, -0.06, 0, -0.1)],
  dew: ["#5cabf0", (d, t) => shape(d, t, [0, -0.18], [-0.12, 0.06], [0, 0.16], [0.12, 0.06])],
  loam: ["#8fce4c", (d, t) => shape(d, t, [-0.18, 0.12], [0, -0.16], [0.18, 0.12])],
  spark: [
    "#ff7a3a",
    (d, t) =>
      shape(
        d,
        t,
        [0.04, -0.2],
        [-0.12, 0.03],
        [-0.01, 0.03],
        [-0.05, 0.2],
        [0.13, -0.05],
        [0.02, -0.05],
      ),
  ],
  thought: ["#f0a8d0", (d, t) => hoop(d, 0, 0, 0.13, 0.11, t, 0.05, 0.6, 6)],
  muddle: [
    "#c9b2ff",
    (d, t) => line(d, t, 0.045, -0.16, 0.1, 0.14, -0.12, -0.14, -0.1, 0.16, 0.12),
  ],
  farewell: [
    "#ffe08a",
    (d, t) => line(d, t, 0.05, 0, -0.18, 0, 0.16, -0.12, 0.04, 0, 0.16, 0.12, 0.04),
  ],
};

function rune(c, id) {
  const [tone, sign] = RUNES[id.split("_")[0]] ?? RUNES.thought;
  oval(c, 0, -0.3, 0.31, 0.32, "#4d4b50");
  oval(c, -0.03, -0.33, 0.26, 0.27, "#77757c");
  hoop(c, -0.03, -0.33, 0.25, 0.26, tone, 0.025);
  placed(c, -0.03, -0.33, 0, 1.05, (d) => sign(d, tone));
}

function candle(c) {
  box(c, -0.1, -0.46, 0.2, 0.46, "#f6ecd2");
  oval(c, 0.07, -0.42, 0.05, 0.1, "#e4d6b0");
  line(c, "#3a322c", 0.025, 0, -0.46, 0, -0.54);
  shape(c, "#f0a63c", [-0.08, -0.54], [0, -0.8], [0.08, -0.54]);
  oval(c, 0, -0.58, 0.03, 0.06, "#fff2c0");
}

/** Lamps that teach: the patient one of brass, a small one, and one with a storm in it. */
function lamp(c, id) {
  const tone = { patient: "#d8a83c", pocket: "#b06a3c", storm: "#4a5a78" }[id.split("_")[0]];
  if (id.startsWith("patient")) {
    oval(c, -0.04, -0.2, 0.28, 0.15, tone);
    shape(c, tone, [0.16, -0.22], [0.42, -0.4], [0.3, -0.12]);
    hoop(c, -0.34, -0.22, 0.1, 0.11, tone, 0.05);
    oval(c, -0.04, -0.36, 0.07, 0.06, "#f2d06a");
    shape(c, "#8fd8f0", [0.38, -0.42], [0.36, -0.62], [0.46, -0.5]);
    return;
  }
  const size = id.startsWith("pocket") ? 0.8 : 1;
  placed(c, 0, 0, 0, size, (d) => {
    hoop(d, 0, -0.66, 0.13, 0.13, tone, 0.04);
    box(d, -0.22, -0.6, 0.44, 0.1, tone);
    box(d, -0.18, -0.5, 0.36, 0.4, id.startsWith("storm") ? "#c8d8f0" : "#ffe9a8");
    box(d, -0.24, -0.1, 0.48, 0.12, tone);
    if (id.startsWith("storm"))
      shape(
        d,
        "#e8c22c",
        [0.05, -0.48],
        [-0.1, -0.28],
        [0, -0.28],
        [-0.04, -0.12],
        [0.11, -0.32],
        [0.02, -0.32],
      );
    else shape(d, "#f0a63c", [-0.07, -0.14], [0, -0.4], [0.07, -0.14]);
  });
}

function book(c, id) {
  const tone = pick(["#8c3b3b", "#3f6b8c", "#5b7f3d"], id, 10);
  shape(c, tone, [-0.3, 0], [-0.3, -0.6], [0.2, -0.6], [0.2, 0]);
  box(c, 0.2, -0.58, 0.09, 0.56, PAPER);
  box(c, -0.2, -0.46, 0.28, 0.06, "#e8b65a");
}

function key(c) {
  hoop(c, -0.16, -0.46, 0.14, 0.14, "#e07a3c", 0.09);
  line(c, "#c8602c", 0.09, -0.06, -0.36, 0.28, -0.04);
  line(c, "#c8602c", 0.07, 0.2, -0.12, 0.29, -0.21);
  line(c, "#c8602c", 0.07, 0.09, -0.21, 0.19, -0.3);
}

function letter(c) {
  box(c, -0.36, -0.5, 0.72, 0.46, PAPER);
  shape(c, "#d8cbae", [-0.36, -0.5], [0.36, -0.5], [0, -0.22]);
  oval(c, 0, -0.26, 0.07, 0.07, "#a8382c");
}

/** A sheet with so many lines; the notice has a stamp, the minutes a clip. */
function sheet(c, id) {
  const notice = id.startsWith("overdue");
  shape(c, "#d8cbae", [-0.2, 0.02], [-0.26, -0.66], [0.32, -0.62], [0.34, 0.02]);
  shape(c, notice ? "#f6d8d0" : PAPER, [-0.28, 0], [-0.3, -0.68], [0.26, -0.68], [0.28, 0]);
  for (let n = 0; n < (notice ? 3 : 6); n += 1)
    line(c, "#6b5a3c", 0.025, -0.2, -0.56 + n * 0.09, 0.16 - (n % 3) * 0.06, -0.56 + n * 0.09);
  if (notice)
    placed(c, 0.04, -0.16, -0.3, 1, (d) => {
      hoop(d, 0, 0, 0.2, 0.1, "#c02f2f", 0.035);
      line(d, "#c02f2f", 0.035, -0.11, 0, 0.11, 0);
    });
  else hoop(c, 0, -0.66, 0.06, 0.1, "#6f7880", 0.03);
}

/** A word that somebody said, and a thought that somebody had twice. */
function word(c, id) {
  const thought = id === "doubt";
  oval(c, 0, -0.44, 0.36, 0.25, thought ? "#cfe0f0" : "#fbf3e0");
  if (thought) {
    oval(c, -0.2, -0.12, 0.08, 0.065, "#cfe0f0");
    oval(c, -0.3, 0, 0.05, 0.04, "#cfe0f0");
    hoop(c, 0, -0.5, 0.09, 0.09, "#3f6f9c", 0.05, 3, 7.6);
    line(c, "#3f6f9c", 0.05, 0.02, -0.4, 0, -0.36);
    oval(c, 0, -0.28, 0.03, 0.03, "#3f6f9c");
    return;
  }
  shape(c, "#fbf3e0", [-0.2, -0.26], [-0.3, 0.02], [-0.02, -0.22]);
  for (const x of [-0.16, 0, 0.16]) oval(c, x, -0.44, 0.05, 0.05, "#8a7a9c");
}

function goldenEgg(c) {
  oval(c, 0, -0.28, 0.24, 0.31, "#e8b63c");
  oval(c, -0.08, -0.4, 0.08, 0.1, "#fbe6a0");
  line(c, "#fff6d0", 0.03, 0.24, -0.66, 0.24, -0.5);
  line(c, "#fff6d0", 0.03, 0.16, -0.58, 0.32, -0.58);
}

function crown(c) {
  shape(
    c,
    "#edc25c",
    [-0.26, 0],
    [-0.32, -0.36],
    [-0.14, -0.18],
    [0, -0.44],
    [0.14, -0.18],
    [0.32, -0.36],
    [0.26, 0],
  );
  box(c, -0.26, -0.08, 0.52, 0.08, "#c08a2c");
  for (const [x, y] of [
    [-0.32, -0.38],
    [0, -0.46],
    [0.32, -0.38],
  ])
    oval(c, x, y, 0.05, 0.05, "#7fae4a");
}

function tinderbox(c) {
  box(c, -0.3, -0.3, 0.6, 0.3, "#6d5230");
  box(c, -0.3, -0.38, 0.6, 0.1, "#8a6a41");
  oval(c, 0.02, -0.18, 0.06, 0.06, "#cfd4d8");
  shape(c, "#f0a63c", [-0.06, -0.42], [0, -0.66], [0.07, -0.42]);
}

function bucket(c) {
  hoop(c, 0, -0.42, 0.28, 0.28, "#6f7880", 0.04, Math.PI, Math.PI * 2);
  shape(c, "#a87848", [-0.32, -0.44], [0.32, -0.44], [0.22, 0.02], [-0.22, 0.02]);
  for (const y of [-0.34, -0.08]) line(c, "#5d5f66", 0.05, -0.28, y, 0.28, y);
  oval(c, 0, -0.44, 0.32, 0.09, "#5c8fc8");
}

function bobber(c) {
  c.fillStyle = "#f6f1e6";
  c.beginPath();
  c.arc(0, -0.28, 0.22, 0, Math.PI);
  c.fill();
  c.fillStyle = "#d23c2c";
  c.beginPath();
  c.arc(0, -0.28, 0.22, Math.PI, 0);
  c.fill();
  line(c, "#7a5532", 0.05, 0, -0.5, 0, -0.68);
  line(c, "#9aa0a6", 0.03, 0, -0.06, 0, 0.04);
}

function bait(c) {
  for (const [x, tone] of [
    [-0.12, "#d88a94"],
    [0.1, "#c8707c"],
  ]) {
    c.strokeStyle = tone;
    c.lineWidth = 0.08;
    c.lineCap = "round";
    c.beginPath();
    c.moveTo(x - 0.14, 0);
    c.bezierCurveTo(x + 0.2, -0.1, x - 0.24, -0.3, x + 0.1, -0.46);
    c.stroke();
  }
}

function mould(c, id) {
  box(c, -0.34, -0.5, 0.68, 0.48, "#8a8f96");
  box(c, -0.34, -0.08, 0.68, 0.06, "#5d6269");
  if (id.startsWith("ring")) hoop(c, 0, -0.28, 0.14, 0.14, "#4a4f56", 0.06);
  else {
    hoop(c, 0, -0.36, 0.16, 0.11, "#4a4f56", 0.035);
    shape(c, "#4a4f56", [-0.1, -0.26], [0.1, -0.26], [0, -0.1]);
  }
}

function tile(c) {
  shape(c, "#b5603c", [-0.38, -0.14], [0, -0.4], [0.38, -0.14], [0, 0.1]);
  shape(c, "#d98a5c", [-0.24, -0.15], [0, -0.31], [0.24, -0.15], [0, 0.01]);
  shape(c, "#f3dcb4", [-0.08, -0.15], [0, -0.21], [0.08, -0.15], [0, -0.09]);
}

function pot(c, id) {
  const jug = id.endsWith("jug");
  oval(c, 0, -0.22, jug ? 0.22 : 0.3, 0.24, "#b56a44");
  if (jug) {
    box(c, -0.09, -0.62, 0.18, 0.26, "#b56a44");
    hoop(c, 0.18, -0.44, 0.13, 0.16, "#9a5634", 0.05, -1.6, 1.6);
    line(c, "#efdcb8", 0.04, -0.2, -0.26, 0.2, -0.26);
  } else {
    oval(c, 0, -0.44, 0.22, 0.07, "#8a4a2c");
    oval(c, 0, -0.44, 0.16, 0.045, "#3c2418");
    line(c, "#efdcb8", 0.04, -0.27, -0.24, -0.14, -0.16, 0, -0.24, 0.14, -0.16, 0.27, -0.24);
  }
}

function gnome(c) {
  shape(c, "#c02f2f", [-0.18, -0.4], [0.02, -0.8], [0.18, -0.4]);
  oval(c, 0, -0.36, 0.14, 0.13, "#f0cba6");
  shape(c, "#f6f1e6", [-0.16, -0.34], [0.16, -0.34], [0, -0.04]);
  shape(c, "#3f6b8c", [-0.2, 0.02], [-0.14, -0.24], [0.14, -0.24], [0.2, 0.02]);
  shape(c, "#f6f1e6", [-0.14, -0.32], [0.14, -0.32], [0, -0.08]);
  for (const x of [-0.05, 0.05]) oval(c, x, -0.38, 0.02, 0.025, "#20242a");
}

function wick(c) {
  oval(c, 0, -0.34, 0.3, 0.32, "rgba(168,220,255,.35)");
  oval(c, 0, -0.36, 0.17, 0.2, "rgba(200,240,255,.7)");
  line(c, "#6a5a44", 0.045, -0.02, 0, 0.03, -0.2, -0.02, -0.36);
  oval(c, -0.02, -0.4, 0.05, 0.07, "#fffbe0");
}

function stamp(c) {
  oval(c, 0, -0.6, 0.11, 0.11, "#8a5a2c");
  shape(c, "#8a5a2c", [-0.06, -0.54], [0.06, -0.54], [0.1, -0.2], [-0.1, -0.2]);
  box(c, -0.24, -0.22, 0.48, 0.14, "#5d3a1a");
  box(c, -0.22, -0.08, 0.44, 0.06, "#3a5a9c");
}

/** A bag with the first letters of what is in it: things that nobody has drawn yet. */
export function bag(c, id, name) {
  oval(c, 0, -0.2, 0.3, 0.26, pick(["#8a6d48", "#6f7a52", "#7d5a5e", "#5f6f80"], id, 5));
  shape(c, "#5d4630", [-0.12, -0.42], [0.12, -0.42], [0.2, -0.56], [-0.2, -0.56]);
  c.fillStyle = "#f3ead6";
  c.font = "600 0.26px Georgia,serif";
  c.textAlign = "center";
  c.fillText(name.slice(0, 2), 0, -0.11);
}

export const ODDMENTS = [
  [/_rune$/, rune],
  [/mould$/, mould],
  [/^coins$/, coins],
  [/tinderbox/, tinderbox],
  [/ship_in/, bottledShip],
  [/vial/, vial],
  [/lamp_oil/, oil],
  [/potion|antipoison|draught|flask|bottle|tonic/, flask],
  [/lamp$/, lamp],
  [/candle/, candle],
  [/book|tome|ledger|diary|map$/, book],
  [/key$/, key],
  [/minutes|notice/, sheet],
  [/word$|^doubt$/, word],
  [/letter|note|parcel|scroll|invitation/, letter],
  [/thistle|dock$|leaf$|clover$|sage$|wort$|bane$|mint$/, herb],
  [/ribbon/, ribbon],
  [/bucket/, bucket],
  [/bobber/, bobber],
  [/bait/, bait],
  [/floor_tile/, tile],
  [/clay_pot|clay_jug|pot$|jug$/, pot],
  [/gnome/, gnome],
  [/golden_egg|egg$/, goldenEgg],
  [/crown/, crown],
  [/wick$/, wick],
  [/stamp$/, stamp],
];
