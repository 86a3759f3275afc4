// The cluster at a glance: players, and the zones, gateways and stores with the times of their work.

import { el, many } from "../dom.js";
import { TICK_US } from "./live.js";
import { button, chip, confirm, does, figure, load, ms, panel, redraw, save, shape, table } from "./parts.js";
import { Processes } from "./processes.js";
import { Profiles, acts } from "./profiles.js";

const RECORD_TICKS = 50;

export class Overview {
  constructor(desk) {
    this.desk = desk;
    this.figures = el("div", { id: "figures" });
    this.zones = el("div", { id: "zones" });
    this.recording = new Set();
    this.profiles = new Profiles(desk, () => {
      this.drawZones();
      this.processes.draw();
    });
    this.processes = new Processes(desk, this.profiles);
    this.root = el(
      "div",
      { class: "view" },
      el("h1", {}, "Overview"),
      this.figures,
      panel("Zones", this.zones),
      this.processes.panels,
      this.profiles.root,
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
    this.processes.beat();
  }

  drawZones() {
    const { live } = this.desk;
    const busy = ({ id }) => ({ recorded: this.recording.has(id), profiled: this.profiles.samples(name(id)) });
    const rows = [...live.zones.values()].map((zone) => ({ ...zone, ...live.sum(zone.id), ...busy(zone), mark: zone.state }));
    redraw(this.zones, rows, () => table("Zones, with the mean work of a tick and the mean time of a commit", this.columns(), rows));
  }

  columns() {
    const states = { live: "good", draining: "wait", gone: "bad" };
    const columns = [
      { name: "Zone", of: ({ id, colour }) => [swatch(colour), ` ${id}`] },
      { name: "Address", of: ({ address }) => address },
      { name: "State", of: ({ state }) => chip(state, states[state]) },
      { name: "Regions", number: true, of: ({ regions }) => String(regions) },
      { name: "Players", number: true, of: ({ players }) => String(players) },
      { name: "Tick", number: true, of: ({ tickMicros }) => ms(tickMicros) },
      { name: "Commit", number: true, of: ({ commitMicros }) => ms(commitMicros) },
      { name: "In time", of: inTime },
      { name: "Load", of: ({ cost }) => load(cost / TICK_US) },
    ];
    if (this.desk.may("admin")) columns.push({ name: "Act", of: (zone) => this.acts(zone) });
    return columns;
  }

  acts(zone) {
    return acts(this.recorder(zone), this.profiler(zone), this.drainer(zone));
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

  profiler({ id, state }) {
    return state === "gone" ? undefined : this.profiles.button(name(id), `/admin/zones/${id}/profile`);
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
}

const name = (id) => `zone ${id}`;

/** Whether a zone plays its ticks when others do. Who answers a moment later may be a tick behind. */
function inTime({ state, ticksBehind }) {
  if (state === "gone") return undefined;
  if (ticksBehind === null) return chip("silent", "bad");
  return ticksBehind > 1 ? chip(`${ticksBehind} ticks behind`, "wait") : chip("yes", "good");
}

/** The colour of a zone, as a small picture: the page allows no style on an element. */
export function swatch(colour) {
  const box = shape("svg", { viewBox: "0 0 10 10", class: "swatch", "aria-hidden": "true" });
  box.append(shape("rect", { width: 10, height: 10, rx: 3, fill: colour }));
  return box;
}
