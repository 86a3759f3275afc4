// The pack: 28 slots, the pouch, and the menu of what can be done with a thing.
// Always: it shows what the server said last, never what was only asked for.

import { called, counted, described, short, thing, use, wearable } from "./things.js";

const $ = (id) => document.getElementById(id);
const SLOTS = 28;
const LONG_MS = 450;

/** A menu of `[words, what]` pairs at a place. */
export class Menu {
  constructor() {
    this.box = $("menu");
    this.box.onkeydown = (event) => this.key(event);
    addEventListener("pointerdown", (event) => {
      if (!this.box.contains(event.target)) this.close();
    });
    addEventListener("blur", () => this.close());
  }

  open(x, y, title, entries) {
    this.from = document.activeElement;
    const head = document.createElement("b");
    head.textContent = title;
    const rows = entries.map(([words, what]) => {
      const row = document.createElement("button");
      row.type = "button";
      row.setAttribute("role", "menuitem");
      row.textContent = words;
      row.onclick = () => {
        this.close();
        what();
      };
      return row;
    });
    this.box.replaceChildren(head, ...rows);
    this.box.hidden = false;
    const left = Math.max(8, Math.min(x, innerWidth - this.box.offsetWidth - 8));
    const top = Math.max(8, Math.min(y, innerHeight - this.box.offsetHeight - 8));
    this.box.style.transform = `translate(${left}px, ${top}px)`;
    rows[0]?.focus();
  }

  key(event) {
    event.stopPropagation();
    const rows = [...this.box.querySelectorAll("button")];
    const at = rows.indexOf(document.activeElement);
    if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      this.close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : rows.length - 1;
      rows[(at + step) % rows.length]?.focus();
    }
  }

  close() {
    if (this.box.hidden) return;
    this.box.hidden = true;
    this.from?.focus?.();
  }
}

export class Pack {
  /** `act(event, data)` asks; `tell(words)` says something to the player. */
  constructor(menu, act, tell) {
    this.menu = menu;
    this.act = act;
    this.tell = tell;
    /** Whether the bank is open. */
    this.banking = undefined;
    this.moving = undefined;
    this.clear();
    this.buttons = Array.from({ length: SLOTS }, (_, slot) => this.button(slot));
    $("slots").replaceChildren(...this.buttons);
    $("pack-toggle").onclick = () => this.toggle();
    $("pack-close").onclick = () => this.toggle(false);
    $("pouch").onclick = () => this.pouch();
    this.shown = innerWidth >= 760;
  }

  clear() {
    this.slots = new Array(SLOTS).fill(null);
    this.coins = undefined;
    this.moving = undefined;
    if (this.buttons) this.draw();
  }

  toggle(open = $("pack").hidden) {
    this.shown = open;
    $("pack").hidden = !open;
    $("pack-toggle").setAttribute("aria-expanded", String(open));
    if (!open) $("map").focus();
  }

  phase(playing) {
    $("pack").hidden = !playing || !this.shown;
    $("pack-toggle").setAttribute("aria-expanded", String(!$("pack").hidden));
    if (!playing) this.clear();
  }

  /** `player:sync`. */
  all(inventory, coins) {
    this.slots = Array.from({ length: SLOTS }, (_, slot) => inventory[slot] ?? null);
    this.coins = coins;
    this.draw();
  }

  /** `inventory:update`. */
  some(changes) {
    for (const { slot, item } of changes) this.slots[slot] = item;
    this.draw();
  }

  /** `coins:update`. */
  purse(coins) {
    this.coins = coins;
    this.draw();
  }

  button(slot) {
    const button = document.createElement("button");
    button.type = "button";
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 80;
    button.append(canvas, document.createElement("span"));
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
  }

  drawSlot(item, button, slot) {
    const [canvas, count] = button.children;
    button.classList.toggle("moving", this.moving === slot);
    const words = item ? counted(item.itemId, item.quantity) : "Empty";
    button.setAttribute("aria-label", `Slot ${slot + 1}: ${words}`);
    button.title = item ? words : "";
    count.textContent = item && item.quantity > 1 ? short(item.quantity) : "";
    if (button.dataset.item === (item?.itemId ?? "")) return;
    button.dataset.item = item?.itemId ?? "";
    const c = canvas.getContext("2d");
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, 80, 80);
    if (!item) return;
    c.setTransform(80, 0, 0, 80, 40, 63);
    thing(c, item.itemId);
  }

  chosen(slot, event) {
    if (this.moving !== undefined) return this.place(slot);
    const item = this.slots[slot];
    if (!item) return undefined;
    if (event.shiftKey) return this.act("inventory:drop", { slot });
    const at = event.currentTarget.getBoundingClientRect();
    this.menu.open(at.left, at.bottom + 4, counted(item.itemId, item.quantity), this.can(slot));
    return undefined;
  }

  /** What can be done with what lies in a slot. */
  can(slot) {
    const item = this.slots[slot];
    const entries = [];
    if (this.banking?.()) {
      const bank = (quantity) => () => this.act("bank:deposit", { slot, quantity });
      entries.push(["Bank one", bank(1)], ["Bank all", bank(2147483647)]);
    } else if (wearable(item.itemId))
      entries.push(["Wear", () => this.act("inventory:equip", { slot })]);
    else if (use(item.itemId))
      entries.push([use(item.itemId), () => this.act("inventory:use", { slot })]);
    entries.push(["Examine", () => this.tell(described(item.itemId))]);
    if (item.itemId === "coins")
      entries.push(["Put into the pouch", () => this.act("coins:deposit", {})]);
    entries.push(["Move …", () => this.pickUp(slot)]);
    if (item.quantity > 1) {
      entries.push(["Drop one", () => this.act("inventory:drop", { slot, quantity: 1 })]);
      entries.push([`Drop all ${short(item.quantity)}`, () => this.act("inventory:drop", { slot })]);
    } else entries.push(["Drop", () => this.act("inventory:drop", { slot })]);
    return entries;
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

  pouch() {
    if (!this.coins) return this.tell("The pouch is empty.");
    const at = $("pouch").getBoundingClientRect();
    const amounts = [1, 10, 100, this.coins].filter((n, at, all) => {
      return n <= this.coins && n <= 2147483647 && all.indexOf(n) === at;
    });
    const entries = amounts.map((amount) => [
      amount === this.coins ? `Take out all ${short(amount)}` : `Take out ${amount}`,
      () => this.act("coins:withdraw", { amount }),
    ]);
    this.menu.open(at.left, at.top - 8 - 34 * (entries.length + 1), "Pouch", entries);
    return undefined;
  }
}

/** Calls `what(x, y)` for a finger that rests, and for the other mouse button. */
export function longPress(element, what) {
  let timer;
  let done = false;
  let at;
  const stop = () => clearTimeout(timer);
  element.addEventListener("pointerdown", (event) => {
    stop();
    done = false;
    if (event.pointerType === "mouse" || !event.isPrimary) return;
    at = { x: event.clientX, y: event.clientY };
    timer = setTimeout(() => {
      done = what(at.x, at.y);
    }, LONG_MS);
  });
  element.addEventListener("pointermove", (event) => {
    if (at && Math.hypot(event.clientX - at.x, event.clientY - at.y) > 12) stop();
  });
  for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, stop);
  element.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    if (!done) done = what(event.clientX, event.clientY);
  });
  /** Whether the press that just ended was a long one. */
  return () => done;
}
