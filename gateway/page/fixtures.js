// Trees, rocks and stations, drawn in code.

import { hash } from "./ground.js";
import { box, oval, shade, shape } from "./pen.js";
import { cauldron, patch } from "./potions.js";
import { empty, fire, grave, stump } from "./traces.js";
import { WORKPLACES } from "./workplaces.js";

export function scarecrow(c) {
  shade(c, 0.2);
  box(c, -0.03, -0.95, 0.06, 0.95, "#6d4f2e");
  box(c, -0.4, -0.7, 0.8, 0.06, "#6d4f2e");
  shape(c, "#8a6d8f", [-0.3, -0.74], [0.3, -0.74], [0.2, -0.3], [-0.2, -0.3]);
  oval(c, 0, -0.88, 0.15, 0.15, "#d8bc7a");
  oval(c, 0, -1, 0.26, 0.06, "#5d4630");
}

function leafy(c, tones, tall, wide, trunk, dots) {
  oval(c, 0.2, 0.04, wide * 0.95, wide * 0.4, "rgba(18,26,20,.28)");
  shape(c, trunk, [-0.12, 0.05], [-0.08, -tall * 0.6], [0.08, -tall * 0.6], [0.12, 0.05]);
  const top = -tall * 0.78;
  for (const [x, y, r, n] of [
    [-0.55, 0.14, 0.5, 0],
    [0.55, 0.16, 0.5, 0],
    [0, 0.22, 0.6, 0],
    [-0.38, -0.22, 0.52, 1],
    [0.36, -0.2, 0.52, 1],
    [0, -0.45, 0.52, 1],
    [-0.2, -0.42, 0.34, 2],
    [-0.42, -0.05, 0.22, 2],
  ]) {
    oval(c, x * wide, top + y * wide, r * wide, r * wide * 0.88, tones[n]);
  }
  for (let n = 0; n < 12; n += 1)
    oval(
      c,
      (hash(n, 1) - 0.5) * 1.5 * wide,
      top + (hash(n, 2) - 0.6) * 1.1 * wide,
      0.07,
      0.055,
      n % 3 ? tones[2] : tones[0],
    );
  if (dots)
    for (let n = 0; n < 9; n += 1)
      oval(c, (hash(n, 5) - 0.5) * 1.4 * wide, top + (hash(n, 6) - 0.45) * wide, 0.07, 0.075, dots);
}

function willow(c) {
  leafy(c, ["#5d7a3c", "#78964a", "#93ad5e"], 1.7, 0.75, "#5b4630");
  c.strokeStyle = "rgba(120,150,74,.9)";
  c.lineWidth = 0.05;
  c.beginPath();
  for (let n = -5; n <= 5; n += 1) {
    const x = n * 0.14;
    c.moveTo(x, -1.3 + Math.abs(n) * 0.04);
    c.quadraticCurveTo(x * 1.5, -0.8, x * 1.45, -0.32 - hash(n, 3) * 0.25);
  }
  c.stroke();
}

function pine(c) {
  oval(c, 0.2, 0.04, 0.55, 0.24, "rgba(18,26,20,.28)");
  box(c, -0.08, -0.4, 0.16, 0.45, "#56402a");
  for (let n = 0; n < 4; n += 1) {
    const y = -0.25 - n * 0.42;
    const w = 0.68 - n * 0.14;
    shape(c, ["#28503c", "#2f5c45", "#396a50", "#457a5d"][n], [-w, y], [0, y - 0.85], [w, y]);
    shape(
      c,
      "rgba(240,247,250,.7)",
      [-w * 0.5, y - 0.36],
      [0, y - 0.85],
      [w * 0.25, y - 0.52],
      [-w * 0.1, y - 0.4],
    );
  }
}

function palm(c) {
  oval(c, 0.3, 0.04, 0.5, 0.2, "rgba(18,26,20,.25)");
  c.strokeStyle = "#8a6a44";
  c.lineWidth = 0.15;
  c.beginPath();
  c.moveTo(0, 0.03);
  c.quadraticCurveTo(0.05, -0.8, 0.22, -1.45);
  c.stroke();
  for (let n = 0; n < 7; n += 1) {
    const a = n * 0.9 + 0.3;
    c.strokeStyle = n % 2 ? "#5c9448" : "#47803e";
    c.lineWidth = 0.13;
    c.beginPath();
    c.moveTo(0.22, -1.48);
    c.quadraticCurveTo(
      0.22 + Math.cos(a) * 0.5,
      -1.75 + Math.sin(a) * 0.2,
      0.22 + Math.cos(a) * 0.85,
      -1.38 + Math.sin(a) * 0.3,
    );
    c.stroke();
  }
  oval(c, 0.16, -1.4, 0.07, 0.07, "#6d4a26");
  oval(c, 0.29, -1.38, 0.07, 0.07, "#6d4a26");
}

function birch(c) {
  leafy(c, ["#7c9c46", "#98b458", "#b6cc74"], 1.75, 0.58, "#ece8dc");
  for (let n = 0; n < 4; n += 1)
    box(c, -0.08 + (n % 2) * 0.07, -0.15 - n * 0.2, 0.09, 0.035, "#3c3830");
}

const ORES = {
  rock_cobalt: "#4f74c4",
  rock_wolfram: "#3e4248",
  rock_gold: "#e8c048",
  rock_slate: "#5a6470",
  rock_clean_slate: "#a8b4c0",
  rock_gems: "#b45ac8",
  rock_copper: "#d8864a",
  rock_tin: "#d5d8da",
  rock_iron: "#a8583c",
  rock_coal: "#22201f",
  rock_silver: "#f4f8ff",
  rock_clay: "#c08a5c",
  rock_starglass: "#7ff0e8",
};

function ore(c, id) {
  shade(c, 0.48);
  const clay = id === "rock_clay";
  shape(
    c,
    clay ? "#94694a" : "#6c6962",
    [-0.46, 0.08],
    [-0.42, -0.28],
    [-0.16, -0.56],
    [0.2, -0.52],
    [0.44, -0.2],
    [0.46, 0.08],
  );
  shape(
    c,
    clay ? "#ac7c58" : "#8d8a82",
    [-0.42, -0.28],
    [-0.16, -0.56],
    [0.2, -0.52],
    [0.06, -0.26],
    [-0.2, -0.12],
  );
  for (let n = 0; n < 7; n += 1) {
    const x = (hash(n, 8) - 0.5) * 0.68;
    const y = -0.08 - hash(n, 9) * 0.34;
    shape(
      c,
      ORES[id] ?? "#bbb",
      [x - 0.06, y],
      [x, y - 0.07],
      [x + 0.07, y - 0.01],
      [x + 0.01, y + 0.06],
    );
  }
}

const TREES = {
  tree_oak: (c) => leafy(c, ["#3f6a34", "#548443", "#6f9f55"], 1.85, 0.9, "#5b4228"),
  tree_plum: (c) => leafy(c, ["#4c7038", "#638b48", "#7fa65c"], 1.3, 0.62, "#6a4a30", "#7a3f7c"),
  tree_maple: (c) => leafy(c, ["#93402a", "#bb5a32", "#da8442"], 1.8, 0.8, "#5b4228"),
  tree_yew: (c) => leafy(c, ["#24482f", "#315a3a", "#426e48"], 1.7, 0.95, "#6b3f2a", "#b8382c"),
  tree_teak: (c) => leafy(c, ["#5a6a2c", "#74883c", "#94a858"], 1.9, 0.72, "#7a4f2c"),
  tree_hushwood: (c) =>
    leafy(c, ["#2c3a4a", "#3c5064", "#587088"], 1.9, 0.85, "#3a3040", "#a8c8e8"),
  tree_willow: willow,
  tree_pine: pine,
  tree_palm: palm,
  tree_birch: birch,
};

function spot(c, time) {
  c.lineWidth = 0.04;
  for (let n = 0; n < 3; n += 1) {
    const t = (time / 2200 + n / 3) % 1;
    c.strokeStyle = `rgba(240,250,255,${0.75 * (1 - t)})`;
    c.beginPath();
    c.ellipse(0, -0.1, 0.08 + t * 0.42, 0.04 + t * 0.22, 0, 0, 7);
    c.stroke();
  }
  const leap = (time / 1000) % 5;
  if (leap < 0.6) {
    const y = Math.sin((leap / 0.6) * Math.PI) * 0.4;
    oval(c, -0.15 + leap * 0.5, -0.1 - y, 0.12, 0.05, "#c8d8e0");
  }
}

const STATIONS = {
  ...WORKPLACES,
  cauldron,
  bank(c) {
    shade(c, 0.5);
    box(c, -0.48, -0.5, 0.96, 0.52, "#7a5230");
    box(c, -0.5, -0.6, 1, 0.14, "#a87848");
    box(c, -0.4, -0.36, 0.8, 0.28, "#5f3e22");
    oval(c, 0, -0.22, 0.1, 0.1, "#e8b65a");
    oval(c, 0.28, -0.63, 0.08, 0.05, "#f0cc6a");
    oval(c, 0.28, -0.68, 0.08, 0.05, "#f6d980");
  },
  furnace(c, t) {
    shade(c, 0.5);
    shape(
      c,
      "#6b625a",
      [-0.46, 0.05],
      [-0.42, -0.7],
      [-0.2, -0.9],
      [-0.2, -1.25],
      [0.2, -1.25],
      [0.2, -0.9],
      [0.42, -0.7],
      [0.46, 0.05],
    );
    oval(c, 0, -0.2, 0.24, 0.22, "#2a1a12");
    oval(c, 0, -0.15, 0.19, 0.15 + Math.sin(t / 130) * 0.02, "#ff8a2a");
    oval(c, 0, -0.12, 0.1, 0.09, "#ffe08a");
  },
  anvil(c) {
    shade(c, 0.4);
    box(c, -0.16, -0.16, 0.32, 0.2, "#5a3e26");
    shape(
      c,
      "#4d5257",
      [-0.18, -0.16],
      [-0.1, -0.3],
      [-0.42, -0.46],
      [0.36, -0.46],
      [0.36, -0.34],
      [0.1, -0.3],
      [0.18, -0.16],
    );
    box(c, -0.3, -0.47, 0.66, 0.05, "#868d94");
  },
  altar(c, t) {
    shade(c, 0.5);
    box(c, -0.34, -0.3, 0.68, 0.34, "#a7a294");
    box(c, -0.46, -0.44, 0.92, 0.16, "#cdc7b6");
    box(c, -0.05, -0.62, 0.1, 0.18, "#f3ead6");
    oval(c, 0, -0.68, 0.05, 0.08 + Math.sin(t / 160) * 0.015, "#ffc85a");
  },
  range(c, t) {
    shade(c, 0.48);
    box(c, -0.44, -0.62, 0.88, 0.66, "#4a4644");
    box(c, -0.48, -0.7, 0.96, 0.12, "#6a6462");
    box(c, -0.28, -0.36, 0.56, 0.26, "#20150f");
    oval(c, 0, -0.2, 0.2, 0.08 + Math.sin(t / 140) * 0.015, "#ff9a3a");
    oval(c, -0.18, -0.76, 0.15, 0.1, "#8a8580");
    box(c, 0.22, -1.1, 0.16, 0.42, "#3c3836");
  },
  well(c) {
    shade(c, 0.5);
    oval(c, 0, -0.1, 0.46, 0.24, "#8d867a");
    oval(c, 0, -0.2, 0.44, 0.2, "#b0a898");
    oval(c, 0, -0.2, 0.32, 0.14, "#2b4a5e");
    box(c, -0.4, -0.95, 0.07, 0.78, "#5f4228");
    box(c, 0.33, -0.95, 0.07, 0.78, "#5f4228");
    shape(c, "#a3523a", [-0.58, -0.88], [0, -1.26], [0.58, -0.88]);
  },
  stall(c) {
    shade(c, 0.5);
    box(c, -0.46, -0.42, 0.92, 0.44, "#8a6238");
    for (let n = 0; n < 5; n += 1)
      oval(
        c,
        -0.34 + n * 0.17,
        -0.46,
        0.08,
        0.07,
        ["#c8503a", "#d9a83c", "#6f9c3f", "#8a4f8c", "#e0803a"][n],
      );
    box(c, -0.46, -1.05, 0.05, 0.65, "#5f4228");
    box(c, 0.41, -1.05, 0.05, 0.65, "#5f4228");
    for (let n = 0; n < 6; n += 1)
      shape(
        c,
        n % 2 ? "#f3ead6" : "#b5493a",
        [-0.54 + n * 0.18, -0.92],
        [-0.46 + n * 0.153, -1.2],
        [-0.307 + n * 0.153, -1.2],
        [-0.36 + n * 0.18, -0.92],
      );
  },
  lamp(c) {
    shade(c, 0.16);
    box(c, -0.035, -1.15, 0.07, 1.16, "#34302c");
    box(c, -0.1, -0.05, 0.2, 0.07, "#34302c");
    box(c, -0.1, -1.42, 0.2, 0.27, "#ffdf95");
    box(c, -0.13, -1.46, 0.26, 0.06, "#34302c");
    box(c, -0.13, -1.17, 0.26, 0.05, "#34302c");
    shape(c, "#34302c", [-0.14, -1.44], [0, -1.58], [0.14, -1.44]);
  },
  signpost(c) {
    shade(c, 0.2);
    box(c, -0.05, -1.05, 0.1, 1.06, "#5f4228");
    shape(c, "#a87848", [-0.06, -0.98], [0.4, -0.98], [0.52, -0.89], [0.4, -0.8], [-0.06, -0.8]);
    shape(
      c,
      "#94683c",
      [0.06, -0.74],
      [-0.38, -0.74],
      [-0.5, -0.66],
      [-0.38, -0.58],
      [0.06, -0.58],
    );
  },
  statue(c) {
    shade(c, 0.5);
    box(c, -0.4, -0.3, 0.8, 0.34, "#98928a");
    box(c, -0.46, -0.38, 0.92, 0.1, "#b5afa6");
    shape(c, "#8a9490", [-0.16, -0.38], [-0.2, -0.95], [0.2, -0.95], [0.16, -0.38]);
    oval(c, 0, -1.08, 0.13, 0.14, "#99a39f");
    box(c, 0.14, -0.96, 0.42, 0.08, "#99a39f");
  },
};

/** A tree, rock, fishing spot, station, fire or grave. */
export function fixture(c, entity, time) {
  if (entity.type === "fire") return fire(c, time);
  if (entity.type === "grave") return grave(c);
  if (entity.type === "station") return (STATIONS[entity.stationType] ?? STATIONS.stall)(c, time);
  if (entity.resourceType === "fishing_spot") return spot(c, time);
  if (entity.resourceType === "herb_patch") return patch(c, entity.resourceId, entity.depleted);
  if (entity.depleted)
    return (entity.resourceType === "tree" ? stump : empty)(c, entity.resourceId);
  if (entity.resourceType === "tree")
    return (
      TREES[entity.resourceId] ??
      ((d) => leafy(d, ["#47752f", "#5f9140", "#7bad56"], 1.6, 0.7, "#5f462c"))
    )(c);
  return ore(c, entity.resourceId);
}

const LIVELY = new Set(["furnace", "altar", "range"]);
/** Whether the drawing changes with time, so that it cannot be kept. */
export const lively = (entity) =>
  entity.type === "fire" ||
  entity.resourceType === "fishing_spot" ||
  LIVELY.has(entity.stationType);
/** Tiles around a thing that it lights at night. */
export const glow = (entity) =>
  entity.type === "fire"
    ? 3.5
    : ({ lamp: 4.5, furnace: 3.5, range: 2.5, altar: 2.5 }[entity.stationType] ?? 0);
