// What the map of the world shows, and of which part of it: the land, signs, names, ways.
// Always: of two signs or names that would overlap, only the more important one is drawn.

import { FINE } from "./chart.js";
import { AIM_COLOR, label } from "./labels.js";
import { about, sign } from "./landmarks.js";

const OPENS_AT = 2;
const SCALE_MOST = 12;
/** Width of a sign, in points of the screen. */
const SIGN = 26;
/** Colour and height of names without a sign. */
const NAMES = { town: ["#ffe9a8", 18], area: ["#dcd3b4", 14], house: ["#f0dcc8", 12] };

export class MapView {
  /** `game`: land, chart, me, pending, friends, quests. */
  constructor(canvas, game) {
    Object.assign(this, game);
    this.canvas = canvas;
    this.c = canvas.getContext("2d");
    this.signs = [];
    /** The signs that were drawn last, and where. */
    this.placed = [];
    this.marked = undefined;
    this.center = { x: 0, z: 0 };
    /** Points of the screen for each tile. */
    this.scale = OPENS_AT;
    this.size = undefined;
    new ResizeObserver(() => this.fit()).observe(canvas);
  }

  /** The canvas has as many points as the screen shows of it. */
  fit() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    this.size = { width, height };
    this.dots = Math.min(2, devicePixelRatio || 1);
    this.canvas.width = Math.round(width * this.dots);
    this.canvas.height = Math.round(height * this.dots);
    this.zoom(1);
  }

  /** Puts a tile into the middle. */
  look({ x, z }, scale = this.scale) {
    this.center = { x, z };
    this.scale = scale;
    this.move(0, 0);
  }

  move(dx, dz) {
    const b = this.land.meta.bounds;
    const within = (at, low, high) => Math.max(low, Math.min(high, at));
    this.center = {
      x: within(this.center.x + dx, b.minX, b.maxX - 1),
      z: within(this.center.z + dz, b.minZ, b.maxZ - 1),
    };
  }

  /** Brings it nearer by a factor; the tile at a point of the canvas stays there. */
  zoom(by, px = this.size?.width / 2, py = this.size?.height / 2) {
    if (!this.size) return;
    const { width, height } = this.size;
    const b = this.land.meta.bounds;
    const least = Math.min(width / (b.maxX - b.minX), height / (b.maxZ - b.minZ));
    const kept = this.exact(px, py);
    this.scale = Math.max(Math.min(least, OPENS_AT), Math.min(SCALE_MOST, this.scale * by));
    const now = this.exact(px, py);
    this.move(kept.x - now.x, kept.z - now.z);
  }

  exact(px, py) {
    const { size, center, scale } = this;
    return {
      x: center.x + (px - size.width / 2) / scale,
      z: center.z - (py - size.height / 2) / scale,
    };
  }

  toTile(px, py) {
    const { x, z } = this.exact(px, py);
    return { x: Math.round(x), z: Math.round(z) };
  }

  toPoint({ x, z }) {
    const { size, center, scale } = this;
    return {
      x: size.width / 2 + (x - center.x) * scale,
      y: size.height / 2 - (z - center.z) * scale,
    };
  }

  // --- the picture ---

  /** The sign at a point that is shown now. */
  under(px, py) {
    const hit = ({ x, y }) => Math.hypot(x - px, y - py) < SIGN / 2 + 2;
    return this.placed.find(({ at }) => hit(at))?.one;
  }

  draw(view) {
    if (!this.size) return;
    const { c, size, dots, chart } = this;
    c.setTransform(dots, 0, 0, dots, 0, 0);
    c.fillStyle = chart.sea ?? "#2d5f86";
    c.fillRect(0, 0, size.width, size.height);
    if (chart.sheet) {
      const { x, y } = this.toPoint({ x: chart.left - 0.5, z: chart.low - 0.5 });
      const point = (this.scale * chart.tiles) / FINE;
      const [w, h] = [chart.sheet.width * point, chart.sheet.height * point];
      c.imageSmoothingEnabled = true;
      c.drawImage(chart.sheet, x, y - h, w, h);
    }
    this.way();
    this.places();
    this.names();
    this.moving(view);
  }

  /** The way that is still to be walked. */
  way() {
    const { c, pending, me } = this;
    const rest =
      pending.journey?.rest ?? (me.target && !me.target.bad && me.position ? this.straight() : []);
    if (!rest.length) return;
    const goal = this.toPoint(rest.at(-1));
    for (const [color, width, dash] of [
      ["rgba(40,18,8,.7)", 5, []],
      ["#ffe08a", 2.5, [7, 6]],
    ]) {
      c.strokeStyle = color;
      c.lineWidth = width;
      c.lineJoin = "round";
      c.setLineDash(dash);
      c.beginPath();
      for (const tile of rest) {
        const { x, y } = this.toPoint(tile);
        c.lineTo(x, y);
      }
      c.stroke();
    }
    c.setLineDash([]);
    this.dot(goal, "#ff6a4a", 6);
  }

  /** A short walk that was asked for elsewhere. */
  straight() {
    const { target, position } = this.me;
    const id = `${target.x},${target.z}`;
    if (this.shortId !== id) {
      this.shortId = id;
      this.short = this.chart.way(position, target);
    }
    const far = ({ x, z }) => Math.hypot(x - position.x, z - position.z);
    const nearest = this.short.reduce(
      (best, tile, n) => (far(tile) < far(this.short[best]) ? n : best),
      0,
    );
    return this.short.slice(nearest);
  }

  /** The signs that have room; of two that would overlap, the more important one. */
  places() {
    const { c, size, scale } = this;
    this.placed = [];
    for (const one of this.signs) {
      const picture = sign(one.kind);
      const marked = one === this.marked;
      if (!picture || (!marked && scale < about(one.kind)[1])) continue;
      if (one.quest && this.quests.status(one.quest) === "completed" && !marked) continue;
      const at = this.toPoint(one);
      if (at.x < -SIGN || at.y < -SIGN || at.x > size.width + SIGN || at.y > size.height + SIGN)
        continue;
      const near = ({ at: other }) => Math.hypot(at.x - other.x, at.y - other.y) < SIGN * 0.85;
      if (!marked && this.placed.some(near)) continue;
      this.placed.push({ one, at });
    }
    for (const { one, at } of [...this.placed].reverse()) {
      c.drawImage(sign(one.kind), at.x - SIGN / 2, at.y - SIGN / 2, SIGN, SIGN);
      if (scale >= 4.5) label(c, one.name, at.x, at.y + SIGN / 2 + 12, "#f6ecd2", 12, false);
    }
    if (this.marked) this.ring(this.toPoint(this.marked));
  }

  ring({ x, y }) {
    const { c } = this;
    c.strokeStyle = AIM_COLOR;
    c.lineWidth = 3;
    c.beginPath();
    c.arc(x, y, SIGN / 2 + 5 + Math.sin(performance.now() / 260) * 2, 0, 7);
    c.stroke();
  }

  names() {
    const { c, scale, size } = this;
    const written = [];
    for (const { kind, name, x, z, size: tiles } of this.signs) {
      if (sign(kind) || scale < about(kind)[1]) continue;
      const at = this.toPoint({ x, z });
      if (at.x < 0 || at.y < 0 || at.x > size.width || at.y > size.height) continue;
      if (kind === "area" && Math.sqrt(tiles) * scale < 70) continue;
      const wide = name.length * 4.2;
      const near = (other) =>
        Math.abs(at.y - other.y) < 20 && Math.abs(at.x - other.x) < wide + other.wide;
      if (written.some(near)) continue;
      written.push({ ...at, wide });
      const [color, points] = NAMES[kind];
      label(c, name, at.x, at.y - (kind === "town" ? 18 : 0), color, points, kind === "town");
    }
  }

  /** Whom and what one looks for: graves, steps of quests, friends in sight, oneself. */
  moving(view) {
    const { me, friends } = this;
    for (const grave of view.graves.values()) {
      const at = this.toPoint(grave);
      this.dot(at, "#d9604c", 7);
      label(this.c, "your grave", at.x, at.y - 12, "#ffc9b8", 13, true);
    }
    if (!me.position) return;
    for (const way of view.quests.ways(me.position)) this.dot(this.toPoint(way), AIM_COLOR, 6);
    for (const entity of view.entities.values()) {
      if (entity.type !== "player" || entity.id === me.id || !friends.isFriend(entity.id)) continue;
      const at = this.toPoint(view.at(entity));
      this.dot(at, "#a5dc90", 5);
      label(this.c, entity.name, at.x, at.y - 10, "#d6f2c8", 12, false);
    }
    const at = this.toPoint(view.me ?? me.position);
    this.dot(at, "#ffffff", 8);
    this.dot(at, "#e08a1e", 5.5);
  }

  dot({ x, y }, color, r) {
    const { c } = this;
    c.fillStyle = color;
    c.strokeStyle = "#1c241f";
    c.lineWidth = 2;
    c.beginPath();
    c.arc(x, y, r, 0, 7);
    c.fill();
    c.stroke();
  }
}
