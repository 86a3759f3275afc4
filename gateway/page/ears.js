// What the own character hears: its steps and its work, blows around it, coins, doors, water.
// Always: it only listens; what it hears changes nothing.

import { WET } from "./ground.js";

const STEPS = {
  road: "stone",
  plaza: "stone",
  rock: "stone",
  floor: "wood",
  bridge: "wood",
  sand: "sand",
  dirt: "sand",
  ash: "sand",
  farmland: "sand",
  snow: "snow",
  ice: "snow",
  swamp: "wet",
  shallows: "wet",
};
/** Tiles from one step that is heard to the next: who runs takes longer ones. */
const [STRIDE, LONG_STRIDE] = [1, 1.7];
const RUNS = 0.005;
const STEP_GAIN = 0.34;
/** What work sounds like, and how often, in milliseconds. */
const WORK = {
  tree: ["chop", 1200],
  ore: ["mine", 1200],
  rock: ["mine", 1200],
  fishing_spot: ["fish", 3600],
  herb_patch: ["pick", 1800],
  smith: ["smith", 1200],
  smelt: ["cook", 2600],
  cook: ["cook", 2600],
};
const BLOWS = { melee: "blow", ranged: "arrow", magic: "spell" };
/** Tiles within which water is heard, and the time from one wave to the next. */
const SHORE = 5;
const WAVE_MS = 4200;
const AWAY = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
  [0.7, 0.7],
  [-0.7, 0.7],
  [0.7, -0.7],
  [-0.7, -0.7],
];

export class Ears {
  /** `game`: sound, scene, land, me, walkers. */
  constructor({ sound, scene, land, me, walkers }) {
    Object.assign(this, { sound, scene, land, me, walkers });
    this.stepped = 0;
    this.wave = 0;
    this.doors = new Set();
    this.work = undefined;
    this.coins = undefined;
    this.heard = this.messages();
  }

  /** What each message of the server sounds like. */
  messages() {
    return {
      "skill:xp": ({ leveledUp }) => leveledUp && this.sound.play("level"),
      "quest:completed": () => this.sound.play("quest"),
      "player:died": () => this.ends("death"),
      "player:sync": ({ coins }) => this.begins(coins),
      "coins:update": ({ coins }) => this.paid(coins),
      "activity:update": (data) => this.works(data),
      "home:update": ({ arrivesTick }) =>
        arrivesTick !== undefined && this.sound.play("spell", { gain: 0.6 }),
      "world:left": () => this.ends(),
    };
  }

  hear(event, data) {
    this.heard[event]?.(data);
  }

  begins(coins) {
    this.work = undefined;
    this.coins = coins;
  }

  ends(name) {
    this.work = undefined;
    if (name) this.sound.play(name);
  }

  paid(coins) {
    if (this.coins !== undefined && coins !== this.coins) this.sound.play("coins");
    this.coins = coins;
  }

  works({ active, action, target }) {
    const kind = action === "gather" ? this.scene.entities.get(target)?.resourceType : action;
    this.work = active ? WORK[kind] : undefined;
    this.worked = performance.now();
  }

  /** A blow was struck somewhere. */
  blow({ target, damage, style }) {
    const name = damage === 0 ? "miss" : (BLOWS[style] ?? BLOWS.melee);
    this.from(this.scene.entities.get(target), name, 0.9);
  }

  /** Something at a place: fainter from afar, and from its side. */
  from(place, name, gain) {
    const { me } = this;
    if (!place || !me.position) return;
    const [dx, dz] = [place.x - me.position.x, place.z - me.position.z];
    this.sound.play(name, { gain: gain / (1 + Math.hypot(dx, dz) / 5), pan: dx / 14 });
  }

  /** Called for every picture. */
  frame(now) {
    if (!this.sound.on || !this.me.position) return;
    this.step();
    this.door();
    if (this.work && now - this.worked > this.work[1]) {
      this.worked = now;
      this.sound.play(this.work[0], { gain: 0.7 });
    }
    if (now > this.wave) {
      this.wave = now + WAVE_MS * (0.7 + Math.random() * 0.8);
      this.water();
    }
  }

  step() {
    const own = this.walkers.shown.get(this.me.id);
    if (!own) return;
    const stride = own.speed > RUNS ? LONG_STRIDE : STRIDE;
    if (own.walked < this.stepped) this.stepped = own.walked;
    if (own.walked - this.stepped < stride) return;
    this.stepped = own.walked;
    const name = this.ground(Math.round(own.x), Math.round(own.z));
    this.sound.play(STEPS[name] ?? "grass", { gain: STEP_GAIN });
  }

  ground(x, z) {
    return this.land.ground?.[this.land.kind(x, z)]?.name;
  }

  /** Who comes through a door opens it. */
  door() {
    const { land, me } = this;
    if (this.houses !== land.houses) {
      this.houses = land.houses;
      this.doors = new Set(
        land.houses.flatMap((house) => (house.doors ?? []).map(([x, z]) => `${x},${z}`)),
      );
    }
    const at = `${me.position.x},${me.position.z}`;
    if (at !== this.at && this.doors.has(at)) this.sound.play("door", { gain: 0.6 });
    this.at = at;
  }

  /** Water that is near laps at its shore. */
  water() {
    const { x, z } = this.me.position;
    for (let far = 1; far <= SHORE; far += 1)
      for (const [dx, dz] of AWAY) {
        const at = { x: Math.round(x + dx * far), z: Math.round(z + dz * far) };
        if (WET.has(this.ground(at.x, at.z))) return this.from(at, "lap", 0.6);
      }
    return undefined;
  }
}
