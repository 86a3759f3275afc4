// The land, painted once per chunk of 16 x 16 tiles and kept: soft ground, then what lies on it,
// then what stands on it. Pure but for the canvases it fills.

import { LITTER, boulder, bush, dot, hedgerow } from "./litter.js";

export const CHUNK = 16;
/** What stands at a chunk's northern edge reaches this many tiles beyond it. */
export const OVER = 2;
const SUB = 10;
const RIM = 2;

export function hash(x, z, salt = 0) {
  let h = Math.imul(x, 374761393) ^ Math.imul(z, 668265263) ^ Math.imul(salt, 2147483647 - 58);
  h = Math.imul(h ^ (h >>> 13), 1274126177);
  h = Math.imul(h ^ (h >>> 16), 2246822519);
  return ((h ^ (h >>> 15)) >>> 0) / 4294967296;
}

function smooth(x, z, salt) {
  const ix = Math.floor(x);
  const iz = Math.floor(z);
  let fx = x - ix;
  let fz = z - iz;
  fx *= fx * (3 - 2 * fx);
  fz *= fz * (3 - 2 * fz);
  const low = hash(ix, iz, salt) * (1 - fx) + hash(ix + 1, iz, salt) * fx;
  const high = hash(ix, iz + 1, salt) * (1 - fx) + hash(ix + 1, iz + 1, salt) * fx;
  return low * (1 - fz) + high * fz;
}

const COLORS = {
  grass: [118, 163, 82],
  meadow: [143, 178, 88],
  forest_floor: [82, 122, 66],
  dirt: [155, 124, 86],
  farmland: [140, 101, 62],
  sand: [222, 201, 148],
  shallows: [122, 186, 194],
  water: [70, 141, 176],
  deep_water: [45, 104, 148],
  road: [186, 166, 132],
  plaza: [199, 188, 167],
  floor: [164, 125, 84],
  wall: [140, 128, 114],
  bridge: [138, 102, 66],
  rock: [128, 140, 96],
  cliff: [122, 116, 106],
  swamp: [98, 110, 70],
  snow: [232, 238, 243],
  ice: [190, 221, 234],
  ash: [112, 104, 101],
  lava: [224, 90, 40],
  hedge: [82, 122, 66],
};
const CRISP = new Set(["floor", "wall", "bridge", "farmland"]);
const PAVED = new Set(["road", "plaza"]);
export const WET = new Set(["shallows", "water", "deep_water"]);
const GREEN = new Set(["grass", "meadow", "forest_floor", "swamp"]);

/** The kinds of the tiles around a chunk by name, or undefined while land is missing. */
function survey(land, cx, cz) {
  const side = CHUNK + 4;
  const names = new Array(side * side);
  const heights = new Float32Array(side * side);
  for (let j = 0; j < side; j += 1) {
    for (let i = 0; i < side; i += 1) {
      const x = cx * CHUNK + i - 2;
      const z = cz * CHUNK + j - 2;
      const kind = land.kind(x, z);
      if (kind < 0) return undefined;
      names[j * side + i] = land.ground[kind].name;
      heights[j * side + i] = land.height(x, z);
    }
  }
  return {
    at: (i, j) => names[(j + 2) * side + i + 2],
    height: (i, j) => heights[(j + 2) * side + i + 2],
  };
}

/** What boulders and bushes stand on: the ground around them. */
function under(map, i, j) {
  const name = map.at(i, j);
  if (name !== "rock" && name !== "hedge") return name;
  for (const [dx, dz] of [
    [0, -1],
    [-1, 0],
    [1, 0],
    [0, 1],
    [-1, -1],
    [1, 1],
  ]) {
    const near = map.at(
      Math.max(-2, Math.min(CHUNK + 1, i + dx)),
      Math.max(-2, Math.min(CHUNK + 1, j + dz)),
    );
    if (near !== "rock" && near !== "hedge" && near !== "wall" && !WET.has(near)) return near;
  }
  return "grass";
}

function soil(map, cx, cz) {
  const size = CHUNK * SUB + 2 * RIM;
  const image = new ImageData(size, size);
  const out = image.data;
  for (let py = 0; py < size; py += 1) {
    for (let px = 0; px < size; px += 1) {
      const tx = (px - RIM + 0.5) / SUB;
      const tz = CHUNK - (py - RIM + 0.5) / SUB;
      const wx = cx * CHUNK + tx;
      const wz = cz * CHUNK + tz;
      const i = Math.floor(tx);
      const j = Math.floor(tz);
      let name = under(map, i, j);
      if (!CRISP.has(name)) {
        const dx = smooth(wx * 1.7, wz * 1.7, 1) - 0.5;
        const dz = smooth(wx * 1.7, wz * 1.7, 2) - 0.5;
        const other = under(map, Math.floor(tx + dx * 1.15), Math.floor(tz + dz * 1.15));
        const near = under(map, Math.floor(tx + dx * 0.55), Math.floor(tz + dz * 0.55));
        if (PAVED.has(name) || PAVED.has(other)) {
          if (!CRISP.has(near) && WET.has(near) === WET.has(name)) name = near;
        } else if (!CRISP.has(other)) name = other;
      }
      let [r, g, b] = COLORS[name] ?? [128, 128, 128];
      const wet = WET.has(name);
      const broad = smooth(wx / 5, wz / 5, 3) - 0.5;
      const fine = hash(Math.floor(wx * SUB), Math.floor(wz * SUB), 4) - 0.5;
      let light = 1 + broad * (wet ? 0.07 : 0.16) + fine * (wet ? 0.025 : 0.075);
      if (GREEN.has(name)) {
        const warm = (smooth(wx / 9, wz / 9, 5) - 0.5) * 26;
        r += warm;
        b -= warm * 0.3;
      }
      if (wet) {
        const shore =
          !WET.has(map.at(i - 1, j)) ||
          !WET.has(map.at(i + 1, j)) ||
          !WET.has(map.at(i, j - 1)) ||
          !WET.has(map.at(i, j + 1));
        if (shore && name !== "deep_water") {
          r += 14;
          g += 14;
          b += 10;
        }
      } else light += slope(map, tx, tz);
      const at = (py * size + px) * 4;
      out[at] = r * light;
      out[at + 1] = g * light;
      out[at + 2] = b * light;
      out[at + 3] = 255;
    }
  }
  return image;
}

function slope(map, tx, tz) {
  const x = tx - 0.5;
  const z = tz - 0.5;
  const i = Math.max(-1, Math.min(CHUNK - 1, Math.floor(x)));
  const j = Math.max(-1, Math.min(CHUNK - 1, Math.floor(z)));
  const fx = x - i;
  const fz = z - j;
  const tilt = (a, b) =>
    map.height(a + 1, b) - map.height(a - 1, b) - map.height(a, b + 1) + map.height(a, b - 1);
  const low = tilt(i, j) * (1 - fx) + tilt(i + 1, j) * fx;
  const high = tilt(i, j + 1) * (1 - fx) + tilt(i + 1, j + 1) * fx;
  const sum = low * (1 - fz) + high * fz;
  return Math.max(-0.2, Math.min(0.16, sum * 0.022));
}

/** Paints a chunk at `px` pixels a tile; undefined while its land is not known. */
export function bake(land, cx, cz, px) {
  const map = survey(land, cx, cz);
  if (!map) return undefined;
  const canvas = document.createElement("canvas");
  canvas.width = CHUNK * px;
  canvas.height = (CHUNK + OVER) * px;
  const c = canvas.getContext("2d");
  const image = soil(map, cx, cz);
  const small = document.createElement("canvas");
  small.width = small.height = image.width;
  small.getContext("2d").putImageData(image, 0, 0);
  c.imageSmoothingQuality = "high";
  c.save();
  c.beginPath();
  c.rect(0, OVER * px, CHUNK * px, CHUNK * px);
  c.clip();
  const rim = (RIM * px) / SUB;
  c.filter = `blur(${(px / SUB) * 0.4}px)`;
  c.drawImage(small, -rim, OVER * px - rim, CHUNK * px + 2 * rim, CHUNK * px + 2 * rim);
  c.filter = "none";
  each(c, px, cx, cz, map, litter, 0, 0);
  each(c, px, cx, cz, map, shadow, 1, 1);
  c.restore();
  each(c, px, cx, cz, map, stand, 1, 0);
  return canvas;
}

/** Paints every tile from the north, with so many columns and rows of the neighbours. */
function each(c, px, cx, cz, map, paint, columns, rows) {
  for (let j = CHUNK - 1 + rows; j >= -rows; j -= 1) {
    for (let i = -columns; i < CHUNK + columns; i += 1) {
      const x = cx * CHUNK + i;
      const z = cz * CHUNK + j;
      c.save();
      c.translate(i * px, (CHUNK - 1 - j + OVER) * px);
      c.scale(px, px);
      let n = 0;
      const dice = () => hash(x, z, 100 + (n += 1));
      paint(c, map, i, j, dice);
      c.restore();
    }
  }
}

function litter(c, map, i, j, dice) {
  const name = under(map, i, j);
  if (name === "bridge") return bridge(c, map, i, j);
  const edge =
    PAVED.has(name) &&
    [
      [1, 0],
      [-1, 0],
      [0, 1],
      [0, -1],
    ].some(([dx, dz]) => map.at(i + dx, j + dz) !== name);
  LITTER[name]?.(c, dice, edge);
  if (WET.has(name)) basin(c, map, i, j);
  if (name === "floor" && isDoor(map, i, j)) {
    c.fillStyle = "rgba(74,46,24,.8)";
    c.fillRect(0.06, 0.06, 0.88, 0.88);
    c.fillStyle = "#caa05a";
    c.fillRect(0.2, 0.24, 0.6, 0.52);
  }
}

/** The stone rim where water meets paving. */
function basin(c, map, i, j) {
  c.lineCap = "round";
  for (const [dx, dz, line] of [
    [0, 1, [0, 0, 1, 0]],
    [0, -1, [0, 1, 1, 1]],
    [-1, 0, [0, 0, 0, 1]],
    [1, 0, [1, 0, 1, 1]],
  ]) {
    if (map.at(i + dx, j + dz) !== "plaza") continue;
    for (const [color, width] of [
      ["#7d7466", 0.3],
      ["#cfc6b4", 0.2],
    ]) {
      c.strokeStyle = color;
      c.lineWidth = width;
      c.beginPath();
      c.moveTo(line[0], line[1]);
      c.lineTo(line[2], line[3]);
      c.stroke();
    }
  }
}

const isDoor = (map, i, j) =>
  (map.at(i - 1, j) === "wall" && map.at(i + 1, j) === "wall") ||
  (map.at(i, j - 1) === "wall" && map.at(i, j + 1) === "wall");

function bridge(c, map, i, j) {
  c.strokeStyle = "rgba(70,46,24,.6)";
  c.lineWidth = 0.035;
  c.beginPath();
  for (let y = 0; y < 1; y += 0.25) {
    c.moveTo(0, y);
    c.lineTo(1, y);
  }
  c.stroke();
  c.fillStyle = "#5c4026";
  if (WET.has(map.at(i, j + 1))) c.fillRect(0, 0, 1, 0.12);
  if (WET.has(map.at(i, j - 1))) {
    c.fillRect(0, 0.86, 1, 0.14);
    c.fillStyle = "rgba(20,40,60,.35)";
    c.fillRect(0, 1, 1, 0.2);
  }
  c.fillStyle = "#5c4026";
  if (WET.has(map.at(i - 1, j))) c.fillRect(0, 0, 0.1, 1);
  if (WET.has(map.at(i + 1, j))) c.fillRect(0.9, 0, 0.1, 1);
}

function shadow(c, map, i, j) {
  const name = map.at(i, j);
  c.fillStyle = "rgba(24,28,38,.2)";
  if (name === "wall") {
    c.beginPath();
    c.moveTo(0, 0);
    c.lineTo(1, 0);
    c.lineTo(1.45, 0.25);
    c.lineTo(1.45, 1.25);
    c.lineTo(0.45, 1.25);
    c.lineTo(0, 1);
    c.fill();
  }
  if (name === "rock") dot(c, 0.62, 0.74, 0.46, "rgba(24,28,38,.25)", 0.5);
  if (name === "hedge") dot(c, 0.66, 0.82, 0.5, "rgba(18,28,20,.28)", 0.5);
}

function stand(c, map, i, j, dice) {
  const name = map.at(i, j);
  if (name === "wall") wall(c, map, i, j, dice);
  else if (name === "rock") boulder(c, dice, under(map, i, j));
  else if (name === "hedge") {
    const row = [
      [0, 1],
      [0, -1],
      [1, 0],
      [-1, 0],
    ].filter(([dx, dz]) => map.at(i + dx, j + dz) === "hedge").length;
    const wild = row < 2 || dice() < 0.0;
    if (wild) bush(c, dice, under(map, i, j));
    else hedgerow(c, map, i, j, dice);
  }
}

function wall(c, map, i, j, dice) {
  const tall = 0.5;
  const south = map.at(i, j - 1) === "wall";
  c.fillStyle = "#a89c8a";
  c.fillRect(-0.01, -tall, 1.02, south ? 1.02 : 1.01);
  c.fillStyle = "rgba(255,246,224,.22)";
  c.fillRect(0, -tall, 1, 0.1);
  c.strokeStyle = "rgba(70,60,48,.4)";
  c.lineWidth = 0.03;
  c.strokeRect(0.02, -tall + 0.02, 0.96, 0.96);
  if (south) return;
  c.fillStyle = "#776b5c";
  c.fillRect(-0.01, 1 - tall, 1.02, tall);
  c.fillStyle = "rgba(40,32,24,.35)";
  for (let row = 0; row < 2; row += 1) {
    c.fillRect(0, 1 - tall + row * 0.25, 1, 0.03);
    c.fillRect((row ? 0.25 : 0.6) + dice() * 0.1, 1 - tall + row * 0.25, 0.03, 0.25);
  }
}
