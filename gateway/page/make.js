// What can be made at a place, or of two things: a list to choose from, and how many.
// Always: it offers what the recipes say; whether it can be made is the server's to say.

import { el } from "./dom.js";
import { goods } from "./goods.js";
import { recipes } from "./lore.js";
import { Pane } from "./pane.js";
import { refill } from "./refill.js";
import { called, counted } from "./things.js";

/**
 * The trades: where their recipes are, their skill, and of a recipe what is shown, what is asked
 * for as the option, and what goes into it.
 */
const TRADES = {
  cook: {
    file: "cooking",
    skill: "cooking",
    title: "Cook",
    makes: (r) => r.cooked,
    asks: (r) => r.raw,
    needs: (r) => [[r.raw, 1]],
  },
  smelt: {
    file: "smelting",
    skill: "smithing",
    title: "Smelt",
    makes: (r) => r.output,
    needs: (r) => inputs(r),
  },
  smith: {
    file: "smithing",
    skill: "smithing",
    title: "Smith",
    makes: (r) => r.output,
    needs: (r) => [[r.bar, r.barsRequired]],
    tools: () => ["hammer"],
  },
  craft: {
    file: "crafting",
    skill: "crafting",
    title: "Craft",
    makes: (r) => r.output,
    needs: (r) => [...inputs(r), ...(r.consumables ?? []).map(({ item }) => [item, 1])],
  },
  fletch: {
    file: "fletching",
    skill: "fletching",
    title: "Fletch",
    makes: (r) => r.output,
    needs: (r) => inputs(r),
  },
  tan: {
    file: "tanning",
    skill: undefined,
    title: "Tan",
    makes: (r) => r.output,
    asks: (r) => r.input,
    needs: (r) => [[r.input, 1]],
  },
};

const inputs = (r) => (r.inputs ?? []).map(({ item, amount }) => [item, amount ?? 1]);

export class Make {
  /** `game`: act, tell, menu, pack, level(skill). */
  constructor(game) {
    Object.assign(this, game);
    this.pane = new Pane("make", "Make");
    this.list = el("div", { class: "grid wares" });
    this.hint = el("p", { class: "hint" });
    this.pane.body.append(this.list);
    this.pane.foot.append(this.hint);
  }

  close() {
    this.pane.hide();
  }

  /**
   * Shows what a trade can make at `target`, if that names a place; `fits(recipe)` leaves out the
   * rest, and so does what is in the pack, if anything of it goes into any.
   */
  async show(trade, target, fits = () => true) {
    const how = TRADES[trade];
    const fitting = (await recipes(how.file)).filter(fits);
    const begun = fitting.filter((recipe) =>
      how.needs(recipe).some(([id]) => this.pack.count(id) > 0),
    );
    const all = begun.length ? begun : fitting;
    const held = all.filter((recipe) => this.holds(how, recipe));
    if (!all.length) return this.tell("Nothing can be made of that.");
    this.shown = { trade, how, target, all, held };
    this.pane.name(how.title);
    this.draw();
    this.pane.show();
    return undefined;
  }

  /** What is made of these two, by any trade that needs no place. */
  async of(one, other) {
    for (const trade of ["fletch", "craft"]) {
      const how = TRADES[trade];
      const all = await recipes(how.file);
      const uses = (recipe) => {
        const parts = [...how.needs(recipe).map(([id]) => id), ...(recipe.tools ?? [])];
        return parts.includes(one) && parts.includes(other);
      };
      const fits = all.filter(uses);
      if (fits.length < 2) continue;
      await this.show(trade, undefined, uses);
      return true;
    }
    return false;
  }

  holds(how, recipe) {
    return how.needs(recipe).every(([id, n]) => this.pack.count(id) >= n);
  }

  /** The pack or a level is another one. */
  changed() {
    if (!this.pane.shown) return;
    const { how, all } = this.shown;
    this.shown.held = all.filter((recipe) => this.holds(how, recipe));
    this.draw();
  }

  draw() {
    const { how, all, held } = this.shown;
    const level = how.skill ? this.level(how.skill) : 99;
    const needed = (recipe) => recipe.level ?? recipe.levelRequired ?? 1;
    const rank = (recipe) => (held.includes(recipe) ? 0 : 2) + (needed(recipe) > level ? 1 : 0);
    const sorted = [...all].sort((a, b) => rank(a) - rank(b) || needed(a) - needed(b));
    this.hint.textContent = held.length
      ? "Choose what is to be made."
      : "You have nothing with you that it takes.";
    const text = sorted.map((recipe) => `${how.makes(recipe)} ${rank(recipe)}`).join();
    if (text === this.text && this.list.children.length) return;
    this.text = text;
    refill(
      this.list,
      sorted.map((recipe) => this.entry(recipe, needed(recipe), needed(recipe) > level)),
    );
  }

  entry(recipe, needed, tooHigh) {
    const { how, held } = this.shown;
    const parts = how.needs(recipe).map(([id, n]) => counted(id, n));
    const tools = recipe.tools ?? how.tools?.() ?? [];
    const also = tools.length
      ? `, with ${tools.map((id) => called(id).toLowerCase()).join(", ")}`
      : "";
    const words = `${called(how.makes(recipe))}: ${parts.join(", ")}${also}`;
    const stack = { itemId: how.makes(recipe), quantity: recipe.outputQuantity ?? 1 };
    const note = how.skill ? `level ${needed}` : `${recipe.cost ?? 0} coins`;
    const button = goods(stack, (at) => this.menu.under(at, words, this.can(recipe)), {
      label: words,
      note,
      name: called(how.makes(recipe)),
    });
    button.classList.toggle("kept", tooHigh || !held.includes(recipe));
    return button;
  }

  can(recipe) {
    const { how } = this.shown;
    const most = Math.min(
      ...how.needs(recipe).map(([id, n]) => Math.floor(this.pack.count(id) / n)),
    );
    const numbers = [1, 5, 10].filter((n) => n === 1 || n < most);
    return [
      ...numbers.map((n) => [`${how.title} ${n}`, () => this.make(recipe, n)]),
      [`${how.title} all`, () => this.make(recipe, undefined)],
    ];
  }

  make(recipe, quantity) {
    const { trade, how, target } = this.shown;
    this.pane.hide();
    return this.act("player:action", {
      action: trade,
      option: (how.asks ?? how.makes)(recipe),
      ...(target && { target }),
      ...(quantity && { quantity }),
    });
  }
}
