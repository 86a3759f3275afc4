// What is worn, and what good it does. Always: it shows what the server said last.

import { $, capital, el } from "./dom.js";
import { portrait } from "./goods.js";
import { bonuses, counted, details } from "./things.js";

const PLACES = [
  "helmet",
  "amulet",
  "cape",
  "weapon",
  "body",
  "shield",
  "arrows",
  "legs",
  "ring",
  "gloves",
  "boots",
];

export class Gear {
  /** `act(event, data)` asks. */
  constructor(act) {
    this.act = act;
    this.worn = {};
    /** Called when something else is worn. */
    this.onchange = () => {};
    this.places = PLACES.map((place) => this.place(place));
    $("worn").replaceChildren(...this.places);
  }

  get hears() {
    return {
      "equipment:update": ({ slots }) => {
        for (const { slot, item } of slots) {
          if (item) this.worn[slot] = item;
          else delete this.worn[slot];
        }
        this.draw();
      },
    };
  }

  /** `player:sync`. */
  all(equipment) {
    this.worn = { ...equipment };
    this.draw();
  }

  place(place) {
    const button = el("button", { class: `goods place-${place}`, data: { item: "none" } });
    button.onclick = () => {
      if (this.worn[place]) this.act("equipment:remove", { slot: place });
    };
    return button;
  }

  draw() {
    PLACES.forEach((place, at) => this.drawPlace(place, this.places[at]));
    const sums = new Map();
    for (const item of Object.values(this.worn))
      for (const [name, n] of bonuses(item.itemId)) sums.set(name, (sums.get(name) ?? 0) + n);
    const rows = [...sums].filter(([, n]) => n);
    rows.sort(([a], [b]) => (a < b ? -1 : 1));
    $("bonuses").replaceChildren(
      ...rows.map(([name, n]) => el("li", {}, name, el("b", {}, n > 0 ? `+${n}` : String(n)))),
    );
    this.onchange();
  }

  drawPlace(place, button) {
    const item = this.worn[place];
    const shown = item ? `${item.itemId} ${item.quantity}` : "";
    if (button.dataset.item === shown) return;
    button.dataset.item = shown;
    const words = item ? counted(item.itemId, item.quantity) : "nothing";
    button.setAttribute("aria-label", `${capital(place)}: ${words}${item ? ", take off" : ""}`);
    button.dataset.tip = item
      ? [`${words}: take off`, ...details(item.itemId)].join("\n")
      : capital(place);
    button.classList.toggle("empty", !item);
    if (!item) return button.replaceChildren(el("i", { "aria-hidden": "true" }, place));
    const count = item.quantity > 1 ? String(item.quantity) : "";
    return button.replaceChildren(portrait(item.itemId), el("span", {}, count));
  }

  /** It is known now what the things are. */
  anew() {
    for (const button of this.places) button.dataset.item = "none";
    this.draw();
  }
}
