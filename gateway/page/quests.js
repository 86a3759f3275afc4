// Quests: which there are, how far one is, all about one of them, and where its step is done (goals.js).
// Always: it shows what the server said last; a step that is done is not shown as one to do.

import { $, capital, el, many, say, words } from "./dom.js";
import { goal, isAbout } from "./goals.js";
import { lore } from "./lore.js";
import { Pane } from "./pane.js";
import { refill } from "./refill.js";
import { called, counted } from "./things.js";

const ORDER = ["ready_to_complete", "in_progress", "not_started", "completed"];
const STATES = {
  ready_to_complete: "All done: go and tell",
  in_progress: "Begun",
  not_started: "Not begun",
  completed: "Over",
};

const UNDER_WAY = new Set(["in_progress", "ready_to_complete"]);
/** What is left of a quest when all is done. */
const TELL = (quest) => ({ type: "dialogue", npcId: quest.startNpc });
export class Quests {
  /** `act(event, data)` asks; `celebrate(words, more)` tells of one that is over. */
  constructor({ act, tell, celebrate, mark, level, pack, combatLevel }) {
    Object.assign(this, { act, tell, celebrate, mark, level, pack, combatLevel });
    this.known = [];
    /** Whom to talk to, by the kind of NPC: "!" for a quest, "?" for its end. */
    this.signs = new Map();
    this.all = new Map();
    /** What the steps under way are about, one goal a quest. */
    this.goals = [];
    /** The same as they are now, and the one that is followed. */
    this.active = [];
    this.aim = undefined;
    this.near = { at: "", ways: [] };
    /** The quest whose step the tracker and the arrow show, if it is under way. */
    this.followed = undefined;
    this.points = 0;
    this.detail = undefined;
    this.pane = new Pane("quest", "Quest");
    this.learn();
  }

  async learn() {
    this.known = Object.values(await lore("quests")).filter((quest) => quest?.startNpc);
    this.draw();
    this.seek();
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
    this.seek();
  }

  status(id) {
    return this.all.get(id)?.status ?? "not_started";
  }

  sign() {
    this.signs.clear();
    const strength = this.combatLevel() ?? 3;
    for (const { id, startNpc, requirements, recommendedLevel = 0 } of this.known) {
      const status = this.status(id);
      const { quests = [], skills = {} } = requirements ?? {};
      // Nobody is called to what would kill them; who asks all the same is told the level.
      const may =
        recommendedLevel <= strength &&
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
    this.all = new Map(quests.map((quest) => [quest.id, { ...this.all.get(quest.id), ...quest }]));
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
      stage: data.stage,
      now: data.description,
      progress: data.progress,
    });
    if (UNDER_WAY.has(data.status)) this.followed = data.questId;
    this.points = data.questPoints;
    this.draw();
    this.seek();
    this.mark();
    // The tracker tells each step that comes after.
    if (before !== data.status && data.status === "in_progress") this.tell(`Begun: ${data.name}.`);
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
    refill($("quest-list"), rows);
  }

  show(data) {
    const again = this.refreshed === data.id;
    this.refreshed = undefined;
    // Asked for because it was looked at, and closed in the meantime.
    if (again && !this.pane.shown && !data.offered) return;
    this.detail = data;
    const level = data.recommendedLevel ? `, from combat level ${data.recommendedLevel}` : "";
    this.pane.name(data.name, `${data.difficulty}${level}, ${STATES[data.status].toLowerCase()}`);
    const at = data.stages.findIndex((stage) => stage.id === data.currentStage);
    const tells = data.status === "ready_to_complete" && !this.isBack(data);
    const done = data.status === "completed" || tells;
    const stages = data.stages.map((stage, n) => {
      const state = done || (at >= 0 && n < at) ? "had" : n === at ? "now" : "";
      const had = data.stageProgress?.[stage.id] ?? 0;
      const count = stage.count > 1 && n === at ? ` (${had} of ${stage.count})` : "";
      return el("li", { class: state }, stage.description + count);
    });
    if (tells) {
      const giver = data.startNpcName || "whoever gave it";
      stages.push(el("li", { class: "now" }, `Tell ${giver} that it is done.`));
    }
    const needs = required(data.requirements ?? {}, this.all);
    const gives = rewarded(data.rewards ?? {});
    this.pane.body.replaceChildren(
      el("p", {}, data.description),
      data.startNpcName ? el("p", { class: "dim" }, `${data.startNpcName} knows more.`) : "",
      el("ol", { class: "stages" }, stages),
      this.warning(data),
      needs.length ? el("p", {}, el("b", {}, "It takes "), needs.join(", "), ".") : "",
      gives.length ? el("p", {}, el("b", {}, "It gives "), gives.join(", "), ".") : "",
    );
    refill(this.pane.foot, this.actions(data));
    this.pane.show();
  }

  /** That a quest is too hard, as long as one may still leave it alone. */
  warning({ recommendedLevel = 0, status }) {
    const strength = this.combatLevel() ?? 3;
    if (recommendedLevel <= strength || status === "completed") return "";
    const words = `Better wait until you are of combat level ${recommendedLevel}; you are of ${strength}.`;
    return el("p", { class: "warning" }, words);
  }

  /** The quest that is followed: the last that went on, else one of welcome, else any. */
  get current() {
    const begun = this.known.filter(({ id }) => UNDER_WAY.has(this.status(id)));
    const first = begun.find(({ welcome }) => welcome) ?? begun[0];
    return begun.find(({ id }) => id === this.followed) ?? first;
  }

  /** The step of a quest that is under way. */
  step(quest) {
    const { status, stage } = this.all.get(quest.id);
    const found = quest.stages?.find(({ id }) => id === stage);
    return status === "ready_to_complete" ? { ...found, ...TELL(quest) } : (found ?? TELL(quest));
  }

  /** Whether its last step is to go back to whoever gave it. */
  isBack({ id }) {
    const quest = this.known.find((known) => known.id === id);
    const last = quest?.stages?.at(-1);
    return last?.type === "dialogue" && [undefined, quest.startNpc].includes(last.npcId);
  }

  /** Finds out what the steps under way are about. */
  async seek() {
    const begun = this.known.filter(({ id }) => UNDER_WAY.has(this.status(id)));
    const steps = begun.map((quest) => this.step(quest));
    const sought = JSON.stringify(steps);
    if (sought === this.sought) return this.refresh();
    this.sought = sought;
    const goals = await Promise.all(steps.map((step, n) => goal(step, begun[n].startNpc)));
    // Meanwhile other steps may have begun.
    if (sought !== this.sought) return undefined;
    this.goals = goals.map((found, n) => ({ ...found, quest: begun[n].id }));
    return this.refresh();
  }

  /** The pack or the goals are others: without what a step is done with, one must get that first. */
  refresh() {
    const now = (goal) => {
      const has = !goal.before || goal.needs.some((item) => this.pack.count(item) > 0);
      return has ? goal : goal.before;
    };
    this.active = this.goals.map(now);
    this.aim = this.active[this.at];
    this.near = { at: "", ways: [] };
  }

  /** Where the goal of the quest that is followed stands among the goals; -1: it has none. */
  get at() {
    const id = this.current?.id;
    return this.goals.findIndex(({ quest }) => quest === id);
  }

  /** What one must get before the step that is followed can be done. */
  get lacks() {
    const goal = this.goals[this.at];
    return goal && this.aim !== goal ? goal.needs[0] : undefined;
  }

  /** Whether a step under way is about something in sight. */
  isAim(entity) {
    return this.active.some((goal) => isAbout(goal, entity));
  }

  /** Whether the step that is followed is done with a thing in the pack. */
  isWanted(itemId) {
    return this.aim?.needs.includes(itemId) ?? false;
  }

  /** Where steps under way lead by their own words. */
  get places() {
    return this.active.flatMap(({ place }) => place ?? []);
  }

  /** The place of each goal that is nearest to a tile. */
  ways({ x, z }) {
    const at = `${x},${z}`;
    if (this.near.at === at) return this.near.ways;
    const far = (spot) => Math.hypot(spot.x - x, spot.z - z);
    const nearest = (spots) => spots.reduce((a, b) => (a && far(a) <= far(b) ? a : b), undefined);
    const ways = this.active.map(({ place, spots }) => place ?? nearest(spots)).filter(Boolean);
    this.near = { at, ways };
    return ways;
  }

  actions(data) {
    const ask = (event) => async () => {
      if (await this.act(event, { questId: data.id })) this.pane.hide();
    };
    if (data.offered && data.status === "not_started")
      return [
        el("button", { class: "main", onclick: ask("quest:accept") }, "I'll do it"),
        el("button", { onclick: () => this.pane.hide() }, "Not now"),
      ];
    const welcome = this.known.find(({ id }) => id === data.id)?.welcome;
    if (data.status === "in_progress" || (welcome && data.status === "ready_to_complete"))
      return [el("button", { onclick: ask("quest:abandon") }, welcome ? "Skip it" : "Give it up")];
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
