// The bank: what lies there by tabs, and what can be done with it while it is open.
// Always: it shows what the server said last, never what was only asked for.

import { called, counted, short, thing } from "./things.js";

const $ = (id) => document.getElementById(id);
const TABS = 9;
const PLACES = 480;
const ALL = 2147483647;

export class Bank {
  /** `act(event, data)` asks. */
  constructor(menu, act) {
    this.menu = menu;
    this.act = act;
    this.items = new Map();
    this.tab = 0;
    this.noted = false;
    this.keeps = false;
    $("bank-close").onclick = () => act("bank:close", {});
    $("bank-all").onclick = () => act("bank:depositAll", { tab: this.tab });
    $("bank-worn").onclick = () => act("bank:depositEquipment", { tab: this.tab });
    $("bank-noted").onclick = () => {
      this.noted = !this.noted;
      this.draw();
    };
    $("bank-keep").onclick = () => act("bank:placeholder", { keep: !this.keeps });
    $("bank-tabs").replaceChildren(...Array.from({ length: TABS }, (_, tab) => this.tabButton(tab)));
    this.close();
  }

  get open() {
    return !$("bank").hidden;
  }

  close() {
    this.items.clear();
    $("bank").hidden = true;
  }

  /** `bank:state`. */
  state(data) {
    if (!data.open) return this.close();
    if (data.full) this.items.clear();
    for (const item of data.items ?? []) this.items.set(item.itemId, item);
    for (const id of data.gone ?? []) this.items.delete(id);
    this.keeps = data.placeholders;
    $("bank").hidden = false;
    this.draw();
    return undefined;
  }

  tabButton(tab) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = tab === 0 ? "Main" : tab;
    button.setAttribute("role", "tab");
    button.onclick = () => {
      this.tab = tab;
      this.draw();
    };
    return button;
  }

  draw() {
    [...$("bank-tabs").children].forEach((button, tab) => {
      button.setAttribute("aria-selected", String(tab === this.tab));
    });
    $("bank-noted").setAttribute("aria-pressed", String(this.noted));
    $("bank-keep").setAttribute("aria-pressed", String(this.keeps));
    $("bank-used").textContent = `${this.items.size} of ${PLACES}`;
    const shown = [...this.items.values()].filter((item) => item.tab === this.tab);
    shown.sort((a, b) => a.place - b.place || (a.itemId < b.itemId ? -1 : 1));
    $("bank-items").replaceChildren(...shown.map((item) => this.entry(item)));
  }

  entry(item) {
    const button = document.createElement("button");
    button.type = "button";
    button.classList.toggle("kept", item.quantity === 0);
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 80;
    const c = canvas.getContext("2d");
    c.setTransform(80, 0, 0, 80, 40, 63);
    thing(c, item.itemId);
    const count = document.createElement("span");
    count.textContent = short(item.quantity);
    button.append(canvas, count);
    const words = item.quantity ? counted(item.itemId, item.quantity) : `${called(item.itemId)}: none`;
    button.title = words;
    button.setAttribute("aria-label", words);
    button.onclick = (event) => {
      if (event.shiftKey && item.quantity) return this.take(item, ALL);
      const at = button.getBoundingClientRect();
      return this.menu.open(at.left, at.bottom + 4, words, this.can(item));
    };
    button.oncontextmenu = (event) => {
      event.preventDefault();
      button.onclick(event);
    };
    return button;
  }

  take(item, quantity) {
    return this.act("bank:withdraw", { itemId: item.itemId, quantity, noted: this.noted });
  }

  can(item) {
    const entries = [];
    for (const n of [1, 5, 10].filter((n) => n <= item.quantity))
      entries.push([`Take ${n}`, () => this.take(item, n)]);
    if (item.quantity) entries.push(["Take all", () => this.take(item, ALL)]);
    if (item.quantity && item.itemId === "coins")
      entries.push([
        "All into the pouch",
        () => this.act("bank:coins", { amount: item.quantity, withdraw: true }),
      ]);
    if (!item.quantity)
      entries.push([
        "Free the place",
        () => this.act("bank:placeholder", { release: item.itemId }),
      ]);
    const next = (this.tab + 1) % TABS;
    entries.push([
      next === 0 ? "To the main tab" : `To tab ${next}`,
      () => this.act("bank:tab", { itemId: item.itemId, tab: next }),
    ]);
    return entries;
  }
}
