// One character: where it is, what it has, how it plays; and what a moderator may do about it.
// Always: a button stays where it is while the rest is drawn anew, so that no press of it is lost.

import { el, many, say, words } from "../dom.js";
import { button, chip, choice, confirm, does, field, figure, panel, redraw, span, table, time } from "./parts.js";

const LENGTHS = [
  ["10", "10 minutes"],
  ["60", "an hour"],
  ["1440", "a day"],
  ["10080", "a week"],
  ["", "for ever"],
];

export class Character {
  constructor(desk) {
    this.desk = desk;
    this.name = el("h1", { id: "character-name" }, "Character");
    this.state = el("p", { id: "character-state" });
    this.row = el("div", { class: "row acts", id: "character-acts" });
    this.rest = el("div", { class: "rest" });
    this.root = el("div", { class: "view" }, this.name, this.state, this.row, this.rest);
  }

  async show(id) {
    this.id = id;
    try {
      const whole = await this.desk.api.get(`/admin/players/${id}`);
      const account = whole.account && (await this.desk.api.get(`/admin/users/${whole.account.id}`));
      if (this.id === id) this.draw(whole, account?.sanctions ?? []);
    } catch (error) {
      say(this.name, "Character");
      this.state.replaceChildren();
      redraw(this.row, "none", () => []);
      this.rest.replaceChildren(el("p", { class: "bad" }, error.message));
    }
  }

  draw(whole, sanctions) {
    const { player } = whole;
    this.player = player;
    say(this.name, player.name);
    this.state.replaceChildren(...this.states(whole, sanctions).flat().filter(Boolean));
    const facts = [player.id, player.name, Boolean(whole.account), sanctions.map(({ kind }) => kind)];
    redraw(this.row, facts, () => this.acts(whole, sanctions));
    this.rest.replaceChildren(
      el(
        "div",
        { id: "figures" },
        figure("combat level", player.combatLevel),
        figure("health", player.health),
        figure("coins", many(player.coins)),
        figure("played", span(whole.playedSeconds)),
        figure("logins", many(whole.logins)),
        figure("place", `${player.positionX}, ${player.positionZ}`),
      ),
      el(
        "div",
        { class: "columns" },
        panel("Pack", goods("In the pack", whole.inventory, "Nothing.")),
        panel("Worn", goods("On the body", whole.equipment, "Nothing.")),
        panel("Bank", goods("In the bank", whole.bank, "Nothing.")),
      ),
      panel("Logins", this.logins(whole.sessions)),
    );
  }

  states({ player, account }, sanctions) {
    return [
      player.online ? chip("in the world", "good") : chip("away", "wait"),
      player.isAgent ? chip("agent", "wait") : undefined,
      player.quarantined ? chip("quarantined", "bad") : undefined,
      sanctions.map(({ kind }) => chip(kind === "ban" ? "banned" : "muted", "bad")),
      account ? el("span", { class: "dim" }, ` account ${account.name} `) : undefined,
    ];
  }

  acts({ player, account }, sanctions) {
    const { desk } = this;
    const has = (kind) => sanctions.some((one) => one.kind === kind);
    const acts = [
      button("Follow on the map", () => desk.go("map", player.id)),
      button("Its ledger", () => desk.go("ledger", player.id)),
    ];
    if (!account || !desk.may("moderator")) return acts;
    acts.push(
      button("Kick", () => this.moderate("kick", player), "danger"),
      has("mute") ? button("Unmute", () => this.moderate("unmute", player)) : button("Mute", () => this.moderate("mute", player), "danger"),
      has("ban") ? button("Unban", () => this.moderate("unban", player)) : button("Ban", () => this.moderate("ban", player), "danger"),
    );
    if (desk.may("admin")) acts.push(button("Teleport", () => this.teleport(this.player)));
    return acts;
  }

  async teleport({ name, id, positionX, positionZ }) {
    const coordinate = (words, value) =>
      field(words, { id: `to-${words}`, type: "number", required: true, step: "1", min: "-1000000", max: "1000000", value: String(value) });
    const fields = [coordinate("x", positionX), coordinate("z", positionZ), field("Reason", { id: "reason", maxlength: "200" })];
    const given = await confirm(`Teleport ${name}?`, "The character stands there at once, if it is in the world.", "Teleport now", fields);
    if (!given) return;
    const [x, z, reason] = given;
    const asked = { x: Number(x), z: Number(z), ...(reason && { reason }) };
    await does(`Sent ${name} to ${x}, ${z}.`, () => this.desk.api.ask("POST", `/admin/players/${id}/teleport`, asked));
    this.show(id);
  }

  async moderate(action, { name, id }) {
    const lasts = ["mute", "ban"].includes(action);
    const fields = [field("Reason", { id: "reason", maxlength: "200" }), ...(lasts ? [choice("For", LENGTHS)] : [])];
    const given = await confirm(`${action} ${name}?`.replace(/^./, (c) => c.toUpperCase()), ABOUT[action], `${action} now`.replace(/^./, (c) => c.toUpperCase()), fields);
    if (!given) return;
    const [reason, minutes] = given;
    const asked = { action, name, ...(reason && { reason }), ...(minutes && { minutes: Number(minutes) }) };
    await does(`Done: ${action} ${name}.`, () => this.desk.api.ask("POST", "/admin/moderation", asked));
    this.show(id);
  }

  logins(sessions) {
    const columns = [
      { name: "From", of: ({ loginAt }) => time(loginAt) },
      { name: "To", of: ({ logoutAt }) => time(logoutAt) ?? chip("goes on", "good") },
      { name: "Why it ended", of: ({ reason }) => reason ?? undefined },
      { name: "Gateway", of: ({ gateway }) => (gateway ? el("code", {}, gateway) : "an agent") },
    ];
    return table("The newest logins", columns, sessions.slice(0, 20), "It never was in the world.");
  }
}

const ABOUT = {
  kick: "The player leaves the world and may come back at once.",
  mute: "The account can say nothing until the mute ends.",
  unmute: "The account may speak again.",
  ban: "The account is shut out until the ban ends.",
  unban: "The account may come back.",
};

function goods(caption, stacks, none) {
  const columns = [
    { name: "Item", of: ({ itemId }) => words(itemId) },
    { name: "How many", number: true, of: ({ quantity }) => many(quantity) },
  ];
  return table(caption, columns, stacks.filter(({ quantity }) => quantity), none);
}
