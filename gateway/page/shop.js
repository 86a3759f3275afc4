// A shop: what it has and asks for it, and what it gives for what is in the pack.
// Always: it shows what the server said last; prices of the shop are the server's.

import { howMany } from "./amount.js";
import { el, many } from "./dom.js";
import { goods } from "./goods.js";
import { Pane } from "./pane.js";
import { refill } from "./refill.js";
import { called, tradeable, value } from "./things.js";

const MOST = 2147483647;

export class Shop {
  /** `game`: menu, act, pack. */
  constructor(game) {
    Object.assign(this, game);
    this.items = new Map();
    this.coins = 0;
    this.pane = new Pane("shop", "Shop", { leave: () => this.leave() });
    this.list = el("div", { class: "grid wares" });
    this.hint = el("p", { class: "hint" });
    this.pane.body.append(this.list);
    this.pane.foot.append(this.hint);
  }

  get hears() {
    return { "shop:state": (data) => this.state(data) };
  }

  get open() {
    return this.pane.shown;
  }

  /** The server says that it is closed; where it does not know of it, it is closed here. */
  async leave() {
    if (!(await this.act("shop:close", {}))) this.close();
  }

  close() {
    this.items.clear();
    this.pane.hide();
  }

  state(data) {
    if (!data.open) return this.close();
    this.items = new Map(data.items.map((item) => [item.itemId, item]));
    this.title = data.name;
    this.buys = data.buys;
    this.percent = data.paysPercent;
    this.draw();
    this.pane.show();
    return undefined;
  }

  /** The pouch is what one pays from. */
  purse(coins) {
    this.coins = coins ?? 0;
    if (this.open) this.draw();
  }

  draw() {
    this.pane.name(this.title, `${many(this.coins)} coins in your pouch`);
    const hint = this.buys
      ? "Choose something of theirs to buy it, something in your pack to sell it."
      : "They sell, and do not buy.";
    this.hint.textContent = hint;
    const entries = [...this.items.values()].map((item) => this.entry(item));
    refill(this.list, entries.length ? entries : [el("p", {}, "The shelves are empty.")]);
  }

  entry(item) {
    const stock = left(item);
    const none = stock === 0;
    const words = titled(item);
    const has = stock === undefined ? "as many as you like" : `${many(stock)} left`;
    const stack = { itemId: item.itemId, quantity: stock ?? 1 };
    const chosen = (button) => this.asked(button, item.itemId);
    const button = goods(stack, chosen, {
      label: `${words}, ${has}`,
      note: `${many(item.price)} coins`,
      name: called(item.itemId),
    });
    button.classList.toggle("kept", none);
    button.classList.toggle("dear", item.price > this.coins);
    return button;
  }

  /** What can be bought of an item, at its price by now. */
  asked(button, itemId) {
    const item = this.items.get(itemId);
    if (item) this.menu.under(button, titled(item), this.can(item));
  }

  can(item) {
    const price = Math.max(1, item.price);
    const most = Math.min(left(item) ?? MOST, Math.max(1, Math.floor(this.coins / price)));
    const buy = (quantity) => this.act("shop:buy", { itemId: item.itemId, quantity });
    const detail = (n) => `${many(price * n)}${price * n > this.coins ? ", too dear" : ""}`;
    if (most <= 1) return most === 1 ? [["Buy 1", () => buy(1), detail(1)]] : [];
    return howMany("Buy", most, buy, { detail });
  }

  /** What is done with a slot of the pack while the shop is open. */
  counter(slot, item) {
    if (!this.open || !this.buys) return undefined;
    if (item.itemId === "coins" || !tradeable(item.itemId) || !value(item.itemId))
      return [["They do not buy that", () => {}]];
    // Of what does not stack there may be more in other slots: all of them are meant by all.
    const sum = this.pack.count(item.itemId);
    const sell = (quantity) => this.act("shop:sell", { slot, quantity });
    return howMany("Sell", sum, sell, { detail: (n) => `about ${many(this.gives(item, n))}` });
  }

  /** What they give for so many, as far as it is known here. */
  gives(item, quantity) {
    return (value(item.itemId) * quantity * this.percent) / 100;
  }
}

const titled = (item) => `${called(item.itemId)}, ${many(item.price)} coins`;

/** How many there are; undefined where there is no end to them. */
const left = (item) => item.stock ?? undefined;
