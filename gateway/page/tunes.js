// Pieces for the lute, composed by rule: the same piece each time for the same track.
// Always: a melody moves by steps, rests on notes of its chord, and ends at home. Pure.

import { hash } from "./ground.js";
import { text } from "./pen.js";

const MAJOR = [0, 2, 4, 5, 7, 9, 11];
const MIXOLYDIAN = [0, 2, 4, 5, 7, 9, 10];
const DORIAN = [0, 2, 3, 5, 7, 9, 10];
const AEOLIAN = [0, 2, 3, 5, 7, 8, 10];
const PHRYGIAN = [0, 1, 3, 5, 7, 8, 10];

/** By mood: the scale, its lowest note, seconds of a beat, beats of a bar, how much goes on beneath. */
const MOODS = {
  warm: [MAJOR, 43, 0.62, 4, 0.75],
  calm: [MIXOLYDIAN, 45, 0.66, 3, 0.6],
  hushed: [DORIAN, 45, 0.74, 4, 0.45],
  rolling: [MAJOR, 48, 0.52, 3, 0.85],
  windy: [DORIAN, 43, 0.68, 4, 0.4],
  damp: [PHRYGIAN, 40, 0.8, 3, 0.35],
  cold: [AEOLIAN, 45, 0.86, 4, 0.25],
  grim: [PHRYGIAN, 38, 0.78, 4, 0.4],
};

/** Chords of a phrase of four bars, by the step of the scale on which each stands. */
const OPEN = [
  [0, 3, 0, 4],
  [0, 5, 3, 4],
  [0, 4, 5, 4],
];
const SHUT = [
  [0, 3, 4, 0],
  [5, 3, 4, 0],
  [3, 0, 4, 0],
];
const AWAY = [
  [5, 3, 0, 4],
  [3, 0, 3, 4],
  [5, 4, 3, 4],
];
/** Lengths of the notes of a bar, in beats. */
const RHYTHMS = {
  3: [[2, 1], [1, 1, 1], [1.5, 0.5, 1], [3]],
  4: [
    [2, 1, 1],
    [1, 1, 2],
    [1.5, 0.5, 2],
    [1, 0.5, 0.5, 2],
    [3, 1],
    [2, 2],
  ],
};
/** Steps of the scale above the lowest note between which the melody stays. */
const [LOW, HIGH] = [12, 19];
const [BASS_FORCE, INNER_FORCE, MELODY_FORCE] = [0.5, 0.26, 0.8];

/**
 * The notes of a track in their order, `{ at, midi, force }`: seconds from its beginning, pitch, and
 * strength from 0 to 1. And how long it takes, in seconds.
 */
export function compose({ id, mood, duration }) {
  const [scale, root, beat, beats, busy] = MOODS[mood] ?? MOODS.calm;
  const piece = {
    scale,
    root,
    beat,
    beats,
    busy,
    notes: [],
    salt: text(id),
    dice: 0,
    step: 14,
    way: 1,
  };
  const bar = beat * beats;
  const rounds = Math.max(1, Math.round((duration ?? 120) / (bar * 18)));
  const motif = [0, 1, 2, 3].map(() => one(piece, RHYTHMS[beats]));
  let at = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const chords of [OPEN, SHUT, AWAY, SHUT]) {
      phrase(
        piece,
        at,
        one(piece, chords),
        chords === AWAY ? [...motif].reverse() : motif,
        chords === SHUT,
      );
      at += bar * 4;
    }
    at += bar * 2;
  }
  piece.notes.sort((a, b) => a.at - b.at);
  return { notes: piece.notes, seconds: at };
}

/** The next throw of the piece's own dice, from 0 to 1. */
function roll(piece) {
  piece.dice += 1;
  return hash(piece.dice, piece.salt, 17);
}

const one = (piece, list) => list[Math.floor(roll(piece) * list.length)];

function put(piece, at, step, force) {
  const { scale, root } = piece;
  const midi = root + 12 * Math.floor(step / 7) + scale[((step % 7) + 7) % 7];
  // Nobody plays like a clock.
  piece.notes.push({
    at: at + roll(piece) * 0.018,
    midi,
    force: force * (0.88 + roll(piece) * 0.12),
  });
}

/** Four bars. */
function phrase(piece, from, chords, motif, ends) {
  const { beat, beats } = piece;
  chords.forEach((chord, n) => {
    const at = from + n * beats * beat;
    const last = ends && n === 3;
    beneath(piece, at, chord, last);
    if (last) return home(piece, at);
    return melody(piece, at, chord, motif[n]);
  });
}

/** The bass, and what is broken of its chord. */
function beneath(piece, at, chord, last) {
  const { beat, beats, busy } = piece;
  put(piece, at, chord, BASS_FORCE);
  if (last) return;
  if (beats === 4 && roll(piece) < busy) put(piece, at + 2 * beat, chord + 4, BASS_FORCE * 0.7);
  for (let n = 1; n < beats * 2; n += 1) {
    const off = n % 2 === 1;
    if (roll(piece) > busy * (off ? 0.35 : 0.7)) continue;
    put(piece, at + (n * beat) / 2, chord + 7 + [0, 2, 4, 2][n % 4], INNER_FORCE);
  }
}

/** One bar: notes of the chord on its strong beats, steps between them. */
function melody(piece, at, chord, rhythm) {
  let when = 0;
  for (const length of rhythm) {
    const strong = when % 2 === 0;
    turn(piece, when === 0);
    if (strong) piece.step = near(piece.step, chord, piece.way);
    if (strong || roll(piece) < 0.86)
      put(piece, at + when * piece.beat, piece.step, MELODY_FORCE * (when ? 0.85 : 1));
    when += length;
  }
}

/** Goes on up or down by a step, or leaps by a third where a bar begins; turns at the edges. */
function turn(piece, begins) {
  if (roll(piece) < 0.28) piece.way = -piece.way;
  if (piece.step >= HIGH - 1) piece.way = -1;
  if (piece.step <= LOW + 1) piece.way = 1;
  piece.step += piece.way * (begins && roll(piece) < 0.45 ? 2 : 1);
}

/** The end of a phrase: the chord of the scale's first note, one string after the other. */
function home(piece, at) {
  [piece.step, piece.way] = [14, 1];
  for (const [n, step] of [7, 11, 14].entries())
    put(piece, at + n * 0.06, step, n === 2 ? MELODY_FORCE : INNER_FORCE * 1.4);
}

/** The note of a chord that is nearest to a step; of two, the one that lies that `way`. */
function near(step, chord, way) {
  const fits = (at) => [0, 2, 4].includes((((at - chord) % 7) + 7) % 7);
  return [step, step + way, step - way].find(fits);
}
