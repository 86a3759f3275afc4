// What is written into the picture: names, signs over those who have a quest and over what a step
// of one is about, and what was said.

import { counted } from "./things.js";

const FIXED = new Set(["resource", "station", "fire", "grave"]);
const ZOOM_LEAST = 14;
const SAID_MS = 5200;
/** The colour of what a step of a quest is about, here and on the small map. */
export const AIM_COLOR = "#7fd4ff";

/** Writes words with a dark rim. */
export function label(c, words, x, y, color, size, bold) {
  c.font = `${bold ? "600 " : ""}${size}px "Iowan Old Style",Palatino,Georgia,"DejaVu Serif",serif`;
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
  return entity.attackable ? "#f4c0a4" : "#f2dca0";
}

/** The names of players, of people who are near, and of what is pointed at. */
export function names(picture, view) {
  const { c, zoom } = picture;
  if (zoom < ZOOM_LEAST) return;
  for (const { entity, at, house } of picture.seen) {
    if (house) continue;
    const player = entity.type === "player";
    const folk = entity.type === "npc" && !entity.attackable;
    const hover = entity.id === view.hover;
    const sign = folk ? view.signs?.get(entity.npcId) : undefined;
    const close = view.me && Math.abs(at.x - view.me.x) < 7 && Math.abs(at.z - view.me.z) < 6;
    const named = player || hover || (folk && close);
    const aim = !sign && view.quests?.isAim(entity);
    if (!named && !sign && !aim) continue;
    if (folk && !hover && picture.roofed(at)) continue;
    const pos = picture.toScreen(at.x, at.z);
    if (aim) {
      const over = pos.y - zoom * (FIXED.has(entity.type) ? 1.5 : 0.95) - (named ? 15 : 0);
      label(c, "▼", pos.x, over, AIM_COLOR, 15, true);
    }
    if (!named && !sign) continue;
    if (entity.type === "item") {
      const words = counted(entity.itemId, entity.quantity);
      label(c, words, pos.x, pos.y - zoom * 0.35, "#dfe8cf", 12, false);
      continue;
    }
    const y = pos.y - zoom * (FIXED.has(entity.type) ? 1.5 : 0.95);
    if (sign) label(c, sign, pos.x, y - 15, "#ffd94a", 22, true);
    if (!named) continue;
    // Everybody may see that nobody sits behind it.
    const name = entity.agent ? `⚙ ${entity.name}` : entity.name;
    const level = entity.combatLevel ?? (entity.attackable ? entity.level : undefined);
    const words = level === undefined ? name : `${name} · ${level}`;
    label(c, words, pos.x, y, tone(entity, view), player ? 13.5 : 12.5, player);
  }
  for (const place of view.quests?.places ?? []) {
    const pos = picture.toScreen(place.x, place.z);
    label(c, "▼", pos.x, pos.y - zoom * 0.6, AIM_COLOR, 18, true);
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
