// The skills: how far one has come, what was just gained, and what comes next.
// Always: it shows what the server said last.

import { $, capital, el, many, say } from "./dom.js";
import { Pane } from "./pane.js";

export const SKILLS = [
  "attack",
  "strength",
  "defense",
  "constitution",
  "ranged",
  "magic",
  "prayer",
  "woodcutting",
  "mining",
  "fishing",
  "firemaking",
  "cooking",
  "smithing",
  "agility",
  "crafting",
  "fletching",
  "runecrafting",
];
const LEVEL_MAX = 99;
const SHOWN_MS = 3600;
const TOGETHER_MS = 500;

/** Experience at which a level begins. */
export function begins(level) {
  let points = 0;
  for (let n = 1; n < level; n += 1) points += Math.floor(n + 300 * 2 ** (n / 7));
  return Math.floor(points / 4);
}

export class Skills {
  /** `celebrate(words, more)` tells of a new level. */
  constructor(celebrate) {
    this.celebrate = celebrate;
    this.all = {};
    /** Levels on top of those of experience. */
    this.boosts = {};
    this.gains = new Map();
    this.rows = new Map(SKILLS.map((skill) => [skill, this.row(skill)]));
    $("skills").replaceChildren(...this.rows.values());
    this.pane = new Pane("guide", "Skill");
    this.unlocks = undefined;
  }

  get hears() {
    return { "skill:xp": (data) => this.gained(data) };
  }

  level(skill) {
    return this.all[skill]?.level ?? 1;
  }

  /** `player:sync`. */
  sync(skills) {
    this.all = { ...skills };
    for (const skill of SKILLS) this.draw(skill);
    this.total();
  }

  /** Shows levels on top of those of experience, by skill. */
  raise(boosts) {
    this.boosts = boosts;
    for (const skill of SKILLS) this.draw(skill);
  }

  row(skill) {
    const button = el(
      "button",
      { onclick: () => this.guide(skill) },
      el("span", {}, capital(skill)),
      el("b", {}),
      el("i", { "aria-hidden": "true" }),
    );
    return el("li", {}, button);
  }

  gained({ skill, gained, xp, level, leveledUp }) {
    this.all[skill] = { level, xp };
    this.draw(skill);
    this.total();
    if (gained > 0) this.float(skill, gained);
    if (leveledUp) {
      this.rows.get(skill)?.classList.add("risen");
      this.celebrate(`${capital(skill)} ${level}`, `You have reached level ${level} in ${skill}.`);
    }
  }

  draw(skill) {
    const row = this.rows.get(skill);
    if (!row) return;
    const { level = 1, xp = 0 } = this.all[skill] ?? {};
    const [name, number, bar] = row.firstChild.children;
    const boost = this.boosts[skill] ?? 0;
    say(number, level + boost);
    number.classList.toggle("boosted", boost > 0);
    const [from, to] = [begins(level), begins(level + 1)];
    const top = level >= LEVEL_MAX;
    const share = top ? 1 : Math.min(1, Math.max(0, (xp - from) / (to - from)));
    bar.style.transform = `scaleX(${share.toFixed(3)})`;
    const left = top ? "as far as it goes" : `${many(Math.ceil(to - xp))} to level ${level + 1}`;
    const raised = boost ? `, raised by ${boost}` : "";
    const words = `${many(xp)} experience, ${left}${raised}`;
    row.firstChild.dataset.tip = `${name.textContent} ${level}\n${words}`;
    row.firstChild.setAttribute("aria-label", `${name.textContent}, level ${level}, ${words}`);
  }

  total() {
    const sum = Object.values(this.all).reduce((sum, { level }) => sum + level, 0);
    say($("skills-total"), sum ? `${sum} levels in all` : "");
  }

  /** What was gained rises for a moment; what comes together is told together. */
  float(skill, gained) {
    const now = performance.now();
    const known = this.gains.get(skill);
    const fresh = known && now - known.at < TOGETHER_MS;
    if (fresh) {
      known.sum += gained;
      say(known.row, `+${known.sum.toFixed(known.sum % 1 ? 1 : 0)} ${skill}`);
      return;
    }
    const row = el("div", {}, `+${gained.toFixed(gained % 1 ? 1 : 0)} ${skill}`);
    this.gains.set(skill, { sum: gained, at: now, row });
    $("gains").append(row);
    while ($("gains").children.length > 5) $("gains").firstChild.remove();
    setTimeout(() => row.remove(), SHOWN_MS);
  }

  /** What a skill opens, level by level. */
  async guide(skill) {
    this.rows.get(skill)?.classList.remove("risen");
    const level = this.level(skill);
    const xp = this.all[skill]?.xp ?? 0;
    this.pane.name(`${capital(skill)} ${level}`, `${many(xp)} experience`);
    this.pane.body.replaceChildren(el("p", {}, "Looking it up …"));
    this.pane.show();
    const list = (await this.lookUp())?.[skill] ?? [];
    const rows = list.map((unlock) =>
      el(
        "li",
        { class: unlock.level <= level ? "had" : "" },
        el("b", {}, String(unlock.level)),
        el("span", {}, unlock.description),
      ),
    );
    this.pane.body.replaceChildren(
      rows.length ? el("ul", { class: "unlocks" }, rows) : el("p", {}, "Nothing is written of it."),
    );
  }

  /** Asked for once; again only where that failed. */
  async lookUp() {
    if (this.unlocks) return this.unlocks;
    try {
      const answer = await fetch("/api/data/skill-unlocks");
      if (answer.ok) this.unlocks = await answer.json();
    } catch {
      /* told as nothing known */
    }
    return this.unlocks;
  }
}
