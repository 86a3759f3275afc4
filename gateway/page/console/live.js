// The cluster as it is now: zones, regions, totals; and what changed while somebody looked on.
// Always: nothing is asked for while the tab is hidden. A zone that is gone stays listed as gone.

const BEAT_MS = 2000;
/** Totals change slowly; an account may make 100 requests a minute. */
const TOTALS_EVERY = 3;
const NEWS_MOST = 60;
/** Time that a zone has for a tick, in microseconds. */
export const TICK_US = 600000;
/** Colours of zones, in the order in which they were first seen. */
const COLOURS = ["#e8b65a", "#7db8d8", "#8fca7a", "#d98cc0", "#e58a62", "#a99be8", "#6fcfc0", "#d8d272"];

export const spot = ({ x, z }) => `${x},${z}`;

export class Live {
  constructor(api) {
    this.api = api;
    this.zones = new Map();
    this.regions = new Map();
    this.news = [];
    this.listeners = new Set();
    this.beats = 0;
    document.addEventListener("visibilitychange", () => this.wake());
  }

  start() {
    this.on = true;
    this.wake();
  }

  stop() {
    this.on = false;
    clearTimeout(this.timer);
  }

  wake() {
    clearTimeout(this.timer);
    if (this.on && !document.hidden) this.beat();
  }

  async beat() {
    if (this.busy) return;
    this.busy = true;
    let wait = BEAT_MS;
    try {
      await this.read();
      this.error = undefined;
    } catch (error) {
      this.error = error.message;
      if (error.status === 429) wait = BEAT_MS * 5;
    }
    this.busy = false;
    for (const told of this.listeners) told();
    clearTimeout(this.timer);
    if (this.on && !document.hidden) this.timer = setTimeout(() => this.beat(), wait);
  }

  async read() {
    const totals = this.beats % TOTALS_EVERY === 0 || this.stale;
    const broken = this.chaos?.on && (totals || this.trial || this.chaos.faults.some(goesOn));
    const [seen, stats, status, chaos] = await Promise.all([
      this.api.get("/admin/zones"),
      totals ? this.api.get("/admin/stats") : this.stats,
      totals ? this.api.get("/status") : this.status,
      broken ? this.api.get("/admin/chaos") : this.chaos,
    ]);
    Object.assign(this, { stats, status, stale: false, at: Date.now() });
    this.takeChaos(chaos);
    this.takeZones(seen.zones);
    this.takeRegions(seen.regions);
    this.beats += 1;
  }

  /** Reads at once, as after a switch. */
  async again() {
    this.stale = true;
    await this.beat();
  }

  tell(words, kind) {
    if (!this.beats) return;
    this.news.unshift({ at: new Date(), words, kind });
    this.news.length = Math.min(this.news.length, NEWS_MOST);
  }

  /** Faults that operators make, and how the world recovers from them. */
  takeChaos(seen) {
    const before = new Map(this.chaos?.faults.map((fault) => [fault.id, fault]));
    this.chaos = seen;
    for (const fault of [...(seen?.faults ?? [])].reverse()) {
      const known = before.get(fault.id);
      if (!known) this.tell(`${fault.process}: ${FAULTS[fault.fault]}`, "bad");
      if (fault.regions && fault.unownedMs !== null && (known?.unownedMs ?? null) === null) this.tell(unowned(fault), "good");
    }
  }

  takeZones(list) {
    const now = new Map(list.map((zone) => [zone.id, zone]));
    for (const zone of list) {
      const known = this.zones.get(zone.id);
      if (!known) this.tell(`Zone ${zone.id} is here`, "good");
      else if (known.state !== zone.state) this.tell(`Zone ${zone.id} is ${zone.state}`, "wait");
      const colour = known?.colour ?? COLOURS[this.zones.size % COLOURS.length];
      this.zones.set(zone.id, { ...zone, colour });
    }
    for (const zone of this.zones.values())
      if (!now.has(zone.id) && zone.state !== "gone") {
        this.tell(`Zone ${zone.id} is gone`, "bad");
        zone.state = "gone";
      }
  }

  takeRegions(list) {
    const rows = new Map();
    const moves = new Map();
    for (const region of list) {
      const before = this.regions.get(spot(region));
      const moved = before && before.zone !== region.zone;
      if (moved) {
        const way = `${name(before.zone)} → ${name(region.zone)}`;
        moves.set(way, [...(moves.get(way) ?? []), spot(region)]);
      }
      if (before && before.paused !== region.paused)
        this.tell(`Region ${spot(region)} is ${region.paused ? "paused" : "played again"}`, region.paused ? "bad" : "good");
      rows.set(spot(region), { ...region, movedAt: moved ? Date.now() : before?.movedAt });
    }
    this.regions = rows;
    for (const [way, places] of moves) {
      const what = places.length === 1 ? `Region ${places[0]}` : `${places.length} regions`;
      this.tell(`${what}: ${way}`, way.endsWith(NOBODY) ? "bad" : "good");
    }
  }

  /** Whether a zone has it that lives. */
  owned(region) {
    const zone = region.zone && this.zones.get(region.zone);
    return Boolean(zone && zone.state !== "gone");
  }

  /** What the regions of a zone come to. */
  sum(id) {
    const sum = { regions: 0, players: 0, cost: 0 };
    for (const region of this.regions.values()) {
      if (region.zone !== id) continue;
      sum.regions += 1;
      sum.players += region.players;
      sum.cost += region.costMicros;
    }
    return sum;
  }
}

/** What happened to a process. */
export const FAULTS = { kill: "killed", freeze: "frozen", cut_off: "cut off" };

/** Whether the world has not recovered yet. */
export const goesOn = ({ unownedMs, lastedMs, replacedBy }) => [unownedMs, lastedMs, replacedBy].includes(null);

/** For how long regions had no owner that lives. */
export function unowned({ zone, regions, unowned: left, unownedMs, ageMs }) {
  if (!regions) return "No region was affected.";
  const what = regions === 1 ? "1 region" : `${regions} regions`;
  if (unownedMs !== null) return `${what} of zone ${zone} without an owner for ${seconds(unownedMs)}`;
  return `${left} of ${what} of zone ${zone} without an owner for ${seconds(ageMs)} so far`;
}

export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

const NOBODY = "nobody";
const name = (zone) => (zone ? `zone ${zone}` : NOBODY);
