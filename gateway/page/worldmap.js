// The map of the whole world, over the whole window: what a person does with it. A click walks there;
// the keys move it, and walk to its middle. Always: while it is seen, the world beneath is not drawn.

import { Chart } from "./chart.js";
import { $, el, say } from "./dom.js";
import { Grip } from "./grip.js";
import { icon } from "./icons.js";
import { Journey } from "./journey.js";
import { about, find, landmarks } from "./landmarks.js";
import { MapView } from "./mapview.js";
import { Pane } from "./pane.js";

/** Part of the map by which a key moves it. */
const STEP = 0.16;
const KEYS = {
  ArrowLeft: [-1, 0],
  KeyA: [-1, 0],
  ArrowRight: [1, 0],
  KeyD: [1, 0],
  ArrowUp: [0, 1],
  KeyW: [0, 1],
  ArrowDown: [0, -1],
  KeyS: [0, -1],
};
const WINDS = [
  "north",
  "north-east",
  "east",
  "south-east",
  "south",
  "south-west",
  "west",
  "north-west",
];
const HINT = "A click walks there. Arrows move the map, Enter walks to its middle.";

export class WorldMap {
  /** `game`: land, me, pending, walkTo, friends, quests. */
  constructor(game) {
    Object.assign(this, game);
    this.chart = new Chart(this.land);
    this.pane = new Pane("atlas", "The world");
    this.canvas = el("canvas", {
      role: "img",
      tabindex: "0",
      "aria-label":
        "Map of the world. Arrow keys move it, plus and minus zoom, Enter walks to its middle.",
      "aria-describedby": "atlas-word",
    });
    this.view = new MapView(this.canvas, { ...game, chart: this.chart });
    this.field = this.searchField();
    this.found = el("ul", {
      id: "atlas-found",
      class: "choices",
      "aria-label": "What was found",
      hidden: true,
    });
    this.word = el("span", { id: "atlas-word", class: "dim", role: "status" }, HINT);
    this.build();
    new Grip(this.canvas, {
      drag: (dx, dy) => this.view.move(-dx / this.view.scale, dy / this.view.scale),
      zoom: (by, x, y) => this.view.zoom(by, x, y),
      tap: (x, y) => this.tapped(x, y),
      hover: (x, y) => this.point(x, y),
    });
    $("atlas-open").append(icon("map"));
    $("atlas-open").onclick = () => this.toggle();
  }

  searchField() {
    return el("input", {
      type: "search",
      id: "atlas-search",
      "aria-label": "Look for a place, a shop, or what grows and swims",
      placeholder: "Find a place, a shop, a fish …",
      autocomplete: "off",
      spellcheck: "false",
      enterkeyhint: "search",
      oninput: () => this.search(),
    });
  }

  build() {
    const button = (words, more, onclick) =>
      el("button", { "aria-label": more, title: more, onclick }, words);
    const form = el("form", { role: "search", onsubmit: (event) => this.first(event) }, this.field);
    this.pane.extra.replaceWith(form);
    this.pane.body.append(this.found, this.canvas);
    this.pane.foot.append(
      button("−", "Farther", () => this.view.zoom(1 / 1.4)),
      button("+", "Nearer", () => this.view.zoom(1.4)),
      button("Me", "Me: to where you are", () => this.toMe()),
      button("Walk to the middle", "Walk to the middle", () => this.walkToMiddle()),
      this.word,
    );
    this.pane.box.addEventListener("keydown", (event) => this.key(event));
  }

  /** Whether it is what one looks at: no other window is over it. */
  get seen() {
    return this.pane.shown && !this.pane.box.classList.contains("beneath");
  }

  /** A key of the keyboard; false where it is not the one for the map. */
  opens(code) {
    if (code === "KeyM") this.toggle();
    return code === "KeyM";
  }

  toggle() {
    if (this.pane.shown) return this.pane.left();
    this.pane.show(false);
    this.canvas.focus({ preventScroll: true });
    this.view.fit();
    this.toMe();
    return this.load();
  }

  async load() {
    if (!this.chart.sheet) say(this.word, "The map is being unrolled …");
    await Promise.all([this.chart.load(), this.learn()]);
    say(this.word, this.chart.sheet ? HINT : "The map is not to be had just now. Open it again.");
  }

  async learn() {
    if (!this.view.signs.length) this.view.signs = await landmarks(this.land.houses);
  }

  toMe() {
    this.view.look(this.me.position ?? this.land.meta.spawn);
  }

  draw(seen) {
    this.view.draw(seen);
  }

  /** A key goes down in the window; the ones for it do nothing else. */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key === "Escape") return;
    const { field, found, view } = this;
    const [dx, dz] = KEYS[event.code] ?? [0, 0];
    const listed = event.target === field || found.contains(event.target);
    if (listed && dz && event.code.startsWith("Arrow")) this.along(event.target, -dz);
    else if (event.target === field) return event.stopPropagation();
    else if (dx || dz) view.move(dx * this.step, dz * this.step);
    else if (event.code === "KeyM") this.pane.left();
    else if (event.key === "+" || event.key === "=") view.zoom(1.25);
    else if (event.key === "-") view.zoom(1 / 1.25);
    else if (event.key === "Enter" && event.target.tagName !== "BUTTON") this.walkToMiddle();
    else if (event.key === "/") field.focus();
    else return undefined;
    event.preventDefault();
    return event.stopPropagation();
  }

  /** Tiles by which a key moves the map. */
  get step() {
    const { size, scale } = this.view;
    return (STEP * Math.min(size.width, size.height)) / scale;
  }

  /** From the search into what was found, and from one of these to the next. */
  along(from, by) {
    const stops = [this.field, ...this.found.querySelectorAll("button")];
    stops[Math.max(0, Math.min(stops.length - 1, stops.indexOf(from) + by))].focus();
  }

  tapped(px, py) {
    const at = this.view.under(px, py);
    this.canvas.focus({ preventScroll: true });
    this.walk(at ?? this.view.toTile(px, py), at?.name);
  }

  /** Walks to what was found, if that is still in the middle; else to the middle itself. */
  walkToMiddle() {
    const { marked, center } = this.view;
    const found = marked && Math.hypot(marked.x - center.x, marked.z - center.z) < 1;
    this.walk(center, found ? marked.name : undefined);
  }

  /** Walks there, however far it is; or as near as one can stand. */
  walk(at, name) {
    const { me, chart } = this;
    const goal = chart.landing(Math.round(at.x), Math.round(at.z));
    const way = goal && me.position ? chart.way(me.position, goal) : [];
    if (!way.length) return say(this.word, "No way leads there.");
    const where = name ?? this.land.area(goal.x, goal.z)?.name ?? `${goal.x}, ${goal.z}`;
    say(this.word, `Walking to ${where}, ${way.length} steps.`);
    const ended = (there) =>
      say(this.word, there ? `You are there: ${where}.` : "You stopped on the way.");
    this.pending.travel(new Journey(way, me, this.walkTo, ended));
    return undefined;
  }

  search() {
    const list = find(this.view.signs, this.field.value, this.me.position);
    const sought = this.field.value.trim() !== "";
    const rows = list.map((one) => {
      const more = [describe(one), this.far(one)].filter(Boolean).join(", ");
      const row = el(
        "button",
        { onclick: () => this.choose(one) },
        el("span", {}, one.name),
        el("small", {}, more),
      );
      return el("li", {}, row);
    });
    if (sought && !rows.length) rows.push(el("li", { class: "dim" }, "Nothing is called so."));
    this.found.replaceChildren(...rows);
    this.found.hidden = !sought;
  }

  /** How far it is to a place, as the crow flies, and in which direction. */
  far({ x, z }) {
    const { position } = this.me;
    if (!position) return "";
    const [dx, dz] = [x - position.x, z - position.z];
    const tiles = Math.round(Math.hypot(dx, dz));
    if (tiles < 3) return "here";
    const turn = Math.round((Math.atan2(dx, dz) / Math.PI) * 4 + 8) % 8;
    return `${tiles} tiles ${WINDS[turn]}`;
  }

  /** Enter in the search: the first one. */
  first(event) {
    event.preventDefault();
    this.found.querySelector("button")?.click();
  }

  /** Puts what was found into the middle, and marks it. */
  choose(one) {
    this.view.marked = one;
    this.found.hidden = true;
    this.view.look(one, Math.max(this.view.scale, one.kind === "area" ? 1.5 : 3));
    say(this.word, `${one.name}: ${describe(one)}. Enter walks there.`);
    this.canvas.focus({ preventScroll: true });
  }

  /** Says what a point is about. */
  point(px, py) {
    const at = this.view.under(px, py);
    this.canvas.style.cursor = at ? "pointer" : "crosshair";
    if (at === this.pointed) return;
    this.pointed = at;
    if (at) say(this.word, `${at.name}: ${describe(at)}`);
  }
}

/** What a sign is about, beside its name. */
function describe({ kind, more, goods = [] }) {
  const gives = kind === "shop" ? "" : goods.slice(0, 3).join(", ");
  return [about(kind)[0], more, gives].filter(Boolean).join(", ");
}
