// The step of the quest that is followed, always in sight: what to do, how, and how much of it is
// done. A quest of welcome can be skipped from here. Always: it shows what the server said last.

import { $, el, reveal, say } from "./dom.js";
import { pressing } from "./refill.js";
import { called } from "./things.js";

export class Tracker {
  /** `game`: act, tell, quests, pack. */
  constructor({ act, tell, quests, pack }) {
    Object.assign(this, { act, tell, quests, pack });
    this.box = $("tracker");
    this.title = el("button", { class: "title", title: "All about it", onclick: () => this.open() });
    this.skip = el("button", { class: "skip", onclick: () => this.leave() }, "Skip");
    this.task = el("p", { class: "task" });
    this.hint = el("p", { class: "hint" });
    this.box.replaceChildren(el("header", {}, this.title, this.skip), this.task, this.hint);
    this.step = undefined;
  }

  clear() {
    reveal(this.box, false);
    this.step = undefined;
  }

  open() {
    const { id } = this.quests.current ?? {};
    if (id) this.act("quest:detail", { questId: id });
  }

  async leave() {
    const { id, name } = this.quests.current ?? {};
    if (!id || !(await this.act("quest:abandon", { questId: id }))) return;
    this.tell(`${name}: skipped. You lose nothing; who gave it takes it up again.`);
  }

  /** Called a few times a second. */
  draw(playing) {
    if (pressing()) return;
    const quest = playing ? this.quests.current : undefined;
    reveal(this.box, quest);
    if (!quest) return;
    const step = this.quests.step(quest);
    const state = this.quests.all.get(quest.id);
    const had = state.progress?.[step.id] ?? 0;
    const count = step.count > 1 ? ` (${had} of ${step.count})` : "";
    const told = state.status === "ready_to_complete" && !step.description;
    say(this.title, quest.name);
    say(this.task, told ? "Tell whoever gave it that it is done." : `${step.description}${count}`);
    const { lacks } = this.quests;
    const hint = lacks ? `First you need ${called(lacks).toLowerCase()}.` : (step.hint ?? "");
    say(this.hint, hint);
    reveal(this.hint, hint);
    reveal(this.skip, quest.welcome);
    const now = `${quest.id} ${step.id ?? ""}`;
    if (this.step !== undefined && this.step !== now) this.flash();
    this.step = now;
    this.mark();
  }

  /** Marks the slots of the pack with which the step is done. */
  mark() {
    this.pack.slots.forEach((item, slot) => {
      const on = item !== null && this.quests.isWanted(item.itemId);
      this.pack.buttons[slot].classList.toggle("aim", on);
    });
  }

  /** The step is another one. */
  flash() {
    this.box.classList.remove("new");
    void this.box.offsetWidth;
    this.box.classList.add("new");
  }
}
