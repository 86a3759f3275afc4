// Friends, who wants to be one, and whom one does not want to hear.
// Always: it shows what the server said last.

import { $, el, say } from "./dom.js";
import { refill } from "./refill.js";

const WORDS = { online: "here", offline: "away", unknown: "?" };

export class Friends {
  /** `act`, `menu`, `whisper(name)` begins a private message, `mark()` tells of something new. */
  constructor(game) {
    Object.assign(this, game);
    this.clear();
    $("friend-add").onsubmit = (event) => this.named(event, "friends:request");
    $("friend-ignore").onclick = (event) => this.named(event, "ignore:add");
  }

  get hears() {
    return {
      "friends:list": (data) => this.list(data),
      "friends:update": (data) => this.update(data),
      "friends:presence": (data) => this.presence(data),
    };
  }

  clear() {
    this.friends = new Map();
    this.requests = new Map();
    this.ignored = new Map();
    this.draw();
  }

  list(data) {
    this.clear();
    this.update(data);
  }

  update(data) {
    for (const name of ["friends", "requests", "ignored"]) {
      for (const one of data[name] ?? []) this[name].set(one.id, one);
      for (const id of data[`${name}Gone`] ?? []) this[name].delete(id);
    }
    if (this.asking().some((request) => data.requests?.includes(request))) this.mark();
    this.draw();
  }

  presence({ friends }) {
    for (const { id, status } of friends) {
      const friend = this.friends.get(id);
      if (!friend || friend.status === status) continue;
      const came = status === "online" && friend.status === "offline";
      friend.status = status;
      if (came) this.tell(`${friend.name} is here.`);
    }
    this.draw();
  }

  /** Those who ask to be a friend of the own character. */
  asking() {
    return [...this.requests.values()].filter((request) => request.fromId !== this.me.id);
  }

  isFriend(id) {
    return this.friends.has(id);
  }

  async named(event, what) {
    event.preventDefault();
    const name = $("friend-name").value.trim();
    if (!name) return $("friend-name").focus();
    if (await this.act(what, { name })) $("friend-name").value = "";
    return undefined;
  }

  draw() {
    const byName = (a, b) => (a.name < b.name ? -1 : 1);
    const here = (friend) => (friend.status === "online" ? 0 : 1);
    const friends = [...this.friends.values()].sort((a, b) => here(a) - here(b) || byName(a, b));
    const asked = [...this.requests.values()].filter((one) => one.fromId === this.me.id);
    say($("friends-count"), friends.length ? `${friends.length} of 99` : "");
    const rows = [
      ...this.asking().map((request) => this.asks(request)),
      ...friends.map((friend) => this.row(friend)),
      ...asked.map((request) => this.waits(request)),
      ...[...this.ignored.values()].sort(byName).map((one) => this.unheard(one)),
    ];
    const nobody = () => el("li", { class: "dim" }, "Nobody yet. Names are all it takes.");
    refill($("friend-list"), rows.length ? rows : [nobody()]);
  }

  asks({ id, fromName }) {
    const answer = (event) => () => this.act(event, { requestId: id });
    return el(
      "li",
      { class: "asks" },
      el("span", {}, `${fromName} would be your friend`),
      el("button", { class: "main", onclick: answer("friends:accept") }, "Yes"),
      el("button", { onclick: answer("friends:decline") }, "No"),
    );
  }

  row(friend) {
    const entries = () => [
      ...(friend.status === "offline" ? [] : [["Write to them", () => this.whisper(friend.name)]]),
      ["End the friendship", () => this.act("friends:remove", { friendId: friend.id })],
    ];
    const level = `level ${friend.level}`;
    const button = el(
      "button",
      { class: friend.status, data: { tip: `${friend.name}\n${level}` } },
      el("span", {}, friend.name),
      el("small", {}, WORDS[friend.status] ?? ""),
    );
    button.onclick = () => this.menu.under(button, friend.name, entries());
    return el("li", {}, button);
  }

  waits({ id, toName }) {
    const back = () => this.act("friends:decline", { requestId: id });
    return el(
      "li",
      { class: "dim" },
      el("span", {}, `${toName} was asked`),
      el("button", { onclick: back }, "Take back"),
    );
  }

  unheard({ id, name }) {
    const hear = () => this.act("ignore:remove", { ignoredId: id });
    return el(
      "li",
      { class: "dim" },
      el("span", {}, `${name} is not heard`),
      el("button", { onclick: hear }, "Hear again"),
    );
  }
}
