// A talk with somebody: what they say, and what one may answer; by a click or by its number.
// Always: it shows what the server said last, as text.

import { el } from "./dom.js";
import { step } from "./menu.js";
import { Pane } from "./pane.js";
import { refill } from "./refill.js";

export class Dialogue {
  /** `act(event, data)` asks. */
  constructor(act) {
    this.act = act;
    this.pane = new Pane("dialogue", "Talk", { leave: () => this.leave() });
    this.words = el("p", { "aria-live": "polite" });
    this.answers = el("div", { class: "answers" });
    this.pane.body.append(this.words, this.answers);
    this.pane.box.addEventListener("keydown", (event) => this.key(event));
  }

  get hears() {
    return { "dialogue:node": (data) => this.node(data) };
  }

  get open() {
    return this.pane.shown;
  }

  /** The server says that it is over; where it does not know of it, it is over here. */
  async leave() {
    if (!(await this.act("dialogue:close", {}))) this.close();
  }

  close() {
    this.pane.hide();
  }

  node(data) {
    if (!data.open) return this.close();
    this.pane.name(data.name || "Talk");
    this.words.textContent = data.text;
    const list = data.responses ?? [];
    const entries = list.map(({ index, text }) => [
      text,
      () => this.act("dialogue:respond", { index }),
    ]);
    if (!entries.length) entries.push(["Go on", () => this.act("dialogue:continue", {})]);
    // One who goes through the talk by keys finds the next answers under them.
    const byKey = this.answers.contains(document.activeElement);
    refill(
      this.answers,
      entries.map(([text, what], n) =>
        el("button", { onclick: () => this.once(what) }, el("b", {}, String(n + 1)), text),
      ),
    );
    this.pane.show();
    if (byKey) this.answers.firstChild.focus({ preventScroll: true });
    return undefined;
  }

  /** One answer to what was said, however often it is clicked. */
  async once(what) {
    const buttons = [...this.answers.children];
    for (const button of buttons) button.disabled = true;
    if (await what()) return;
    for (const button of buttons) button.disabled = false;
  }

  key(event) {
    const buttons = [...this.answers.children];
    const number = Number(event.key);
    if (number >= 1 && number <= buttons.length) buttons[number - 1].click();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const at = buttons.indexOf(document.activeElement);
      buttons[step(event.key, at, buttons.length)]?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
