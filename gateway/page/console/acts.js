// What operators did, newest first: who, what, about whom.

import { el, words } from "../dom.js";
import { query } from "./api.js";
import { button, notice, panel, table, time } from "./parts.js";

const PAGE = 50;

/** A detail with its moments, which the record keeps as milliseconds, as dates. */
const moments = (detail) => detail.replace(/\b\d{13}\b/g, (ms) => new Date(Number(ms)).toLocaleString("en-GB"));

export class Acts {
  constructor(desk) {
    this.desk = desk;
    this.rows = [];
    this.list = el("div", { id: "acts" });
    this.more = button("Older acts", () => this.older());
    this.more.hidden = true;
    this.root = el("div", { class: "view" }, el("h1", {}, "Acts"), panel("What operators did", this.list, this.more));
  }

  async show() {
    this.rows = [];
    this.before = undefined;
    await this.older();
  }

  async older() {
    try {
      const path = query("/admin/moderation/log", { before: this.before, limit: PAGE });
      const part = await this.desk.api.get(path);
      this.rows.push(...part.log);
      this.before = part.before ?? undefined;
      this.more.hidden = this.before === undefined;
      this.draw();
    } catch (error) {
      notice(error.message, "bad");
    }
  }

  draw() {
    const columns = [
      { name: "When", of: ({ at }) => time(at) },
      { name: "Operator", of: ({ by }) => el("code", {}, by) },
      { name: "Act", of: ({ action }) => words(action) },
      { name: "Account", of: ({ accountId }) => accountId && el("code", {}, accountId) || undefined },
      {
        name: "Character",
        of: ({ characterId }) => (characterId ? el("a", { href: `#character/${characterId}` }, characterId.slice(-12)) : undefined),
      },
      { name: "Detail", of: ({ detail }) => moments(detail) || undefined },
    ];
    this.list.replaceChildren(table("Each act names the account that did it", columns, this.rows, "Nobody did anything."));
  }
}
