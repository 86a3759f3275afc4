// What a body does: how far each arm is raised, how it leans, and what it holds, frame by frame.
// Always: a pose is chosen by what the server said; nothing here changes what happens.

import { kind } from "./weapons.js";

/**
 * Five numbers a frame: the front arm and the arm behind (0 hangs down, 1.6 points ahead, 3.1
 * points up), the lean of the body, how far it sinks, and the turn of what it holds (0 is upright,
 * 1.6 ahead).
 */
const REST = [0.35, -0.12, 0, 0, 0.35];

/** Milliseconds of a frame, the four frames, and what is held for it if nothing fitting is worn. */
function pose(ms, frames, more) {
  return { ms, frames: frames.split(" | ").map((one) => one.split(" ").map(Number)), ...more };
}

const POSES = {
  swing: pose(110, "2.7 -.5 -.12 0 -.7 | 2.2 .2 .06 0 .7 | 1.2 .5 .16 .02 1.9 | .8 .1 .06 0 1.5"),
  punch: pose(110, "-.6 .9 -.08 0 0 | 1.6 -.4 .14 0 0 | 1.7 -.5 .18 0 0 | .9 .3 .04 0 0"),
  shoot: pose(120, "1.57 1.3 0 0 0 | 1.57 .7 -.06 0 0 | 1.57 1.9 .02 0 0 | 1.4 1.2 0 0 0"),
  cast: pose(130, "1.9 -.6 -.08 0 .1 | 2.6 1.9 -.1 -.03 .2 | 1.7 1.7 .12 0 .9 | 1.3 .6 .04 0 .5", {
    glows: true,
  }),
  chop: pose(210, "-.5 -.9 -.16 0 -1.2 | 1 .5 0 0 .4 | 1.7 1.3 .16 .03 1.6 | 1.6 1.1 .1 .02 1.4", {
    tool: "iron_hatchet",
    fits: /hatchet/,
  }),
  mine: pose(210, "3 2.6 -.16 -.03 -.6 | 2.4 2 0 0 .6 | 1.1 .8 .22 .05 2 | 1.3 1 .14 .02 1.6", {
    tool: "iron_pickaxe",
    fits: /pickaxe/,
  }),
  fish: pose(
    620,
    "1.25 .9 .02 0 .75 | 1.3 .9 .03 .01 .8 | 1.25 .9 .02 0 .72 | 1.6 1.2 -.08 0 .35",
    { tool: "fishing_rod", fits: /rod$|_net$|harpoon/ },
  ),
  pick: pose(300, ".9 .5 .5 .12 0 | .6 .8 .56 .14 0 | 1.1 .5 .46 .1 0 | .7 .6 .5 .12 0"),
  cook: pose(330, "1.3 .5 .06 0 1.5 | 1.45 .7 .06 0 1.45 | 1.65 .9 .02 0 1.3 | 1.35 .6 .06 0 1.5", {
    tool: "pan",
    steams: true,
  }),
  smith: pose(190, "2.9 1.1 -.08 0 -.2 | 2 1.1 .04 0 1 | .9 1.1 .16 .03 2 | 1.4 1.1 .08 .01 1.3", {
    tool: "hammer",
    fits: /hammer/,
  }),
  smelt: pose(420, "1.2 .9 .06 0 1.5 | 1.4 1.1 .1 0 1.6 | 1.3 1 .12 .01 1.6 | 1.2 .9 .06 0 1.4", {
    tool: "long_tongs",
    steams: true,
  }),
  craft: pose(260, "1.1 .9 .1 0 1 | 1.35 .8 .1 0 .7 | 1.6 .9 .08 0 .5 | 1.2 1 .1 0 .9", {
    tool: "needle",
  }),
  fletch: pose(230, ".8 .9 .14 0 1.4 | 1.1 .9 .14 0 1.6 | 1.4 .9 .1 0 1.8 | 1 .9 .14 0 1.5", {
    tool: "knife",
  }),
  light: pose(260, ".7 .6 .42 .14 0 | .9 .4 .42 .14 0 | .6 .8 .44 .15 0 | .9 .5 .42 .14 0", {
    tool: "tinderbox",
  }),
  runecraft: pose(
    320,
    "2.2 2.2 0 0 0 | 2.6 2.5 -.04 -.02 0 | 2.9 2.9 -.06 -.03 0 | 2.5 2.4 -.02 -.01 0",
    { glows: true },
  ),
  wave: pose(220, "2.6 -.1 0 0 .3 | 3.1 -.1 0 0 .3 | 2.6 -.1 0 0 .3 | 2.9 -.1 0 0 .3"),
  bow: pose(420, ".3 .2 .3 .02 .3 | .5 .3 .6 .06 .3 | .5 .3 .6 .06 .3 | .3 .2 .3 .02 .3"),
  cheer: pose(200, "2.8 -2.8 0 0 .3 | 3 -3 0 -.08 .3 | 2.8 -2.8 0 0 .3 | 2.6 -2.6 0 .02 .3"),
  clap: pose(170, "1.4 .9 0 0 .3 | 1.2 1.5 0 0 .3 | 1.5 .9 0 0 .3 | 1.2 1.5 0 0 .3"),
  dance: pose(
    230,
    "2.6 -.9 .14 0 .3 | 1.2 -1.6 0 -.07 .3 | .8 -2.6 -.14 0 .3 | 1.2 -1.6 0 -.07 .3",
  ),
  laugh: pose(160, ".7 .5 -.08 0 .3 | .8 .6 -.12 .02 .3 | .7 .5 -.06 0 .3 | .8 .6 -.12 .02 .3"),
  cry: pose(300, "2.3 2 .16 .02 .3 | 2.2 2 .2 .03 .3 | 2.3 2.1 .16 .02 .3 | 2.2 2 .2 .03 .3"),
  think: pose(600, "2.1 .6 .02 0 .3 | 2.1 .6 .04 0 .3 | 2.2 .6 .02 0 .3 | 2.1 .6 0 0 .3"),
  shrug: pose(320, ".9 -.9 0 0 .3 | 1.2 -1.2 0 -.03 .3 | 1.2 -1.2 0 -.03 .3 | .9 -.9 0 0 .3"),
  point: pose(500, "1.6 -.1 .04 0 .9 | 1.65 -.1 .06 0 .9 | 1.6 -.1 .04 0 .9 | 1.55 -.1 .02 0 .9"),
  salute: pose(
    600,
    "2.5 -.05 -.04 0 .3 | 2.5 -.05 -.05 0 .3 | 2.5 -.05 -.04 0 .3 | 2.4 -.05 -.03 0 .3",
  ),
  jump: pose(170, ".6 -.6 0 .06 .3 | 2.2 -2.2 0 -.2 .3 | 2.6 -2.6 0 -.28 .3 | 1.4 -1.4 0 -.1 .3"),
};
const FRAMES = 4;
const BLOW_MS = 520;
const BLOWS_MAX = 300;
const STRIKES = { ranged: "shoot", magic: "cast", melee: "swing" };
/** What they work at, by what they do. */
const PLACES = {
  chop: (e) => e.resourceType === "tree",
  mine: (e) => e.resourceType === "ore" || e.resourceType === "rock",
  fish: (e) => e.resourceType === "fishing_spot",
  pick: (e) => e.resourceType === "herb_patch",
  cook: (e) => e.type === "fire" || e.stationType === "range",
  smith: (e) => e.stationType === "anvil",
  smelt: (e) => e.stationType === "furnace",
  craft: (e) => ["furnace", "spinning_wheel", "cauldron", "well"].includes(e.stationType),
  runecraft: (e) => e.stationType === "runecrafting_altar",
};
const REACH = 5;

/** The numbers of a frame; at rest without a pose. */
export const frameOf = (pose) => (pose ? POSES[pose.name].frames[pose.frame] : REST);

/** What is held for a pose: what is worn if that fits, else a tool of its own. */
export function holds(pose, worn) {
  const { tool, fits } = POSES[pose?.name] ?? {};
  if (!tool) return worn;
  return worn && fits?.test(worn) ? worn : tool;
}
export const glows = (pose) => POSES[pose.name].glows === true;
export const steams = (pose) => POSES[pose.name].steams === true;

const stands = (place, view) => view.entities.has(place.id) && !place.depleted;

/** The nearest thing that somebody who does it works at. */
export function workplace(entity, entities) {
  const fits = PLACES[entity.doing];
  let found;
  let least = REACH;
  if (fits)
    for (const other of entities) {
      if (!fits(other) || other.depleted) continue;
      const far = Math.max(Math.abs(other.x - entity.x), Math.abs(other.z - entity.z));
      if (far < least) [found, least] = [other, far];
    }
  return found;
}

/** What blows were struck by whom, a moment ago. */
export class Poses {
  constructor() {
    this.clear();
  }

  clear() {
    this.struck = new Map();
    this.places = new Map();
  }

  /** Somebody has struck a blow. */
  strike({ attacker, target, style }, now) {
    if (this.struck.size > BLOWS_MAX) this.struck.clear();
    this.struck.set(attacker, { target, style, since: now });
  }

  /** The blow that somebody strikes just now. */
  blow(id, now) {
    const blow = this.struck.get(id);
    if (blow && now - blow.since > BLOW_MS) this.struck.delete(id);
    return this.struck.get(id);
  }

  /** Where somebody works; looked up again when it, or its work, is another. */
  at(entity, view) {
    if (!entity.doing) return undefined;
    const known = this.places.get(entity.id);
    const of = `${entity.doing} ${entity.x} ${entity.z}`;
    if (known?.of === of && (!known.place || stands(known.place, view))) return known.place;
    const place = workplace(entity, view.entities.values());
    if (this.places.size > 500) this.places.clear();
    this.places.set(entity.id, { of, place });
    return place;
  }

  /** `{ name, frame, toward }` of a person who stands; nothing at rest. */
  of(entity, weapon, view, time) {
    const blow = this.blow(entity.id, view.now);
    if (blow) {
      const name = strikes(blow.style, weapon);
      // A picture's time may be a little before that of the message that it shows.
      const age = Math.max(0, view.now - blow.since);
      const frame = Math.min(FRAMES - 1, Math.floor(age / POSES[name].ms));
      return { name, frame, toward: view.entities.get(blow.target) };
    }
    const name = entity.doing ?? entity.emote;
    if (!Object.hasOwn(POSES, name ?? "")) return undefined;
    const frame = Math.floor(time / POSES[name].ms) % FRAMES;
    return { name, frame, toward: this.at(entity, view) };
  }
}

/** The pose of a blow: an empty hand punches, and a bow in the hand cannot swing. */
function strikes(style, weapon) {
  const name = STRIKES[style] ?? "swing";
  if (name === "swing" && (!weapon || kind(weapon) === "bow")) return "punch";
  return name;
}

/** All of them, for tests. */
export const NAMES = Object.keys(POSES);
