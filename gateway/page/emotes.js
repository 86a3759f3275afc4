// Gestures: those that a player may make, the sign over somebody who makes one, and the dance.
// Always: it shows what the server said last; the list has the order of the protocol.

import { $, capital, el } from "./dom.js";
import { picture } from "./icons.js";
import { box, oval, shape } from "./pen.js";
import { resting } from "./settings.js";

const INK = "#3a2a1a";
const SKIN = "#dca97e";
const GOLD = "#d8962c";
const BLUE = "#3f7fae";
/** A dancer hears of each round; without a word for so long, the dance is over. */
const ROUND_MS = 8 * 600;
const ZOOM_LEAST = 14;

/** A stroke from point to point: x, y, x, y … */
function line(c, color, width, ...points) {
  c.strokeStyle = color;
  c.lineWidth = width;
  c.lineCap = c.lineJoin = "round";
  c.beginPath();
  for (let n = 0; n < points.length; n += 2) c.lineTo(points[n], points[n + 1]);
  c.stroke();
}

function arc(c, x, y, r, from, to, color = INK, width = 0.045) {
  c.strokeStyle = color;
  c.lineWidth = width;
  c.lineCap = "round";
  c.beginPath();
  c.arc(x, y, r, from, to);
  c.stroke();
}

function face(c) {
  oval(c, 0, -0.38, 0.34, 0.34, "#f2c25a");
  arc(c, 0, -0.38, 0.34, 0, 7, INK, 0.035);
}

function eyes(c) {
  oval(c, -0.12, -0.45, 0.045, 0.06, INK);
  oval(c, 0.12, -0.45, 0.045, 0.06, INK);
}

/** Somebody of a few strokes: two arms, then two legs, each from the body outwards. */
function figure(c, head, hip, ...limbs) {
  const [x, y] = [head[0] * 0.8, head[1] + 0.14];
  for (const leg of limbs.slice(2)) line(c, INK, 0.075, ...hip, ...leg);
  line(c, BLUE, 0.15, x, y, ...hip);
  for (const arm of limbs.slice(0, 2)) line(c, INK, 0.065, x, y, ...arm);
  oval(c, ...head, 0.13, 0.13, SKIN);
}

function hand(c) {
  line(c, SKIN, 0.11, -0.14, -0.35, -0.2, -0.62);
  line(c, SKIN, 0.11, -0.05, -0.35, -0.07, -0.72);
  line(c, SKIN, 0.11, 0.04, -0.35, 0.06, -0.72);
  line(c, SKIN, 0.11, 0.13, -0.35, 0.18, -0.64);
  line(c, SKIN, 0.11, 0.08, -0.24, 0.3, -0.38);
  oval(c, 0, -0.26, 0.2, 0.2, SKIN);
}

function wave(c) {
  hand(c);
  arc(c, -0.12, -0.5, 0.32, 2.7, 3.6, BLUE);
  arc(c, 0.12, -0.5, 0.32, -0.4, 0.45, BLUE);
}

function bow(c) {
  const arm = [0.18, -0.22];
  figure(c, [0.3, -0.42], [-0.14, -0.36], arm, arm, [-0.16, -0.02], [-0.06, -0.02]);
}

function cheer(c) {
  const arms = (side) => [side * 0.22, -0.56, side * 0.26, -0.78];
  figure(c, [0, -0.62], [0, -0.26], arms(-1), arms(1), [-0.13, 0], [0.13, 0]);
}

function clap(c) {
  for (const side of [-1, 1]) {
    c.save();
    c.translate(side * 0.15, -0.08);
    c.scale(side * 0.62, 0.78);
    c.rotate(0.28);
    hand(c);
    c.restore();
  }
  for (const x of [-0.2, 0, 0.2]) line(c, GOLD, 0.05, x * 1.2, -0.66, x * 1.7, -0.8);
}

function dance(c) {
  for (const x of [-0.18, 0.24]) oval(c, x, -0.12, 0.13, 0.095, INK);
  line(c, INK, 0.06, -0.07, -0.12, -0.07, -0.66, 0.35, -0.74, 0.35, -0.14);
  line(c, INK, 0.09, -0.07, -0.58, 0.35, -0.66);
}

function laugh(c) {
  face(c);
  for (const x of [-0.1, 0.1]) line(c, INK, 0.05, x * 1.9, -0.5, x, -0.45, x * 1.9, -0.4);
  c.fillStyle = "#8c2f2a";
  c.beginPath();
  c.arc(0, -0.33, 0.18, 0, Math.PI);
  c.fill();
}

function cry(c) {
  face(c);
  eyes(c);
  arc(c, 0, -0.14, 0.12, Math.PI * 1.15, Math.PI * 1.85);
  for (const side of [-1, 1]) {
    shape(c, BLUE, [side * 0.14, -0.42], [side * 0.2, -0.22], [side * 0.08, -0.22]);
    oval(c, side * 0.14, -0.2, 0.065, 0.065, BLUE);
  }
}

function think(c) {
  oval(c, -0.14, -0.52, 0.19, 0.17, BLUE);
  oval(c, 0.13, -0.55, 0.2, 0.18, BLUE);
  oval(c, 0, -0.42, 0.2, 0.18, BLUE);
  oval(c, -0.16, -0.18, 0.08, 0.07, BLUE);
  oval(c, -0.27, -0.05, 0.05, 0.045, BLUE);
  for (const x of [-0.15, 0, 0.15]) oval(c, x, -0.5, 0.045, 0.045, "#fff");
}

function shrug(c) {
  const arms = (side) => [side * 0.18, -0.3, side * 0.36, -0.44];
  figure(c, [0.04, -0.64], [0, -0.26], arms(-1), arms(1), [-0.1, 0], [0.1, 0]);
}

function point(c) {
  line(c, SKIN, 0.12, -0.05, -0.46, 0.38, -0.46);
  for (const y of [-0.35, -0.24, -0.14]) line(c, SKIN, 0.11, -0.1, y, 0.1, y);
  oval(c, -0.14, -0.32, 0.18, 0.2, SKIN);
  box(c, -0.42, -0.47, 0.16, 0.32, BLUE);
}

function salute(c) {
  face(c);
  eyes(c);
  arc(c, 0, -0.32, 0.13, 0.3, Math.PI - 0.3);
  line(c, BLUE, 0.12, 0.42, -0.06, 0.4, -0.42);
  line(c, SKIN, 0.12, 0.4, -0.42, 0.14, -0.62);
}

function jump(c) {
  const leg = (side) => [side * 0.16, -0.24, side * 0.04, -0.14];
  figure(c, [0, -0.66], [0, -0.36], [-0.24, -0.6], [0.24, -0.6], leg(-1), leg(1));
  line(c, GOLD, 0.05, -0.2, 0, 0.2, 0);
}

function unknown(c) {
  for (const x of [-0.2, 0, 0.2]) oval(c, x, -0.38, 0.07, 0.07, INK);
}

const SIGNS = {
  wave,
  bow,
  cheer,
  clap,
  dance,
  laugh,
  cry,
  think,
  shrug,
  point,
  salute,
  jump,
};

/** All of them, by the names that the server knows. */
export const EMOTES = Object.keys(SIGNS);

const sign = (emote) => (Object.hasOwn(SIGNS, emote) ? SIGNS[emote] : unknown);

/** The sign on a button. */
function small(c, emote) {
  c.scale(0.8, 0.8);
  sign(emote)(c);
}

/** The signs over all who make a gesture just now. */
export function gestures(map, view) {
  const { c, zoom } = map;
  if (zoom < ZOOM_LEAST) return;
  for (const { entity, at } of map.seen) {
    if (!entity?.emote || map.roofed(at)) continue;
    const pos = map.toScreen(at.x, at.z);
    const r = Math.max(15, zoom * 0.42);
    const hop = resting() ? 0 : Math.abs(Math.sin(view.now / 260)) * r * 0.16;
    const y = pos.y - zoom * 0.95 - 18 - r - hop;
    c.fillStyle = "rgba(250,243,226,.95)";
    c.strokeStyle = "rgba(58,42,26,.55)";
    c.lineWidth = 1.5;
    c.beginPath();
    c.arc(pos.x, y, r, Math.PI * 0.6, Math.PI * 2.4);
    c.lineTo(pos.x, y + r * 1.35);
    c.closePath();
    c.fill();
    c.stroke();
    c.save();
    c.translate(pos.x, y + r * 0.68);
    c.scale(r * 1.75, r * 1.75);
    sign(entity.emote)(c);
    c.restore();
  }
}

export class Emotes {
  /** `game`: act, tell, scene, me. */
  constructor(game) {
    Object.assign(this, game);
    this.clear();
    this.buttons = EMOTES.map((emote) => this.button(emote));
    $("emote-list").replaceChildren(...this.buttons);
  }

  get hears() {
    return { "dance:round": (data) => this.update(data) };
  }

  clear() {
    this.round = undefined;
    this.until = 0;
    this.last = undefined;
    this.done = false;
  }

  button(emote) {
    const perform = () => this.perform(emote);
    return el(
      "button",
      { onclick: perform, data: { emote }, title: `/${emote}` },
      picture((c) => small(c, emote), 64),
      el("span", {}, capital(emote)),
    );
  }

  perform(emote) {
    return this.act("player:emote", { emote });
  }

  /** A round is over; the next one has begun. */
  update(round) {
    this.round = round;
    this.until = performance.now() + ROUND_MS * 1.5;
    if (round.inStep && round.streak % 5 === 0) this.tell(`${round.streak} rounds in step!`);
  }

  /** What the leader does now, while one dances. */
  get led() {
    if (!this.round || performance.now() > this.until) return undefined;
    return this.scene.entities.get(this.round.leader)?.emote;
  }

  /** The dance in words, if there is one; called a few times a second. */
  words() {
    const led = this.led;
    for (const button of this.buttons)
      button.classList.toggle("led", led !== undefined && button.dataset.emote === led);
    if (led === undefined) return undefined;
    // No emote follows itself: another one is another round.
    if (led !== this.last) this.done = false;
    this.last = led;
    this.done ||= this.scene.entities.get(this.me.id)?.emote === led;
    const { streak, dancers } = this.round;
    const row = streak ? ` · ${streak} in a row` : "";
    const all = dancers > 1 ? ` · ${dancers} dance` : "";
    return `${this.done ? "In step" : "Dance"}: ${led}${row}${all}`;
  }
}
