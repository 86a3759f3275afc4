// Versions, content and settings: what this gateway shows, what zones play, and how it is set.

import { el } from "../dom.js";
import { chip, panel, span, table } from "./parts.js";

export class Content {
  constructor(desk) {
    this.desk = desk;
    this.body = el("div", { id: "content" });
    this.settings = el("div", { id: "settings" });
    this.root = el("div", { class: "view" }, el("h1", {}, "Content and settings"), this.body, panel("Settings", this.settings));
  }

  /** Settings hold until a process begins anew, so that they are read once. */
  async show() {
    try {
      const { gateway, settings } = await this.desk.api.get("/admin/settings");
      const columns = [
        { name: "Setting", of: ({ name }) => el("code", {}, name) },
        { name: "Value", of: ({ value }) => el("code", {}, value) },
        { name: "Source", of: ({ source }) => (source === "default" ? "default" : chip(source, "good")) },
        { name: "Purpose", of: ({ about }) => about },
      ];
      this.settings.replaceChildren(
        el("p", { class: "dim" }, "Settings are variables of the environment and hold until the process begins anew. Secrets are shown nowhere."),
        table(`Gateway ${gateway}, which answers here`, columns, settings),
      );
    } catch (error) {
      this.settings.replaceChildren(el("p", { class: "bad" }, error.message));
    }
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
    this.body.replaceChildren(panel("Versions", table("As this gateway knows them", columns, rows)));
  }
}
