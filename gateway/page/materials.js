// What is gathered and worked: wood, stone, metal, gems, hides, cloth and what beasts leave, drawn in
// code. A unit is a tile; (0, 0) is where the thing touches the ground, up is negative.

import { box, hoop, line, oval, pick, placed, shape } from "./pen.js";
import { stuff } from "./stuffs.js";

const SHINE = "rgba(255,255,255,.35)";

/** Bark, and the wood in it. */
const LOGS = {
  birch: ["#e4dece", "#f0e2bc"],
  oak: ["#7d5c34", "#d9b878"],
  willow: ["#75733f", "#d8d39a"],
  plum: ["#6a3448", "#d89a8a"],
  palm: ["#b5985c", "#efdcae"],
  pine: ["#5c4630", "#e8c98a"],
  maple: ["#a8562c", "#f2cf9a"],
  yew: ["#5f2f20", "#d8814a"],
  hushwood: ["#3c4a5e", "#a8c0dc"],
  teak: ["#8f6a24", "#c89038"],
};

/** What still grows on them. */
const SPRIGS = {
  logs(c) {
    line(c, "#6f5638", 0.05, 0.12, -0.38, 0.18, -0.56);
    oval(c, 0.26, -0.56, 0.1, 0.06, "#7bad56");
  },
  willow(c) {
    for (const x of [-0.02, 0.1, 0.22])
      line(c, "#93ad5e", 0.035, 0.1, -0.4, x, -0.62, x + 0.06, -0.44);
  },
  pine(c) {
    for (const x of [-0.12, -0.04, 0.04, 0.12])
      line(c, "#396a50", 0.03, 0.08, -0.38, 0.08 + x, -0.6);
  },
};

function logs(c, id) {
  const kind = id.split("_")[0];
  const [bark, wood] = LOGS[kind] ?? ["#6f5638", "#d9bd8b"];
  for (const [x, y] of [
    [-0.14, -0.08],
    [0.16, -0.08],
    [0.01, -0.28],
  ]) {
    box(c, x - 0.16, y - 0.12, 0.36, 0.22, bark);
    if (kind === "birch")
      for (const n of [0, 0.12]) box(c, x + n, y - 0.06 + n * 0.6, 0.08, 0.03, "#3c3830");
    if (kind === "oak")
      for (const n of [-0.04, 0.04]) line(c, "#54391c", 0.025, x - 0.06, y + n, x + 0.19, y + n);
    if (kind === "pine") line(c, "#8a6a44", 0.025, x - 0.02, y - 0.02, x + 0.18, y - 0.04);
    oval(c, x - 0.16, y - 0.01, 0.09, 0.11, wood);
    hoop(c, x - 0.16, y - 0.01, 0.045, 0.055, bark, 0.02);
  }
  SPRIGS[kind]?.(c);
}

/** The stone around it, and what is in it. */
const ORES = {
  clay: ["#b0876a", "#c99f80"],
  copper_ore: ["#77726a", "#d8864a"],
  tin_ore: ["#5f6266", "#d9dee0"],
  iron_ore: ["#6a5048", "#b5603c"],
  coal: ["#1d1c1f", "#4a4a52"],
  silver_ore: ["#7a7f8a", "#f4f9ff"],
  gold_ore: ["#6f6450", "#f2c83c"],
  cobalt_ore: ["#5f6470", "#3f68e0"],
  wolfram_ore: ["#8f887c", "#24262c"],
  soft_clay: ["#cf9c7c", "#e6bea0"],
};

function stone(c, id) {
  const [rock, tone] = ORES[id] ?? ["#77726a", pick(["#5c8fc8", "#4fa86a", "#a8484a"], id, 11)];
  shape(c, rock, [-0.34, 0.02], [-0.28, -0.3], [0, -0.46], [0.28, -0.28], [0.36, 0.02]);
  shape(c, SHINE, [-0.28, -0.3], [0, -0.46], [0.06, -0.34], [-0.16, -0.2]);
  if (id.includes("clay")) {
    oval(c, 0, -0.14, 0.34, 0.18, rock);
    oval(c, -0.06, -0.22, 0.22, 0.1, tone);
    if (id === "soft_clay") line(c, "#5c9fe0", 0.06, 0.2, -0.46, 0.16, -0.36);
    return;
  }
  for (const [x, y, r] of [
    [-0.14, -0.16, 0.1],
    [0.12, -0.26, 0.09],
    [0.16, -0.06, 0.11],
    [-0.03, -0.34, 0.06],
  ])
    shape(c, tone, [x - r, y], [x, y - r * 0.9], [x + r, y - r * 0.1], [x + r * 0.2, y + r * 0.7]);
}

function slate(c, id) {
  const clean = id.startsWith("clean");
  for (let n = 0; n < (clean ? 3 : 1); n += 1)
    placed(c, 0, -n * 0.12, n * 0.12 - 0.1, 1, (d) =>
      shape(
        d,
        ["#7f8c9a", "#aebac6", "#d4dee6"][clean ? n : 0],
        [-0.34, 0],
        [-0.28, -0.3],
        [0.3, -0.34],
        [0.36, -0.02],
      ),
    );
  if (!clean) shape(c, "#5c6773", [-0.34, 0], [-0.24, -0.6], [0.3, -0.62], [0.36, -0.02]);
  if (!clean) line(c, "rgba(255,255,255,.3)", 0.03, -0.18, -0.46, 0.2, -0.48);
}

function shard(c) {
  for (const [x, turn, tall, tone] of [
    [-0.14, -0.4, 0.4, "#5cc4d0"],
    [0.14, 0.4, 0.44, "#a8f0f0"],
    [0, 0.02, 0.66, "#7fe0e4"],
  ])
    placed(c, x, 0, turn, 1, (d) =>
      shape(d, tone, [-0.1, 0], [-0.1, -tall * 0.7], [0, -tall], [0.1, -tall * 0.7], [0.1, 0]),
    );
  line(c, "#fff", 0.03, -0.03, -0.5, -0.03, -0.2);
}

function ember(c) {
  oval(c, 0, -0.26, 0.3, 0.28, "#3c2a26");
  oval(c, 0, -0.26, 0.2, 0.19, "#e8603a");
  oval(c, 0, -0.26, 0.1, 0.1, "#ffd86a");
  for (const a of [0.3, 1.5, 2.6, 4, 5.2])
    line(
      c,
      "#ff9a3a",
      0.035,
      Math.cos(a) * 0.18,
      -0.26 + Math.sin(a) * 0.17,
      Math.cos(a) * 0.28,
      -0.26 + Math.sin(a) * 0.26,
    );
}

function bar(c, id) {
  const { tone, trim, mark } = stuff(id, "#9aa0a6");
  shape(c, tone, [-0.36, 0], [-0.24, -0.26], [0.36, -0.26], [0.28, 0]);
  shape(c, tone, [-0.24, -0.26], [-0.16, -0.38], [0.42, -0.38], [0.36, -0.26]);
  shape(c, "rgba(255,255,255,.25)", [-0.24, -0.26], [-0.16, -0.38], [0.42, -0.38], [0.36, -0.26]);
  shape(c, trim, [0.28, 0], [0.36, -0.26], [0.42, -0.38], [0.36, -0.12]);
  if (id.startsWith("silver")) hoop(c, 0, -0.13, 0.08, 0.08, "#5c6a78", 0.045, 1, 5.2);
  else if (mark) placed(c, 0, -0.13, 0, 0.5, (d) => mark(d, trim));
  else box(c, -0.1, -0.18, 0.22, 0.08, trim);
}

const GEMS = ["quartz", "amber", "garnet", "sapphire", "diamond"];

/** A cut stone, or the pebble that it comes from; each is cut in its own way. */
function gem(c, id) {
  const n = GEMS.findIndex((name) => id.includes(name));
  const { tone, trim } = stuff(id, "#b07ac8");
  if (id.startsWith("uncut")) {
    shape(
      c,
      trim,
      [-0.32, -0.06],
      [-0.22, -0.34],
      [0.06, -0.44],
      [0.3, -0.26],
      [0.32, -0.02],
      [0.02, 0.04],
    );
    shape(c, "#8d867c", [-0.32, -0.06], [-0.22, -0.34], [-0.04, -0.2], [0.02, 0.04]);
    shape(c, tone, [-0.02, -0.24], [0.12, -0.34], [0.22, -0.2], [0.1, -0.08]);
    return;
  }
  const corners = [6, 4, 8, 5, 7][n] ?? 6;
  const around = (r) =>
    Array.from({ length: corners }, (_, k) => {
      const a = (k / corners) * Math.PI * 2 - Math.PI / 2;
      return [Math.cos(a) * r, -0.32 + Math.sin(a) * r];
    });
  shape(c, trim, ...around(0.36));
  shape(c, tone, ...around(0.3));
  shape(c, "rgba(255,255,255,.4)", ...around(0.16));
  if (id === "amber") line(c, "#4a2a10", 0.035, -0.06, -0.28, 0.04, -0.32, 0.1, -0.26);
}

/** Hides and pelts with their hair on, and leather, which lies in a roll. */
const HIDES = {
  cowhide: ["#efe4d2", "#5a4030"],
  wolf_pelt: ["#83878f", "#565a62"],
  bear_pelt: ["#6b4526", "#4a2e18"],
  frost_pelt: ["#e6f2f8", "#a4c4d8"],
  lurker_hide: ["#5a7440", "#35482a"],
  rime_hide: ["#a6cfe4", "#5f8cab"],
  ash_hide: ["#544a4c", "#e07a3c"],
  fine_fur: ["#c9a678", "#f3e2c4"],
};

function pelt(c, id) {
  const [tone, dark] = HIDES[id] ?? ["#8a6a48", "#5f4730"];
  shape(
    c,
    tone,
    [-0.36, -0.56],
    [-0.12, -0.48],
    [0.12, -0.48],
    [0.36, -0.56],
    [0.26, -0.28],
    [0.36, 0],
    [0.06, -0.06],
    [0, 0.08],
    [-0.06, -0.06],
    [-0.36, 0],
    [-0.26, -0.28],
  );
  if (id === "cowhide")
    for (const [x, y] of [
      [-0.12, -0.36],
      [0.13, -0.2],
      [-0.1, -0.12],
    ])
      oval(c, x, y, 0.1, 0.075, dark);
  else if (stuff(id).mark) placed(c, 0, -0.28, 0, 0.9, (d) => stuff(id).mark(d, dark));
  else for (const x of [-0.14, 0, 0.14]) line(c, dark, 0.04, x, -0.42, x * 0.9, -0.12);
}

function leather(c, id) {
  const of = stuff(id === "leather" ? "leather" : id.replace("_leather", ""), "#8a5a34");
  shape(c, of.tone, [-0.34, -0.4], [0.24, -0.5], [0.36, -0.06], [-0.26, 0.02]);
  if (of.mark) placed(c, -0.04, -0.24, -0.15, 0.9, (d) => of.mark(d, of.trim));
  oval(c, 0.3, -0.28, 0.1, 0.23, of.trim);
  oval(c, 0.3, -0.28, 0.05, 0.13, of.tone);
}

function wool(c) {
  for (const [x, y, r] of [
    [-0.18, -0.14, 0.16],
    [0.16, -0.14, 0.17],
    [0, -0.3, 0.18],
    [0, -0.12, 0.18],
  ])
    oval(c, x, y, r, r * 0.9, "#f6f1e4");
  hoop(c, -0.06, -0.22, 0.09, 0.08, "#cfc6b2", 0.025, 0.5, 5);
  hoop(c, 0.14, -0.14, 0.08, 0.07, "#cfc6b2", 0.025, 2, 6.5);
}

function yarn(c) {
  oval(c, 0, -0.26, 0.28, 0.27, "#c9573f");
  for (const x of [-0.1, 0.02, 0.14]) hoop(c, x, -0.26, 0.1, 0.24, "#8c3424", 0.03, 1.8, 4.4);
  line(c, "#c9573f", 0.04, 0.2, -0.06, 0.34, 0, 0.4, -0.1);
}

function cloth(c) {
  box(c, -0.36, -0.42, 0.6, 0.4, "#54708f");
  for (const y of [-0.34, -0.22, -0.1]) box(c, -0.36, y, 0.6, 0.03, "#6f8dad");
  oval(c, 0.26, -0.22, 0.12, 0.2, "#3c546c");
  hoop(c, 0.26, -0.22, 0.06, 0.1, "#6f8dad", 0.025);
}

function flax(c) {
  for (const [x, y] of [
    [-0.18, -0.5],
    [0, -0.62],
    [0.17, -0.52],
  ]) {
    line(c, "#7a9a4a", 0.035, x * 0.2, 0, x, y);
    for (const a of [0, 1.26, 2.5, 3.8, 5])
      oval(c, x + Math.cos(a) * 0.06, y + Math.sin(a) * 0.06, 0.04, 0.04, "#6f8fe0");
  }
  line(c, "#c9a86a", 0.06, -0.12, -0.16, 0.12, -0.16);
}

function bowstring(c) {
  for (const n of [0, 1, 2])
    hoop(c, 0, -0.3 + n * 0.04, 0.28 - n * 0.06, 0.2 - n * 0.05, "#efe6d0", 0.025);
  line(c, "#efe6d0", 0.025, 0.26, -0.26, 0.38, 0);
  line(c, "#8c3b3b", 0.05, -0.04, -0.5, 0.06, -0.5);
}

function thread(c) {
  for (const y of [-0.56, -0.06]) box(c, -0.2, y, 0.4, 0.09, "#a87848");
  box(c, -0.14, -0.47, 0.28, 0.42, "#c02f2f");
  for (const y of [-0.4, -0.3, -0.2, -0.12]) line(c, "#f08a7a", 0.02, -0.14, y, 0.14, y - 0.04);
}

function rope(c) {
  for (let n = 0; n < 3; n += 1) {
    hoop(c, 0, -0.14 - n * 0.1, 0.3, 0.13, "#8a6a34", 0.11);
    hoop(c, 0, -0.14 - n * 0.1, 0.3, 0.13, "#c9a25a", 0.07);
  }
  line(c, "#c9a25a", 0.07, 0.28, -0.12, 0.4, 0.02);
}

function bones(c, id) {
  const old = id.startsWith("old");
  const tone = old ? "#c2a878" : "#f3ead6";
  const size = id.startsWith("grand") ? 1.3 : 1;
  for (const turn of old ? [0.9, -0.9, 0] : [0.9, -0.9])
    placed(c, 0, -0.22, turn, size, (d) => {
      box(d, -0.045, -0.26, 0.09, 0.52, tone);
      for (const y of [-0.26, 0.26])
        for (const x of [-0.055, 0.055]) oval(d, x, y, 0.07, 0.07, tone);
    });
  if (id.startsWith("grand")) {
    oval(c, 0, -0.24, 0.16, 0.15, tone);
    for (const x of [-0.06, 0.06]) oval(c, x, -0.26, 0.04, 0.05, "#3a322c");
  }
}

function claw(c, id) {
  const crab = id.startsWith("crab");
  const tone = crab ? "#d2583c" : "#c4e6f4";
  if (crab) {
    oval(c, -0.04, -0.3, 0.26, 0.2, tone);
    shape(c, tone, [0.06, -0.44], [0.4, -0.56], [0.2, -0.3]);
    shape(c, tone, [0.04, -0.16], [0.38, -0.2], [0.2, -0.34]);
    line(c, "#9c3a24", 0.08, -0.24, -0.18, -0.34, 0);
    return;
  }
  for (const [x, tall] of [
    [-0.2, 0.44],
    [0, 0.6],
    [0.2, 0.46],
  ]) {
    shape(c, tone, [x - 0.1, 0], [x + 0.1, 0], [x + 0.16, -tall]);
    line(c, "#fff", 0.025, x, -0.06, x + 0.1, -tall * 0.7);
  }
}

function horn(c) {
  c.strokeStyle = "#d8c49a";
  c.lineWidth = 0.18;
  c.lineCap = "butt";
  c.beginPath();
  c.arc(-0.06, -0.06, 0.34, -0.2, -2.2, true);
  c.stroke();
  shape(c, "#8a6a44", [-0.36, -0.26], [-0.14, -0.4], [-0.42, -0.56]);
  for (const a of [-0.5, -0.9, -1.3])
    line(
      c,
      "#a88a5c",
      0.03,
      -0.06 + Math.cos(a) * 0.26,
      -0.06 + Math.sin(a) * 0.26,
      -0.06 + Math.cos(a) * 0.42,
      -0.06 + Math.sin(a) * 0.42,
    );
}

function fang(c) {
  shape(c, "#f6efdc", [-0.16, -0.58], [0.16, -0.54], [0.1, -0.2], [-0.06, 0.06], [-0.08, -0.24]);
  shape(c, "#b5402c", [-0.17, -0.6], [0.17, -0.56], [0.14, -0.46], [-0.15, -0.5]);
}

function brush(c) {
  placed(c, -0.22, 0.02, 0.7, 1, (d) => {
    oval(d, 0, -0.42, 0.17, 0.36, "#c8642c");
    oval(d, 0, -0.68, 0.12, 0.16, "#f6e6cc");
    line(d, "#8a3f1a", 0.06, 0, 0, 0, -0.14);
  });
}

function feather(c) {
  placed(c, -0.2, 0.02, 0.6, 1, (d) => {
    oval(d, 0, -0.42, 0.13, 0.34, "#f4f1ea");
    line(d, "#b9a98a", 0.03, 0, 0.04, 0, -0.74);
    for (const y of [-0.56, -0.42, -0.28]) line(d, "#cfc6b4", 0.02, 0, y, 0.11, y - 0.08);
  });
}

function moss(c) {
  for (const [x, y, tone] of [
    [-0.18, -0.1, "#4f6f38"],
    [0.16, -0.1, "#5f8444"],
    [0, -0.22, "#74994f"],
  ])
    oval(c, x, y, 0.22, 0.14, tone);
  for (const x of [-0.2, -0.06, 0.08, 0.2]) line(c, "#8fb45c", 0.03, x, -0.14, x + 0.03, -0.4);
}

function acorn(c) {
  oval(c, 0, -0.2, 0.19, 0.24, "#b5803c");
  shape(c, "#6b4a26", [-0.26, -0.3], [-0.2, -0.46], [0.2, -0.46], [0.26, -0.3]);
  line(c, "#6b4a26", 0.05, 0, -0.46, 0.05, -0.6);
  oval(c, -0.07, -0.18, 0.04, 0.09, SHINE);
}

function scale(c) {
  shape(c, "#2f6a54", [0, 0.02], [-0.3, -0.3], [-0.2, -0.56], [0.2, -0.56], [0.3, -0.3]);
  shape(c, "#4fa07e", [0, -0.08], [-0.2, -0.3], [-0.12, -0.46], [0.12, -0.46], [0.2, -0.3]);
  line(c, "#bff0d8", 0.03, -0.08, -0.4, -0.1, -0.26);
}

function ash(c, id) {
  const pinch = id.endsWith("pinch");
  oval(c, 0, -0.06, pinch ? 0.2 : 0.36, pinch ? 0.07 : 0.11, "#6b6663");
  oval(c, -0.03, -0.12, pinch ? 0.12 : 0.24, pinch ? 0.06 : 0.1, "#8f8985");
  if (pinch)
    for (const [x, y] of [
      [-0.2, -0.3],
      [0.12, -0.36],
      [0.02, -0.48],
      [0.24, -0.2],
    ])
      oval(c, x, y, 0.035, 0.03, "#e07a3c");
  else
    for (const [x, y] of [
      [-0.16, -0.1],
      [0.14, -0.12],
    ])
      line(c, "#3c3836", 0.05, x - 0.06, y, x + 0.07, y - 0.04);
}

function studs(c) {
  for (const [x, y] of [
    [-0.2, -0.08],
    [0.16, -0.06],
    [0, -0.26],
    [-0.18, -0.4],
    [0.2, -0.36],
  ]) {
    oval(c, x, y + 0.02, 0.11, 0.09, "#6f7d8a");
    oval(c, x, y, 0.1, 0.08, "#cad4de");
    oval(c, x - 0.03, y - 0.03, 0.03, 0.02, "#fff");
  }
}

export const MATERIALS = [
  [/logs$/, logs],
  [/_ore$|^clay$|^coal$|soft_clay/, stone],
  [/slate$/, slate],
  [/starglass_shard/, shard],
  [/ember_core/, ember],
  [/_bar$/, bar],
  [/studs$/, studs],
  [/bones/, bones],
  [/quartz|amber|garnet|sapphire|diamond|gem|emerald|ruby|opal|topaz|crystal/, gem],
  [/bowstring/, bowstring],
  [/^thread/, thread],
  [/yarn/, yarn],
  [/flax/, flax],
  [/rope|string|twine/, rope],
  [/^ash(es|_pinch)?$/, ash],
  [/leather$/, leather],
  [/^cloth/, cloth],
  [/^wool$/, wool],
  [/pelt|hide|fur$/, pelt],
  [/brush/, brush],
  [/feather/, feather],
  [/claw$/, claw],
  [/horn$/, horn],
  [/fang/, fang],
  [/moss/, moss],
  [/acorn/, acorn],
  [/scale$/, scale],
];
