// The whole land on one sheet: ground and height of each cell, a picture of them, and the shortest
// ways over them. Always: what is not loaded yet is nowhere, and no way leads over it.

import { hash, WET } from "./ground.js";

/** Points of the picture for each cell. */
export const FINE = 2;
const PAPER = [226, 208, 166];
const AROUND = [
  [-1, 0],
  [1, 0],
  [0, -1],
  [0, 1],
  [-1, -1],
  [1, -1],
  [-1, 1],
  [1, 1],
];
/** Steps around a goal within which a free cell counts as the goal. */
const NEAR = 6;

export class Chart {
  constructor(land) {
    this.land = land;
    this.bytes = undefined;
    /** The picture, once there is one. */
    this.sheet = undefined;
  }

  /** Asks for the land, once; asks again the next time if that fails. */
  load() {
    this.loading ??= this.fetch().catch(() => {
      this.loading = undefined;
    });
    return this.loading;
  }

  async fetch() {
    const { meta } = this.land;
    const answer = await fetch("/world/map");
    if (!answer.ok) throw new Error(`the map answered ${answer.status}`);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    Object.assign(this, meta.map, { left: meta.bounds.minX, low: meta.bounds.minZ, bytes });
    this.sheet = paint(this);
    const deep = this.land.ground[this.land.named.deep_water];
    /** The colour of the sea around the land. */
    this.sea = `rgb(${tint(deep).map(Math.round)})`;
  }

  /** The number of the cell of a tile; below nothing beyond the edge. */
  cell(x, z) {
    const column = Math.floor((x - this.left) / this.tiles);
    const row = Math.floor((z - this.low) / this.tiles);
    const inside = column >= 0 && row >= 0 && column < this.columns && row < this.rows;
    return inside ? row * this.columns + column : -1;
  }

  /** The tile in the middle of a cell. */
  tile(cell) {
    const middle = Math.floor(this.tiles / 2);
    return {
      x: this.left + (cell % this.columns) * this.tiles + middle,
      z: this.low + Math.floor(cell / this.columns) * this.tiles + middle,
    };
  }

  ground(cell) {
    return this.land.ground[this.bytes[cell * 2]];
  }

  free(cell) {
    return cell >= 0 && this.ground(cell)?.walkable === true;
  }

  /** The free tile that is nearest to one, if any is near. */
  landing(x, z) {
    if (!this.bytes) return undefined;
    for (let ring = 0; ring <= NEAR; ring += 1)
      for (let dz = -ring; dz <= ring; dz += 1)
        for (let dx = -ring; dx <= ring; dx += Math.abs(dz) === ring ? 1 : 2 * ring) {
          const cell = this.cell(x + dx * this.tiles, z + dz * this.tiles);
          if (this.free(cell)) return ring ? this.tile(cell) : { x, z };
        }
    return undefined;
  }

  /** The shortest way between two tiles, without the first; empty where none leads there. */
  way(from, to) {
    if (!this.bytes) return [];
    const [start, goal] = [this.cell(from.x, from.z), this.cell(to.x, to.z)];
    if (start < 0 || goal < 0 || start === goal) return [];
    const came = new Int32Array(this.columns * this.rows).fill(-1);
    const open = [start];
    came[start] = start;
    for (let n = 0; n < open.length && came[goal] < 0; n += 1) this.spread(open[n], came, open);
    const way = [];
    if (came[goal] < 0) return way;
    for (let cell = goal; cell !== start; cell = came[cell]) way.push(this.tile(cell));
    way[0] = { x: to.x, z: to.z };
    return way.reverse();
  }

  /** Opens the free cells beside one that nothing has led to yet. */
  spread(cell, came, open) {
    const { columns, rows } = this;
    const column = cell % columns;
    const row = (cell - column) / columns;
    for (const [dx, dz] of AROUND) {
      const [x, z] = [column + dx, row + dz];
      const to = cell + dz * columns + dx;
      if (x < 0 || z < 0 || x >= columns || z >= rows || came[to] >= 0 || !this.free(to)) continue;
      // Nobody cuts a corner.
      if (dx && dz && !(this.free(cell + dx) && this.free(cell + dz * columns))) continue;
      came[to] = cell;
      open.push(to);
    }
  }
}

/** Draws the land: light from the north-west, a dark line along each shore. */
function paint(chart) {
  const { columns, rows, bytes, land } = chart;
  const colors = land.ground.map((kind) => tint(kind));
  const wet = land.ground.map((kind) => WET.has(kind?.name));
  const small = document.createElement("canvas");
  [small.width, small.height] = [columns, rows];
  const image = new ImageData(columns, rows);
  for (let row = 0; row < rows; row += 1)
    for (let column = 0; column < columns; column += 1) {
      const cell = row * columns + column;
      const slope = rise(chart, column, row);
      const grain = 0.97 + hash(column, row, 3) * 0.06;
      const light = wet[bytes[cell * 2]]
        ? 1
        : grain * Math.max(0.6, Math.min(1.3, 1 + slope * 0.07));
      const at = ((rows - 1 - row) * columns + column) * 4;
      for (let n = 0; n < 3; n += 1) image.data[at + n] = colors[bytes[cell * 2]][n] * light;
      image.data[at + 3] = 255;
    }
  small.getContext("2d").putImageData(image, 0, 0);
  const sheet = document.createElement("canvas");
  [sheet.width, sheet.height] = [columns * FINE, rows * FINE];
  const c = sheet.getContext("2d");
  c.drawImage(small, 0, 0, sheet.width, sheet.height);
  shores(c, chart, wet);
  roofs(c, chart);
  return sheet;
}

/** How much the land falls towards the light, over a few cells: heights are whole numbers. */
function rise({ bytes, columns, rows }, column, row) {
  if (row < 2 || column < 2 || row + 2 >= rows || column + 2 >= columns) return 0;
  const height = (dx, dz) => bytes[((row + dz) * columns + column + dx) * 2 + 1];
  const lit = height(-1, 1) + height(-2, 2) + height(-2, 0) + height(0, 2);
  const dark = height(1, -1) + height(2, -2) + height(2, 0) + height(0, -2);
  return (dark - lit) / 7;
}

/** A ground's colour, a little towards that of old paper. */
function tint(kind) {
  const color = kind?.color ?? "#3a463f";
  return PAPER.map(
    (paper, n) => parseInt(color.slice(1 + n * 2, 3 + n * 2), 16) * 0.86 + paper * 0.14,
  );
}

function shores(c, { columns, rows, bytes }, wet) {
  c.strokeStyle = "rgba(24,46,62,.55)";
  c.lineWidth = 1;
  c.beginPath();
  for (let row = 0; row < rows - 1; row += 1)
    for (let column = 0; column < columns - 1; column += 1) {
      const cell = row * columns + column;
      const here = wet[bytes[cell * 2]];
      const [x, y] = [(column + 1) * FINE, (rows - row - 1) * FINE];
      if (here !== wet[bytes[cell * 2 + 2]]) {
        c.moveTo(x, y);
        c.lineTo(x, y + FINE);
      }
      if (here !== wet[bytes[(cell + columns) * 2]]) {
        c.moveTo(x - FINE, y);
        c.lineTo(x, y);
      }
    }
  c.stroke();
}

/** Houses as one sees them from above. */
function roofs(c, { left, low, rows, tiles, land }) {
  const point = FINE / tiles;
  for (const house of land.houses) {
    const [w, h] = [house.maxX - house.minX + 1, house.maxZ - house.minZ + 1];
    const [x, y] = [(house.minX - left) * point, rows * FINE - (house.maxZ + 1 - low) * point];
    c.fillStyle = "#a85f43";
    c.fillRect(x, y, w * point, h * point);
    c.fillStyle = "rgba(60,24,16,.4)";
    c.fillRect(x, y + (h * point) / 2, w * point, (h * point) / 2);
    c.strokeStyle = "rgba(46,26,18,.8)";
    c.strokeRect(x + 0.5, y + 0.5, w * point - 1, h * point - 1);
  }
}
