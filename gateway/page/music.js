// Which piece the lute plays where, as `music.json` says, and that it goes on playing.
// Always: a piece comes to its end or fades; between two there is silence for a while.

import { hash } from "./ground.js";
import { areas, lore } from "./lore.js";
import { compose } from "./tunes.js";

const LOOKS_MS = 400;
/** Seconds ahead for which strings are told when to sound. */
const AHEAD_S = 1.4;
const FADES_S = 1.1;
/** Silence after a piece that was left, and after one that came to its end. */
const LEFT_MS = 3500;
const OVER_MS = 40000;
const SETTLES_MS = 5000;
const LEVEL = 0.5;

export class Music {
  /** `game`: sound, land, me. */
  constructor({ sound, land, me }) {
    Object.assign(this, { sound, land, me });
    this.track = undefined;
    this.looked = 0;
    this.silent = 0;
    /** When the piece last was the one of this place. */
    this.fitted = 0;
    this.pieces = 0;
    this.onplay = () => {};
  }

  /** Called for every picture. */
  frame(now) {
    if (now - this.looked < LOOKS_MS) return;
    this.looked = now;
    const { sound } = this;
    if (!sound.on || !sound.levels.music) return this.leave(now);
    if (!this.tracks) return this.learn();
    const wanted = this.wanted();
    if (wanted === this.track) this.fitted = now;
    // Who walks along a border does not change the tune at each step.
    if (this.track && now - this.fitted > SETTLES_MS) this.leave(now);
    if (!this.track && wanted && now > this.silent) this.begin(wanted);
    if (this.track) this.goOn(now);
    return undefined;
  }

  /** Reads which pieces there are, once. */
  async learn() {
    if (this.learning) return;
    this.learning = true;
    const list = await lore("music");
    const all = Array.isArray(list) ? list : (list.music ?? list.tracks ?? []);
    this.kinds = new Map((await areas()).map((area) => [area.id, kindOf(area)]));
    this.tracks = all;
  }

  /** The kind of place where one is: `town`, or what grows there; at the door, a town. */
  get place() {
    const { me, land } = this;
    if (!me.position || !land.meta) return "town";
    const area = land.area(me.position.x, me.position.z);
    return this.kinds.get(area?.id) ?? (area?.safeZone ? "town" : "plains");
  }

  /** The piece of this place; where the content names no places, one for towns and one for the rest. */
  wanted() {
    const { place, tracks } = this;
    const here = tracks.filter((track) => track.places?.includes(place));
    if (here.length) return here[Math.floor(hash(this.pieces, 3) * here.length)];
    const town = (track) => track.type === "theme" || track.category === "intro";
    return tracks.find((track) => town(track) === (place === "town")) ?? tracks[0];
  }

  begin(track) {
    const { sound } = this;
    this.track = track;
    this.piece = compose(track);
    this.next = 0;
    this.since = sound.now + 0.3;
    this.gain = sound.context.createGain();
    this.gain.gain.value = LEVEL;
    this.gain.connect(sound.music);
    this.onplay(track);
  }

  /** Tells the strings of the next moment. */
  goOn(now) {
    const { piece, sound } = this;
    const end = sound.now + AHEAD_S;
    for (; this.next < piece.notes.length; this.next += 1) {
      const { at, midi, force } = piece.notes[this.next];
      if (this.since + at > end) return;
      // A page that was held up leaves out what is over.
      if (this.since + at > sound.now) sound.string(midi, this.since + at, force, this.gain);
    }
    if (sound.now < this.since + piece.seconds) return;
    this.pieces += 1;
    this.leave(now, OVER_MS);
  }

  leave(now, rest = LEFT_MS) {
    if (!this.track) return;
    const { gain, sound } = this;
    gain.gain.setTargetAtTime(0, sound.now, FADES_S / 3);
    setTimeout(() => gain.disconnect(), FADES_S * 2500);
    this.track = undefined;
    this.silent = now + rest;
    this.onplay(undefined);
  }
}

/** The kind of an area: `town`, or its biome. */
const kindOf = ({ group, biomeType }) => (group === "starterTowns" ? "town" : biomeType);
