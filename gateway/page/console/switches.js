// The switches: the freeze of exchanges, paused regions, quarantine, a word to all; bans and mutes.

import { el } from "../dom.js";
import { spot } from "./live.js";
import { button, chip, confirm, does, field, panel, table, time } from "./parts.js";
import { resume } from "./pausing.js";

export class Switches {
  constructor(desk) {
    this.desk = desk;
    this.frozen = el("div", { id: "freeze" });
    this.paused = el("div", { id: "paused" });
    this.quarantine = el("div", { id: "quarantine" });
    this.sanctions = el("div", { id: "sanctions" });
    this.root = el(
      "div",
      { class: "view" },
      el("h1", {}, "Switches"),
      panel("Exchanges", this.frozen),
      panel("Paused regions", this.paused),
      panel("Quarantine", this.quarantine),
      panel("Bans and mutes", this.sanctions),
      desk.may("moderator") ? panel("A word to all", this.announcer()) : undefined,
    );
  }

  async show() {
    this.drawn = undefined;
    const { api } = this.desk;
    const [held, all] = await Promise.all([
      api.get("/admin/quarantine").catch(() => ({ players: [] })),
      api.get("/admin/moderation").catch(() => ({ sanctions: [] })),
    ]);
    this.drawQuarantine(held.players);
    this.drawSanctions(all.sanctions);
  }

  beat() {
    const { stats, regions } = this.desk.live;
    const paused = [...regions.values()].filter((region) => region.paused);
    const drawn = JSON.stringify([stats.frozen, paused]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.drawFreeze(stats.frozen);
    this.drawPaused(paused);
  }

  drawFreeze(frozen) {
    const words = frozen ? "Nothing that moves items or coins is possible." : "Items and coins move.";
    const act = button(frozen ? "Lift the freeze" : "Freeze exchanges", () => this.freeze(!frozen), frozen ? "main" : "danger");
    this.frozen.replaceChildren(
      el("p", {}, chip(frozen ? "frozen" : "open", frozen ? "bad" : "good"), ` ${words}`),
      this.desk.may("admin") ? act : "",
    );
  }

  async freeze(on) {
    const { api, live } = this.desk;
    const asked = on
      ? await confirm("Freeze exchanges?", "Trades, shops, banks, drops and pick-ups are refused for all players.", "Freeze them")
      : await confirm("Lift the freeze?", "Items and coins move again.", "Lift it");
    if (!asked) return;
    await does(on ? "Exchanges are frozen." : "Exchanges are open.", () => api.ask(on ? "POST" : "DELETE", "/admin/freeze"));
    live.again();
  }

  drawPaused(paused) {
    const columns = [
      { name: "Region", of: spot },
      { name: "Zone", of: ({ zone }) => zone ?? undefined },
      { name: "Faults", number: true, of: ({ faults }) => String(faults) },
    ];
    if (this.desk.may("admin")) columns.push({ name: "Act", of: (region) => button("Resume", () => resume(this.desk, region)) });
    this.paused.replaceChildren(table("An operator pauses a region; one that failed again and again is paused by itself", columns, paused, "No region is paused."));
  }


  drawQuarantine(players) {
    const columns = [{ name: "Character", of: ({ playerId, name }) => el("a", { href: `#character/${playerId}` }, name) }];
    if (this.desk.may("admin")) columns.push({ name: "Act", of: (held) => button("Release", () => this.release(held)) });
    this.quarantine.replaceChildren(table("Kept out of the world because what is stored of them is wrong", columns, players, "Nobody is in quarantine."));
  }

  async release({ playerId, name }) {
    if (!(await confirm(`Release ${name}?`, "The character may play again.", "Release"))) return;
    await does(`${name} may play again.`, () => this.desk.api.ask("DELETE", `/admin/quarantine/${playerId}`));
    this.show();
  }

  drawSanctions(sanctions) {
    const columns = [
      { name: "Kind", of: ({ kind }) => chip(kind, kind === "ban" ? "bad" : "wait") },
      { name: "Account", of: ({ accountId }) => el("code", {}, accountId) },
      { name: "Reason", of: ({ reason }) => reason || undefined },
      { name: "Until", of: ({ until }) => time(until) ?? "for ever" },
      { name: "By", of: ({ by }) => el("code", {}, by) },
    ];
    if (this.desk.may("moderator")) columns.push({ name: "Act", of: (one) => button("End it", () => this.end(one)) });
    this.sanctions.replaceChildren(table("In force", columns, sanctions, "Nobody is banned or muted."));
  }

  async end({ kind, accountId }) {
    if (!(await confirm(`End the ${kind}?`, `Of the account ${accountId}.`, "End it"))) return;
    const action = kind === "ban" ? "unban" : "unmute";
    await does(`The ${kind} has ended.`, () => this.desk.api.ask("POST", "/admin/moderation", { action, accountId }));
    this.show();
  }

  announcer() {
    const line = field("What all players read", { id: "announce", maxlength: "200", required: true });
    const form = el("form", { class: "fields" }, line.label, el("button", { type: "submit", class: "main" }, "Announce"));
    form.onsubmit = async (event) => {
      event.preventDefault();
      const asked = { action: "announce", reason: line.input.value.trim() };
      if (await does("It was announced.", () => this.desk.api.ask("POST", "/admin/moderation", asked))) line.input.value = "";
    };
    return form;
  }
}
