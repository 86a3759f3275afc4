// Quests: which there are, how far one is, all about one of them, and where its step is done.
// Always: it shows what the server said last; a step that is done is not shown as one to do.

import { $, capital, el, many, say, words } from "./dom.js";
import { areas, lore, recipes } from "./lore.js";
import { Pane } from "./pane.js";
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
const GATHERED = ["woodcutting", "mining", "fishing"];
/** Recipes, what of one is made, and where. */
const MADE = [
  ["cooking", "cooked", () => "range"],
  ["smelting", "output", () => "furnace"],
  ["smithing", "output", () => "anvil"],
  ["crafting", "output", (recipe) => recipe.station],
];
/** What is placed in an area, and what says of which kind it is. */
const PLACED = [
  ["npcs", "id", "npcs"],
  ["mobSpawns", "mobId", "npcs"],
  ["resources", "resourceId", "resources"],
  ["stations", "type", "stations"],
];

export class Quests {
  /** `act(event, data)` asks; `celebrate(words, more)` tells of one that is over. */
  constructor({ act, tell, celebrate, mark, level }) {
    Object.assign(this, { act, tell, celebrate, mark, level });
    this.known = [];
    /** Whom to talk to, by the kind of NPC: "!" for a quest, "?" for its end. */
    this.signs = new Map();
    this.all = new Map();
    /** What the steps under way are about, one goal a quest. */
    this.goals = [];
    this.near = { at: "", ways: [] };
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
    });
    this.points = data.questPoints;
    this.draw();
    this.seek();
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
      needs.length ? el("p", {}, el("b", {}, "It takes "), needs.join(", "), ".") : "",
      gives.length ? el("p", {}, el("b", {}, "It gives "), gives.join(", "), ".") : "",
    );
    this.pane.foot.replaceChildren(...this.actions(data));
    this.pane.show();
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
    const steps = begun.map((quest) => {
      const { status, stage } = this.all.get(quest.id);
      const ready = status === "ready_to_complete";
      return ready ? TELL(quest) : (quest.stages?.find(({ id }) => id === stage) ?? TELL(quest));
    });
    const sought = JSON.stringify(steps);
    if (sought === this.sought) return;
    this.sought = sought;
    const goals = await Promise.all(steps.map((step, n) => goal(step, begun[n].startNpc)));
    // Meanwhile other steps may have begun.
    if (sought !== this.sought) return;
    this.goals = goals;
    this.near = { at: "", ways: [] };
  }

  /** Whether a step under way is about something in sight. */
  isAim(entity) {
    return this.goals.some(
      ({ npcs, resources, items, stations }) =>
        npcs.has(entity.npcId) ||
        resources.has(entity.resourceId) ||
        items.has(entity.itemId) ||
        stations.has(entity.stationType),
    );
  }

  /** Where steps under way lead by their own words. */
  get places() {
    return this.goals.flatMap(({ place }) => place ?? []);
  }

  /** The place of each goal that is nearest to a tile. */
  ways({ x, z }) {
    const at = `${x},${z}`;
    if (this.near.at === at) return this.near.ways;
    const far = (spot) => Math.hypot(spot.x - x, spot.z - z);
    const nearest = (spots) => spots.reduce((a, b) => (a && far(a) <= far(b) ? a : b), undefined);
    const ways = this.goals.map(({ place, spots }) => place ?? nearest(spots)).filter(Boolean);
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

/** What a step is about: kinds of things, where such stand, and the place that it names itself. */
async function goal(step, giver) {
  const kinds = {
    npcs: new Set(),
    resources: new Set(),
    items: new Set(),
    stations: new Set(),
  };
  if (step.type === "dialogue") kinds.npcs.add(step.npcId ?? giver);
  if (step.type === "kill") kinds.npcs.add(step.target);
  if (step.type === "gather") await sources(step.target, kinds);
  if (step.type === "interact") await benches(step.target, kinds);
  const place = step.type === "travel" ? step.location : undefined;
  return { ...kinds, place, spots: await spots(kinds) };
}

/** Where an item comes from: the land, else those who leave it behind or sell it. */
async function sources(item, { npcs, resources, items }) {
  items.add(item);
  for (const name of GATHERED)
    for (const thing of Object.values(await lore(`gathering/${name}`)).flat())
      if (thing.harvestYield?.some((yielded) => yielded.itemId === item)) resources.add(thing.id);
  if (resources.size) return;
  for (const npc of Object.values(await lore("npcs")))
    if (Object.values(npc.drops ?? {}).some((list) => isAmong(list, item))) npcs.add(npc.id);
  const stores = Object.values(await lore("stores")).filter((store) => isAmong(store.items, item));
  const sells = new Set(stores.map((store) => store.id));
  for (const { npcs: people = [] } of await areas())
    for (const one of people) if (sells.has(one.storeId)) npcs.add(one.id);
}

const isAmong = (list, item) => Array.isArray(list) && list.some((one) => one.itemId === item);

/** Where something is made. */
async function benches(item, { stations }) {
  for (const [name, made, where] of MADE)
    for (const recipe of await recipes(name))
      if (recipe[made] === item && where(recipe)) stations.add(where(recipe));
}

/** Where such things were placed, in areas whose things stand where the area lies. */
async function spots(kinds) {
  const found = [];
  for (const area of await areas()) {
    const { minX, maxX, minZ, maxZ } = area.bounds;
    for (const [list, field, kind] of PLACED)
      for (const thing of area[list] ?? []) {
        const { x, z } = thing.position ?? {};
        const inside = x >= minX && x <= maxX && z >= minZ && z <= maxZ;
        if (inside && kinds[kind].has(thing[field])) found.push({ x, z });
      }
  }
  return found;
}
