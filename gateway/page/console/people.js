// Who is in the world, and who has an account here; found by a name.

import { el, many } from "../dom.js";
import { query } from "./api.js";
import { button, chip, field, notice, panel, table, time } from "./parts.js";

const ONLINE_EVERY_MS = 8000;
const PAGE = 50;

export class People {
  constructor(desk) {
    this.desk = desk;
    this.name = field("Name of a character or an account", { id: "people-name", maxlength: "64", type: "search" });
    const form = el("form", { class: "fields", id: "people-form" }, this.name.label, el("button", { type: "submit", class: "main" }, "Search"));
    form.onsubmit = (event) => {
      event.preventDefault();
      this.search();
    };
    this.found = el("div", { id: "found" });
    this.online = el("div", { id: "online" });
    this.pages = el("div", { class: "row" });
    this.page = 1;
    this.root = el("div", { class: "view" }, el("h1", {}, "People"), form, this.found, panel("In the world", this.online, this.pages));
  }

  beat() {
    if (!(Date.now() - this.askedAt < ONLINE_EVERY_MS)) this.readOnline();
  }

  async readOnline() {
    this.askedAt = Date.now();
    const path = query("/admin/sessions", { open: true, page: this.page, limit: PAGE });
    const read = await this.desk.api.get(path).catch((error) => notice(error.message, "bad"));
    if (!read) return;
    const drawn = JSON.stringify(read);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const columns = [
      { name: "Name", of: ({ characterId, name }) => el("a", { href: `#character/${characterId}` }, name) },
      { name: "Since", of: ({ loginAt }) => time(loginAt) },
      { name: "Gateway", of: ({ gateway }) => (gateway ? el("code", {}, gateway) : "an agent") },
      { name: "Account", of: ({ accountId }) => el("code", {}, accountId.slice(-12)) },
    ];
    const { page, total, totalPages } = read.pagination;
    this.online.replaceChildren(table(`${many(total)} in the world, newest first`, columns, read.sessions, "Nobody is in the world."));
    this.pages.replaceChildren(
      ...(page > 1 ? [button("Newer", () => this.turn(page - 1))] : []),
      ...(page < totalPages ? [button("Older", () => this.turn(page + 1))] : []),
    );
  }

  turn(page) {
    this.page = page;
    this.readOnline();
  }

  async search() {
    const name = this.name.input.value.trim();
    if (!name) return;
    const { api } = this.desk;
    try {
      const [character, { users }] = await Promise.all([
        api.get(query("/admin/players", { name })).catch((error) => {
          if (error.status !== 404) throw error;
        }),
        api.get(query("/admin/users", { search: name, limit: PAGE })),
      ]);
      this.draw(name, character, users);
    } catch (error) {
      notice(error.message, "bad");
    }
  }

  draw(name, character, users) {
    const accounts = [
      { name: "Account", of: (user) => button(user.name, () => this.account(user.id)) },
      { name: "Roles", of: ({ roles }) => (roles.length ? roles.map((role) => chip(role, "wait")) : undefined) },
      { name: "Guest", of: ({ anonymous }) => (anonymous ? "yes" : "no") },
      { name: "Characters", number: true, of: (user) => String(user.characters) },
      { name: "Since", of: ({ createdAt }) => time(createdAt) },
    ];
    this.characters = el("div", { id: "characters-found" });
    if (character) this.list(`A character with the name ${name}`, [character]);
    this.found.replaceChildren(panel("Found", this.characters, table(`Accounts with ${name} in their name`, accounts, users, "No account has it in its name.")));
  }

  list(caption, characters) {
    const columns = [{ name: "Character", of: ({ id, name }) => el("a", { href: `#character/${id}` }, name) }];
    this.characters.replaceChildren(table(caption, columns, characters, "It has no character."));
  }

  async account(id) {
    try {
      const { user, characters } = await this.desk.api.get(`/admin/users/${id}`);
      this.list(`Characters of ${user.name}`, characters);
    } catch (error) {
      notice(error.message, "bad");
    }
  }
}
