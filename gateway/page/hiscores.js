// The best characters by skill.

import { capital, el, many } from "./dom.js";
import { Pane } from "./pane.js";

export class Hiscores {
  constructor(tell) {
    this.tell = tell;
    this.skill = "total";
    this.page = 1;
    this.pane = new Pane("hiscores", "Hiscores");
    this.choice = el("select", { "aria-label": "Skill", onchange: () => this.choose() });
    this.rows = el("tbody", {});
    const heads = ["Rank", "Name", "Level", "Experience"].map((words) => el("th", { scope: "col" }, words));
    this.pane.body.append(this.choice, el("table", {}, el("thead", {}, el("tr", {}, heads)), this.rows));
    this.back = el("button", { onclick: () => this.turn(-1) }, "Better");
    this.on = el("button", { onclick: () => this.turn(1) }, "Further");
    this.pane.foot.append(this.back, this.on);
  }

  open() {
    this.pane.show();
    return this.look();
  }

  choose() {
    this.skill = this.choice.value;
    this.page = 1;
    return this.look();
  }

  turn(by) {
    this.page += by;
    return this.look();
  }

  async look() {
    const asked = `/hiscores/${this.skill}?page=${this.page}`;
    const answer = await fetch(asked).catch(() => undefined);
    if (!answer?.ok) return this.tell("The hiscores cannot be read right now.", "warning");
    return this.draw(await answer.json());
  }

  draw({ skills, rows, pagination }) {
    if (this.choice.children.length !== skills.length + 1) {
      const options = ["total", ...skills].map((skill) => el("option", { value: skill }, capital(skill)));
      this.choice.replaceChildren(...options);
    }
    this.choice.value = this.skill;
    const line = ({ rank, name, level, xp }) =>
      el("tr", {}, [many(rank), name, many(level), many(xp)].map((words) => el("td", {}, words)));
    this.rows.replaceChildren(...rows.map(line));
    if (!rows.length) this.rows.append(el("tr", {}, el("td", { colspan: "4" }, "Nobody yet.")));
    this.back.disabled = this.page <= 1;
    this.on.disabled = this.page >= (pagination.totalPages ?? 1);
  }
}
