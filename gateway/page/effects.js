// The sounds of things, each made by rule from noise, knocks and tones.
// Always: numbers in, numbers out; nothing here plays anything.

import { hash } from "./ground.js";
import { level, pluck } from "./lute.js";

const TAU = Math.PI * 2;

/** A silent sound of so many seconds. */
const silence = (rate, seconds) => new Float32Array(Math.floor(rate * seconds));

/** Adds noise that dies away, without what is above `bright` (Hz); `rises` seconds until it is loud. */
function rustle(
  sound,
  rate,
  { at = 0, force = 1, fades = 0.05, bright = 2000, rises = 0.002, salt = 1 },
) {
  const share = 1 - Math.exp((-TAU * bright) / rate);
  let low = 0;
  const from = Math.floor(at * rate);
  for (let n = from; n < sound.length; n += 1) {
    const t = (n - from) / rate;
    low += (hash(n, salt, 5) * 2 - 1 - low) * share;
    sound[n] += low * force * Math.min(1, t / rises) * Math.exp(-t / fades);
  }
  return sound;
}

/** Adds a tone that dies away; `to` is the pitch to which it slides. */
function tone(sound, rate, { at = 0, pitch, to = pitch, force = 1, fades = 0.1, rises = 0.001 }) {
  const from = Math.floor(at * rate);
  let turn = 0;
  for (let n = from; n < sound.length; n += 1) {
    const t = (n - from) / rate;
    turn += (to + (pitch - to) * Math.exp(-t / fades)) / rate;
    sound[n] += Math.sin(TAU * turn) * force * Math.min(1, t / rises) * Math.exp(-t / fades);
  }
  return sound;
}

/** Adds several tones at once: what a thing of wood or metal rings with. */
function knock(sound, rate, pitches, { at = 0, force = 1, fades = 0.05 } = {}) {
  pitches.forEach((pitch, n) => {
    const of = 1 / (n + 1);
    tone(sound, rate, { at, pitch, force: force * of, fades: fades * (0.4 + 0.6 * of) });
  });
  return sound;
}

/** Adds strings that are plucked one after the other: `[seconds, midi]`. */
function strings(sound, rate, notes) {
  for (const [at, midi] of notes) {
    const from = Math.floor(at * rate);
    const note = pluck(rate, midi, Math.min(1.8, sound.length / rate - at));
    for (let n = 0; n < note.length; n += 1) sound[from + n] += note[n];
  }
  return sound;
}

const step =
  (seconds, fades, bright, more = () => {}) =>
  (rate) => {
    const sound = rustle(silence(rate, seconds), rate, {
      fades,
      bright,
      rises: 0.006,
      salt: bright,
    });
    more(sound, rate);
    return level(sound, 0.3);
  };

function creak(rate) {
  const sound = silence(rate, 0.55);
  // A hinge sticks and slips.
  for (let at = 0.02, n = 0; at < 0.42; n += 1) {
    knock(sound, rate, [310, 560, 1240], {
      at,
      force: 0.3 + 0.5 * Math.sin((at / 0.44) * Math.PI),
      fades: 0.012,
    });
    at += 0.011 + 0.006 * Math.sin(at * 9) + hash(n, 3) * 0.003;
  }
  knock(sound, rate, [130, 240], { at: 0.44, force: 1.2, fades: 0.04 });
  return level(sound, 0.32);
}

function shimmer(rate) {
  const sound = silence(rate, 0.9);
  for (let n = 0; n < 7; n += 1)
    tone(sound, rate, {
      at: n * 0.045,
      pitch: 700 + n * 150,
      to: 900 + n * 210,
      force: 0.3,
      fades: 0.22,
      rises: 0.03,
    });
  rustle(sound, rate, { fades: 0.3, bright: 5200, force: 0.25, rises: 0.08, salt: 9 });
  return level(sound, 0.36);
}

function jingle(rate) {
  const sound = silence(rate, 0.42);
  for (let n = 0; n < 5; n += 1) {
    const pitch = 3100 + hash(n, 4) * 1700;
    knock(sound, rate, [pitch, pitch * 1.51, pitch * 2.3], {
      at: n * 0.045 + hash(n, 6) * 0.03,
      force: 0.6,
      fades: 0.07,
    });
  }
  return level(sound, 0.24);
}

function splash(rate) {
  const sound = rustle(silence(rate, 0.7), rate, {
    fades: 0.13,
    bright: 1700,
    rises: 0.02,
    salt: 4,
  });
  for (let n = 0; n < 4; n += 1)
    tone(sound, rate, {
      at: 0.1 + n * 0.085,
      pitch: 420 + n * 90,
      to: 980 + n * 120,
      force: 0.35,
      fades: 0.05,
      rises: 0.01,
    });
  return level(sound, 0.32);
}

/** A small wave comes and goes. */
function lap(rate) {
  const sound = silence(rate, 2.2);
  const noise = rustle(silence(rate, 2.2), rate, { fades: 90, bright: 620, salt: 12 });
  for (let n = 0; n < sound.length; n += 1)
    sound[n] = noise[n] * Math.sin((n / sound.length) * Math.PI) ** 3;
  return level(sound, 0.2);
}

function whistle(rate) {
  const sound = silence(rate, 0.36);
  knock(sound, rate, [190, 420], { force: 0.6, fades: 0.03 });
  rustle(sound, rate, { at: 0.02, fades: 0.09, bright: 3800, rises: 0.05, force: 0.8, salt: 8 });
  knock(sound, rate, [160, 300, 720], { at: 0.23, force: 0.9, fades: 0.035 });
  return level(sound, 0.34);
}

function sizzle(rate) {
  const sound = rustle(silence(rate, 0.9), rate, {
    fades: 0.35,
    bright: 7000,
    rises: 0.15,
    force: 0.5,
    salt: 7,
  });
  for (let n = 0; n < 9; n += 1)
    rustle(sound, rate, {
      at: hash(n, 8) * 0.7,
      fades: 0.006,
      bright: 6000,
      force: 0.9,
      salt: 20 + n,
    });
  return level(sound, 0.16);
}

/** Each sound by its name: a function of the rate at which it is to be played. */
export const EFFECTS = {
  grass: step(0.14, 0.035, 900),
  sand: step(0.17, 0.05, 1500),
  snow: step(0.18, 0.05, 2600, (sound, rate) =>
    rustle(sound, rate, { at: 0.05, fades: 0.03, bright: 3400, salt: 6 }),
  ),
  stone: step(0.1, 0.016, 2400, (sound, rate) =>
    knock(sound, rate, [150, 1250], { force: 0.5, fades: 0.02 }),
  ),
  wood: step(0.14, 0.015, 1300, (sound, rate) =>
    knock(sound, rate, [125, 260, 540], { force: 0.7, fades: 0.035 }),
  ),
  wet: step(0.24, 0.06, 1900, (sound, rate) =>
    tone(sound, rate, { at: 0.05, pitch: 380, to: 760, force: 0.3, fades: 0.05 }),
  ),
  chop: (rate) =>
    level(
      rustle(knock(silence(rate, 0.28), rate, [205, 430, 890], { fades: 0.06 }), rate, {
        fades: 0.02,
        bright: 3000,
      }),
      0.42,
    ),
  mine: (rate) =>
    level(
      rustle(knock(silence(rate, 0.5), rate, [1870, 2710, 4130], { fades: 0.13 }), rate, {
        fades: 0.02,
        bright: 4200,
      }),
      0.3,
    ),
  fish: splash,
  smith: (rate) =>
    level(knock(silence(rate, 0.9), rate, [1130, 1790, 2960, 4470], { fades: 0.3 }), 0.26),
  cook: sizzle,
  pick: step(0.2, 0.05, 3200),
  blow: (rate) =>
    level(
      rustle(tone(silence(rate, 0.26), rate, { pitch: 150, to: 70, fades: 0.07 }), rate, {
        fades: 0.03,
        bright: 1600,
        force: 1.4,
      }),
      0.44,
    ),
  miss: (rate) =>
    level(
      knock(rustle(silence(rate, 0.22), rate, { fades: 0.05, bright: 2600 }), rate, [620, 980], {
        force: 0.4,
      }),
      0.26,
    ),
  arrow: whistle,
  spell: shimmer,
  coins: jingle,
  door: creak,
  lap,
  level: (rate) =>
    level(
      strings(silence(rate, 2.6), rate, [
        [0, 60],
        [0.13, 64],
        [0.26, 67],
        [0.42, 72],
        [0.7, 60],
        [0.73, 67],
        [0.76, 76],
      ]),
      0.46,
    ),
  quest: (rate) =>
    level(
      strings(silence(rate, 3), rate, [
        [0, 55],
        [0.16, 62],
        [0.32, 67],
        [0.6, 65],
        [0.8, 69],
        [1.06, 55],
        [1.09, 62],
        [1.12, 71],
        [1.15, 79],
      ]),
      0.46,
    ),
  death: (rate) =>
    level(
      strings(silence(rate, 2.8), rate, [
        [0, 57],
        [0.35, 53],
        [0.7, 50],
        [1.1, 45],
        [1.14, 52],
      ]),
      0.4,
    ),
};
