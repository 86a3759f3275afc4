// The bank: what lies there by tabs, and what can be done with it while it is open.
// Always: it shows what the server said last, never what was only asked for.

import { amounts, howMany, usually } from "./amount.js";
import { el } from "./dom.js";
import { goods, portrait } from "./goods.js";
import { Pane } from "./pane.js";
import { refill } from "./refill.js";
import { setting } from "./settings.js";
import { called, counted } from "./things.js";

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
    this.sought = "";
    /** What is being put elsewhere, and how: `with` or `before` what is chosen next. */
    this.moving = undefined;
    this.pane = new Pane("bank", "Bank", { leave: () => this.leave() });
    this.tabs = Array.from({ length: TABS }, (_, tab) => this.tabButton(tab));
    this.seek = el("input", {
      type: "search",
      placeholder: "Find",
      "aria-label": "Find in the bank",
      maxlength: 30,
      oninput: () => {
        this.sought = this.seek.value.trim().toLowerCase();
        this.draw();
      },
    });
    this.list = el("div", { class: "grid", data: { drop: "bank" } });
    this.pane.body.append(
      el(
        "div",
        { class: "row" },
        el("div", { role: "tablist", class: "tabs" }, this.tabs),
        this.seek,
      ),
      this.list,
    );
    this.pressed = {
      noted: el("button", { onclick: () => this.turn() }, "As notes"),
      keeps: el(
        "button",
        { onclick: () => act("bank:placeholder", { keep: !this.keeps }) },
        "Keep places",
      ),
    };
    this.free = el(
      "button",
      { onclick: () => act("bank:placeholder", { releaseAll: true }) },
      "Free the places",
    );
    this.pane.foot.append(
      amounts(),
      el("button", { onclick: () => act("bank:depositAll", { tab: this.tab }) }, "Bank the pack"),
      el(
        "button",
        { onclick: () => act("bank:depositEquipment", { tab: this.tab }) },
        "Bank what is worn",
      ),
      this.pressed.noted,
      this.pressed.keeps,
      this.free,
    );
  }

  get hears() {
    return { "bank:state": (data) => this.state(data) };
  }

  get open() {
    return this.pane.shown;
  }

  /** Something was dragged here from the pack, or from here to the pack. */
  dropped(slot) {
    if (this.open) this.act("bank:deposit", { slot, quantity: Math.min(usually(), ALL), tab: this.tab });
  }

  dragged(itemId) {
    const item = this.items.get(itemId);
    if (this.open && item) this.take(item, Math.min(usually(), ALL));
  }

  /** The server says that it is closed; where it does not know of it, it is closed here. */
  async leave() {
    if (!(await this.act("bank:close", {}))) this.close();
  }

  close() {
    this.moving = undefined;
    this.items.clear();
    this.pane.hide();
  }

  turn() {
    this.noted = !this.noted;
    this.draw();
  }

  state(data) {
    if (!data.open) return this.close();
    if (data.full) this.items.clear();
    for (const item of data.items ?? []) this.items.set(item.itemId, item);
    for (const id of data.gone ?? []) this.items.delete(id);
    if (this.moving && !this.items.has(this.moving.itemId)) this.moving = undefined;
    this.keeps = data.placeholders;
    this.draw();
    this.pane.show();
    return undefined;
  }

  tabButton(tab) {
    const show = () => {
      this.tab = tab;
      this.draw();
    };
    return el("button", { role: "tab", onclick: show });
  }

  /** A tab shows what lies first in it. */
  drawTab(button, tab) {
    const inside = this.sorted((item) => item.tab === tab && item.quantity > 0);
    const id = inside[0]?.itemId ?? "";
    if (button.dataset.first === id) return;
    button.dataset.first = id;
    const words = tab === 0 ? "Main tab" : `Tab ${tab}`;
    button.setAttribute("aria-label", id ? `${words}, first ${called(id)}` : words);
    button.replaceChildren(...(id ? [portrait(id)] : []), tab === 0 ? "Main" : String(tab));
  }

  /** Those that fit, as they lie. */
  sorted(fits) {
    const shown = [...this.items.values()].filter(fits);
    return shown.sort(
      (a, b) => a.tab - b.tab || a.place - b.place || (a.itemId < b.itemId ? -1 : 1),
    );
  }

  draw() {
    this.tabs.forEach((button, tab) => {
      button.setAttribute("aria-selected", String(tab === this.tab && !this.sought));
      this.drawTab(button, tab);
    });
    for (const name of ["noted", "keeps"])
      this.pressed[name].setAttribute("aria-pressed", String(this[name]));
    this.pane.name("Bank", this.asks() ?? `${this.items.size} of ${PLACES}`);
    const fits = this.sought
      ? (item) => called(item.itemId).toLowerCase().includes(this.sought)
      : (item) => item.tab === this.tab;
    this.free.hidden = ![...this.items.values()].some((item) => item.quantity === 0);
    const shown = this.sorted(fits);
    const nothing = this.sought ? "Nothing of that name." : "Nothing in this tab.";
    const entries = shown.map((item) => this.entry(item));
    refill(this.list, entries.length ? entries : [el("p", {}, nothing)]);
  }

  entry(item) {
    const kept = item.quantity === 0;
    const words = kept ? `${called(item.itemId)}: none` : counted(item.itemId, item.quantity);
    const chosen = (button, event) => {
      if (this.moving) return this.place(item);
      if (event.shiftKey && !kept) return this.take(item, ALL);
      const clicked = event.type === "click" && event.pointerType === "mouse";
      if (clicked && !kept && setting("click") === "act")
        return this.take(item, Math.min(usually(), ALL));
      return this.menu.under(button, words, this.can(item));
    };
    const data = { drag: kept ? "" : `bank ${item.itemId}` };
    const button = goods(item, chosen, { label: words });
    Object.assign(button.dataset, data);
    button.classList.toggle("kept", kept);
    button.classList.toggle("moving", this.moving?.itemId === item.itemId);
    return button;
  }

  /** What is chosen next is what it changes places with, or comes before. */
  pickUp(item, how) {
    this.moving = { itemId: item.itemId, how };
    this.draw();
  }

  asks() {
    if (!this.moving) return undefined;
    const what = called(this.moving.itemId).toLowerCase();
    const how = this.moving.how === "with" ? "changes places with" : "comes before";
    return `${what} ${how} …`;
  }

  place(other) {
    const { itemId, how } = this.moving;
    this.moving = undefined;
    this.draw();
    if (itemId !== other.itemId) this.act("bank:move", { itemId, [how]: other.itemId });
  }

  take(item, quantity) {
    return this.act("bank:withdraw", { itemId: item.itemId, quantity, noted: this.noted });
  }

  can(item) {
    const entries = howMany("Take", item.quantity, (n) => this.take(item, n), { all: ALL });
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
    entries.push(
      ["Change places with …", () => this.pickUp(item, "with")],
      ["Put before …", () => this.pickUp(item, "before")],
      ["To another tab …", () => this.toTab(item)],
    );
    return entries;
  }

  toTab(item) {
    const others = Array.from({ length: TABS }, (_, tab) => tab).filter((tab) => tab !== item.tab);
    const entries = others.map((tab) => [
      tab === 0 ? "To the main tab" : `To tab ${tab}`,
      () => this.act("bank:tab", { itemId: item.itemId, tab }),
    ]);
    this.menu.under(this.tabs[item.tab], called(item.itemId), entries);
  }

  /** What is done with a slot of the pack while the bank is open. */
  counter(slot, item) {
    if (!this.open) return undefined;
    const put = (quantity) => this.act("bank:deposit", { slot, quantity, tab: this.tab });
    const entries = howMany("Bank", item.quantity, put, { all: ALL });
    // Of what does not stack there may be more in other slots: all of them are meant by all.
    if (item.quantity === 1) {
      const both = [["Bank 1", () => put(1)], ["Bank all", () => put(ALL)]];
      if (usually() === Infinity) both.reverse();
      else if (usually() > 1) both.unshift([`Bank ${usually()}`, () => put(usually())]);
      entries.splice(0, 1, ...both);
    }
    return entries;
  }
}
