// The arrow on the ground that leads to the goal of the step that is followed, around walls and water;
// and what those call whom one shall meet first.
// Always: it only shows; nobody is moved by it.

import { isAbout } from "./goals.js";
import { AIM_COLOR } from "./labels.js";
import { resting } from "./settings.js";
import { key } from "./world.js";

/** Half the side of the square in which ways are searched, in tiles. */
const REACH = 80;
const SIDE = REACH * 2 + 1;
/** Nearer than this to a goal, no arrow is needed. */
const THERE = 2;
/** How often a new way is looked for, and how often somebody calls. */
const SEEK_MS = 400;
const CALL_MS = 9000;
const CALL_TILES = 14;
/** Tiles of the way that are shown. */
const TRAIL = 9;
const AROUND = [
  [0, 1],
  [1, 0],
  [0, -1],
  [-1, 0],
  [1, 1],
  [1, -1],
  [-1, -1],
  [-1, 1],
];
const apart = (a, b) => Math.max(Math.abs(a.x - b.x), Math.abs(a.z - b.z));

export class Guide {
  /** `game`: scene, free(x, z), quests, bubbles. */
  constructor({ scene, free, quests, bubbles }) {
    Object.assign(this, { scene, free, quests, bubbles });
    this.clear();
  }

  clear() {
    this.tiles = [];
    this.sought = { at: undefined, goals: "", since: 0 };
    this.called = 0;
  }

  /** Called every frame with where the own character is shown. */
  frame(here, now) {
    const aim = here && this.quests.aim;
    if (!aim) {
      this.tiles = [];
      return;
    }
    this.call(aim, here, now);
    if (now - this.sought.since < SEEK_MS) return;
    const from = { x: Math.round(here.x), z: Math.round(here.z) };
    const goals = this.targets(aim);
    const words = `${key(from.x, from.z)} ${goals.map(({ x, z }) => key(x, z)).join(" ")}`;
    if (words === this.sought.words) return;
    this.sought = { words, since: now };
    this.tiles = this.way(from, goals);
  }

  /** What is in sight of a goal, else where it was placed. */
  targets(aim) {
    const seen = [];
    for (const entity of this.scene.entities.values())
      if (isAbout(aim, entity)) seen.push({ x: entity.x, z: entity.z });
    if (seen.length) return seen;
    return aim.place ? [aim.place] : aim.spots;
  }

  /** The first tiles of the way to the nearest goal; none for who is there. */
  way(from, goals) {
    if (!goals.length || goals.some((goal) => apart(goal, from) < THERE)) return [];
    const steps = this.search(from, goals);
    const near = goals.reduce((a, b) => (far(a, from) <= far(b, from) ? a : b));
    if (!steps) return straight(from, near);
    return steps;
  }

  /** Searches in widening circles around a tile until a goal is beside it. */
  search(from, goals) {
    const at = ({ x, z }) => (z - from.z + REACH) * SIDE + (x - from.x + REACH);
    const inside = ({ x, z }) => Math.abs(x - from.x) <= REACH && Math.abs(z - from.z) <= REACH;
    const ends = new Set();
    for (const goal of goals)
      for (const [dx, dz] of [[0, 0], ...AROUND.slice(0, 4)]) {
        const tile = { x: goal.x + dx, z: goal.z + dz };
        if (inside(tile) && this.free(tile.x, tile.z)) ends.add(at(tile));
      }
    const came = new Map([[at(from), undefined]]);
    const queue = [from];
    for (let n = 0; n < queue.length; n += 1) {
      const tile = queue[n];
      if (ends.has(at(tile))) return back(tile, came, at);
      for (const [dx, dz] of AROUND) {
        const next = { x: tile.x + dx, z: tile.z + dz };
        if (!inside(next) || came.has(at(next)) || !this.free(next.x, next.z)) continue;
        // Nobody cuts a corner.
        const cut = dx && dz && !(this.free(tile.x + dx, tile.z) && this.free(tile.x, tile.z + dz));
        if (cut) continue;
        came.set(at(next), tile);
        queue.push(next);
      }
    }
    return undefined;
  }

  /** Who waits for a newcomer calls, if it is near enough to be heard. */
  call(aim, here, now) {
    const quest = this.quests.current;
    const { call } = quest ? this.quests.step(quest) : {};
    if (!call || now - this.called < CALL_MS) return;
    for (const entity of this.scene.entities.values()) {
      if (entity.type !== "npc" || !isAbout(aim, entity)) continue;
      if (apart(entity, here) > CALL_TILES) continue;
      this.called = now;
      this.bubbles.say(entity.id, call, now);
    }
  }

  /** Draws the arrow: a few chevrons that run along the way. */
  draw(picture, view) {
    const { tiles } = this;
    if (tiles.length < 3) return;
    const { c, zoom } = picture;
    const run = resting() ? 0.6 : (view.now / 800) % 2;
    c.save();
    c.lineCap = c.lineJoin = "round";
    for (let from = 0; from < tiles.length - 2; from += 2) {
      const n = Math.floor(from + run);
      if (n > tiles.length - 2) break;
      const [a, b, part] = [tiles[n], tiles[n + 1], from + run - n];
      const pos = picture.toScreen(a.x + (b.x - a.x) * part, a.z + (b.z - a.z) * part);
      // They come out from under the feet, and fade with the way.
      const fade = Math.min(1, (from + run) / 2) * (1 - (from + run) / (TRAIL + 2));
      c.save();
      c.translate(pos.x, pos.y);
      c.scale(1, 0.8);
      c.rotate(Math.atan2(a.z - b.z, b.x - a.x));
      for (const [color, width] of [
        ["rgba(16,20,16,.7)", 0.3],
        [AIM_COLOR, 0.17],
      ]) {
        c.globalAlpha = Math.max(0, fade);
        c.strokeStyle = color;
        c.lineWidth = zoom * width;
        c.beginPath();
        c.moveTo(-zoom * 0.22, -zoom * 0.34);
        c.lineTo(zoom * 0.2, 0);
        c.lineTo(-zoom * 0.22, zoom * 0.34);
        c.stroke();
      }
      c.restore();
    }
    c.restore();
  }
}

const far = (a, b) => Math.hypot(a.x - b.x, a.z - b.z);

/** The first tiles of a way that was found backwards. */
function back(tile, came, at) {
  const way = [];
  for (let on = tile; on; on = came.get(at(on))) way.push(on);
  return way.reverse().slice(0, TRAIL + 1);
}

/** Tiles in the direction of something that lies too far off to know the way. */
function straight(from, to) {
  const long = Math.max(1, far(from, to));
  const [dx, dz] = [(to.x - from.x) / long, (to.z - from.z) / long];
  return Array.from({ length: TRAIL }, (_, n) => ({ x: from.x + dx * n, z: from.z + dz * n }));
}
