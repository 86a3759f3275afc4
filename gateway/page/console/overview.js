// The cluster at a glance: players, zones with what a tick costs them, gateways with their players.

import { el, many } from "../dom.js";
import { TICK_US } from "./live.js";
import { button, chip, confirm, does, figure, load, panel, redraw, save, span, table, time } from "./parts.js";

const LOGINS_EVERY_MS = 15000;
const RECORD_TICKS = 50;

export class Overview {
  constructor(desk) {
    this.desk = desk;
    this.figures = el("div", { id: "figures" });
    this.zones = el("div", { id: "zones" });
    this.recording = new Set();
    this.gateways = el("div", { id: "gateways" });
    this.root = el(
      "div",
      { class: "view" },
      el("h1", {}, "Overview"),
      this.figures,
      panel("Zones", this.zones),
      panel("Gateways", this.gateways),
    );
  }

  beat() {
    const { live } = this.desk;
    const { stats } = live;
    this.figures.replaceChildren(
      figure("in the world", many(stats.activeSessions)),
      figure("characters", many(stats.totalCharacters)),
      figure("accounts", many(stats.totalUsers)),
      figure("zones", stats.zones, stats.zones ? "good" : "bad"),
      figure("exchanges", stats.frozen ? "frozen" : "open", stats.frozen ? "bad" : "good"),
      figure("quarantined", stats.quarantined, stats.quarantined ? "wait" : undefined),
      figure("banned", stats.bannedUsers),
    );
    this.drawZones();
    if (!(Date.now() - this.askedAt < LOGINS_EVERY_MS)) this.readGateways();
  }

  drawZones() {
    const { live } = this.desk;
    const recorded = ({ id }) => this.recording.has(id);
    const rows = [...live.zones.values()].map((zone) => ({ ...zone, ...live.sum(zone.id), mark: zone.state, recorded: recorded(zone) }));
    redraw(this.zones, rows, () => table("Zones, and what their regions cost in a tick", this.columns(), rows));
  }

  columns() {
    const states = { live: "good", draining: "wait", gone: "bad" };
    const columns = [
      { name: "Zone", of: ({ id, colour }) => [swatch(colour), ` ${id}`] },
      { name: "Address", of: ({ address }) => address },
      { name: "State", of: ({ state }) => chip(state, states[state]) },
      { name: "Regions", number: true, of: ({ regions }) => String(regions) },
      { name: "Players", number: true, of: ({ players }) => String(players) },
      { name: "Tick", number: true, of: ({ cost }) => `${(cost / 1000).toFixed(1)} ms` },
      { name: "In time", of: inTime },
      { name: "Load", of: ({ cost }) => load(cost / TICK_US) },
    ];
    if (this.desk.may("admin")) columns.push({ name: "Act", of: (zone) => this.acts(zone) });
    return columns;
  }

  acts(zone) {
    const acts = [this.recorder(zone), this.drainer(zone)].filter(Boolean);
    return acts.length ? el("div", { class: "row acts" }, acts) : undefined;
  }

  recorder({ id, state, recorded }) {
    if (state === "gone") return undefined;
    const record = button(recorded ? "Recording …" : `Record ${RECORD_TICKS} ticks`, () => this.record(id));
    record.disabled = recorded;
    record.dataset.key = `record ${id}`;
    record.setAttribute("aria-label", recorded ? `Recording … zone ${id}` : `Record ${RECORD_TICKS} ticks of zone ${id}`);
    return record;
  }

  /** Records a zone's next ticks, and gives the file to the browser. */
  async record(id) {
    this.recording.add(id);
    this.drawZones();
    await does(`Zone ${id} is recorded; \`zone-server replay --step\` plays the file again.`, async () => {
      const answer = await this.desk.api.send("POST", `/admin/zones/${id}/record`, { ticks: RECORD_TICKS });
      save(await answer.blob(), `zone-${id}.record`);
    });
    this.recording.delete(id);
    this.drawZones();
  }

  drainer({ id, state }) {
    if (state !== "live") return undefined;
    const drain = button("Drain", () => this.drain(id), "danger");
    Object.assign(drain.dataset, { zone: id, key: `drain ${id}` });
    drain.setAttribute("aria-label", `Drain zone ${id}`);
    return drain;
  }

  async drain(id) {
    const { api, live } = this.desk;
    const words = "It gives all its regions to other zones and takes none. Players stay in the world.";
    if (!(await confirm(`Drain zone ${id}?`, words, "Drain it"))) return;
    await does(`Zone ${id} gives its regions away.`, () => api.ask("POST", `/admin/zones/${id}/drain`));
    live.again();
  }

  async readGateways() {
    this.askedAt = Date.now();
    const { api, live } = this.desk;
    const open = await api.get("/admin/sessions?open=true&limit=100").catch(() => undefined);
    if (!open) return;
    const gateways = new Map();
    for (const { gateway, loginAt } of open.sessions) {
      const one = gateways.get(gateway) ?? { gateway, logins: 0, last: loginAt };
      one.logins += 1;
      gateways.set(gateway, one);
    }
    const { status, stats } = live;
    const rest = open.pagination.total - open.sessions.length;
    this.gateways.replaceChildren(
      el("p", { class: "dim" }, `This gateway: version ${status.version}, up ${span(stats.uptime)}, ${stats.playersHere} players, ${status.ready ? "ready" : "not ready"}.`),
      table(
        rest > 0 ? `Of the last 100 logins that go on; ${rest} more are not counted here` : "Logins that go on",
        [
          { name: "Gateway", of: ({ gateway }) => gateway || "none: agents" },
          { name: "Logins", number: true, of: ({ logins }) => String(logins) },
          { name: "Last login", of: ({ last }) => time(last) },
        ],
        [...gateways.values()],
        "Nobody is in the world.",
      ),
    );
  }
}

/** Whether a zone plays its ticks when others do. Who answers a moment later may be a tick behind. */
function inTime({ state, ticksBehind }) {
  if (state === "gone") return undefined;
  if (ticksBehind === null) return chip("silent", "bad");
  return ticksBehind > 1 ? chip(`${ticksBehind} ticks behind`, "wait") : chip("yes", "good");
}

/** The colour of a zone, as a small picture: the page allows no style on an element. */
export function swatch(colour) {
  const box = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  box.setAttribute("viewBox", "0 0 10 10");
  box.setAttribute("class", "swatch");
  box.setAttribute("aria-hidden", "true");
  const dot = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of [["width", 10], ["height", 10], ["rx", 3], ["fill", colour]]) dot.setAttribute(name, value);
  box.append(dot);
  return box;
}
