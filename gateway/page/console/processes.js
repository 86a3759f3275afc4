// The processes beside the zones: gateways, and the persistence services with their database.
// Always: who does not answer stays listed as silent.

import { el, many } from "../dom.js";
import { chip, ms, notice, panel, redraw, span, table } from "./parts.js";
import { acts } from "./profiles.js";

const EVERY_MS = 15000;
/** Seconds without a sign of life: a gateway gives one every ten. */
const SILENT_S = 12;
const STORES = { live: ["live", "good"], silent: ["silent", "bad"], older: ["older version", "wait"] };
const DATABASES = { postgresql: "PostgreSQL", sqlite: "SQLite" };

export class Processes {
  constructor(desk, profiles) {
    this.desk = desk;
    this.profiles = profiles;
    this.gateways = el("div", { id: "gateways" });
    this.stores = el("div", { id: "stores" });
    this.panels = [panel("Gateways", this.gateways), panel("Stores", this.stores)];
  }

  beat() {
    if (!(Date.now() - this.askedAt < EVERY_MS)) this.read();
  }

  async read() {
    this.askedAt = Date.now();
    const { api } = this.desk;
    try {
      const [{ gateways }, { stores }] = await Promise.all(["/admin/gateways", "/admin/stores"].map((path) => api.get(path)));
      this.known = { gateways, stores };
    } catch (error) {
      notice(error.message, "bad");
    }
    this.draw();
  }

  /** Draws what was read last. */
  draw() {
    if (!this.known) return;
    const { status } = this.desk.live;
    const admin = this.desk.may("admin");
    const act = (of) => (admin ? [{ name: "Act", of }] : []);
    const gateways = this.known.gateways.map((one) => ({ ...one, busy: this.profiles.samples(GATEWAY) }));
    const words = "Gateways, with the mean work of a fan-out task in a tick; all but the first as they said at most 10 s ago";
    redraw(this.gateways, [gateways, status.version, status.ready], () => [
      el("p", { class: "dim" }, `The gateway that answers has version ${status.version}, and is ${status.ready ? "ready" : "not ready"}.`),
      table(words, [...GATEWAYS, ...act((one) => this.actOfGateway(one))], gateways),
    ]);
    const stores = this.known.stores.map((one) => ({ ...one, busy: this.profiles.samples(store(one)), mark: one.state === "silent" && "bad" }));
    redraw(this.stores, stores, () => table("Persistence services, and their connections to the database", [...COLUMNS, ...act((one) => this.actOfStore(one))], stores));
  }

  actOfGateway({ answers }) {
    return answers ? acts(this.profiles.button(GATEWAY, "/admin/gateway/profile")) : undefined;
  }

  actOfStore(one) {
    const { address, state } = one;
    return state === "live" ? acts(this.profiles.button(store(one), "/admin/stores/profile", { address })) : undefined;
  }
}

const GATEWAY = "the gateway";
const store = ({ address }) => `store ${address}`;

const GATEWAYS = [
  { name: "Gateway", of: ({ id, answers }) => [el("code", {}, id), answers ? [" ", chip("answers", "good")] : ""] },
  { name: "Players", number: true, of: ({ players }) => many(players) },
  { name: "Fan-out", number: true, of: ({ flushMicros }) => ms(flushMicros) },
  { name: "Up", of: ({ uptime }) => (uptime === null ? undefined : span(uptime)) },
  {
    name: "Heard",
    of: ({ answers, silentSeconds: s }) => (answers ? "now" : chip(`${s} s ago`, s > SILENT_S ? "bad" : "good")),
  },
];

const COLUMNS = [
  { name: "Store", of: ({ address }) => el("code", {}, address) },
  { name: "State", of: ({ state }) => chip(...STORES[state]) },
  { name: "Version", of: ({ version }) => version ?? undefined },
  { name: "Up", of: ({ uptime }) => (uptime === null ? undefined : span(uptime)) },
  { name: "Database", of: ({ database }) => DATABASES[database] },
  { name: "Commit", number: true, of: ({ commitMicros }) => ms(commitMicros) },
  { name: "Connections", number: true, of: ({ connections: c }) => (c ? `${c.inUse} of ${c.max}` : undefined) },
  { name: "Waiting", number: true, of: ({ connections: c }) => (c ? many(c.waiting) : undefined) },
];
