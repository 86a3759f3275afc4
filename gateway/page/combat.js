// How one fights: the style, whether one strikes back, and the spell that is cast by itself.
// Always: it shows what the server said last; which styles a weapon has is told.

import { $, capital, el, say } from "./dom.js";
import { lore } from "./lore.js";
import { refill } from "./refill.js";
import { called } from "./things.js";

const TRAINS = {
  accurate: "hits more often; trains attack",
  aggressive: "hits harder; trains strength",
  defensive: "is hit less; trains defense",
  controlled: "a little of everything",
  rapid: "shoots faster; trains ranged",
  longrange: "shoots farther; trains ranged and defense",
  autocast: "casts the chosen spell",
};
const ARCHERY = { accurate: "hits more often; trains ranged" };

export class Combat {
  /** `game`: act, gear, pack, level(skill). */
  constructor(game) {
    Object.assign(this, game);
    this.style = undefined;
    this.styles = [];
    this.retaliates = undefined;
    this.spell = undefined;
    this.spells = [];
    this.text = "";
    $("retaliate").onclick = () => this.act("combat:retaliate", { on: !this.retaliates });
    this.learn();
  }

  get hears() {
    return { "combat:update": (data) => this.update(data) };
  }

  async learn() {
    const sets = (await lore("combat-spells")).standard ?? {};
    this.spells = Object.values(sets).flat();
    this.spells.sort((a, b) => a.level - b.level);
    this.draw();
  }

  /** `player:sync` and changes; what is not said has not changed. */
  update(data) {
    if (!data) return;
    if (data.style !== undefined) this.style = data.style;
    if (data.styles !== undefined) this.styles = data.styles;
    if (data.retaliate !== undefined) this.retaliates = data.retaliate;
    if (data.spell !== undefined) this.spell = data.spell ?? undefined;
    if (data.combatLevel !== undefined) this.combatLevel = data.combatLevel;
    this.draw();
  }

  get weapon() {
    return this.gear.worn.weapon;
  }

  draw() {
    const { styles } = this;
    const shown = JSON.stringify([
      this.weapon,
      styles,
      this.style,
      this.retaliates,
      this.spell,
      this.spells.length,
      this.level("magic"),
      this.combatLevel,
      this.spells.map((spell) => this.casts(spell)),
    ]);
    if (shown === this.text) return;
    this.text = shown;
    say($("combat-weapon"), this.weapon ? called(this.weapon.itemId) : "Bare hands");
    say($("combat-level"), this.combatLevel ? `combat level ${this.combatLevel}` : "");
    $("retaliate").setAttribute("aria-pressed", String(Boolean(this.retaliates)));
    say($("retaliate"), this.retaliates === false ? "Takes it quietly" : "Strikes back");
    const bow = styles.includes("rapid");
    refill(
      $("style-list"),
      styles.map((style) =>
        this.choice(
          this.style === style,
          capital(style),
          (bow && ARCHERY[style]) || TRAINS[style] || "",
          () => this.act("combat:style", { style }),
        ),
      ),
    );
    const spells = this.spells.map((spell) => this.spellRow(spell));
    if (this.spell)
      spells.unshift(
        this.choice(false, "No spell", "use the weapon again", () =>
          this.act("combat:autocast", { spell: null }),
        ),
      );
    refill($("spell-list"), spells);
  }

  choice(on, name, words, what, extra = "") {
    const button = el(
      "button",
      {
        "aria-pressed": String(on),
        class: extra,
        onclick: what,
        data: { tip: `${name}\n${words}` },
      },
      el("span", {}, name),
      el("small", {}, words),
    );
    return el("li", {}, button);
  }

  spellRow(spell) {
    const runes = (spell.runes ?? []).map((r) => `${r.quantity} ${called(r.runeId).toLowerCase()}`);
    const words = `level ${spell.level}: ${runes.join(", ")}`;
    const cast = () => this.act("combat:autocast", { spell: spell.id });
    const dim = spell.level > this.level("magic") || !this.casts(spell) ? "kept" : "";
    return this.choice(this.spell === spell.id, spell.name, words, cast, dim);
  }

  /** Whether the runes are there, as far as the pack says. */
  casts(spell) {
    return (spell.runes ?? []).every((rune) => this.pack.count(rune.runeId) >= rune.quantity);
  }
}
