// The way from sounds to ears: volumes, the number of sounds at once, and when there may be any.
// Always: nothing sounds before a person has touched the page, nor while it is hidden or muted;
// where a browser knows no sound, all of this does nothing.

import { EFFECTS } from "./effects.js";
import { pluck } from "./lute.js";
import { kept } from "./net.js";

const RATE = 24000;
/** Sounds at once: of things, and of strings. */
const EFFECTS_MOST = 10;
const STRINGS_MOST = 22;
/** The same sound is not heard twice within so many milliseconds. */
const APART_MS = 70;
/** Semitones between two strings that are made; those between are played a little faster. */
const EVERY = 3;
const ECHO_S = 0.19;
const KEY = "sound";
const LEVELS = { effects: 0.6, music: 0.5, muted: false };

export class Sound {
  constructor() {
    this.levels = levels();
    this.context = undefined;
    this.buffers = new Map();
    this.sounding = { effects: 0, music: 0 };
    /** How often each sound was played, and when last. */
    this.played = {};
    this.last = {};
    this.notes = 0;
    for (const touch of ["pointerdown", "pointerup", "keydown"])
      addEventListener(touch, () => this.wake(), { capture: true, passive: true });
    document.addEventListener("visibilitychange", () => this.rest());
  }

  get quiet() {
    return this.levels.muted || document.hidden;
  }

  /** Whether something that is played now is heard. */
  get on() {
    return this.context?.state === "running" && !this.quiet;
  }

  get now() {
    return this.context.currentTime;
  }

  /** A person has touched the page: sound may begin. */
  wake() {
    if (this.quiet) return;
    const Context = globalThis.AudioContext ?? globalThis.webkitAudioContext;
    if (!this.context && Context) this.begin(Context);
    if (this.context && this.context.state !== "running") this.context.resume().catch(() => {});
  }

  begin(Context) {
    try {
      this.context = new Context();
    } catch {
      // A machine without a loudspeaker.
      return;
    }
    const { context } = this;
    this.effects = context.createGain();
    this.music = context.createGain();
    this.effects.connect(context.destination);
    this.music.connect(context.destination);
    this.echo();
    this.tune();
  }

  /** A room around the lute. */
  echo() {
    const { context, music } = this;
    const [delay, back, low] = [
      context.createDelay(1),
      context.createGain(),
      context.createBiquadFilter(),
    ];
    delay.delayTime.value = ECHO_S;
    back.gain.value = 0.3;
    low.type = "lowpass";
    low.frequency.value = 1500;
    music.connect(delay).connect(low).connect(back).connect(delay);
    back.connect(context.destination);
  }

  /** Brings the volumes to what is wanted. */
  tune() {
    if (!this.context) return;
    for (const name of ["effects", "music"])
      this[name].gain.setTargetAtTime(this.levels[name] ** 2, this.now, 0.05);
  }

  rest() {
    if (!this.context) return;
    const done = this.quiet ? this.context.suspend() : this.context.resume();
    done.catch(() => {});
  }

  /** `change`: effects or music from 0 to 1, or muted. */
  set(change) {
    Object.assign(this.levels, change);
    kept.set(KEY, JSON.stringify(this.levels));
    this.tune();
    this.rest();
    if (!this.quiet) this.wake();
  }

  /** Plays the sound of a thing: how loud, and how far at the left (-1) or right. */
  play(name, { gain = 1, pan = 0 } = {}) {
    if (!this.on || !this.levels.effects || gain < 0.02) return;
    const at = performance.now();
    if (this.sounding.effects >= EFFECTS_MOST || at - (this.last[name] ?? -APART_MS) < APART_MS)
      return;
    this.last[name] = at;
    this.played[name] = (this.played[name] ?? 0) + 1;
    const buffer = this.buffer(name, () => EFFECTS[name](RATE));
    // Twice the same sound, exactly, is that of a machine.
    const speed = 0.94 + Math.random() * 0.12;
    this.start("effects", buffer, { gain, pan, speed, to: this.effects });
  }

  /** Plucks a string at a time of the context's clock. */
  string(midi, at, force, to) {
    if (this.sounding.music >= STRINGS_MOST) return;
    const made = Math.round(midi / EVERY) * EVERY;
    const buffer = this.buffer(`string ${made}`, () => pluck(RATE, made));
    this.notes += 1;
    this.start("music", buffer, { gain: force, speed: 2 ** ((midi - made) / 12), at, to });
  }

  buffer(name, make) {
    if (!this.buffers.has(name)) {
      const sound = make();
      const buffer = this.context.createBuffer(1, sound.length, RATE);
      buffer.copyToChannel(sound, 0);
      this.buffers.set(name, buffer);
    }
    return this.buffers.get(name);
  }

  start(kind, buffer, { gain, pan = 0, speed = 1, at = 0, to }) {
    const { context, sounding } = this;
    const source = context.createBufferSource();
    const volume = context.createGain();
    source.buffer = buffer;
    source.playbackRate.value = speed;
    volume.gain.value = gain;
    source.connect(volume);
    const side = pan && context.createStereoPanner?.();
    if (side) {
      side.pan.value = Math.max(-1, Math.min(1, pan));
      volume.connect(side).connect(to);
    } else volume.connect(to);
    sounding[kind] += 1;
    source.onended = () => {
      sounding[kind] -= 1;
      volume.disconnect();
      side?.disconnect?.();
    };
    source.start(at);
  }
}

/** The volumes as they were left; those of a newcomer where nothing is kept. */
function levels() {
  try {
    return { ...LEVELS, ...JSON.parse(kept.get(KEY) ?? "{}") };
  } catch {
    return { ...LEVELS };
  }
}
