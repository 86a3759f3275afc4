// Keys, mouse and fingers on the map. A held arrow keeps a goal a few tiles ahead, asked for once
// a tick; a tap acts on what is under it; two fingers or the wheel zoom; a finger that rests, or
// the other mouse button, asks what can be done there.

import { longPress } from "./menu.js";

const $ = (id) => document.getElementById(id);
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

export class Hands {
  /** `game` is what is looked at, `act` what a person can do. */
  constructor(game, act) {
    Object.assign(this, game);
    this.act = act;
    this.mouse = { x: 0, y: 0, inside: false };
    this.held = new Set();
    this.steered = 0;
    this.fingers = new Map();
    this.pinch = 0;
    this.pinched = false;
    addEventListener("keydown", (event) => this.down(event));
    addEventListener("keyup", (event) => {
      if (!this.held.delete(event.code) || this.held.size || !this.playing) return;
      this.net.ask("player:move", { stop: true }).catch(() => {});
    });
    addEventListener("blur", () => this.held.clear());
    this.onMap($("map"));
    $("minimap").addEventListener("click", (event) => this.onMinimap(event));
  }

  get playing() {
    return this.net.phase === "world";
  }

  steer(now) {
    const { me, free, held } = this;
    if (!held.size || !me.position || now - this.steered < STEER_MS || !this.playing) return;
    const all = [...held].map((code) => WAYS[code]);
    const dx = Math.sign(all.reduce((sum, way) => sum + way[0], 0));
    const dz = Math.sign(all.reduce((sum, way) => sum + way[1], 0));
    if (!dx && !dz) return;
    const reach = me.run ? 8 : 4;
    let { x, z } = me.position;
    for (
      let n = 0;
      n < reach && free(x + dx, z + dz) && (!dx || !dz || (free(x + dx, z) && free(x, z + dz)));
      n += 1
    ) {
      x += dx;
      z += dz;
    }
    if (x === me.position.x && z === me.position.z) return;
    this.steered = now;
    this.net.ask("player:move", { target: { x, z } }).catch(() => {});
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
      this.held.add(event.code);
      this.me.target = undefined;
      this.act.drop();
      this.steer(performance.now());
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
    const tile = this.minimap.toTile(x, y, box.width, this.here());
    this.act.walkTo(tile.x, tile.z, true);
    $("map").focus();
  }
}
