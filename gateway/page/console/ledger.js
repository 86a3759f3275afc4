// The ledger: how items and coins came and went, by character, item and day; and whether it adds up.

import { el, many, words } from "../dom.js";
import { query } from "./api.js";
import { audit, compare, sums, verdict } from "./books.js";
import { button, chip, field, panel, table, time } from "./parts.js";

const PAGE = 100;
/** An account may make 100 requests a minute, and the console itself needs half of them. */
const PAGES_MOST = 30;
const SHOWN = 200;
const SALES = new Set(["shop_sell", "trade", "duel"]);

export class Ledger {
  constructor(desk) {
    this.desk = desk;
    this.who = field("Character, by name or id", { id: "ledger-who", maxlength: "64" });
    this.item = field("Item, by id", { id: "ledger-item", maxlength: "64", placeholder: "bronze_sword" });
    this.day = field("Day (UTC)", { id: "ledger-day", type: "date" });
    this.cause = field("Cause", { id: "ledger-cause", maxlength: "32", placeholder: "shop_sell" });
    const form = el(
      "form",
      { class: "fields", id: "ledger-form" },
      [this.who, this.item, this.day, this.cause].map(({ label }) => label),
      el("button", { type: "submit", class: "main" }, "Read the ledger"),
      button("Yesterday", () => this.yesterday()),
    );
    form.onsubmit = (event) => {
      event.preventDefault();
      this.read();
    };
    this.word = el("p", { id: "verdict", role: "status" }, "Name a character or an item.");
    this.result = el("div", { id: "ledger-result" });
    this.root = el("div", { class: "view" }, el("h1", {}, "Ledger"), form, this.word, this.result);
  }

  show(part) {
    if (!part) return;
    this.who.input.value = part;
    this.read();
  }

  yesterday() {
    const at = new Date(Date.now() - 86400000);
    this.day.input.value = at.toISOString().slice(0, 10);
    this.read();
  }

  tell(said, state) {
    this.word.dataset.state = state;
    this.word.textContent = said;
  }

  async read() {
    const number = (this.number = (this.number ?? 0) + 1);
    this.tell("Reading …", "wait");
    this.result.replaceChildren();
    try {
      const playerId = await this.character(this.who.input.value.trim());
      const itemId = this.item.input.value.trim();
      const read = await this.all({ playerId, itemId });
      if (number === this.number) await this.draw(read, playerId);
    } catch (error) {
      if (number === this.number) this.tell(error.message, "bad");
    }
  }

  /** The id of a character that was named by its name or its id. */
  async character(named) {
    if (!named || /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(named)) return named;
    return (await this.desk.api.get(query("/admin/players", { name: named }))).id;
  }

  /** Every row, as far as one may read on. */
  async all(filter) {
    const entries = [];
    const seen = new Set();
    for (let page = 1; page <= PAGES_MOST; page += 1) {
      const part = await this.desk.api.get(query("/admin/audit", { ...filter, page, limit: PAGE }));
      // Rows that came meanwhile push others onto the next page once more.
      const fresh = part.entries.filter(({ id }) => !seen.has(id));
      for (const { id } of fresh) seen.add(id);
      entries.push(...fresh);
      if (page >= part.pagination.totalPages) return { entries, whole: true };
      this.tell(`Reading: ${many(entries.length)} of ${many(part.pagination.total)} rows …`, "wait");
    }
    return { entries, whole: false };
  }

  async draw({ entries, whole }, playerId) {
    const books = audit(entries);
    const [day, cause] = [this.day.input.value, this.cause.input.value.trim()];
    const fits = (row) => (!day || row.at?.startsWith(day)) && (!cause || row.cause === cause);
    const shown = entries.filter(fits);
    const sold = shown.filter((row) => SALES.has(row.cause) && row.delta < 0 && row.itemId !== "coins").length;
    const said = verdict(books, whole, { from: day ? ` on ${day}` : "", sold });
    this.tell(said.words, said.state);
    const parts = [];
    if (books.faults.length) parts.push(panel("What does not add up", this.faults(books.faults)));
    if (playerId && whole) parts.push(panel("By the books, and in the hand", await this.held(books, playerId)));
    parts.push(panel("Sums", this.sums(sums(shown))), panel("Rows", this.rows(shown)));
    this.result.replaceChildren(...parts);
  }

  faults(faults) {
    const columns = [
      { name: "Row", of: ({ row }) => row.id },
      { name: "When", of: ({ row }) => time(row.at) },
      { name: "Item", of: ({ row }) => row.itemId },
      { name: "Fault", of: ({ why }) => why },
    ];
    return table("Rows that do not add up", columns, faults.slice(0, SHOWN));
  }

  async held(books, playerId) {
    const whole = await this.desk.api.get(`/admin/players/${playerId}`);
    const columns = [
      { name: "Item", of: ({ itemId }) => words(itemId) },
      { name: "By the ledger", number: true, of: ({ byBooks }) => many(byBooks) },
      { name: "Holds", number: true, of: ({ found }) => many(found) },
      { name: "Same", of: ({ byBooks, found }) => (byBooks === found ? chip("yes", "good") : chip("no", "bad")) },
    ];
    const only = this.item.input.value.trim();
    const rows = compare(books, whole).filter(({ itemId }) => !only || itemId === only);
    return table("What the ledger says, and what was last written of the character", columns, rows);
  }

  sums(totals) {
    const columns = [
      { name: "Item", of: ({ itemId }) => words(itemId) },
      { name: "Came", number: true, of: ({ came }) => many(came) },
      { name: "Went", number: true, of: ({ went }) => many(went) },
      { name: "Left", number: true, of: ({ came, went }) => signed(came - went) },
      { name: "Rows", number: true, of: ({ rows }) => many(rows) },
    ];
    return table("Sums of these rows", columns, totals);
  }

  rows(rows) {
    const columns = [
      { name: "When", of: ({ at }) => time(at) },
      { name: "Who", of: ({ playerId }) => (playerId ? el("a", { href: `#character/${playerId}` }, playerId.slice(-12)) : "the ground") },
      { name: "Item", of: ({ itemId }) => words(itemId) },
      { name: "Cause", of: ({ cause }) => words(cause) },
      { name: "Change", number: true, of: ({ delta }) => signed(delta) },
      { name: "Row", of: ({ id }) => el("code", {}, id) },
    ];
    const caption = rows.length > SHOWN ? `The newest ${SHOWN} of ${many(rows.length)}` : `${many(rows.length)} rows`;
    return table(caption, columns, rows.slice(0, SHOWN));
  }
}

const signed = (n) => (n > 0 ? `+${many(n)}` : n < 0 ? `−${many(-n)}` : "0");
