// Profiles of processes: a button beside each process that may be sampled, and the flame graph of the
// last one. Always: nobody has to wait for the seconds that a profile takes.

import { el } from "../dom.js";
import { Flame } from "./flame.js";
import { button, does, panel } from "./parts.js";

const SECONDS = 10;

export class Profiles {
  /** `changed` is called when a profile begins or ends. */
  constructor(desk, changed) {
    this.desk = desk;
    this.changed = changed;
    this.busy = new Set();
    this.flame = new Flame();
    this.root = panel("Profile", this.flame.root);
    this.root.hidden = true;
  }

  /** Whether a process is being sampled. */
  samples(whose) {
    return this.busy.has(whose);
  }

  /** The button of a process; nothing for those who may not. */
  button(whose, path, asked = {}) {
    if (!this.desk.may("admin")) return undefined;
    const busy = this.samples(whose);
    const words = busy ? "Profiling …" : `Profile ${SECONDS} s`;
    const take = button(words, () => this.take(whose, path, asked));
    take.disabled = busy;
    take.dataset.key = `profile ${whose}`;
    take.setAttribute("aria-label", `${words} of ${whose}`);
    return take;
  }

  async take(whose, path, asked) {
    this.busy.add(whose);
    this.changed();
    await does(`The profile of ${whose} is drawn below the tables.`, async () => {
      const answer = await this.desk.api.send("POST", path, { ...asked, seconds: SECONDS });
      const folded = await answer.text();
      this.root.hidden = false;
      if (!this.flame.show(`${whose}, ${SECONDS} s`, folded)) throw new Error("The gateway sent no profile.");
    });
    this.busy.delete(whose);
    this.changed();
  }
}

/** Several buttons in a row; nothing if there is none. */
export function acts(...buttons) {
  const there = buttons.filter(Boolean);
  return there.length ? el("div", { class: "row acts" }, there) : undefined;
}
