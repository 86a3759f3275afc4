// What is written into the picture: names, signs over those who have a quest and over what a step
// of one is about, and what was said.

import { setting } from "./settings.js";
import { Sprites } from "./sprites.js";
import { counted } from "./things.js";

const FIXED = new Set(["resource", "station", "fire", "grave"]);
const ZOOM_LEAST = 14;
const SAID_MS = 5200;
/** The colour of what a step of a quest is about, here and on the small map. */
export const AIM_COLOR = "#7fd4ff";

const KEPT_PIXELS = 1e6;
let ruler;
const font = (size, bold) =>
  `${bold ? "600 " : ""}${size}px "Iowan Old Style",Palatino,Georgia,"DejaVu Serif",serif`;

/** Writes words with a dark rim. */
export function label(c, words, x, y, color, size, bold) {
  c.font = font(size, bold);
  c.textAlign = "center";
  c.lineWidth = 3;
  c.lineJoin = "round";
  c.strokeStyle = "rgba(16,20,16,.78)";
  c.strokeText(words, x, y);
  c.fillStyle = color;
  c.fillText(words, x, y);
}

function tone(entity, view) {
  if (entity.id === view.own) return "#ffe9a8";
  if (entity.type === "player") return "#ffffff";
  if (entity.type !== "npc") return "#dfe8cf";
  if (setting("colours") === "safe") return entity.attackable ? "#ffb347" : "#a8d8ff";
  return entity.attackable ? "#f4c0a4" : "#f2dca0";
}

/** Rows in which a name may stand: over the head, higher, under the feet. */
const ROWS = [0, 1, -1, 2, 3];
const ROW_HEIGHT = 16;
const GAP = 2;

/**
 * Finds room for labels `{ id, x, y, w, h, rank, foot }`, those of the least rank first: each
 * stands in the first free row; one without a free row is left out. `rows` remembers where each
 * stood, so that nobody's name hops about.
 */
export function makeRoom(labels, rows) {
  const placed = [];
  const kept = new Map();
  const order = (a, b) =>
    a.rank - b.rank || rows.has(b.id) - rows.has(a.id) || (a.id < b.id ? -1 : 1);
  for (const one of labels.sort(order)) {
    const before = rows.get(one.id);
    const tried = before ? [before, ...ROWS] : ROWS;
    const row = tried.find((n) => free(one, yOf(one, n), placed));
    if (row === undefined) continue;
    kept.set(one.id, row);
    one.y = yOf(one, row);
    placed.push(one);
  }
  rows.clear();
  for (const [id, row] of kept) rows.set(id, row);
  return placed;
}

const yOf = ({ y, foot }, row) => (row < 0 ? foot : y - row * ROW_HEIGHT);

function free({ x, w, h }, y, placed) {
  for (const other of placed)
    if (
      Math.abs(x - other.x) < (w + other.w) / 2 + GAP &&
      y - h < other.y + GAP &&
      other.y - other.h < y + GAP
    )
      return false;
  return true;
}

/** Names of players, of people who are near, and of what is pointed at. */
export class Names {
  constructor() {
    this.rows = new Map();
    this.widths = new Map();
    this.sprites = new Sprites(KEPT_PIXELS);
    this.shown = [];
  }

  draw(picture, view) {
    this.shown = [];
    if (picture.zoom < ZOOM_LEAST) return;
    const wanted = picture.seen.flatMap((thing) => this.of(thing, picture, view));
    this.shown = makeRoom(wanted, this.rows);
    for (const one of this.shown) this.write(picture, one);
    for (const place of view.quests?.places ?? []) {
      const pos = picture.toScreen(place.x, place.z);
      label(picture.c, "▼", pos.x, pos.y - picture.zoom * 0.6, AIM_COLOR, 18, true);
    }
  }

  /** What is written over something in sight; signs and marks are drawn at once. */
  of({ entity, at, house }, picture, view) {
    if (house) return [];
    const { c, zoom } = picture;
    const player = entity.type === "player";
    const folk = entity.type === "npc" && !entity.attackable;
    const hover = entity.id === view.hover;
    const sign = folk ? view.signs?.get(entity.npcId) : undefined;
    const close = view.me && Math.abs(at.x - view.me.x) < 7 && Math.abs(at.z - view.me.z) < 6;
    const pointed = setting("labels") === "pointed";
    const named = hover || (!pointed && (player || (folk && close)));
    const aim = !sign && view.quests?.isAim(entity);
    if (!named && !sign && !aim) return [];
    if (folk && !hover && picture.roofed(at)) return [];
    const pos = picture.toScreen(at.x, at.z);
    const item = entity.type === "item";
    const y = pos.y - zoom * (item ? 0.35 : FIXED.has(entity.type) ? 1.5 : 0.95);
    if (aim) label(c, "▼", pos.x, y - (named ? 15 : 0), AIM_COLOR, 15, true);
    if (sign) label(c, sign, pos.x, y - 15, "#ffd94a", 22, true);
    if (!named) return [];
    const rank = entity.id === view.own ? 0 : hover ? 1 : folk ? 2 : 3;
    return [
      this.measured(this.words(entity), pos.x, y, pos.y + zoom * 0.32 + 14, { entity, rank, view }),
    ];
  }

  words(entity) {
    if (entity.type === "item") return counted(entity.itemId, entity.quantity);
    // Everybody may see that nobody sits behind it.
    const name = entity.agent ? `⚙ ${entity.name}` : entity.name;
    const level = entity.combatLevel ?? (entity.attackable ? entity.level : undefined);
    return level === undefined ? name : `${name} · ${level}`;
  }

  measured(words, x, y, foot, { entity, rank, view }) {
    const player = entity.type === "player";
    const size = player ? 13.5 : 12.5;
    const id = `${size}${words}`;
    let w = this.widths.get(id);
    if (!w) {
      ruler ??= new OffscreenCanvas(1, 1).getContext("2d");
      ruler.font = font(size, player);
      w = Math.ceil(ruler.measureText(words).width) + 6;
      if (this.widths.size > 1000) this.widths.clear();
      this.widths.set(id, w);
    }
    return {
      id: entity.id,
      words,
      x,
      y,
      foot,
      w,
      h: 14,
      size,
      bold: player,
      rank,
      color: tone(entity, view),
    };
  }

  /** Copies a name from a kept picture: to write it with its rim takes much longer. */
  write({ c, ratio }, { words, x, y, w, h, size, bold, color }) {
    const [wide, high] = [Math.ceil(w * ratio), Math.ceil((h + 8) * ratio)];
    const bitmap = this.sprites.get(`${color}${size}${words}${ratio}`, wide, high, (d) => {
      d.scale(ratio, ratio);
      label(d, words, w / 2, h, color, size, bold);
    });
    const snap = (v) => Math.round(v * ratio) / ratio;
    c.drawImage(bitmap, snap(x - w / 2), snap(y - h), wide / ratio, high / ratio);
  }
}

/** What was just said, over those who said it. */
export class Bubbles {
  constructor() {
    this.said = new Map();
  }

  say(id, words, now) {
    const short = words.length > 60 ? `${words.slice(0, 58)}…` : words;
    this.said.set(id, { words: short, until: now + SAID_MS });
  }

  draw(picture, view) {
    const { c, zoom } = picture;
    for (const [id, bubble] of this.said) {
      const entity = view.entities.get(id);
      if (!entity || view.now > bubble.until) {
        if (view.now > bubble.until) this.said.delete(id);
        continue;
      }
      const at = view.at(entity);
      const pos = picture.toScreen(at.x, at.z);
      const y = pos.y - zoom * 1.5 - 16;
      c.globalAlpha = Math.min(1, (bubble.until - view.now) / 400);
      c.font = '14px Georgia,"DejaVu Serif",serif';
      const w = c.measureText(bubble.words).width + 20;
      c.fillStyle = "rgba(250,243,226,.96)";
      c.beginPath();
      c.roundRect(pos.x - w / 2, y - 18, w, 27, 10);
      c.moveTo(pos.x - 6, y + 9);
      c.lineTo(pos.x, y + 17);
      c.lineTo(pos.x + 6, y + 9);
      c.fill();
      c.textAlign = "center";
      c.fillStyle = "#33271a";
      c.fillText(bubble.words, pos.x, y);
      c.globalAlpha = 1;
    }
  }
}
