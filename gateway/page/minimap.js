// The round map in the corner: 76 tiles across, north up.

import { AIM_COLOR } from "./labels.js";

const REACH = 38;
const SIDE = REACH * 2;
const DRAWN_MS = 60;

/** A pin with its point at a place. */
function pin(c, x, y, size) {
  c.fillStyle = AIM_COLOR;
  c.strokeStyle = "rgba(16,20,16,.85)";
  c.lineWidth = 1.2;
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(x - size * 0.72, y - size * 1.3);
  c.arc(x, y - size * 1.5, size * 0.75, Math.PI * 0.92, Math.PI * 0.08);
  c.closePath();
  c.fill();
  c.stroke();
  c.fillStyle = "#1c241f";
  c.beginPath();
  c.arc(x, y - size * 1.5, size * 0.28, 0, 7);
  c.fill();
}

export class Minimap {
  constructor(canvas, land) {
    this.canvas = canvas;
    this.c = canvas.getContext("2d");
    this.land = land;
    this.ground = document.createElement("canvas");
    this.ground.width = this.ground.height = REACH * 2;
    this.last = undefined;
    this.drawn = 0;
  }

  forget() {
    this.last = undefined;
  }

  /** Brings the ground under (cx, cz): moves what is painted, and paints only what comes into it. */
  center(cx, cz) {
    const { last } = this;
    this.last = { cx, cz };
    const [dx, dz] = last ? [cx - last.cx, cz - last.cz] : [SIDE, SIDE];
    if (!dx && !dz) return;
    if (Math.max(Math.abs(dx), Math.abs(dz)) > REACH) return this.paint(0, 0, SIDE, SIDE);
    const c = this.ground.getContext("2d");
    c.globalCompositeOperation = "copy";
    c.drawImage(this.ground, -dx, dz);
    c.globalCompositeOperation = "source-over";
    if (dx) this.paint(dx > 0 ? SIDE - dx : 0, 0, Math.abs(dx), SIDE);
    if (dz) this.paint(0, dz > 0 ? 0 : SIDE + dz, SIDE, Math.abs(dz));
  }

  /** Paints `w` x `h` tiles, from a column and a row on. */
  paint(left, top, w, h) {
    const { cx, cz } = this.last;
    const image = new ImageData(w, h);
    let at = 0;
    for (let row = top; row < top + h; row += 1) {
      for (let column = left; column < left + w; column += 1) {
        const x = cx - REACH + column;
        const z = cz + REACH - 1 - row;
        const kind = this.land.kind(x, z);
        const color = parseInt((kind < 0 ? "#3a463f" : this.land.ground[kind].color).slice(1), 16);
        const shade =
          kind < 0 ? 1 : 1 + (this.land.height(x, z) - this.land.height(x - 1, z + 1)) * 0.03;
        image.data[at] = (color >> 16) * shade;
        image.data[at + 1] = ((color >> 8) & 255) * shade;
        image.data[at + 2] = (color & 255) * shade;
        image.data[at + 3] = 255;
        at += 4;
      }
    }
    this.ground.getContext("2d").putImageData(image, left, top);
  }

  /** Draws it anew, at most so many times a second. */
  draw(view) {
    if (view.now - this.drawn < DRAWN_MS) return;
    this.drawn = view.now;
    const { c, canvas } = this;
    const cx = Math.round(view.me.x);
    const cz = Math.round(view.me.z);
    this.center(cx, cz);
    const side = canvas.width;
    const scale = side / (REACH * 2 - 4);
    c.save();
    c.beginPath();
    c.arc(side / 2, side / 2, side / 2, 0, 7);
    c.clip();
    c.imageSmoothingEnabled = true;
    const left = side / 2 - (view.me.x - (cx - REACH) + 0.5) * scale;
    const top = side / 2 - (cz + REACH - 1 - view.me.z + 0.5) * scale;
    c.drawImage(this.ground, left, top, REACH * 2 * scale, REACH * 2 * scale);
    const dot = (at, color, r) => {
      c.fillStyle = color;
      c.beginPath();
      c.arc(side / 2 + (at.x - view.me.x) * scale, side / 2 - (at.z - view.me.z) * scale, r, 0, 7);
      c.fill();
    };
    for (const entity of view.entities.values()) {
      if (entity.id === view.own) continue;
      const at = view.at(entity);
      if (entity.type === "resource" && entity.resourceType === "tree")
        dot(at, "rgba(28,66,34,.85)", scale * 0.6);
      else if (entity.type === "npc")
        dot(at, entity.attackable ? "#f0d060" : "#f6efdc", scale * 0.75);
      else if (entity.type === "player") dot(at, "#ffffff", scale * 1.2);
      else if (entity.type === "item") dot(at, "#e06a50", scale * 0.7);
      else if (entity.type === "station" && entity.stationType === "bank")
        dot(at, "#e8b65a", scale * 1.1);
    }
    // Beyond the edge it is shown on the edge, in its direction.
    const pinned = (at) => {
      const [dx, dz] = [at.x - view.me.x, at.z - view.me.z];
      const near = Math.min(1, (REACH - 5) / Math.max(1, Math.hypot(dx, dz)));
      return { x: view.me.x + dx * near, z: view.me.z + dz * near };
    };
    for (const grave of view.graves?.values() ?? []) dot(pinned(grave), "#d9604c", scale * 1.6);
    for (const entity of view.entities.values())
      if (view.quests?.isAim(entity)) dot(view.at(entity), AIM_COLOR, scale * 1.1);
    for (const at of view.quests?.ways({ x: cx, z: cz }) ?? []) {
      const { x, z } = pinned(at);
      const px = side / 2 + (x - view.me.x) * scale;
      pin(c, px, side / 2 - (z - view.me.z) * scale, scale * 2.2);
    }
    if (view.target) dot(view.target, "#ff6a4a", scale);
    dot(view.me, "#1c241f", scale * 1.6);
    dot(view.me, "#ffe08a", scale * 1.15);
    c.restore();
  }

  toTile(px, py, size, me) {
    const scale = size / (REACH * 2 - 4);
    return {
      x: Math.round(me.x + (px - size / 2) / scale),
      z: Math.round(me.z - (py - size / 2) / scale),
    };
  }
}
