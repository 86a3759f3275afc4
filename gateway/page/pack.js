// The pack: 28 slots, the pouch, and what can be done with a thing.
// Always: it shows what the server said last, never what was only asked for.

import { howMany } from "./amount.js";
import { $, capital, el, many } from "./dom.js";
import { setting } from "./settings.js";
import { SKILLS } from "./skills.js";
import { called, counted, described, dosesLeft, details, short, teaches, thing, use, wearable } from "./things.js";

const SLOTS = 28;

export class Pack {
  /** `act(event, data)` asks; `tell(words)` says something to the player. */
  constructor(menu, act, tell) {
    this.menu = menu;
    this.act = act;
    this.tell = tell;
    /** Each may say what is done with a slot while it is open: `(slot, item) => entries`. */
    this.counters = [];
    /** Asks to use a slot on a slot; whoever knows how sets it. */
    this.onuse = () => {};
    /** What else can be done with a slot, and who wants to know of changes. */
    this.more = () => [];
    /** Puts an item on the action bar; whoever has one sets it. */
    this.onquick = () => {};
    /** The level in a skill. */
    this.level = () => 1;
    this.onchange = () => {};
    this.slots = new Array(SLOTS).fill(null);
    this.coins = undefined;
    this.moving = undefined;
    this.using = undefined;
    this.buttons = Array.from({ length: SLOTS }, (_, slot) => this.button(slot));
    $("slots").replaceChildren(...this.buttons);
    $("pouch").onclick = () => this.pouch();
    this.draw();
  }

  clear() {
    this.slots = new Array(SLOTS).fill(null);
    this.coins = undefined;
    this.moving = this.using = undefined;
    this.draw();
  }

  /** `player:sync`. */
  all(inventory, coins) {
    this.slots = Array.from({ length: SLOTS }, (_, slot) => inventory[slot] ?? null);
    this.coins = coins;
    this.draw();
  }

  /** `inventory:update`. */
  some(changes) {
    for (const { slot, item } of changes) {
      if (slot === this.using && item?.itemId !== this.slots[slot]?.itemId) this.using = undefined;
      this.slots[slot] = item;
    }
    this.draw();
  }

  /** `coins:update`. */
  purse(coins) {
    this.coins = coins;
    this.draw();
  }

  /** How many of an item there are. */
  count(itemId) {
    return this.slots.reduce((sum, item) => sum + (item?.itemId === itemId ? item.quantity : 0), 0);
  }

  button(slot) {
    const button = el("button", { class: "goods", data: { item: "none", drop: `slot ${slot}` } });
    const canvas = el("canvas", { width: 80, height: 80, "aria-hidden": "true" });
    button.append(canvas, el("span", {}));
    button.onclick = (event) => this.chosen(slot, event);
    button.oncontextmenu = (event) => {
      event.preventDefault();
      this.chosen(slot, event);
    };
    return button;
  }

  draw() {
    this.slots.forEach((item, slot) => this.drawSlot(item, this.buttons[slot], slot));
    $("coins").textContent = this.coins === undefined ? "" : this.coins.toLocaleString("en");
    const used = this.slots.filter(Boolean).length;
    $("pack-used").textContent = `${used} of ${SLOTS}`;
    document.body.classList.toggle("using", this.using !== undefined);
    this.onchange();
  }

  drawSlot(item, button, slot) {
    const [canvas, count] = button.children;
    button.classList.toggle("moving", this.moving === slot || this.using === slot);
    const shown = item ? `${item.itemId} ${item.quantity}` : "";
    if (button.dataset.item === shown) return;
    button.dataset.item = shown;
    button.dataset.drag = item ? `slot ${slot}` : "";
    const words = item ? counted(item.itemId, item.quantity) : "Empty";
    button.setAttribute("aria-label", `Slot ${slot + 1}: ${words}`);
    button.dataset.tip = item ? [words, ...details(item.itemId)].join("\n") : "";
    const several = item && item.quantity > 1;
    count.textContent = several ? short(item.quantity) : item ? dosesLeft(item.itemId) : "";
    const c = canvas.getContext("2d");
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, 80, 80);
    if (!item) return;
    c.setTransform(80, 0, 0, 80, 40, 63);
    thing(c, item.itemId);
  }

  /** It is known now what the things are. */
  anew() {
    for (const button of this.buttons) button.dataset.item = "none";
    this.draw();
  }

  chosen(slot, event) {
    if (this.moving !== undefined) return this.place(slot);
    if (this.using !== undefined) return this.applied(slot);
    const item = this.slots[slot];
    if (!item) return undefined;
    if (event.shiftKey) return this.act("inventory:drop", { slot });
    const clicked = event.type === "click" && event.pointerType === "mouse";
    if (clicked && setting("click") === "act") return this.likeliest(slot);
    this.menu.under(event.currentTarget, counted(item.itemId, item.quantity), this.can(slot));
    return undefined;
  }

  /** Does what one most likely means by a thing; asks where that is not clear. */
  likeliest(slot) {
    const item = this.slots[slot];
    const [[words, what] = []] = item ? this.can(slot) : [];
    if (!words) return undefined;
    if (!words.endsWith("…") && words !== "Examine") return what();
    return this.menu.under(this.buttons[slot], counted(item.itemId, item.quantity), this.can(slot));
  }

  /** What can be done with what lies in a slot. */
  can(slot) {
    const item = this.slots[slot];
    const counter = this.counters.map((at) => at(slot, item)).find(Boolean);
    const entries = counter ?? this.actions(slot, item);
    entries.push(["Examine", () => this.tell(described(item.itemId))]);
    if (item.itemId === "coins" && !counter)
      entries.push(["Put into the pouch", () => this.act("coins:deposit", {})]);
    entries.push(["Move …", () => this.pickUp(slot)]);
    if (counter) return entries;
    entries.push(["On the action bar", () => this.onquick(item.itemId)]);
    if (item.quantity > 1) {
      entries.push(["Drop one", () => this.act("inventory:drop", { slot, quantity: 1 })]);
      entries.push([
        `Drop all ${short(item.quantity)}`,
        () => this.act("inventory:drop", { slot }),
      ]);
    } else entries.push(["Drop", () => this.act("inventory:drop", { slot })]);
    return entries;
  }

  actions(slot, item) {
    const entries = [];
    if (wearable(item.itemId)) entries.push(["Wear", () => this.act("inventory:equip", { slot })]);
    const word = use(item.itemId);
    if (teaches(item.itemId)) entries.push([`${word} …`, () => this.rub(slot, item)]);
    else if (word) entries.push([word, () => this.act("inventory:use", { slot })]);
    entries.push(...this.more(slot, item), ["Use …", () => this.takeUp(slot)]);
    return entries;
  }

  /** A lamp teaches the skill that is chosen, if it still lies there then. */
  rub(slot, item) {
    const gained = `+${many(teaches(item.itemId))}`;
    const entries = SKILLS.map((skill) => [
      `${capital(skill)}, level ${this.level(skill)}`,
      () => {
        if (this.slots[slot]?.itemId === item.itemId)
          this.act("inventory:use", { slot, skill });
      },
      gained,
    ]);
    this.menu.under(this.buttons[slot], `${called(item.itemId)}: learn what?`, entries);
  }

  pickUp(slot) {
    this.moving = slot;
    this.draw();
    this.tell(`Where to with ${called(this.slots[slot].itemId).toLowerCase()}?`);
  }

  place(slot) {
    const from = this.moving;
    this.moving = undefined;
    this.draw();
    if (from !== slot) this.act("inventory:move", { from, to: slot });
  }

  /** The next thing that is chosen, here or in the world, is what it is used on. */
  takeUp(slot) {
    this.using = slot;
    this.draw();
    this.tell(`Use ${called(this.slots[slot].itemId).toLowerCase()} on what?`);
  }

  applied(slot) {
    const from = this.using;
    this.layDown();
    if (from !== slot && this.slots[slot]) this.onuse(from, slot);
  }

  /** Nothing is held out any more; false where nothing was. */
  layDown() {
    if (this.using === undefined && this.moving === undefined) return false;
    this.using = this.moving = undefined;
    this.draw();
    return true;
  }

  pouch() {
    if (!this.coins) return this.tell("The pouch is empty.");
    const at = $("pouch").getBoundingClientRect();
    const most = Math.min(this.coins, 2147483647);
    const entries = howMany("Take out", most, (amount) => this.act("coins:withdraw", { amount }));
    this.menu.open(at.left, at.top - 8 - 34 * (entries.length + 1), "Pouch", entries);
    return undefined;
  }
}
