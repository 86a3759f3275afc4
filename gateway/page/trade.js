// A trade: two offers side by side, then both once more in words, with what they are worth.
// Always: it shows what the server said last; what the other one changes is seen to change, and
// nobody can agree in the same moment to something that was just changed.

import { howMany } from "./amount.js";
import { el, many } from "./dom.js";
import { goods } from "./goods.js";
import { Pane } from "./pane.js";
import { refill } from "./refill.js";
import { counted, tradeable } from "./things.js";

const SLOTS = 28;
const FLASH_MS = 2600;
/** So long after a change of theirs, agreeing waits. */
const PAUSE_MS = 1500;

const REASONS = {
  declined: "They would rather not.",
  timeout: "The trade waited too long.",
  cancelled: "The trade was called off.",
  disconnected: "They have lost the connection. The trade is off.",
  player_died: "One of you died. The trade is off.",
  too_far: "You are too far apart. The trade is off.",
  invalid_items: "Something of the offer was not there any more. The trade is off.",
  server: "This part of the world changed hands. The trade is off.",
};

export class Trade {
  /** `game`: act, tell, menu, ask (a question with two answers). */
  constructor(game) {
    Object.assign(this, game);
    this.trade = undefined;
    this.pane = new Pane("trade", "Trade", { leave: () => this.cancel() });
    this.mine = this.side("You give");
    this.theirs = this.side("You get");
    this.word = el("p", { class: "word", role: "status" });
    this.agree = el("button", { class: "main", onclick: () => this.accept() }, "Agree");
    this.pane.body.append(el("div", { class: "sides" }, this.mine.box, this.theirs.box), this.word);
    this.pane.foot.append(
      this.agree,
      el("button", { onclick: () => this.cancel() }, "Call it off"),
    );
  }

  get hears() {
    return {
      tradeIncoming: (data) => this.incoming(data),
      tradeStarted: (data) => this.started(data),
      tradeUpdated: (data) => this.updated(data),
      tradeConfirmScreen: (data) => this.confirm(data),
      tradeCompleted: (data) => this.completed(data),
      tradeCancelled: (data) => this.cancelled(data),
    };
  }

  get open() {
    return this.pane.shown;
  }

  side(words) {
    const list = el("div", { class: "grid" });
    const state = el("em", {});
    const box = el("section", { "aria-label": words }, el("b", {}, words), state, list);
    return { box, list, state };
  }

  /** Asks somebody; whoever is too far is told so by the server. */
  request(player) {
    this.asked = player.name;
    this.tell(`You ask ${player.name} to trade.`);
    return this.act("tradeRequest", { targetPlayerId: player.id });
  }

  incoming({ tradeId, fromPlayerName, fromPlayerLevel }) {
    const level = fromPlayerLevel === undefined ? "" : ` (level ${fromPlayerLevel})`;
    const answer = (accept) => () => this.act("tradeRequestRespond", { tradeId, accept });
    this.ask(tradeId, `${fromPlayerName}${level} wants to trade with you.`, [
      ["Trade", answer(true)],
      ["No, thank you", answer(false)],
    ]);
  }

  started(data) {
    this.settled(data.tradeId);
    this.trade = { ...data, screen: "offer", mine: none(), theirs: none(), free: undefined };
    this.trade.free = data.partnerFreeSlots;
    this.warning = "";
    this.changed = new Map();
    this.draw();
    this.pane.show();
  }

  updated(data) {
    if (!this.ours(data)) return;
    const back = this.trade.screen === "confirm";
    this.compare(this.trade.theirs.items, data.theirOffer.items);
    Object.assign(this.trade, { screen: "offer", mine: data.myOffer, theirs: data.theirOffer });
    this.trade.free = data.partnerFreeSlots ?? this.trade.free;
    this.trade.values = undefined;
    if (back) this.warning = `Something changed: look at both offers again. ${this.warning}`;
    this.draw();
  }

  /** What is other than before flashes; what became less is said. */
  compare(before, now) {
    const known = new Map(before.map((item) => [item.tradeSlot, item]));
    const less = [];
    let changed = false;
    for (const item of now) {
      const old = known.get(item.tradeSlot);
      known.delete(item.tradeSlot);
      if (old?.itemId === item.itemId && old.quantity === item.quantity) continue;
      changed = true;
      this.changed.set(item.tradeSlot, performance.now());
      if (old && old.itemId !== item.itemId) less.push(counted(old.itemId, old.quantity));
      else if (old && old.quantity > item.quantity)
        less.push(counted(item.itemId, old.quantity - item.quantity));
    }
    for (const [slot, old] of known) {
      changed = true;
      this.changed.set(slot, performance.now());
      less.push(counted(old.itemId, old.quantity));
    }
    if (!changed) return;
    this.pause();
    if (less.length) this.warning = `${this.trade.partnerName} took back ${less.join(", ")}.`;
  }

  pause() {
    this.paused = performance.now() + PAUSE_MS;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.trade && this.draw(), PAUSE_MS);
  }

  confirm(data) {
    if (!this.ours(data)) return;
    this.trade.screen = "confirm";
    this.trade.mine = { items: list(data.myOffer), accepted: data.myOffer.accepted === true };
    this.trade.theirs = {
      items: list(data.theirOffer),
      accepted: data.theirOffer.accepted === true,
    };
    this.trade.values = data.values;
    this.pause();
    this.draw();
  }

  completed(data) {
    this.end(data.tradeId);
    const got = data.receivedItems.map((item) => counted(item.itemId, item.quantity));
    this.tell(got.length ? `You get ${got.join(", ")}.` : "The trade is done.", "good");
  }

  cancelled(data) {
    this.settled(data.tradeId);
    this.end(data.tradeId);
    const who = data.reason === "declined" && this.asked ? `${this.asked}: ` : "";
    this.tell(who + (REASONS[data.reason] ?? data.message ?? "The trade is off."), "warning");
  }

  ours(data) {
    return this.trade !== undefined && data.tradeId === this.trade.tradeId;
  }

  end(tradeId) {
    if (this.trade && tradeId !== undefined && this.trade.tradeId !== tradeId) return;
    this.trade = undefined;
    clearTimeout(this.timer);
    this.pane.hide();
  }

  cancel() {
    if (!this.trade) return this.pane.hide();
    return this.act("tradeCancel", { tradeId: this.trade.tradeId });
  }

  accept() {
    const { tradeId, screen } = this.trade;
    this.warning = "";
    return this.act("tradeAccept", { tradeId, screen });
  }

  draw() {
    const { trade } = this;
    const confirm = trade.screen === "confirm";
    const level = trade.partnerLevel === undefined ? "" : `level ${trade.partnerLevel}`;
    const free = trade.free === undefined ? "" : `, ${trade.free} slots free`;
    this.pane.name(`Trade with ${trade.partnerName}`, level + (confirm ? "" : free));
    this.pane.box.classList.toggle("confirming", confirm);
    this.offer(this.mine, trade.mine, true);
    this.offer(this.theirs, trade.theirs, false);
    this.mine.state.textContent = trade.mine.accepted ? "you have agreed" : "";
    this.theirs.state.textContent = trade.theirs.accepted ? "they have agreed" : "";
    const warnings = [this.warning, this.unfair()].filter(Boolean);
    this.word.replaceChildren(
      ...warnings.map((words) => el("strong", {}, words)),
      this.hint(confirm),
    );
    this.agree.textContent = confirm ? "Yes, swap" : "Agree";
    this.agree.disabled = trade.mine.accepted || performance.now() < (this.paused ?? 0);
  }

  hint(confirm) {
    if (this.trade.mine.accepted) return "Waiting for the other one.";
    if (confirm) {
      const { mine, theirs } = this.trade.values ?? {};
      const worth = mine === undefined ? "" : `Worth ${many(mine)} against ${many(theirs)} coins. `;
      return `${worth}Look once more: what you agree to now changes hands.`;
    }
    return "Choose something in your pack to offer it.";
  }

  unfair() {
    const values = this.trade.values;
    if (!values) return "";
    const less = values.mine - values.theirs;
    return less > 0 && values.theirs * 2 < values.mine
      ? `You give away ${many(less)} more than you get!`
      : "";
  }

  offer(side, { items }, own) {
    const confirm = this.trade.screen === "confirm";
    if (confirm) {
      const rows = items.map((item) => el("li", {}, counted(item.itemId, item.quantity)));
      const nothing = () => el("p", { class: "nothing" }, "Absolutely nothing");
      refill(side.list, [rows.length ? el("ul", {}, rows) : nothing()]);
      return;
    }
    const bySlot = new Map(items.map((item) => [item.tradeSlot, item]));
    const last = Math.max(7, ...bySlot.keys(), ...(own ? [] : this.changed.keys()));
    const cells = Array.from({ length: Math.min(SLOTS, last + 1) }, (_, slot) =>
      this.cell(bySlot.get(slot), slot, own),
    );
    refill(side.list, cells);
  }

  cell(item, slot, own) {
    const flash = !own && performance.now() - (this.changed.get(slot) ?? -Infinity) < FLASH_MS;
    const chosen = own && ((button) => this.menu.under(button, "Offered", this.can(item)));
    const cell = item
      ? goods(item, chosen || undefined)
      : el("div", { class: "goods", "aria-hidden": "true" });
    cell.classList.toggle("flash", flash);
    return cell;
  }

  can(item) {
    const { tradeId } = this.trade;
    const set = (quantity) => () =>
      this.act("tradeAddItem", { tradeId, inventorySlot: item.inventorySlot, quantity });
    const entries = [1, 5, 10, 50]
      .filter((n) => n < item.quantity)
      .map((n) => [`Take back ${n}`, set(item.quantity - n)]);
    entries.push([
      "Take back",
      () => this.act("tradeRemoveItem", { tradeId, tradeSlot: item.tradeSlot }),
    ]);
    return entries;
  }

  /** What is done with a slot of the pack while the trade is open. */
  counter(slot, item) {
    if (!this.open || !this.trade) return undefined;
    if (!tradeable(item.itemId)) return [["It cannot be traded", () => {}]];
    const { tradeId, mine } = this.trade;
    const offered = mine.items.find((known) => known.inventorySlot === slot)?.quantity ?? 0;
    return howMany("Offer", item.quantity - offered, (n) =>
      this.act("tradeAddItem", { tradeId, inventorySlot: slot, quantity: offered + n }),
    );
  }
}

const none = () => ({ items: [], accepted: false });
/** On the second screen an offer may come as its items alone. */
const list = (offer) => (Array.isArray(offer) ? offer : (offer?.items ?? []));
