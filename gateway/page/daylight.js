// Dusk, night, and what shines in it.

import { glow } from "./fixtures.js";

const DAY_TICKS = 4000;
let lamp;

/** 0 by day, 1 in the middle of the night; the day begins in the morning. */
function night(tick) {
  const part = (tick % DAY_TICKS) / DAY_TICKS;
  return Math.max(0, Math.min(1, (Math.abs(part - 0.5) - 0.36) / 0.09));
}

/** Darkens the picture, and lights what is lit. */
export function daylight(picture, view, time) {
  const { c } = picture;
  const dark = night(view.tick);
  const dusk = Math.max(0, 1 - Math.abs(dark - 0.4) / 0.4);
  if (dusk > 0.02) {
    c.fillStyle = `rgba(255,150,70,${0.13 * dusk})`;
    c.fillRect(0, 0, picture.w, picture.h);
  }
  if (dark <= 0.02) return;
  c.globalCompositeOperation = "multiply";
  const mix = (a) => Math.round(255 + (a - 255) * dark);
  c.fillStyle = `rgb(${mix(112)},${mix(124)},${mix(176)})`;
  c.fillRect(0, 0, picture.w, picture.h);
  c.globalCompositeOperation = "lighter";
  for (const { entity, at, house } of picture.seen) {
    if (house?.south !== undefined) {
      const door = { x: house.minX + house.south, z: house.minZ - 0.6 };
      shine(picture, door, 2.2, dark * 0.4 * (1 - house.clear));
    }
    const reach = entity ? glow(entity) || (entity.id === view.own ? 3 : 0) : 0;
    if (reach && !picture.roofed(at))
      shine(picture, at, reach * (1 + Math.sin(time / 180 + at.x) * 0.02), dark * 0.55);
  }
  c.globalCompositeOperation = "source-over";
}

function shine(picture, at, reach, alpha) {
  const { c, zoom } = picture;
  const pos = picture.toScreen(at.x, at.z);
  const r = reach * zoom;
  lamp ??= light();
  c.globalAlpha = alpha;
  c.drawImage(lamp, pos.x - r, pos.y - zoom * 0.6 - r, 2 * r, 2 * r);
  c.globalAlpha = 1;
}

function light() {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 128;
  const c = canvas.getContext("2d");
  const g = c.createRadialGradient(64, 64, 0, 64, 64, 64);
  g.addColorStop(0, "rgba(255,196,104,.9)");
  g.addColorStop(0.4, "rgba(255,160,70,.35)");
  g.addColorStop(1, "rgba(255,140,50,0)");
  c.fillStyle = g;
  c.fillRect(0, 0, 128, 128);
  return canvas;
}
