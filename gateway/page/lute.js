// A plucked string: a burst of noise that runs around a loop and loses its brightness there.
// Always: numbers in, numbers out; nothing here plays anything.

import { hash } from "./ground.js";

const RINGS_S = 2.4;
const LEVEL = 0.5;

export const frequency = (midi) => 440 * 2 ** ((midi - 69) / 12);

/** The sound of one course of a lute, two strings that are tuned almost alike. */
export function pluck(rate, midi, seconds = RINGS_S) {
  const sound = new Float32Array(Math.floor(rate * seconds));
  string(sound, rate, frequency(midi) * 0.9993, 1);
  string(sound, rate, frequency(midi) * 1.0009, 2);
  body(sound, rate);
  return fade(level(sound), rate);
}

/** Adds one string. */
function string(sound, rate, pitch, salt) {
  // High strings would lose their brightness at once if each turn took as much of it.
  const dull = 0.5 * Math.min(1, Math.sqrt(120 / pitch));
  const turn = rate / pitch - dull;
  const length = Math.floor(turn);
  const part = turn - length;
  const loop = new Float32Array(length + 1);
  for (let n = 0; n <= length; n += 1) loop[n] = hash(n, salt, 71) * 2 - 1;
  soften(loop);
  // A finger plucks near the rose: the harmonics with a node there are missing.
  const rose = Math.max(1, Math.round(length * 0.17));
  const plucked = loop.map((value, n) => value - loop[(n + rose) % loop.length]);
  const keeps = 10 ** (-3 / (pitch * Math.max(1.3, 3.4 - pitch / 380)));
  let [at, before] = [0, 0];
  for (let n = 0; n < sound.length; n += 1) {
    const next = (at + 1) % plucked.length;
    const now = plucked[next] * (1 - part) + plucked[at] * part;
    sound[n] += now;
    plucked[at] = (now * (1 - dull) + before * dull) * keeps;
    before = now;
    at = next;
  }
}

/** A fingertip, not a plectrum: without the sharpest part of the noise. */
function soften(loop) {
  for (let round = 0; round < 2; round += 1)
    for (let n = 1; n < loop.length; n += 1) loop[n] = loop[n] * 0.55 + loop[n - 1] * 0.45;
}

/** The belly of the lute answers around two pitches. */
function body(sound, rate) {
  for (const [pitch, share] of [
    [190, 0.22],
    [410, 0.14],
  ]) {
    const w = (2 * Math.PI * pitch) / rate;
    const r = 0.985;
    let [a, b] = [0, 0];
    for (let n = 0; n < sound.length; n += 1) {
      const now = sound[n] * (1 - r) + 2 * r * Math.cos(w) * a - r * r * b;
      [b, a] = [a, now];
      sound[n] += now * share;
    }
  }
}

/** Brings the loudest point to one height. */
export function level(sound, most = LEVEL) {
  let peak = 0;
  for (const value of sound) peak = Math.max(peak, Math.abs(value));
  if (peak) for (let n = 0; n < sound.length; n += 1) sound[n] *= most / peak;
  return sound;
}

/** Neither beginning nor end clicks. */
function fade(sound, rate) {
  const [rise, fall] = [Math.floor(rate * 0.002), Math.floor(rate * 0.3)];
  for (let n = 0; n < rise && n < sound.length; n += 1) sound[n] *= n / rise;
  for (let n = 0; n < fall && n < sound.length; n += 1) sound[sound.length - 1 - n] *= n / fall;
  return sound;
}
