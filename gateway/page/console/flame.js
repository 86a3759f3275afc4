// A flame graph: how often each function was on the stack of a profile. Each box stands below the
// function that called it, and is as wide as its share of the samples.
// Always: a click or Enter looks closer, Escape or the button goes back, and the line above names the
// function under the pointer or the keys.

import { el, many, say } from "../dom.js";
import { button, save, shape } from "./parts.js";

/** Height of a box, width of a letter, and the least width of a box that is drawn, in pixels. */
const [BOX, LETTER, LEAST] = [19, 7, 1];
/** Letters from which on a name is written. */
const LETTERS_LEAST = 3;

/**
 * Reads the folded form: a line for each stack, `outermost;…;innermost samples`. Gives back the tree of
 * calls, the first by name first; undefined if a line is not of this form.
 */
export function read(folded) {
  const all = { name: "all", samples: 0, calls: new Map() };
  for (const line of folded.split("\n").filter(Boolean)) {
    const [, stack, number] = /^(.+) (\d+)$/.exec(line) ?? [];
    if (stack === undefined || !Number.isSafeInteger(all.samples + Number(number))) return undefined;
    let at = all;
    all.samples += Number(number);
    for (const name of stack.split(";")) {
      if (!at.calls.has(name)) at.calls.set(name, { name, samples: 0, calls: new Map(), caller: at });
      at = at.calls.get(name);
      at.samples += Number(number);
    }
  }
  return all;
}

const byName = (a, b) => (a.name < b.name ? -1 : 1);

/**
 * The boxes of a picture that shows one call as wide as the picture: its callers above it, and all that it
 * calls below. Those that are too narrow to be seen are left out.
 */
export function layout(closest, width) {
  const boxes = [];
  for (let call = closest; call; call = call.caller) boxes.unshift({ call, x: 0, width });
  boxes.forEach((box, row) => Object.assign(box, { row }));
  // Stacks may be deep: they wait here, and not on the stack of this script.
  const waiting = [boxes.at(-1)];
  while (waiting.length) {
    const box = waiting.pop();
    let { x } = box;
    for (const call of [...box.call.calls.values()].sort(byName)) {
      const inner = { call, x, width: (call.samples / closest.samples) * width, row: box.row + 1 };
      x += inner.width;
      if (inner.width < LEAST) continue;
      boxes.push(inner);
      waiting.push(inner);
    }
  }
  return boxes;
}

/** A name in so much room; nothing if it would say nothing. */
export function fit(name, width) {
  const room = Math.floor((width - 6) / LETTER);
  if (room < LETTERS_LEAST) return "";
  return name.length <= room ? name : `${name.slice(0, room - 1)}…`;
}

export class Flame {
  constructor() {
    this.title = el("h3", { id: "flame-title" });
    this.about = el("p", { id: "flame-at", role: "status" });
    this.sheet = el("div", {
      id: "flame-sheet",
      role: "application",
      tabindex: "0",
      "aria-label": "Flame graph",
      "aria-describedby": "flame-keys",
      onkeydown: (event) => this.key(event),
      // A picture that is drawn anew under a pointer at rest is not pointed at.
      onpointermove: (event) => this.point(this.callOf(event)),
      onclick: (event) => this.closer(this.callOf(event)),
    });
    this.back = button("Back", () => this.goBack());
    const keep = button("Save the stacks", () => save(new Blob([this.folded], { type: "text/plain" }), `${this.name}.txt`));
    const keys = "A click or Enter looks closer, Escape goes back, arrows go from box to box.";
    this.root = el(
      "div",
      { id: "flame" },
      this.title,
      this.about,
      this.sheet,
      el("p", { id: "flame-keys", class: "dim" }, keys),
      el("div", { class: "row" }, this.back, keep),
    );
    new ResizeObserver(() => this.draw()).observe(this.sheet);
  }

  /** Draws a profile. Gives back whether it is one. */
  show(whose, folded) {
    const all = read(folded);
    if (!all) return false;
    Object.assign(this, { folded, all, name: `profile of ${whose}`.replace(/\W+/g, "-"), path: [all] });
    say(this.title, `Profile of ${whose}`);
    this.point(all);
    if (!all.samples) say(this.about, "There is no sample: the process rested.");
    this.draw();
    return true;
  }

  get closest() {
    return this.path.at(-1);
  }

  draw() {
    const width = this.sheet.clientWidth;
    if (!this.all?.samples || !width) {
      this.sheet.replaceChildren();
      return;
    }
    this.boxes = layout(this.closest, width);
    const rows = 1 + Math.max(...this.boxes.map(({ row }) => row));
    const svg = shape("svg", { width, height: rows * BOX, "aria-hidden": "true" });
    svg.append(...this.boxes.map((box, place) => picture(box, place)));
    this.sheet.replaceChildren(svg);
    this.back.disabled = this.path.length === 1;
    this.mark();
  }

  callOf(event) {
    const place = event.target.closest("g")?.dataset.place;
    return place && this.boxes[place].call;
  }

  /** Names a function. */
  point(call) {
    if (!call) return;
    this.at = call;
    const share = this.all.samples ? (call.samples / this.all.samples) * 100 : 0;
    const samples = call.samples === 1 ? "1 sample" : `${many(call.samples)} samples`;
    say(this.about, `${call.name}: ${samples}, ${share.toFixed(1)} %`);
    this.mark();
  }

  mark() {
    for (const [place, box] of this.sheet.querySelectorAll("g").entries())
      box.classList.toggle("at", this.boxes[place].call === this.at);
  }

  closer(call) {
    if (!call || call === this.closest) return;
    this.path.push(call);
    this.point(call);
    this.draw();
    this.sheet.scrollTop = 0;
  }

  goBack() {
    if (this.path.length === 1) return;
    this.point(this.path.pop());
    this.draw();
  }

  key(event) {
    const { at, boxes } = this;
    if (!boxes) return;
    const shown = (call) => call && boxes.some((box) => box.call === call);
    const beside = (step) => {
      const own = boxes.find((box) => box.call === at);
      const row = boxes.filter((box) => box.row === own?.row).sort((a, b) => a.x - b.x);
      return row[row.indexOf(own) + step]?.call;
    };
    const widest = () => [...at.calls.values()].sort((a, b) => b.samples - a.samples)[0];
    const moves = { ArrowUp: () => at.caller, ArrowDown: widest, ArrowLeft: () => beside(-1), ArrowRight: () => beside(1) };
    if (event.key in moves) {
      const to = moves[event.key]();
      if (shown(to)) this.point(to);
      this.sheet.querySelector("g.at")?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") this.closer(at);
    else if (event.key === "Escape" && this.path.length > 1) this.goBack();
    else return;
    event.preventDefault();
  }
}

function picture({ call, x, width, row }, place) {
  const group = shape("g", {});
  group.dataset.place = place;
  const hue = 20 + ([...call.name].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % 35);
  const box = { x, y: row * BOX, width: Math.max(LEAST, width - 0.5), height: BOX - 1, rx: 2, fill: `hsl(${hue},80%,65%)` };
  const words = shape("text", { x: x + 3, y: row * BOX + 13 });
  words.textContent = fit(call.name, width);
  group.append(shape("rect", box), words);
  return group;
}
