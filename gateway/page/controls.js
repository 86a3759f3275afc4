// Keys, mouse and fingers on the map. A key that is pressed makes one step; one that is held keeps a
// goal a few tiles ahead, asked for once a tick. A tap acts on what is under it; two fingers or the
// wheel zoom; a finger that rests, or the other mouse button, asks what can be done there.
// Always: a pointer does not take the keys along to the button that it presses. So Enter means the
// chat, but for a control that was reached by keys.

import { $, writing } from "./dom.js";
import { longPress } from "./menu.js";
import { TICK_MS } from "./walk.js";

const WAYS = {
  ArrowUp: [0, 1],
  KeyW: [0, 1],
  ArrowDown: [0, -1],
  KeyS: [0, -1],
  ArrowLeft: [-1, 0],
  KeyA: [-1, 0],
  ArrowRight: [1, 0],
  KeyD: [1, 0],
};
const STEER_MS = 280;
/** A key that is down for so long is held. */
const HELD_MS = 220;

export class Controls {
  /** `game` is what is looked at, `act` what a person can do. */
  constructor(game, act) {
    Object.assign(this, game);
    this.act = act;
    this.mouse = { x: 0, y: 0, inside: false };
    this.held = new Set();
    /** Since when keys are down, and where one stood then. */
    this.since = 0;
    this.from = undefined;
    /** The goal of a held key was asked for. */
    this.goes = false;
    this.steered = 0;
    /** Where the steps lead that are still to be made. */
    this.goal = undefined;
    this.fingers = new Map();
    this.pinch = 0;
    this.pinched = false;
    addEventListener("keydown", (event) => this.down(event));
    addEventListener("keyup", (event) => {
      if (this.held.delete(event.code) && !this.held.size) this.rest();
    });
    addEventListener("blur", () => {
      if (this.held.size) this.rest();
      this.held.clear();
    });
    addEventListener("mousedown", (event) => this.press(event));
    this.onMap($("map"));
    $("minimap").addEventListener("click", (event) => this.onMinimap(event));
  }

  get playing() {
    return this.net.phase === "world";
  }

  /** The way in which the keys that are down lead. */
  get way() {
    const all = [...this.held].map((code) => WAYS[code]);
    const sum = (axis) => Math.sign(all.reduce((sum, way) => sum + way[axis], 0));
    return [sum(0), sum(1)];
  }

  /** The tile up to `reach` steps from there, as far as the way is free. */
  ahead({ x, z }, [dx, dz], reach) {
    const { free } = this;
    const at = { x, z };
    for (let n = 0; n < reach; n += 1) {
      const [to, go] = [at.x + dx, at.z + dz];
      if (!free(to, go) || (dx && dz && !(free(to, at.z) && free(at.x, go)))) break;
      Object.assign(at, { x: to, z: go });
    }
    return at;
  }

  walk(target) {
    this.net.ask("player:move", { target }).catch(() => {});
  }

  /** One step in the way of the keys, behind those that are still to be made. */
  step(now) {
    const { me, goal } = this;
    if (!me.position || !this.playing) return;
    const waits = goal && !me.target && now < goal.until;
    const from = waits ? goal : me.position;
    const to = this.ahead(from, this.way, 1);
    me.target = undefined;
    if (to.x === from.x && to.z === from.z) return;
    const far = Math.max(Math.abs(to.x - me.position.x), Math.abs(to.z - me.position.z));
    this.goal = { ...to, until: now + TICK_MS * (far + 1) };
    this.walk(to);
  }

  /** Called for every picture: a key that is held leads on. */
  steer(now) {
    const { me, held } = this;
    if (!held.size || !me.position || !this.playing) return;
    if (now - this.since < HELD_MS || now - this.steered < STEER_MS) return;
    const { x, z } = me.position;
    const to = this.ahead({ x, z }, this.way, me.run ? 8 : 4);
    if (x === to.x && z === to.z) return;
    this.steered = now;
    this.goes = true;
    this.goal = undefined;
    this.walk(to);
  }

  /** All keys are up again: whoever has not gone a step yet goes that one. */
  rest() {
    const { me, from, goes } = this;
    this.goes = false;
    if (!goes || !this.playing || !me.position) return;
    if (!from || from.x !== me.position.x || from.z !== me.position.z)
      this.net.ask("player:move", { stop: true }).catch(() => {});
    else this.walk(this.ahead(from, this.last, me.run ? 2 : 1));
  }

  down(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.playing) return;
    if (event.key === "Escape") return this.act.back();
    if (["INPUT", "TEXTAREA"].includes(event.target.tagName)) return;
    const button = event.target.tagName === "BUTTON" || event.target.tagName === "SUMMARY";
    if (WAYS[event.code]) {
      // Lists and windows are moved through by arrows.
      const list = event.target.closest("#chat, #side, .pane");
      if (list && event.code.startsWith("Arrow")) return;
      event.preventDefault();
      if (!this.held.has(event.code)) this.go(event.code, performance.now());
    } else if (event.code === "KeyR" && !event.repeat) this.act.toggleRun();
    else if (!event.repeat && !event.shiftKey && this.act.panel(event.code)) event.preventDefault();
    else if (event.key === "Enter" && !button) {
      event.preventDefault();
      $("line").focus();
    } else if (event.key === "/" && !button) {
      event.preventDefault();
      $("line").focus();
      $("line").value = "/";
    } else if (event.key === "?") this.act.help();
    else if (event.key === "+" || event.key === "=") this.picture.zoomBy(1.15);
    else if (event.key === "-") this.picture.zoomBy(1 / 1.15);
  }

  /** A key for walking goes down. */
  go(code, now) {
    if (!this.held.size) {
      this.since = now;
      this.from = this.me.position && { ...this.me.position };
    }
    this.held.add(code);
    this.last = this.way;
    this.act.drop();
    this.step(now);
  }

  /** A pointer presses a button: what has the keys keeps them, or the map has them. */
  press(event) {
    const button = event.target.closest("button, summary");
    if (!button || !this.playing) return;
    event.preventDefault();
    if (writing() || button.closest("#menu")) return;
    (button.closest(".pane") ?? $("map")).focus({ preventScroll: true });
  }

  onMap(map) {
    const { fingers, mouse } = this;
    const pressed = longPress(map, (x, y) => fingers.size < 2 && this.act.ground(x, y));
    map.addEventListener("pointerdown", (event) => {
      map.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (fingers.size === 1) this.pinched = false;
      if (fingers.size === 2) {
        this.pinch = this.spread();
        this.pinched = true;
      }
    });
    map.addEventListener("pointermove", (event) => this.moved(event));
    map.addEventListener("pointerup", (event) => {
      fingers.delete(event.pointerId);
      if (this.pinched || fingers.size || event.button > 0 || pressed() || !this.playing) return;
      map.focus();
      this.goal = undefined;
      this.act.tapped(event.clientX, event.clientY);
    });
    map.addEventListener("pointercancel", (event) => fingers.delete(event.pointerId));
    map.addEventListener("pointerleave", () => {
      mouse.inside = false;
    });
    map.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.picture.zoomBy(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 320));
      },
      { passive: false },
    );
  }

  moved(event) {
    const inside = event.pointerType === "mouse";
    Object.assign(this.mouse, { x: event.clientX, y: event.clientY, inside });
    if (!this.fingers.has(event.pointerId)) return;
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (this.fingers.size !== 2) return;
    const now = this.spread();
    if (this.pinch > 0 && now > 0) this.picture.zoomBy(now / this.pinch);
    this.pinch = now;
  }

  spread() {
    const [a, b] = [...this.fingers.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  }

  onMinimap(event) {
    if (!this.playing) return;
    const box = event.target.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    this.goal = undefined;
    const tile = this.minimap.toTile(x, y, box.width, this.here());
    this.act.walkTo(tile.x, tile.z, true);
    $("map").focus();
  }
}
