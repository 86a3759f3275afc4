// The console: who logs in, which views the account's role has, and the view that is open.
// Always: what the role may not do is not shown; the gateway refuses it all the same.

import { $, el, say } from "../dom.js";
import { Api } from "./api.js";
import { Live } from "./live.js";
import { Overview } from "./overview.js";
import { RegionMap } from "./regionmap.js";
import { People } from "./people.js";
import { Character } from "./character.js";
import { Ledger } from "./ledger.js";
import { Switches } from "./switches.js";
import { Acts } from "./acts.js";
import { Chaos } from "./chaos.js";
import { Content } from "./content.js";

const ROLES = ["viewer", "moderator", "admin"];
const CHAOS = "chaos";
const VIEWS = [
  ["overview", "Overview", Overview],
  ["map", "Map", RegionMap],
  ["people", "People", People],
  ["ledger", "Ledger", Ledger],
  ["switches", "Switches", Switches],
  ["acts", "Acts", Acts],
  ["content", "Content", Content],
  // Only in a world whose processes may be broken.
  [CHAOS, "Chaos", Chaos],
  ["character", undefined, Character],
];

class Desk {
  constructor() {
    this.api = new Api();
    this.live = new Live(this.api);
    this.live.listeners.add(() => this.beat());
    this.api.onend = () => this.leave("Your login has ended.");
    this.views = new Map();
    $("login").onsubmit = (event) => this.enter(event);
    $("login-other").onclick = () => this.other();
    $("logout").onclick = () => this.logOut();
    window.onhashchange = () => this.open();
  }

  may(role) {
    return this.role >= ROLES.indexOf(role);
  }

  go(view, part) {
    location.hash = part ? `${view}/${encodeURIComponent(part)}` : view;
  }

  // --- the door ---

  other() {
    const token = $("login-token").closest("label");
    const to = token.hidden;
    token.hidden = !to;
    for (const id of ["login-name", "login-password"]) {
      $(id).closest("label").hidden = to;
      $(id).required = !to;
    }
    $("login-token").required = to;
    say($("login-other"), to ? "Use a password" : "Use a token");
  }

  async enter(event) {
    event.preventDefault();
    say($("login-word"), "");
    try {
      const token = $("login-token").required
        ? $("login-token").value.trim()
        : await this.passwordToken($("login-name").value.trim(), $("login-password").value);
      this.api.keep(token);
      await this.begin();
    } catch (error) {
      this.leave(error.message);
    }
    $("login-password").value = "";
    $("login-token").value = "";
  }

  async passwordToken(name, password) {
    return (await this.api.ask("POST", "/api/auth/password", { name, password })).token;
  }

  async begin() {
    const { account } = await this.api.get("/api/v1/player");
    this.role = Math.max(-1, ...account.roles.map((role) => ROLES.indexOf(role)));
    if (this.role < 0) throw new Error("This account has no role here.");
    say($("who"), `${account.name} · ${ROLES[this.role]}`);
    this.live.chaos = await this.api.get("/admin/chaos");
    this.known = VIEWS.filter(([id]) => id !== CHAOS || this.live.chaos.on);
    const shown = this.known.filter(([, words]) => words);
    $("nav").replaceChildren(...shown.map(([id, words]) => el("a", { href: `#${id}`, data: { view: id } }, words)));
    document.body.classList.add("in");
    $("entry").hidden = true;
    $("top").hidden = false;
    this.live.start();
    this.open();
  }

  leave(words) {
    this.api.keep(undefined);
    this.live.stop();
    this.view?.hide?.();
    this.view = undefined;
    this.views.clear();
    $("view").replaceChildren();
    document.body.classList.remove("in");
    $("top").hidden = true;
    $("entry").hidden = false;
    say($("login-word"), words);
  }

  async logOut() {
    await this.api.ask("POST", "/api/auth/logout").catch(() => undefined);
    this.leave("");
  }

  // --- views ---

  open() {
    if (!document.body.classList.contains("in")) return;
    const [id, part] = location.hash.slice(1).split("/");
    const found = this.known.find(([name]) => name === id) ?? this.known[0];
    const [name, words, Kind] = found;
    this.view?.hide?.();
    if (!this.views.has(name)) this.views.set(name, new Kind(this));
    this.view = this.views.get(name);
    for (const link of $("nav").children) {
      if (link.dataset.view === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.title = `${words ?? "Character"} - Console - Tilestead`;
    $("view").replaceChildren(this.view.root);
    $("main").scrollTop = 0;
    this.view.show?.(part && decodeURIComponent(part));
    this.beat();
  }

  beat() {
    const { live } = this;
    const state = live.error ? "bad" : live.at ? "good" : "wait";
    $("pulse").dataset.state = state;
    say($("pulse"), live.error ?? (live.stats?.frozen ? "live · frozen" : "live"));
    if (live.at) this.view?.beat?.();
  }
}

const desk = new Desk();
if (desk.api.token) desk.begin().catch((error) => desk.leave(error.message));
