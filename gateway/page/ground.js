// The land, painted once per chunk of 16 x 16 tiles and kept: soft ground, then what lies on it,
// then what stands on it. Pure but for the canvases it fills.

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
  grass: [118, 163, 82], meadow: [143, 178, 88], forest_floor: [82, 122, 66], dirt: [155, 124, 86],
  farmland: [140, 101, 62], sand: [222, 201, 148], shallows: [122, 186, 194], water: [70, 141, 176],
  deep_water: [45, 104, 148], road: [186, 166, 132], plaza: [199, 188, 167], floor: [164, 125, 84],
  wall: [140, 128, 114], bridge: [138, 102, 66], rock: [128, 140, 96], cliff: [122, 116, 106],
  swamp: [98, 110, 70], snow: [232, 238, 243], ice: [190, 221, 234], ash: [112, 104, 101],
  lava: [224, 90, 40], hedge: [82, 122, 66],
};
const CRISP = new Set(['floor', 'wall', 'bridge', 'farmland']);
const PAVED = new Set(['road', 'plaza']);
export const WET = new Set(['shallows', 'water', 'deep_water']);
const GREEN = new Set(['grass', 'meadow', 'forest_floor', 'swamp']);

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
  return { at: (i, j) => names[(j + 2) * side + i + 2], height: (i, j) => heights[(j + 2) * side + i + 2] };
}

/** What boulders and bushes stand on: the ground around them. */
function under(map, i, j) {
  const name = map.at(i, j);
  if (name !== 'rock' && name !== 'hedge') return name;
  for (const [dx, dz] of [[0, -1], [-1, 0], [1, 0], [0, 1], [-1, -1], [1, 1]]) {
    const near = map.at(Math.max(-2, Math.min(CHUNK + 1, i + dx)), Math.max(-2, Math.min(CHUNK + 1, j + dz)));
    if (near !== 'rock' && near !== 'hedge' && near !== 'wall' && !WET.has(near)) return near;
  }
  return 'grass';
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
        if (PAVED.has(name) || PAVED.has(other)) { if (!CRISP.has(near) && WET.has(near) === WET.has(name)) name = near; } else if (!CRISP.has(other)) name = other;
      }
      let [r, g, b] = COLORS[name] ?? [128, 128, 128];
      const wet = WET.has(name);
      const broad = smooth(wx / 5, wz / 5, 3) - 0.5;
      const fine = hash(Math.floor(wx * SUB), Math.floor(wz * SUB), 4) - 0.5;
      let light = 1 + broad * (wet ? 0.07 : 0.16) + fine * (wet ? 0.025 : 0.075);
      if (GREEN.has(name)) { const warm = (smooth(wx / 9, wz / 9, 5) - 0.5) * 26; r += warm; b -= warm * 0.3; }
      if (wet) {
        const shore = !WET.has(map.at(i - 1, j)) || !WET.has(map.at(i + 1, j)) || !WET.has(map.at(i, j - 1)) || !WET.has(map.at(i, j + 1));
        if (shore && name !== 'deep_water') { r += 14; g += 14; b += 10; }
      } else light += slope(map, tx, tz);
      const at = (py * size + px) * 4;
      out[at] = r * light; out[at + 1] = g * light; out[at + 2] = b * light; out[at + 3] = 255;
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
  const tilt = (a, b) => map.height(a + 1, b) - map.height(a - 1, b) - map.height(a, b + 1) + map.height(a, b - 1);
  const low = tilt(i, j) * (1 - fx) + tilt(i + 1, j) * fx;
  const high = tilt(i, j + 1) * (1 - fx) + tilt(i + 1, j + 1) * fx;
  const sum = low * (1 - fz) + high * fz;
  return Math.max(-0.2, Math.min(0.16, sum * 0.022));
}

/** Paints a chunk at `px` pixels a tile; undefined while its land is not known. */
export function bake(land, cx, cz, px) {
  const map = survey(land, cx, cz);
  if (!map) return undefined;
  const canvas = document.createElement('canvas');
  canvas.width = CHUNK * px;
  canvas.height = (CHUNK + OVER) * px;
  const c = canvas.getContext('2d');
  const image = soil(map, cx, cz);
  const small = document.createElement('canvas');
  small.width = small.height = image.width;
  small.getContext('2d').putImageData(image, 0, 0);
  c.imageSmoothingQuality = 'high';
  c.save();
  c.beginPath();
  c.rect(0, OVER * px, CHUNK * px, CHUNK * px);
  c.clip();
  const rim = RIM * px / SUB;
  c.filter = `blur(${px / SUB * 0.4}px)`;
  c.drawImage(small, -rim, OVER * px - rim, CHUNK * px + 2 * rim, CHUNK * px + 2 * rim);
  c.filter = 'none';
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

function blade(c, x, y, tall, color) {
  c.strokeStyle = color;
  c.lineWidth = 0.035;
  c.beginPath();
  c.moveTo(x - 0.05, y); c.lineTo(x - 0.075, y - tall * 0.8);
  c.moveTo(x, y); c.lineTo(x, y - tall);
  c.moveTo(x + 0.05, y); c.lineTo(x + 0.085, y - tall * 0.75);
  c.stroke();
}

function dot(c, x, y, r, color, flat = 1) {
  c.fillStyle = color;
  c.beginPath();
  c.ellipse(x, y, r, r * flat, 0, 0, 7);
  c.fill();
}

const FLOWERS = ['#f6e27a', '#f4f1e6', '#e9a3b4', '#b9a2e6', '#f0a860'];

const LITTER = {
  grass(c, d) {
    if (d() < 0.5) blade(c, 0.15 + d() * 0.7, 0.3 + d() * 0.6, 0.16, 'rgba(62,98,44,.5)');
    if (d() < 0.04) dot(c, d(), d(), 0.05, FLOWERS[Math.floor(d() * 5)]);
  },
  meadow(c, d) {
    for (let n = 0; n < 2; n += 1) blade(c, 0.1 + d() * 0.8, 0.3 + d() * 0.65, 0.22, 'rgba(84,118,46,.55)');
    if (d() < 0.34) {
      const color = FLOWERS[Math.floor(d() * 5)];
      for (let n = 0; n < 3; n += 1) dot(c, 0.1 + d() * 0.8, 0.1 + d() * 0.8, 0.045, color);
    }
  },
  forest_floor(c, d) {
    for (let n = 0; n < 2; n += 1) dot(c, d(), d(), 0.05 + d() * 0.04, ['#6e5a32', '#3f6236', '#8a7040', '#4a7240'][Math.floor(d() * 4)], 0.6);
    if (d() < 0.2) blade(c, 0.2 + d() * 0.6, 0.4 + d() * 0.5, 0.26, 'rgba(46,84,44,.8)');
    if (d() < 0.03) { const x = 0.2 + d() * 0.6; const y = 0.3 + d() * 0.5; dot(c, x, y + 0.07, 0.04, '#eadfc6'); dot(c, x, y, 0.09, '#b8503c', 0.65); }
  },
  dirt(c, d) { for (let n = 0; n < 2; n += 1) dot(c, d(), d(), 0.03 + d() * 0.04, d() < 0.5 ? 'rgba(110,84,54,.6)' : 'rgba(196,168,124,.6)', 0.7); },
  sand(c, d) {
    if (d() < 0.4) { c.strokeStyle = 'rgba(176,148,96,.4)'; c.lineWidth = 0.03; c.beginPath(); const y = d(); c.moveTo(0, y); c.quadraticCurveTo(0.5, y - 0.16, 1, y); c.stroke(); }
    if (d() < 0.04) dot(c, d(), d(), 0.06, '#f6ead2', 0.8);
  },
  farmland(c, d) {
    for (let n = 0; n < 3; n += 1) {
      const y = 0.18 + n / 3;
      c.fillStyle = 'rgba(86,58,32,.55)';
      c.fillRect(0, y, 1, 0.12);
      c.fillStyle = 'rgba(190,150,98,.28)';
      c.fillRect(0, y - 0.07, 1, 0.06);
      if (d() < 0.75) blade(c, 0.2 + d() * 0.6, y, 0.2, d() < 0.8 ? '#6f9c3f' : '#c9a93f');
    }
  },
  road(c, d) {
    for (let n = 0; n < 4; n += 1) {
      const tone = 150 + d() * 60;
      dot(c, 0.14 + d() * 0.74, 0.14 + d() * 0.74, 0.09 + d() * 0.07, `rgba(${tone},${tone * 0.9},${tone * 0.74},.55)`, 0.75);
    }
  },
  plaza(c, d, edge) {
    if (edge) return;
    const tone = d() < 0.5 ? 'rgba(255,250,235,.13)' : 'rgba(90,76,56,.1)';
    c.fillStyle = tone;
    c.fillRect(0.03, 0.03, 0.94, 0.94);
    c.strokeStyle = 'rgba(96,82,62,.38)';
    c.lineWidth = 0.035;
    c.strokeRect(0, 0, 1, 1);
    if (d() < 0.5) { c.beginPath(); const at = 0.35 + d() * 0.3; if (d() < 0.5) { c.moveTo(at, 0); c.lineTo(at, 1); } else { c.moveTo(0, at); c.lineTo(1, at); } c.stroke(); }
  },
  floor(c, d) {
    c.strokeStyle = 'rgba(84,56,30,.45)';
    c.lineWidth = 0.03;
    c.beginPath();
    for (let y = 0; y <= 1; y += 0.25) { c.moveTo(0, y); c.lineTo(1, y); }
    for (let y = 0; y < 1; y += 0.25) { const x = d(); c.moveTo(x, y); c.lineTo(x, y + 0.25); }
    c.stroke();
  },
  swamp(c, d) {
    if (d() < 0.35) dot(c, 0.2 + d() * 0.6, 0.3 + d() * 0.5, 0.18 + d() * 0.14, 'rgba(58,76,62,.6)', 0.55);
    if (d() < 0.4) { const x = 0.2 + d() * 0.6; const y = 0.5 + d() * 0.4; blade(c, x, y, 0.4, '#7c8648'); dot(c, x, y - 0.4, 0.035, '#5a4328', 2.2); }
  },
  snow(c, d) { if (d() < 0.3) dot(c, d(), d(), 0.12 + d() * 0.12, 'rgba(180,204,222,.28)', 0.5); if (d() < 0.25) dot(c, d(), d(), 0.025, '#ffffff'); },
  ice(c, d) {
    c.strokeStyle = 'rgba(255,255,255,.6)';
    c.lineWidth = 0.03;
    if (d() < 0.5) { c.beginPath(); const x = d(); c.moveTo(x, 0.1); c.lineTo(x + (d() - 0.5) * 0.6, 0.5); c.lineTo(x + (d() - 0.5) * 0.8, 0.95); c.stroke(); }
  },
  ash(c, d) { for (let n = 0; n < 2; n += 1) dot(c, d(), d(), 0.03 + d() * 0.05, d() < 0.6 ? 'rgba(60,54,52,.5)' : 'rgba(168,158,152,.4)', 0.6); if (d() < 0.02) dot(c, d(), d(), 0.04, '#ff9a4a'); },
  lava(c, d) { for (let n = 0; n < 3; n += 1) dot(c, d(), d(), 0.08 + d() * 0.14, d() < 0.5 ? 'rgba(255,190,80,.7)' : 'rgba(120,32,16,.5)', 0.6); },
  cliff(c, d) {
    c.strokeStyle = 'rgba(66,60,54,.6)';
    c.lineWidth = 0.06;
    for (let n = 0; n < 3; n += 1) { c.beginPath(); const x = d(); c.moveTo(x, d() * 0.4); c.lineTo(x + (d() - 0.5) * 0.3, 0.5 + d() * 0.5); c.stroke(); }
    dot(c, d(), d(), 0.1 + d() * 0.1, 'rgba(190,182,168,.35)', 0.6);
  },
  shallows(c, d) { if (d() < 0.12) dot(c, d(), d(), 0.07, 'rgba(90,120,110,.45)', 0.6); },
  water(c, d) { if (d() < 0.012) { dot(c, 0.5, 0.5, 0.2, '#4c8a4e', 0.7); dot(c, 0.58, 0.46, 0.06, '#f2c6d2'); } },
};

function litter(c, map, i, j, dice) {
  const name = under(map, i, j);
  if (name === 'bridge') return bridge(c, map, i, j);
  const edge = PAVED.has(name) && [[1, 0], [-1, 0], [0, 1], [0, -1]].some(([dx, dz]) => map.at(i + dx, j + dz) !== name);
  LITTER[name]?.(c, dice, edge);
  if (WET.has(name)) basin(c, map, i, j);
  if (name === 'floor' && isDoor(map, i, j)) { c.fillStyle = 'rgba(74,46,24,.8)'; c.fillRect(0.06, 0.06, 0.88, 0.88); c.fillStyle = '#caa05a'; c.fillRect(0.2, 0.24, 0.6, 0.52); }
}

/** The stone rim where water meets paving. */
function basin(c, map, i, j) {
  c.lineCap = 'round';
  for (const [dx, dz, line] of [[0, 1, [0, 0, 1, 0]], [0, -1, [0, 1, 1, 1]], [-1, 0, [0, 0, 0, 1]], [1, 0, [1, 0, 1, 1]]]) {
    if (map.at(i + dx, j + dz) !== 'plaza') continue;
    for (const [color, width] of [['#7d7466', 0.3], ['#cfc6b4', 0.2]]) {
      c.strokeStyle = color;
      c.lineWidth = width;
      c.beginPath(); c.moveTo(line[0], line[1]); c.lineTo(line[2], line[3]); c.stroke();
    }
  }
}

const isDoor = (map, i, j) => (map.at(i - 1, j) === 'wall' && map.at(i + 1, j) === 'wall') || (map.at(i, j - 1) === 'wall' && map.at(i, j + 1) === 'wall');

function bridge(c, map, i, j) {
  c.strokeStyle = 'rgba(70,46,24,.6)';
  c.lineWidth = 0.035;
  c.beginPath();
  for (let y = 0; y < 1; y += 0.25) { c.moveTo(0, y); c.lineTo(1, y); }
  c.stroke();
  c.fillStyle = '#5c4026';
  if (WET.has(map.at(i, j + 1))) c.fillRect(0, 0, 1, 0.12);
  if (WET.has(map.at(i, j - 1))) { c.fillRect(0, 0.86, 1, 0.14); c.fillStyle = 'rgba(20,40,60,.35)'; c.fillRect(0, 1, 1, 0.2); }
  c.fillStyle = '#5c4026';
  if (WET.has(map.at(i - 1, j))) c.fillRect(0, 0, 0.1, 1);
  if (WET.has(map.at(i + 1, j))) c.fillRect(0.9, 0, 0.1, 1);
}

function shadow(c, map, i, j) {
  const name = map.at(i, j);
  c.fillStyle = 'rgba(24,28,38,.2)';
  if (name === 'wall') { c.beginPath(); c.moveTo(0, 0); c.lineTo(1, 0); c.lineTo(1.45, 0.25); c.lineTo(1.45, 1.25); c.lineTo(0.45, 1.25); c.lineTo(0, 1); c.fill(); }
  if (name === 'rock') dot(c, 0.62, 0.74, 0.46, 'rgba(24,28,38,.25)', 0.5);
  if (name === 'hedge') dot(c, 0.66, 0.82, 0.5, 'rgba(18,28,20,.28)', 0.5);
}

function stand(c, map, i, j, dice) {
  const name = map.at(i, j);
  if (name === 'wall') wall(c, map, i, j, dice);
  else if (name === 'rock') boulder(c, dice, under(map, i, j));
  else if (name === 'hedge') {
    const row = [[0, 1], [0, -1], [1, 0], [-1, 0]].filter(([dx, dz]) => map.at(i + dx, j + dz) === 'hedge').length;
    const wild = row < 2 || dice() < 0.0;
    if (wild) bush(c, dice, under(map, i, j)); else hedgerow(c, map, i, j, dice);
  }
}

function wall(c, map, i, j, dice) {
  const tall = 0.5;
  const south = map.at(i, j - 1) === 'wall';
  c.fillStyle = '#a89c8a';
  c.fillRect(-0.01, -tall, 1.02, south ? 1.02 : 1.01);
  c.fillStyle = 'rgba(255,246,224,.22)';
  c.fillRect(0, -tall, 1, 0.1);
  c.strokeStyle = 'rgba(70,60,48,.4)';
  c.lineWidth = 0.03;
  c.strokeRect(0.02, -tall + 0.02, 0.96, 0.96);
  if (south) return;
  c.fillStyle = '#776b5c';
  c.fillRect(-0.01, 1 - tall, 1.02, tall);
  c.fillStyle = 'rgba(40,32,24,.35)';
  for (let row = 0; row < 2; row += 1) {
    c.fillRect(0, 1 - tall + row * 0.25, 1, 0.03);
    c.fillRect((row ? 0.25 : 0.6) + dice() * 0.1, 1 - tall + row * 0.25, 0.03, 0.25);
  }
}

function boulder(c, dice, on) {
  const r = 0.34 + dice() * 0.12;
  const dark = on === 'ash';
  dot(c, 0.5, 0.6, r, dark ? '#433d3b' : '#77746c', 0.8);
  dot(c, 0.45, 0.5, r * 0.8, dark ? '#58504d' : '#94918a', 0.78);
  dot(c, 0.4, 0.42, r * 0.42, dark ? '#6d6561' : '#b2afa6', 0.7);
  if (on === 'snow') dot(c, 0.45, 0.38, r * 0.72, '#f4f8fa', 0.5);
  else if (dice() < 0.4 && !dark) dot(c, 0.62, 0.62, r * 0.4, 'rgba(98,128,66,.8)', 0.5);
}

function bush(c, dice, on) {
  if (on === 'snow' || on === 'ice') return fir(c, dice);
  const small = on === 'sand' || on === 'meadow';
  const tones = on === 'swamp' ? ['#39482e', '#4c5d38', '#627446'] : on === 'forest_floor'
    ? ['#2f5430', '#41703c', '#578a49'] : ['#466f33', '#5c8b40', '#79a652'];
  const tall = small ? 0.25 : 0.55 + dice() * 0.5;
  if (!small) { c.fillStyle = '#5a4129'; c.fillRect(0.44, 0.4, 0.12, 0.45); }
  for (let n = 0; n < 6; n += 1) {
    const a = dice() * 7;
    const r = 0.24 + dice() * 0.14;
    dot(c, 0.5 + Math.cos(a) * 0.22, 0.62 - tall * 0.7 + Math.sin(a) * 0.2, r, tones[n < 3 ? 0 : 1]);
  }
  dot(c, 0.4, 0.5 - tall * 0.75, 0.2, tones[2]);
  if (small && dice() < 0.5) for (let n = 0; n < 4; n += 1) dot(c, 0.25 + dice() * 0.5, 0.3 + dice() * 0.35, 0.045, FLOWERS[Math.floor(dice() * 5)]);
}

function fir(c, dice) {
  const tall = 0.9 + dice() * 0.5;
  c.fillStyle = '#4a3826';
  c.fillRect(0.45, 0.55, 0.1, 0.3);
  for (let n = 0; n < 3; n += 1) {
    const y = 0.7 - n * tall * 0.32;
    const w = 0.46 - n * 0.11;
    c.fillStyle = ['#2f5648', '#376454', '#437361'][n];
    c.beginPath(); c.moveTo(0.5 - w, y); c.lineTo(0.5, y - tall * 0.55); c.lineTo(0.5 + w, y); c.fill();
    c.fillStyle = 'rgba(240,247,250,.85)';
    c.beginPath(); c.moveTo(0.5 - w * 0.55, y - tall * 0.22); c.lineTo(0.5, y - tall * 0.55); c.lineTo(0.5 + w * 0.4, y - tall * 0.3); c.quadraticCurveTo(0.5, y - tall * 0.2, 0.5 - w * 0.55, y - tall * 0.22); c.fill();
  }
}

function hedgerow(c, map, i, j, dice) {
  c.fillStyle = '#3a6230';
  c.fillRect(-0.02, -0.1, 1.04, 1.06);
  c.fillStyle = '#547f3e';
  c.fillRect(-0.02, -0.3, 1.04, 0.85);
  for (let n = 0; n < 7; n += 1) dot(c, dice(), -0.25 + dice() * 0.75, 0.08, dice() < 0.5 ? '#668f48' : '#486f36', 0.8);
}
