// What can be done with what stands, lies or walks in the world; the first of it is what a click
// does. Always: it only asks; whether it can be done is the server's to say.

import { capital, clock, el, say, $ } from "./dom.js";
import { PendingAction } from "./pending.js";
import { recipes } from "./lore.js";
import { called, counted, described } from "./things.js";

const GATHERS = { tree: "Chop", ore: "Mine", rock: "Mine", fishing_spot: "Fish", herb_patch: "Pick" };
const REACH_TRADE = 2;
const REACH_DUEL = 15;

export class Actions {
  /** `game`: act, tell, me, scene, land, pack, trade, duel, make, friends, whisper, walkTo, beside. */
  constructor(game) {
    Object.assign(this, game);
    this.pending = new PendingAction(game);
    this.logs = new Set();
    recipes("firemaking").then((list) => {
      this.logs = new Set(list.map((recipe) => recipe.log));
    });
  }

  request(action, target, more) {
    this.pending.drop();
    return this.act("player:action", { action, ...(target && { target }), ...more });
  }

  open(event, target) {
    this.pending.drop();
    return this.act(event, { target });
  }

  /** `[words, what, detail?]`, the likeliest first; none for what is only walked past. */
  of(thing) {
    const entries = (this[thing.type]?.(thing) ?? []).filter(Boolean);
    if (this.pack.using !== undefined) entries.unshift(this.apply(thing));
    entries.push([`Examine ${thing.name}`, () => this.examine(thing)]);
    return entries;
  }

  /** What a click does, if anything. */
  first(thing) {
    if (this.pack.using !== undefined) return this.apply(thing);
    if (thing.type === "player" && thing.id !== this.duel.foe) return undefined;
    return (this[thing.type]?.(thing) ?? []).find(Boolean);
  }

  apply(thing) {
    const slot = this.pack.using;
    const held = called(this.pack.slots[slot]?.itemId ?? "").toLowerCase();
    return [
      `Use ${held} on ${thing.name}`,
      () => {
        this.pack.layDown();
        this.pending.drop();
        this.act("inventory:use", { slot, target: thing.id });
      },
    ];
  }

  examine(thing) {
    if (thing.type !== "item") return this.request("examine", thing.id);
    const whose =
      thing.owner === undefined
        ? ""
        : thing.owner === this.me.id
          ? " It is yours."
          : " It still belongs to somebody else.";
    return this.tell(described(thing.itemId) + whose);
  }

  player(other) {
    const name = other.name;
    const fair = this.land.area(other.x, other.z)?.pvpEnabled || other.id === this.duel.foe;
    const attack = [`Attack ${name}`, () => this.request("attack", other.id), level(other)];
    const friend = !this.friends.isFriend(other.id);
    return [
      fair && attack,
      [
        `Trade with ${name}`,
        () => this.pending.near(other, REACH_TRADE, () => this.trade.request(other)),
      ],
      [`Follow ${name}`, () => this.request("follow", other.id)],
      [
        `Challenge ${name}`,
        () => this.pending.near(other, REACH_DUEL, () => this.duel.request(other)),
      ],
      !other.agent && [`Write to ${name}`, () => this.whisper(name)],
      friend && [`Befriend ${name}`, () => this.act("friends:request", { name })],
      [`Ignore ${name}`, () => this.act("ignore:add", { name })],
    ];
  }

  npc(npc) {
    const { name, id, service = "" } = npc;
    const attack = [`Attack ${name}`, () => this.request("attack", id), level(npc)];
    const shop = npc.shop || /shop|store/.test(service);
    const talks = npc.category !== "mob" && (!npc.attackable || shop || service);
    return [
      service.includes("bank") && [`Bank with ${name}`, () => this.open("bank:open", id)],
      shop && [`Buy from ${name}`, () => this.open("shop:open", id)],
      talks && [`Talk to ${name}`, () => this.request("talk", id)],
      service.includes("tan") && [`Tan with ${name}`, () => this.make.show("tan", id)],
      npc.attackable && attack,
    ];
  }

  resource(thing) {
    if (thing.depleted) return [];
    const verb = GATHERS[thing.resourceType] ?? "Gather";
    return [[`${verb}: ${thing.name}`, () => this.request("gather", thing.id)]];
  }

  station(place) {
    const { name, id } = place;
    const make = (trade, verb) => [`${verb} at ${name}`, () => this.make.show(trade, id)];
    const craft = (at, verb = "Craft") => [
      `${verb} at ${name}`,
      () => this.make.show("craft", id, (recipe) => recipe.station === at),
    ];
    const kinds = {
      bank: () => [[`Bank at ${name}`, () => this.open("bank:open", id)]],
      furnace: () => [make("smelt", "Smelt"), craft("furnace")],
      anvil: () => [make("smith", "Smith")],
      range: () => [this.cooking(place), craft("range")],
      spinning_wheel: () => [craft("spinning_wheel")],
      cauldron: () => [craft("cauldron", "Brew")],
      well: () => [craft("well", "Fill vials")],
      runecrafting_altar: () => [[`Make runes at ${name}`, () => this.request("runecraft", id)]],
      altar: () => [[`Pray at ${name}`, () => this.request("pray-altar", id)]],
    };
    return kinds[place.stationType]?.() ?? [];
  }

  fire(fire) {
    return [this.cooking(fire)];
  }

  cooking(place) {
    const held = (recipe) => this.pack.count(recipe.raw) > 0;
    return [`Cook at ${place.name}`, () => this.make.show("cook", place.id, held)];
  }

  /** Whoever left it takes it back; to others it is only a grave. */
  grave(grave) {
    const mine = grave.owner === this.me.id;
    return [mine && ["Take back what is yours", () => this.pickUp(grave)]];
  }

  item(item) {
    return [[`Take ${counted(item.itemId, item.quantity)}`, () => this.pickUp(item)]];
  }

  pickUp(item) {
    this.me.target = { x: item.x, z: item.z, since: performance.now(), stay: true };
    return this.request("pickup", item.id);
  }

  /** What else can be done with a slot of the pack. */
  ofSlot(slot, item) {
    if (!this.logs.has(item.itemId)) return [];
    return [["Light", () => this.request("light", undefined, { option: item.itemId })]];
  }

  /** Two things of the pack are put together. */
  async together(slot, other) {
    const ids = [slot, other].map((at) => this.pack.slots[at]?.itemId);
    if (await this.make.of(...ids)) return;
    this.act("inventory:use", { slot, target: other });
  }
}

const level = (who) => {
  const n = who.combatLevel ?? who.level;
  return n === undefined ? undefined : `level ${n}`;
};

/** What is being done just now, beside the bars; and going home by magic. */
export class Doing {
  /** `game`: tell, scene, emotes. */
  constructor({ tell, scene, emotes }) {
    Object.assign(this, { tell, scene, emotes });
    this.box = $("doing");
    this.bar = el("progress", { "aria-label": "Until you are at home" });
    Object.assign(this.bar.style, { width: "7em", accentColor: "var(--gold)" });
    this.seconds = el("span", { "aria-hidden": "true" });
    this.clear();
  }

  get hears() {
    return {
      "activity:update": (data) => this.update(data),
      "home:update": (data) => this.home(data),
    };
  }

  clear() {
    this.work = undefined;
    this.dance = undefined;
    this.arrives = undefined;
    this.ready = 0;
    this.show();
  }

  update({ active, action, option, message }) {
    const what = option ? `: ${called(option).toLowerCase()}` : "";
    this.work = active ? capital(action) + what : undefined;
    this.show();
    if (!active && message) this.tell(message);
  }

  /** When one is at home, if one goes there; and from when one may go again. */
  home({ arrivesTick, readyTick }) {
    this.arrives = arrivesTick;
    this.ready = readyTick;
    if (arrivesTick !== undefined) this.bar.max = Math.max(1, this.scene.until(arrivesTick));
    this.show();
  }

  show() {
    const words = this.arrives === undefined ? (this.work ?? this.dance) : "Going home";
    this.box.hidden = words === undefined;
    const more = this.arrives === undefined ? [] : [this.bar, this.seconds];
    if (words !== undefined)
      this.box.replaceChildren(el("i", { "aria-hidden": "true" }), words, ...more);
    this.draw();
  }

  /** What passes with time; called a few times a second. */
  draw() {
    const dance = this.emotes.words();
    if (dance !== this.dance) {
      this.dance = dance;
      return this.show();
    }
    const rests = this.scene.until(this.ready);
    say($("home"), rests > 0 ? `Home in ${clock(rests)}` : "Go home");
    if (this.arrives === undefined) return;
    const left = Math.max(0, this.scene.until(this.arrives));
    this.bar.value = this.bar.max - left;
    say(this.seconds, `${Math.ceil(left / 1000)} s`);
  }

  /** Whether one may go home now; where one may not, it is said for how long. */
  mayGoHome() {
    const rests = this.scene.until(this.ready);
    if (rests > 0) this.tell(`You may go home again in ${clock(rests)}.`, "warning");
    return rests <= 0;
  }
}
