// What the keys and the mouse do, for whoever asks.

import { $, el } from "./dom.js";
import { Pane } from "./pane.js";

const KEYS = [
  ["Click, tap", "do the likeliest thing, or walk there"],
  ["Right click, long press", "everything that can be done"],
  ["W A S D, arrows", "walk"],
  ["R", "run or walk"],
  ["I E K C P Q F G", "pack, worn, skills, combat, prayers, quests, friends, gestures"],
  ["F1 to F4, F6 to F9", "the same"],
  ["O", "settings"],
  ["M", "the map of the world: a click on it walks there"],
  ["1 to 9", "an answer, an entry of a menu, or what is on the action bar"],
  ["Drag", "moves things in the pack, into the bank and out of it, and onto the action bar"],
  ["Enter, /", "talk; /wave and the like are gestures"],
  ["Shift and click", "drop it, or take all of it from the bank"],
  ["Escape", "close, put back"],
  ["+ and −, wheel, two fingers", "nearer and farther"],
];

export class Help {
  /** `more` are entries `[words, what]` for what is set elsewhere. */
  constructor(more) {
    this.pane = new Pane("keys", "How to");
    this.pane.body.append(
      el(
        "dl",
        {},
        KEYS.map(([keys, words]) => [el("dt", {}, keys), el("dd", {}, words)]),
      ),
    );
    this.pane.foot.append(...more.map(([words, what]) => el("button", { onclick: what }, words)));
    $("help").onclick = () => this.toggle();
  }

  toggle() {
    if (this.pane.shown) this.pane.hide();
    else this.pane.show();
  }
}
