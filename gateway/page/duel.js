// A duel: its rules, what is staked, once more in words, then the count down and the fight.
// Always: it shows what the server said last; whatever changes is seen to change, and nobody can
// agree in the same moment to something that was just changed.

import { howMany } from "./amount.js";
import { $, capital, el, many, words } from "./dom.js";
import { goods } from "./goods.js";
import { Pane } from "./pane.js";
import { refill } from "./refill.js";
import { counted, tradeable, value } from "./things.js";

const RULES = {
  noRanged: "No bows",
  noMelee: "No blades",
  noMagic: "No magic",
  noSpecialAttack: "No special attacks",
  noPrayer: "No prayers",
  noPotions: "No potions",
  noFood: "No food",
  noForfeit: "No giving up",
  noMovement: "No walking",
  funWeapons: "Silly weapons",
};
const PLACES = [
  "head",
  "cape",
  "amulet",
  "weapon",
  "body",
  "shield",
  "legs",
  "gloves",
  "boots",
  "ring",
  "ammo",
];
/** What is agreed to in which state. */
const AGREES = {
  RULES: "duel:accept:rules",
  STAKES: "duel:accept:stakes",
  CONFIRMING: "duel:accept:final",
};
const PAUSE_MS = 1500;

export class Duel {
  /** `game`: act, tell, menu, ask, settled, banner(words, more). */
  constructor(game) {
    Object.assign(this, game);
    this.duel = undefined;
    this.pane = new Pane("duel", "Duel", { leave: () => this.cancel() });
    this.word = el("p", { class: "word", role: "status" });
    this.screen = el("div", {});
    this.pane.body.append(this.screen, this.word);
    this.agree = el("button", { class: "main", onclick: () => this.accept() }, "Agree");
    this.pane.foot.append(
      this.agree,
      el("button", { onclick: () => this.cancel() }, "Call it off"),
    );
    $("forfeit").onclick = () => this.forfeit();
  }

  get hears() {
    return {
      duelChallengeSent: (data) => this.tell(`You challenge ${data.targetPlayerName}.`),
      duelChallengeIncoming: (data) => this.incoming(data),
      duelChallengeDeclined: (data) => this.declined(data),
      duelSessionStarted: (data) => this.started(data),
      duelRulesUpdated: (data) => this.updated(data),
      duelEquipmentUpdated: (data) => this.updated(data),
      duelStakesUpdated: (data) => this.updated(data),
      duelAcceptanceUpdated: (data) => this.updated(data, false),
      duelStateChanged: (data) => this.updated(data),
      duelCountdownStart: () => this.pane.hide(),
      duelCountdownTick: (data) => this.counts(data),
      duelFightStart: (data) => this.fights(data),
      duelOpponentDisconnected: () =>
        this.tell("Your opponent has lost the connection.", "warning"),
      duelOpponentReconnected: () => this.tell("Your opponent is back."),
      duelCompleted: (data) => this.completed(data),
      duelCancelled: (data) => this.cancelled(data),
    };
  }

  get open() {
    return this.pane.shown;
  }

  request(player) {
    return this.act("duel:challenge", { targetPlayerId: player.id });
  }

  incoming({ challengeId, fromPlayerName, fromPlayerLevel }) {
    const answer = (accept) => () => this.act("duel:challenge:respond", { challengeId, accept });
    this.ask(
      challengeId,
      `${fromPlayerName} (level ${fromPlayerLevel}) challenges you to a duel.`,
      [
        ["Take it", answer(true)],
        ["No, thank you", answer(false)],
      ],
    );
  }

  declined({ challengeId }) {
    this.settled(challengeId);
    this.tell("The challenge was declined.", "warning");
  }

  started(data) {
    this.settled(data.challengeId);
    this.duel = {
      rules: {},
      equipmentRestrictions: {},
      challengerStakes: [],
      targetStakes: [],
      state: "RULES",
      ...data,
    };
    this.draw();
    this.pane.show();
  }

  /** Whatever is told of it takes the place of what was known. */
  updated(data, changes = true) {
    if (!this.ours(data)) return;
    const { duel } = this;
    const state = duel.state;
    for (const [name, value] of Object.entries(data)) if (value !== undefined) duel[name] = value;
    if (data.movedToStakes) duel.state = "STAKES";
    if (data.movedToConfirm) duel.state = "CONFIRMING";
    if (duel.state !== state) duel.challengerAccepted = duel.targetAccepted = false;
    if (changes && data.modifiedBy !== this.me.id) this.pause();
    if (AGREES[duel.state]) {
      this.draw();
      this.pane.show(false);
    } else this.pane.hide();
    $("forfeit").hidden = duel.state !== "FIGHTING" || duel.rules.noForfeit === true;
  }

  pause() {
    this.paused = performance.now() + PAUSE_MS;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.duel && this.draw(), PAUSE_MS);
  }

  counts({ count }) {
    this.pane.hide();
    this.banner(count > 0 ? String(count) : "Fight!", "");
  }

  fights(data) {
    if (!this.duel) return;
    Object.assign(this.duel, data, { state: "FIGHTING" });
    this.pane.hide();
    $("forfeit").hidden = this.duel.rules.noForfeit === true;
  }

  completed(data) {
    const got = (data.itemsReceived ?? []).map((item) => counted(item.itemId, item.quantity));
    const lost = (data.itemsLost ?? []).map((item) => counted(item.itemId, item.quantity));
    const more = data.won
      ? `You have beaten ${data.opponentName}.${got.length ? ` You get ${got.join(", ")}.` : ""}`
      : `${data.opponentName} was better.${lost.length ? ` You lose ${lost.join(", ")}.` : ""}`;
    this.banner(data.won ? "Won" : "Lost", more);
    this.end();
  }

  cancelled({ reason, message }) {
    if (this.duel)
      this.tell(message ?? `The duel is off: ${words(reason ?? "called off")}.`, "warning");
    this.end();
  }

  end() {
    this.duel = undefined;
    clearTimeout(this.timer);
    this.pane.hide();
    $("forfeit").hidden = true;
  }

  ours(data) {
    return this.duel !== undefined && data.duelId === this.duel.duelId;
  }

  /** Whom one fights, while one does. */
  get foe() {
    return this.duel?.state === "FIGHTING" ? this.duel.opponentId : undefined;
  }

  cancel() {
    if (!this.duel) return this.pane.hide();
    return this.act("duel:cancel", { duelId: this.duel.duelId });
  }

  accept() {
    return this.act(AGREES[this.duel.state], { duelId: this.duel.duelId });
  }

  forfeit() {
    if (!this.duel) return;
    this.menu.under($("forfeit"), "Give up the duel?", [
      ["Yes, give up", () => this.act("duel:forfeit", { duelId: this.duel?.duelId })],
      ["No", () => {}],
    ]);
  }

  get mine() {
    return this.duel.isChallenger ? "challenger" : "target";
  }

  get theirs() {
    return this.duel.isChallenger ? "target" : "challenger";
  }

  draw() {
    const { duel } = this;
    this.pane.name(
      `Duel with ${duel.opponentName}`,
      { RULES: "1 of 3", STAKES: "2 of 3" }[duel.state] ?? "3 of 3",
    );
    const paint = { RULES: () => this.rules(), STAKES: () => this.stakes() }[duel.state];
    refill(this.screen, (paint ?? (() => this.last()))());
    const [me, them] = [duel[`${this.mine}Accepted`], duel[`${this.theirs}Accepted`]];
    const waits = me ? "Waiting for the other one." : them ? `${duel.opponentName} agrees.` : "";
    this.word.textContent = waits;
    this.agree.disabled = Boolean(me) || performance.now() < (this.paused ?? 0);
    this.agree.textContent = duel.state === "CONFIRMING" ? "Yes, fight" : "Agree";
  }

  rules() {
    const { duelId, rules, equipmentRestrictions } = this.duel;
    const box = (on, label, what) =>
      el("button", { "aria-pressed": String(Boolean(on)), onclick: what }, label);
    return [
      el("b", {}, "Rules"),
      el(
        "div",
        { class: "checks" },
        Object.entries(RULES).map(([rule, label]) =>
          box(rules[rule], label, () => this.act("duel:toggle:rule", { duelId, rule })),
        ),
      ),
      el("b", {}, "Not to be worn"),
      el(
        "div",
        { class: "checks" },
        PLACES.map((slot) =>
          box(equipmentRestrictions[slot], capital(slot), () =>
            this.act("duel:toggle:equipment", { duelId, slot }),
          ),
        ),
      ),
    ];
  }

  stakes() {
    const worth = (list) =>
      list.reduce((sum, s) => sum + (s.value ?? value(s.itemId) * s.quantity), 0);
    const side = (title, list, own) =>
      el(
        "section",
        { "aria-label": title },
        el("b", {}, title),
        el("em", {}, `worth ${many(worth(list))}`),
        el(
          "div",
          { class: "grid" },
          list.map((stake, stakeIndex) =>
            goods(stake, own ? () => this.withdraw(stakeIndex) : undefined),
          ),
          list.length ? undefined : el("p", { class: "nothing" }, "Nothing"),
        ),
      );
    const { duel } = this;
    return [
      el(
        "div",
        { class: "sides" },
        side("You stake", duel[`${this.mine}Stakes`], true),
        side("They stake", duel[`${this.theirs}Stakes`], false),
      ),
      el(
        "p",
        { class: "hint" },
        "Choose something in your pack to stake it; it goes to the winner.",
      ),
    ];
  }

  withdraw(stakeIndex) {
    return this.act("duel:remove:stake", { duelId: this.duel.duelId, stakeIndex });
  }

  last() {
    const { duel } = this;
    const listed = (list) => list.map((s) => counted(s.itemId, s.quantity)).join(", ") || "nothing";
    const rules = Object.entries(RULES).filter(([rule]) => duel.rules[rule]);
    const bare = PLACES.filter((slot) => duel.equipmentRestrictions[slot]);
    return [
      el("p", {}, el("b", {}, "You stake "), listed(duel[`${this.mine}Stakes`]), "."),
      el("p", {}, el("b", {}, "They stake "), listed(duel[`${this.theirs}Stakes`]), "."),
      el(
        "p",
        {},
        rules.length ? rules.map(([, label]) => label).join(", ") : "No special rules",
        ".",
      ),
      bare.length ? el("p", {}, `Not to be worn: ${bare.join(", ")}.`) : "",
    ];
  }

  /** What is done with a slot of the pack while stakes are laid. */
  counter(slot, item) {
    if (!this.open || this.duel?.state !== "STAKES") return undefined;
    if (!tradeable(item.itemId)) return [["It cannot be staked", () => {}]];
    const { duelId } = this.duel;
    return howMany("Stake", item.quantity, (quantity) =>
      this.act("duel:add:stake", { duelId, inventorySlot: slot, quantity }),
    );
  }
}
