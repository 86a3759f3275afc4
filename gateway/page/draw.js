// The picture: kept ground, then all that stands or walks from north to south, then light.

import { CHUNK, OVER, WET, bake, hash } from "./ground.js";
import { oval, text } from "./pen.js";
import { daylight } from "./daylight.js";
import { fixture, lively } from "./fixtures.js";
import { Figures, uncover } from "./figures.js";
import { Flights } from "./flights.js";
import { gestures } from "./emotes.js";
import { Bubbles, Names } from "./labels.js";
import { Moments } from "./moments.js";
import { Poses } from "./poses.js";
import { roof } from "./roofs.js";
import { resting } from "./settings.js";
import { Sprites } from "./sprites.js";
import { thing } from "./things.js";

const ZOOM_MIN = 10;
const ZOOM_MAX = 64;
const KEPT_CHUNKS = 90;
const BAKES_A_FRAME = 2;
const FIXED = new Set(["resource", "station", "fire", "grave"]);
/** Pixels of kept pictures, for each pixel of the screen that makes up one of CSS. */
const KEPT_PIXELS = 4e6;
const VEIL = 0.42;

export class Picture {
  constructor(canvas, land) {
    this.canvas = canvas;
    this.c = canvas.getContext("2d", { alpha: false });
    this.land = land;
    this.zoom = innerWidth < 760 ? 30 : 36;
    this.center = { x: 0, z: 0 };
    this.chunks = new Map();
    this.roofs = [];
    this.bubbles = new Bubbles();
    this.names = new Names();
    this.poses = new Poses();
    this.flights = new Flights();
    this.moments = new Moments();
    this.figures = new Figures(this, this.poses);
    this.frame = 0;
    this.zoomed = 0;
    addEventListener("resize", () => this.resize());
    this.resize();
  }

  resize() {
    this.ratio = Math.min(2, devicePixelRatio || 1);
    this.w = innerWidth;
    this.h = innerHeight;
    this.canvas.width = Math.round(this.w * this.ratio);
    this.canvas.height = Math.round(this.h * this.ratio);
    this.zoom = Math.round(this.zoom * this.ratio) / this.ratio;
    this.kept = undefined;
    this.forget();
    this.covered(this.cover);
  }

  /** Paints all things anew: in another size, or since more is known of them. */
  forget() {
    this.sprites = new Sprites(KEPT_PIXELS * this.ratio ** 2);
  }

  /** Another world: nothing goes on of what happened. */
  clear() {
    for (const part of [this.poses, this.flights, this.moments]) part.clear();
  }

  /** A blow was struck; returns how long it is on its way, in milliseconds. */
  struck(blow, view, spell) {
    this.poses.strike(blow, view.now);
    const [from, to] = [blow.attacker, blow.target].map((id) => view.entities.get(id));
    return this.flights.strike(blow, from, to, view.now, spell);
  }

  /** A panel that takes much of the window: what one looks at is the middle of the rest. */
  covered(box) {
    this.cover = box;
    const { w, h } = this;
    this.middle = { x: w / 2, y: h / 2 };
    const at = box?.getBoundingClientRect();
    if (!at?.width) return;
    if (at.width > w * 0.6) this.middle.y = at.top / 2;
    else if (at.width > w * 0.3) this.middle.x = at.left / 2;
  }

  /** Pixels a tile at which ground and sprites are kept: just what is shown, once the zoom rests. */
  get grain() {
    if (!this.kept || performance.now() - this.zoomed > 180)
      this.kept = Math.round(this.zoom * this.ratio);
    return this.kept;
  }

  zoomBy(factor) {
    this.wantedZoom = Math.max(
      ZOOM_MIN,
      Math.min(ZOOM_MAX, (this.wantedZoom ?? this.zoom) * factor),
    );
    this.zoom = Math.round(this.wantedZoom * this.ratio) / this.ratio;
    this.zoomed = performance.now();
  }

  changed(rx, rz) {
    if (rx === undefined) this.setRoofs();
    this.minimap?.forget();
  }

  setRoofs() {
    this.roofs = this.land.houses.map((h) => {
      const [dx, dz] = h.doors?.[0] ?? [];
      return {
        ...h,
        w: h.maxX - h.minX + 1,
        d: h.maxZ - h.minZ + 1,
        south: dz === h.minZ ? dx - h.minX : undefined,
        snowy: h.minZ > 205 && h.area === "candlefrost",
        clear: 0,
      };
    });
  }

  toTile(px, py) {
    return {
      x: Math.floor(this.center.x + 0.5 + (px - this.middle.x) / this.zoom),
      z: Math.floor(this.center.z + 0.5 - (py - this.middle.y) / this.zoom),
    };
  }

  /** Where the middle of a tile is, in CSS pixels. */
  toScreen(x, z) {
    return {
      x: (x - this.center.x) * this.zoom + this.middle.x,
      y: (this.center.z - z) * this.zoom + this.middle.y,
    };
  }

  draw(view) {
    const { c, zoom } = this;
    const time = resting() ? 0 : view.now;
    this.frame += 1;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = "#2d6894";
    c.fillRect(0, 0, this.w, this.h);
    this.drawGround();
    if (zoom >= 16 && time) this.shimmer(time);
    view.guide?.draw(this, view);
    if (view.target) this.cross(view.target, view.now);
    this.drawThings(view, time);
    daylight(this, view, time);
    this.names.draw(this, view);
    const place = this.place(view);
    this.flights.draw(c, view.now, zoom, place);
    this.moments.before(c, view.now, zoom, place, !time);
    view.hits?.draw(c, view.now, zoom, place);
    gestures(this, view);
    this.bubbles.draw(this, view);
  }

  /** Where somebody of that id is shown. */
  place(view) {
    return (id) => {
      const entity = view.entities.get(id);
      const at = entity && view.at(entity);
      return at && this.toScreen(at.x, at.z);
    };
  }

  drawGround() {
    const { c } = this;
    const grain = this.grain;
    const low = this.toTile(0, this.h);
    const high = this.toTile(this.w, 0);
    const missing = [];
    c.imageSmoothingQuality = "low";
    for (let cz = (high.z + 1) >> 4; cz >= (low.z - OVER) >> 4; cz -= 1) {
      for (let cx = low.x >> 4; cx <= high.x >> 4; cx += 1) {
        const id = `${cx},${cz}`;
        const known = this.chunks.get(id);
        if (!known || known.grain !== grain) missing.push([cx, cz, known ? 1 : 0]);
        if (!known) continue;
        known.used = this.frame;
        const at = this.toScreen(cx * CHUNK - 0.5, cz * CHUNK + CHUNK - 0.5 + OVER);
        const x = Math.round(at.x * this.ratio) / this.ratio;
        const y = Math.round(at.y * this.ratio) / this.ratio;
        const end = this.toScreen(cx * CHUNK + CHUNK - 0.5, cz * CHUNK - 0.5);
        c.drawImage(
          known.canvas,
          x,
          y,
          Math.round(end.x * this.ratio) / this.ratio - x,
          Math.round(end.y * this.ratio) / this.ratio - y,
        );
      }
    }
    missing.sort((a, b) => a[2] - b[2] || this.far(a) - this.far(b));
    const blank = missing.some((m) => !m[2]);
    for (const [cx, cz] of missing.slice(0, blank && this.frame < 30 ? 8 : BAKES_A_FRAME)) {
      const canvas = bake(this.land, cx, cz, grain);
      if (canvas) this.chunks.set(`${cx},${cz}`, { canvas, grain, used: this.frame });
    }
    this.evict();
  }

  far([cx, cz]) {
    return Math.abs(cx * CHUNK + 8 - this.center.x) + Math.abs(cz * CHUNK + 8 - this.center.z);
  }

  evict() {
    if (this.chunks.size <= KEPT_CHUNKS) return;
    const old = [...this.chunks].sort((a, b) => a[1].used - b[1].used);
    for (const [id, chunk] of old.slice(0, this.chunks.size - KEPT_CHUNKS))
      if (chunk.used < this.frame) this.chunks.delete(id);
  }

  shimmer(time) {
    const { c, zoom } = this;
    const low = this.toTile(0, this.h);
    const high = this.toTile(this.w, 0);
    c.lineWidth = Math.max(1, zoom * 0.045);
    c.lineCap = "round";
    for (let z = low.z; z <= high.z; z += 1) {
      for (let x = low.x; x <= high.x; x += 1) {
        const dice = hash(x, z, 9);
        if (dice > 0.3) continue;
        const kind = this.land.kind(x, z);
        if (kind < 0 || !WET.has(this.land.ground[kind].name)) continue;
        const wave = Math.sin(time / 900 + dice * 60 + x * 0.4);
        if (wave < 0.1) continue;
        const at = this.toScreen(x + dice - 0.2, z + hash(x, z, 10) - 0.5);
        const wide = zoom * (0.12 + wave * 0.16);
        c.strokeStyle = `rgba(225,244,250,${wave * 0.38})`;
        c.beginPath();
        c.moveTo(at.x - wide, at.y);
        c.quadraticCurveTo(at.x, at.y - zoom * 0.09, at.x + wide, at.y);
        c.stroke();
      }
    }
  }

  cross(target, now) {
    const age = now - target.since;
    if (age > 1600 && !target.stay) return;
    const { c } = this;
    const at = this.toScreen(target.x, target.z);
    const size = this.zoom * (0.2 + 0.1 * Math.max(0, 1 - age / 250));
    c.lineCap = "round";
    for (const [color, width] of [
      ["rgba(40,26,8,.55)", 6],
      [target.bad ? "#e0604a" : "#ffd94a", 3],
    ]) {
      c.strokeStyle = color;
      c.lineWidth = width;
      c.beginPath();
      c.moveTo(at.x - size, at.y - size);
      c.lineTo(at.x + size, at.y + size);
      c.moveTo(at.x + size, at.y - size);
      c.lineTo(at.x - size, at.y + size);
      c.stroke();
    }
  }

  drawThings(view, time) {
    const { c, zoom } = this;
    const things = [];
    const margin = 3;
    const low = this.toTile(0, this.h);
    const high = this.toTile(this.w, 0);
    for (const entity of view.entities.values()) {
      const at = view.at(entity);
      if (
        at.x < low.x - margin ||
        at.x > high.x + margin ||
        at.z < low.z - margin ||
        at.z > high.z + 1
      )
        continue;
      things.push({ z: at.z, entity, at });
    }
    for (const house of this.roofs) {
      if (
        house.maxX < low.x ||
        house.minX > high.x ||
        house.maxZ < low.z ||
        house.minZ > high.z + 2
      )
        continue;
      things.push({ z: house.minZ - 0.4, house });
    }
    const veiled = uncover(things, view, this.poses);
    things.sort((a, b) => b.z - a.z);
    this.seen = things;
    this.moments.behind(c, view.now, zoom, this.place(view), !time);
    for (const thing of things) {
      if (thing.house) {
        this.house(thing.house, view);
        continue;
      }
      const { entity, at } = thing;
      const pos = this.toScreen(at.x, at.z);
      const y = pos.y + zoom * 0.32;
      if (FIXED.has(entity.type)) {
        if (veiled.has(entity.id)) c.globalAlpha = VEIL;
        this.fixture(entity, pos.x, y, time);
        c.globalAlpha = 1;
      } else if (entity.type === "item") this.item(entity, pos.x, y, view);
      else this.walker(entity, at, pos.x, y, view, time);
    }
    c.globalAlpha = 1;
  }

  /** Something on the ground. Several on a tile lie a little apart. */
  item(entity, x, y, view) {
    const { zoom } = this;
    const dice = text(entity.id);
    const dx = (hash(dice, 1) - 0.5) * zoom * 0.3;
    const dy = (hash(dice, 2) - 0.6) * zoom * 0.22;
    const lit = entity.id === view.hover;
    const paint = (d) => {
      oval(d, 0, 0, 0.26, 0.12, lit ? "rgba(255,226,140,.4)" : "rgba(20,24,32,.26)");
      d.scale(0.62, 0.62);
      thing(d, entity.itemId);
    };
    this.stamp(
      `i:${entity.itemId}${lit ? "!" : ""}`,
      0.9,
      0.85,
      x + dx,
      y + dy,
      paint,
      false,
      0.22,
    );
  }

  fixture(entity, x, y, time) {
    if (lively(entity)) {
      const { c } = this;
      c.save();
      c.translate(x, y);
      c.scale(this.zoom, this.zoom);
      fixture(c, entity, time + hash(entity.x, entity.z) * 4000);
      c.restore();
      return;
    }
    const name = entity.stationType ?? entity.resourceId ?? entity.type;
    this.stamp(`f:${name}${entity.depleted ? " gone" : ""}`, 3, 4, x, y, (c) =>
      fixture(c, entity, 0),
    );
  }

  /**
   * Draws something of w x h tiles from a kept picture, whole pixels of the screen to whole pixels;
   * (x, y) is `foot` tiles over its lower edge.
   */
  stamp(id, w, h, x, y, paint, flip = false, foot = 0.6) {
    const { c, ratio, zoom, grain } = this;
    const [wide, high] = [Math.ceil(w * grain), Math.ceil(h * grain)];
    const bitmap = this.sprites.get(`${grain}${flip ? "-" : "+"}${id}`, wide, high, (d) => {
      d.translate(wide / 2, high - grain * foot);
      d.scale(flip ? -grain : grain, grain);
      paint(d);
    });
    const snap = (v) => Math.round(v * ratio) / ratio;
    const size = zoom / grain;
    c.drawImage(
      bitmap,
      snap(x - (w * zoom) / 2),
      snap(y + zoom * foot - h * zoom),
      wide * size,
      high * size,
    );
  }

  walker(entity, at, x, y, view, time) {
    this.moments.watch(entity, view.own, view.now);
    this.figures.draw(entity, at, x, y, view, time);
    const left = view.hits?.left(entity, view.now);
    if (left) this.hurt(left, x, y - this.zoom * 1.15);
  }

  hurt(left, x, y) {
    const { c } = this;
    const w = Math.max(24, this.zoom * 0.8);
    c.fillStyle = "#7c241c";
    c.fillRect(x - w / 2, y, w, 4);
    c.fillStyle = "#6fc05a";
    c.fillRect(x - w / 2, y, w * Math.max(0, Math.min(1, left.now / left.max)), 4);
  }

  house(house, view) {
    const { c } = this;
    const me = view.me;
    const near = (p, m) =>
      p &&
      p.x > house.minX - m &&
      p.x < house.maxX + m &&
      p.z > house.minZ - m &&
      p.z < house.maxZ + m + 0.5;
    const goal = near(me, 1.2) || (view.mouse && near(view.mouse, 0.5)) ? 1 : 0;
    const behind =
      me &&
      me.x > house.minX - 1 &&
      me.x < house.maxX + 1 &&
      me.z > house.maxZ &&
      me.z < house.maxZ + 2.2
        ? 0.55
        : 0;
    const want = Math.max(goal * 0.93, behind);
    house.clear += (want - house.clear) * (resting() ? 1 : 0.12);
    if (house.clear > 0.92) return;
    const at = this.toScreen(house.minX - 0.5 + house.w / 2, house.minZ - 0.5);
    c.globalAlpha = 1 - house.clear;
    const w = house.w + 1.6;
    const h = house.d + 4;
    this.stamp(`h:${house.id}`, w, h, at.x, at.y, (d) => {
      d.translate(-house.w / 2, 0);
      roof(d, house, house.w, house.d);
    });
    c.globalAlpha = 1;
  }

  /** Whether it is under a roof that is shown. */
  roofed(at) {
    return this.roofs.some(
      (h) => h.clear < 0.5 && at.x > h.minX && at.x < h.maxX && at.z > h.minZ && at.z < h.maxZ,
    );
  }

  /** What is under the pointer: a thing in sight, the nearest in front first. */
  under(px, py, view) {
    return this.allUnder(px, py, view)[0];
  }

  /** All that is under the pointer, the nearest first. */
  allUnder(px, py, view) {
    const found = [];
    const most = this.zoom * 0.75;
    for (const { entity, at } of this.seen ?? []) {
      if (!entity || entity.id === view.own) continue;
      const pos = this.toScreen(at.x, at.z);
      const tree = entity.resourceType === "tree" && !entity.depleted;
      const far = Math.hypot(
        px - pos.x,
        (py - (pos.y - this.zoom * (tree ? 0.6 : 0.2))) * (tree ? 0.6 : 0.8),
      );
      if (far < most) found.push([far, entity]);
    }
    return found.sort((a, b) => a[0] - b[0]).map(([, entity]) => entity);
  }

  houseAt(tile) {
    return this.roofs.find(
      (h) => tile.x >= h.minX && tile.x <= h.maxX && tile.z >= h.minZ && tile.z <= h.maxZ,
    );
  }
}
