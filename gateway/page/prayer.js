// Prayers: points left, which there are, and which are on.
// Always: it shows what the server said last.

import { $, el, say } from "./dom.js";
import { lore } from "./lore.js";

export class Prayers {
  /** `game`: act, tell, bar(id, now, most, words), level(skill). */
  constructor(game) {
    Object.assign(this, game);
    this.list = [];
    this.points = undefined;
    this.max = 1;
    this.active = new Set();
    this.rows = new Map();
    this.learn();
  }

  get hears() {
    return { "prayer:update": (data) => this.update(data) };
  }

  async learn() {
    this.list = (await lore("prayers")).prayers ?? [];
    this.list.sort((a, b) => a.level - b.level);
    this.rows = new Map(this.list.map((prayer) => [prayer.id, this.row(prayer)]));
    $("prayer-list").replaceChildren(...[...this.rows.values()]);
    this.draw();
  }

  row(prayer) {
    const toggle = () => this.act("prayer:toggle", { prayer: prayer.id });
    const button = el(
      "button",
      { onclick: toggle, data: { tip: `${prayer.name}\n${prayer.description}` } },
      el("span", {}, prayer.name),
      el("small", {}, `level ${prayer.level}`),
    );
    return el("li", {}, button);
  }

  /** `player:sync` and `prayer:update`; what is not said has not changed. */
  update(data) {
    if (!data) return;
    const ran = this.points > 0 && data.points === 0;
    this.points = data.points ?? this.points;
    this.max = data.maxPoints ?? this.max;
    if (data.active) this.active = new Set(data.active);
    if (ran) this.tell("Your prayer has run out. An altar fills it again.", "warning");
    this.draw();
  }

  draw() {
    const points = this.points ?? 0;
    say($("prayer-points"), `${points} of ${this.max} points`);
    this.bar("prayer-bar", points, this.max, `${points} / ${this.max}`);
    $("prayer-bar").classList.toggle("on", this.active.size > 0);
    const level = this.level("prayer");
    for (const prayer of this.list) {
      const button = this.rows.get(prayer.id).firstChild;
      const on = this.active.has(prayer.id);
      button.setAttribute("aria-pressed", String(on));
      button.classList.toggle("kept", prayer.level > level);
    }
  }
}
