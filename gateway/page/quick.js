// The action bar: things of the pack that a key or a click uses at once.
// Always: a place names an item, not a slot; it does what a click in the pack would do.

import { $, el } from "./dom.js";
import { portrait } from "./goods.js";
import { kept } from "./net.js";
import { called } from "./things.js";

const PLACES = 6;
const KEPT = "quick";

export class Quick {
  constructor({ pack, tell, menu }) {
    Object.assign(this, { pack, tell, menu });
    this.items = this.read();
    this.buttons = this.items.map((_, place) => this.button(place));
    $("quick").replaceChildren(...this.buttons);
    this.draw();
  }

  read() {
    let known = [];
    try {
      known = JSON.parse(kept.get(KEPT) ?? "[]");
    } catch {
      /* an empty bar */
    }
    return Array.from({ length: PLACES }, (_, at) =>
      typeof known[at] === "string" ? known[at] : undefined,
    );
  }

  button(place) {
    const button = el("button", { class: "goods", data: { drop: `quick ${place}` } });
    button.onclick = () => this.press(place);
    button.oncontextmenu = (event) => {
      event.preventDefault();
      if (!this.items[place]) return;
      const title = called(this.items[place]);
      this.menu.under(button, title, [["Take off the bar", () => this.put(place, undefined)]]);
    };
    return button;
  }

  put(place, itemId) {
    this.items[place] = itemId;
    kept.set(KEPT, JSON.stringify(this.items));
    this.draw();
  }

  /** The first free place, or the last. */
  add(itemId) {
    const free = this.items.indexOf(undefined);
    this.put(free < 0 ? PLACES - 1 : free, itemId);
  }

  press(place) {
    const itemId = this.items[place];
    if (!itemId) return false;
    const slot = this.pack.slots.findIndex((item) => item?.itemId === itemId);
    if (slot < 0) this.tell(`There is no ${called(itemId).toLowerCase()} in the pack.`);
    else this.pack.likeliest(slot);
    return true;
  }

  /** A digit of the keyboard; false where nothing lies there. */
  key(code) {
    const digit = /^Digit([1-9])$/.exec(code)?.[1];
    return digit !== undefined && Number(digit) <= PLACES && this.press(Number(digit) - 1);
  }

  /** It is known now what the things are, or how many there are. */
  draw() {
    $("quick").hidden = !this.items.some(Boolean);
    this.items.forEach((itemId, place) => {
      const button = this.buttons[place];
      const there = itemId ? this.pack.count(itemId) > 0 : false;
      button.classList.toggle("gone", Boolean(itemId) && !there);
      const words = itemId ? called(itemId) : "nothing";
      button.setAttribute("aria-label", `Action ${place + 1}: ${words}`);
      button.setAttribute("aria-keyshortcuts", String(place + 1));
      if (button.dataset.shows === itemId) return;
      button.dataset.shows = itemId ?? "";
      button.replaceChildren(...(itemId ? [portrait(itemId)] : []), el("span", {}, String(place + 1)));
    });
  }
}
