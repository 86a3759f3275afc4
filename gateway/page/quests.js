// Quests: which there are, how far one is, and all about one of them.
// Always: it shows what the server said last.

import { $, capital, el, many, say, words } from "./dom.js";
import { lore } from "./lore.js";
import { Pane } from "./pane.js";
import { called, counted } from "./things.js";

const ORDER = ["ready_to_complete", "in_progress", "not_started", "completed"];
const STATES = {
  ready_to_complete: "All done: go and tell",
  in_progress: "Begun",
  not_started: "Not begun",
  completed: "Over",
};

export class Quests {
  /** `act(event, data)` asks; `celebrate(words, more)` tells of one that is over. */
  constructor({ act, tell, celebrate, mark, level }) {
    Object.assign(this, { act, tell, celebrate, mark, level });
    this.known = [];
    /** Whom to talk to, by the kind of NPC: "!" for a quest, "?" for its end. */
    this.signs = new Map();
    this.all = new Map();
    this.points = 0;
    this.detail = undefined;
    this.pane = new Pane("quest", "Quest");
    this.learn();
  }

  async learn() {
    this.known = Object.values(await lore("quests")).filter((quest) => quest?.startNpc);
    this.draw();
  }

  get hears() {
    return {
      "quest:list": (data) => this.list(data),
      "quest:detail": (data) => this.show(data),
      "quest:update": (data) => this.update(data),
      "quest:completed": (data) => this.completed(data),
    };
  }

  /** `player:sync`. */
  sync(quests) {
    this.all = new Map((quests ?? []).map((quest) => [quest.id, quest]));
    this.draw();
  }

  status(id) {
    return this.all.get(id)?.status ?? "not_started";
  }

  sign() {
    this.signs.clear();
    for (const { id, startNpc, requirements } of this.known) {
      const status = this.status(id);
      const { quests = [], skills = {} } = requirements ?? {};
      const may =
        quests.every((one) => this.status(one) === "completed") &&
        Object.entries(skills).every(([skill, level]) => this.level(skill) >= level);
      if (status === "ready_to_complete") this.signs.set(startNpc, "?");
      else if (status === "not_started" && may && !this.signs.has(startNpc))
        this.signs.set(startNpc, "!");
    }
  }

  look() {
    this.act("quest:list", {});
  }

  list({ quests, questPoints }) {
    this.all = new Map(quests.map((quest) => [quest.id, quest]));
    this.points = questPoints;
    this.draw();
  }

  update(data) {
    const known = this.all.get(data.questId);
    const before = known?.status;
    this.all.set(data.questId, {
      ...known,
      id: data.questId,
      name: data.name,
      status: data.status,
      now: data.description,
    });
    this.points = data.questPoints;
    this.draw();
    this.mark();
    if (before !== data.status && data.status === "in_progress") this.tell(`Begun: ${data.name}.`);
    else if (data.status !== "completed" && data.description)
      this.tell(`${data.name}: ${data.description}`);
    if (this.pane.shown && this.detail?.id === data.questId) {
      this.refreshed = data.questId;
      this.act("quest:detail", { questId: data.questId });
    }
  }

  completed({ name, rewards }) {
    this.celebrate(`${name}: done`, rewarded(rewards).join(", "));
  }

  draw() {
    this.sign();
    const all = new Map(
      this.known.map(({ id, name }) => [id, { id, name, status: "not_started" }]),
    );
    for (const [id, quest] of this.all) all.set(id, { ...all.get(id), ...quest });
    const quests = [...all.values()].filter((quest) => quest.name);
    quests.sort(
      (a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || (a.name < b.name ? -1 : 1),
    );
    const over = quests.filter((quest) => quest.status === "completed").length;
    say($("quest-points"), `${over} of ${quests.length} over, ${many(this.points)} points`);
    const rows = quests.map((quest) =>
      el(
        "li",
        {},
        el(
          "button",
          {
            class: quest.status,
            onclick: () => this.act("quest:detail", { questId: quest.id }),
          },
          el("span", {}, quest.name),
          el("small", {}, quest.now || STATES[quest.status]),
        ),
      ),
    );
    $("quest-list").replaceChildren(...rows);
  }

  show(data) {
    const again = this.refreshed === data.id;
    this.refreshed = undefined;
    // Asked for because it was looked at, and closed in the meantime.
    if (again && !this.pane.shown && !data.offered) return;
    this.detail = data;
    this.pane.name(data.name, `${data.difficulty}, ${STATES[data.status].toLowerCase()}`);
    const at = data.stages.findIndex((stage) => stage.id === data.currentStage);
    const done = ["completed", "ready_to_complete"].includes(data.status);
    const stages = data.stages.map((stage, n) => {
      const state = done || (at >= 0 && n < at) ? "had" : n === at ? "now" : "";
      const had = data.stageProgress?.[stage.id] ?? 0;
      const count = stage.count > 1 && n === at ? ` (${had} of ${stage.count})` : "";
      return el("li", { class: state }, stage.description + count);
    });
    const needs = required(data.requirements ?? {}, this.all);
    const gives = rewarded(data.rewards ?? {});
    this.pane.body.replaceChildren(
      el("p", {}, data.description),
      data.startNpcName ? el("p", { class: "dim" }, `${data.startNpcName} knows more.`) : "",
      el("ol", { class: "stages" }, stages),
      needs.length ? el("p", {}, el("b", {}, "It takes "), needs.join(", "), ".") : "",
      gives.length ? el("p", {}, el("b", {}, "It gives "), gives.join(", "), ".") : "",
    );
    this.pane.foot.replaceChildren(...this.deeds(data));
    this.pane.show();
  }

  deeds(data) {
    const ask = (event) => async () => {
      if (await this.act(event, { questId: data.id })) this.pane.hide();
    };
    if (data.offered && data.status === "not_started")
      return [
        el("button", { class: "main", onclick: ask("quest:accept") }, "I'll do it"),
        el("button", { onclick: () => this.pane.hide() }, "Not now"),
      ];
    if (data.status === "in_progress")
      return [el("button", { onclick: ask("quest:abandon") }, "Give it up")];
    return [];
  }
}

function required({ quests = [], skills = {}, items = [] }, all) {
  return [
    ...quests.map((id) => `“${all.get(id)?.name ?? capital(words(id))}” done`),
    ...Object.entries(skills).map(([skill, level]) => `${skill} ${level}`),
    ...items.map((id) => called(id).toLowerCase()),
  ];
}

function rewarded({ questPoints = 0, items = [], xp = {} }) {
  return [
    ...(questPoints ? [`${questPoints} quest point${questPoints > 1 ? "s" : ""}`] : []),
    ...items.map((item) => counted(item.itemId, item.quantity)),
    ...Object.entries(xp).map(([skill, n]) => `${many(n)} ${skill} experience`),
  ];
}
