// Questions that others ask: a small card each, answered or gone by itself.

import { $, el } from "./dom.js";

const LASTS_MS = 30000;

export class Asking {
  constructor() {
    this.cards = new Map();
  }

  /** `answers`: `[words, what]`; the first one is what is meant by yes. */
  ask(id, words, answers) {
    this.settled(id);
    const buttons = answers.map(([label, what], n) =>
      el(
        "button",
        {
          class: n === 0 ? "main" : undefined,
          onclick: () => {
            this.settled(id);
            what();
          },
        },
        label,
      ),
    );
    const row = el("div", { class: "row" }, buttons);
    const card = el("div", { role: "alertdialog", "aria-label": words }, el("p", {}, words), row);
    $("asking").append(card);
    this.cards.set(id, { card, timer: setTimeout(() => this.settled(id), LASTS_MS) });
  }

  /** It is answered, or nobody asks any more. */
  settled(id) {
    const known = this.cards.get(id);
    if (!known) return;
    clearTimeout(known.timer);
    known.card.remove();
    this.cards.delete(id);
  }

  clear() {
    for (const id of [...this.cards.keys()]) this.settled(id);
  }
}
