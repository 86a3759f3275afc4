// Whoever walks or stands in the picture: players in what they wear and do, people, and beasts.

import { human, npc } from "./beings.js";
import { person } from "./person.js";
import { outfit } from "./things.js";
import { WARDROBE } from "./wardrobe.js";

/** Phases of a walk in which somebody is painted, and how many of them there are to a tile. */
const STEPS = 4;
const LUNGE_MS = 260;
const TALL = { tree: 2, station: 1.3 };
const UNARMED = {};
/** Tiles that somebody's picture takes: the fewer pixels, the quicker it is copied. */
const [ACTING, ARMED, PLAIN] = [
  [2.2, 1.9],
  [1.5, 1.6],
  [1.2, 1.6],
];

export class Figures {
  constructor(picture, poses) {
    this.picture = picture;
    this.poses = poses;
  }

  draw(entity, at, x, y, view, time) {
    this.marks(entity, x, y, view);
    const moving = at.moving && time > 0;
    const step = moving ? Math.floor((at.walked ?? 0) * STEPS) % STEPS : -1;
    const how = {
      phase: step < 0 ? 0 : (step / STEPS) * ((Math.PI * 2) / 5) + 0.12,
      moving,
      face: 1,
      up: at.up && moving,
      time,
    };
    if (entity.npcId === "midge_cloud") return this.swarm(entity, x, y, how);
    if (entity.type === "player" || human(entity))
      return this.person(entity, at, x, y, view, how, step);
    return this.beast(entity, at, x, y, view, how, step);
  }

  /** A ring around the own character, and around what is pointed at. */
  marks(entity, x, y, view) {
    const { c, zoom } = this.picture;
    if (entity.id === view.own) {
      c.strokeStyle = "rgba(255,226,140,.75)";
      c.lineWidth = Math.max(1.5, zoom * 0.05);
      c.beginPath();
      c.ellipse(x, y, zoom * 0.36, zoom * 0.17, 0, 0, 7);
      c.stroke();
    }
    if (entity.id !== view.hover) return;
    c.fillStyle = "rgba(255,226,140,.25)";
    c.beginPath();
    c.ellipse(x, y, zoom * 0.42, zoom * 0.22, 0, 0, 7);
    c.fill();
  }

  swarm(entity, x, y, how) {
    const { c, zoom } = this.picture;
    c.save();
    c.translate(x, y);
    c.scale(zoom, zoom);
    npc(c, entity, how);
    c.restore();
  }

  person(entity, at, x, y, view, how, step) {
    const ids = entity.worn ?? WARDROBE[entity.npcId];
    const worn = ids ? outfit(ids) : UNARMED;
    const pose = how.moving ? undefined : this.poses.of(entity, worn.weapon, view, how.time);
    const [face, up] = facing(entity, at, pose?.toward, how.up);
    how.worn = worn;
    how.look = entity.look;
    how.pose = pose;
    how.up = up;
    const doing = pose ? `${pose.name}${pose.frame}` : step;
    const [wide, tall] = pose ? ACTING : worn.weapon || worn.shield ? ARMED : PLAIN;
    const id = `p:${entity.look ?? entity.name}:${ids ?? ""}:${doing}:${up ? 1 : 0}`;
    this.picture.stamp(
      id,
      wide,
      tall,
      x,
      y,
      (c) => person(c, entity.name ?? "?", how),
      face < 0,
      0.22,
    );
  }

  beast(entity, at, x, y, view, how, step) {
    const blow = this.poses.blow(entity.id, view.now);
    const foe = blow && view.entities.get(blow.target);
    const [face, up] = facing(entity, at, foe, how.up);
    how.up = up && how.moving;
    const id = `n:${entity.npcId ?? entity.name}:${step}:${how.up ? 1 : 0}`;
    const dx = foe && how.time ? lunge(view.now - blow.since) * face * this.picture.zoom : 0;
    this.picture.stamp(id, 2.4, 2.4, x + dx, y, (c) => npc(c, entity, how), face < 0);
  }
}

/** How far a beast leaps at whom it strikes, in tiles. */
const lunge = (age) =>
  age > 0 && age < LUNGE_MS ? Math.sin((age / LUNGE_MS) * Math.PI) * 0.22 : 0;

/** Whether somebody looks left (-1) or right (1), and whether away from us. */
function facing(entity, at, toward, up) {
  if (!toward) return [at.face ?? 1, up];
  const [dx, dz] = [toward.x - entity.x, toward.z - entity.z];
  return [dx ? Math.sign(dx) : (at.face ?? 1), dz > 0 && dz > Math.abs(dx)];
}

/**
 * Brings those to the front who work at something that would hide them, and the own character;
 * returns what is to be seen through.
 */
export function uncover(things, view, poses) {
  const veiled = new Set();
  const high = things.filter(({ entity }) => entity && tall(entity));
  for (const thing of things) {
    const { entity } = thing;
    if (entity?.type !== "player" || !(entity.doing || entity.id === view.own)) continue;
    const place = poses.at(entity, view);
    for (const cover of high) {
      if (entity.id !== view.own && cover.entity !== place) continue;
      if (!covers(cover, thing.at)) continue;
      veiled.add(cover.entity.id);
      thing.z = Math.min(thing.z, cover.z - 0.01);
    }
  }
  return veiled;
}

function tall(entity) {
  if (entity.type === "station") return TALL.station;
  return entity.resourceType === "tree" && !entity.depleted ? TALL.tree : 0;
}

/** Whether something that stands further south reaches over somebody. */
function covers({ entity, at }, person) {
  const south = person.z - at.z;
  const wide = entity.type === "station" ? 0.8 : 1.3;
  return south > 0 && south < tall(entity) + 0.4 && Math.abs(person.x - at.x) < wide;
}
