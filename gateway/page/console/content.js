// Versions and content: what this gateway shows, what zones play, and what the page may use.

import { el } from "../dom.js";
import { chip, panel, span, table } from "./parts.js";

export class Content {
  constructor(desk) {
    this.desk = desk;
    this.body = el("div", { id: "content" });
    this.root = el("div", { class: "view" }, el("h1", {}, "Content and settings"), this.body);
  }

  beat() {
    const { status } = this.desk.live;
    const drawn = JSON.stringify(status);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const { content } = status;
    const same = content.zones.every((version) => version === content.version);
    const rows = [
      ["Gateway", status.version],
      ["Commit", status.commitHash ?? "unknown"],
      ["Up for", span(status.uptime)],
      ["Ready", status.ready ? chip("yes", "good") : chip("no", "bad")],
      ["Content", el("code", {}, content.version)],
      ["Its source", content.source],
      ["Zones play", content.zones.map((version) => el("code", {}, version))],
      ["All the same", same ? chip("yes", "good") : chip("no: a new version is on its way", "wait")],
    ];
    const columns = [
      { name: "What", of: ([what]) => what },
      { name: "Value", of: ([, value]) => value },
    ];
    this.body.replaceChildren(
      panel("Versions", table("As this gateway knows them", columns, rows)),
      panel("Settings", el("p", { class: "dim" }, "Settings are variables of the environment of each process and hold until it begins anew. The README lists them; their values may be secret and are shown nowhere.")),
    );
  }
}
