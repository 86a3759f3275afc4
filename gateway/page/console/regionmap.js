// The land with its regions: who plays each, how many players it has and what it costs; changes as
// they happen; one player, followed. Always: no region is drawn as played by a zone that is gone.

import { el, many } from "../dom.js";
import { Chart } from "../chart.js";
import { Land } from "../world.js";
import { TICK_US, spot } from "./live.js";
import { swatch } from "./overview.js";
import { button, chip, clock, panel, redraw, table } from "./parts.js";
import { pausing } from "./pausing.js";

const SIDE = 64;
const SCALE_MOST = 12;
const FOLLOW_MS = 2000;
const FOLLOW_SCALE = 1.5;
const FRESH_MS = 6000;
const NOBODY = "#d9604c";

export class RegionMap {
  constructor(desk) {
    this.desk = desk;
    this.land = new Land();
    this.chart = new Chart(this.land);
    this.canvas = el("canvas", { id: "regions", role: "img", "aria-label": "Regions of the world" });
    this.legend = el("ul", { id: "legend", "aria-label": "Zones" });
    this.about = el("p", { id: "region", role: "status" }, "Point at a region.");
    this.following = el("p", { id: "following", role: "status", hidden: true });
    this.news = el("ol", { id: "news", "aria-label": "Changes" });
    this.chosen = el("p", { id: "chosen", hidden: true });
    this.busiest = el("div", { id: "busiest" });
    const tools = el(
      "div",
      { class: "row tools" },
      button("Nearer", () => this.zoom(1.5)),
      button("Farther", () => this.zoom(1 / 1.5)),
      button("Whole land", () => this.whole()),
    );
    this.root = el(
      "div",
      { class: "view" },
      el("h1", {}, "Map"),
      el(
        "div",
        { id: "atlas" },
        el("div", { id: "sheet" }, this.canvas, tools),
        el("div", { id: "aside" }, panel("Zones", this.legend), panel("Region", this.about, this.chosen, this.following), panel("What changes", this.news)),
      ),
      panel("Busiest regions", this.busiest),
    );
    this.listen();
  }

  listen() {
    const { canvas } = this;
    canvas.onwheel = (event) => {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2);
    };
    canvas.onpointerdown = (event) => {
      this.held = [event.clientX, event.clientY];
      canvas.setPointerCapture(event.pointerId);
    };
    canvas.onpointerup = (event) => {
      this.held = undefined;
      this.choose(event);
    };
    canvas.onpointermove = (event) => {
      if (this.held) this.drag(event);
      this.describe(event);
    };
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  async show(id) {
    this.shown = true;
    if (id) this.follow(id);
    try {
      if (!this.land.meta) await this.land.load();
      if (!this.scale) this.whole();
      this.near();
      await this.chart.load();
    } catch {
      this.about.textContent = "The land does not load.";
    }
    this.draw();
  }

  hide() {
    this.shown = false;
    clearTimeout(this.timer);
    this.followed = undefined;
    this.following.hidden = true;
  }

  // --- where one looks ---

  whole() {
    const b = this.land.meta?.bounds;
    const { clientWidth: w, clientHeight: h } = this.canvas;
    if (!b || !w || !h) return;
    this.scale = Math.min(w / (b.maxX - b.minX), h / (b.maxZ - b.minZ));
    this.center = { x: (b.minX + b.maxX) / 2, z: (b.minZ + b.maxZ) / 2 };
    this.least = this.scale;
    this.draw();
  }

  zoom(by) {
    if (!this.scale) return;
    this.scale = Math.max(this.least, Math.min(SCALE_MOST, this.scale * by));
    this.draw();
  }

  drag(event) {
    const [x, y] = this.held;
    this.center = { x: this.center.x - (event.clientX - x) / this.scale, z: this.center.z + (event.clientY - y) / this.scale };
    this.held = [event.clientX, event.clientY];
    this.draw();
  }

  point(x, z) {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    return [w / 2 + (x - this.center.x) * this.scale, h / 2 - (z - this.center.z) * this.scale];
  }

  /** The place of the region under the pointer. */
  regionAt({ offsetX, offsetY }) {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const x = Math.floor((this.center.x + (offsetX - w / 2) / this.scale) / SIDE);
    const z = Math.floor((this.center.z - (offsetY - h / 2) / this.scale) / SIDE);
    return { x, z };
  }

  /** Shows what may be done with the region that was clicked. */
  choose(event) {
    if (!this.scale || !this.desk.may("admin")) return;
    this.spot = spot(this.regionAt(event));
    this.drawChosen();
  }

  drawChosen() {
    const region = this.desk.live.regions.get(this.spot);
    this.chosen.hidden = !region;
    if (!region) return;
    const words = el("span", {}, `Region ${this.spot}: `);
    redraw(this.chosen, [this.spot, region.paused], () => el("span", {}, words, pausing(this.desk, region)));
  }

  describe(event) {
    if (!this.scale) return;
    const { x, z } = this.regionAt(event);
    const region = this.desk.live.regions.get(spot({ x, z }));
    this.about.textContent = region ? told(region) : `Region ${x},${z}: nobody needed it yet.`;
  }

  // --- a player ---

  async follow(id) {
    this.followed = { id };
    this.following.hidden = false;
    this.following.textContent = "Looking for the player …";
    await this.track(id);
  }

  async track(id) {
    clearTimeout(this.timer);
    if (!this.shown || this.followed?.id !== id) return;
    if (!document.hidden) {
      try {
        const { player } = await this.desk.api.get(`/admin/players/${id}`);
        if (this.followed?.id === id) this.place(player);
      } catch (error) {
        this.following.textContent = error.message;
      }
    }
    this.timer = setTimeout(() => this.track(id), FOLLOW_MS);
  }

  place(player) {
    Object.assign(this.followed, { name: player.name, x: player.positionX, z: player.positionZ });
    const { x, z } = this.followed;
    this.following.replaceChildren(
      el("a", { href: `#character/${player.id}` }, player.name),
      player.online ? ` is at ${x}, ${z}.` : ` is not in the world; last at ${x}, ${z}.`,
    );
    this.near();
    this.draw();
  }

  /** Looks at the followed player, from near the first time. */
  near() {
    const { followed } = this;
    if (!this.scale || followed?.x === undefined) return;
    if (!followed.seen) this.scale = Math.max(this.scale, FOLLOW_SCALE);
    followed.seen = true;
    this.center = { x: followed.x, z: followed.z };
  }

  // --- drawing ---

  beat() {
    const { live } = this.desk;
    const states = { live: "good", draining: "wait", gone: "bad" };
    const zones = [...live.zones.values()].map((zone) => {
      const { regions, players } = live.sum(zone.id);
      return el(
        "li",
        { data: { zone: zone.id, state: zone.state } },
        swatch(zone.colour),
        el("b", {}, ` ${zone.id} `),
        chip(zone.state, states[zone.state]),
        el("span", { class: "dim" }, ` ${regions} regions, ${many(players)} players`),
      );
    });
    this.legend.replaceChildren(...zones);
    const news = live.news.slice(0, 12).map(({ at, words, kind }) => el("li", { data: { state: kind } }, clock(at), ` ${words}`));
    this.news.replaceChildren(...(news.length ? news : [el("li", { class: "dim" }, "Nothing since you look on.")]));
    this.drawBusiest();
    this.drawChosen();
    const orphans = [...live.regions.values()].filter((region) => !live.owned(region)).length;
    this.canvas.setAttribute("aria-label", `Regions of the world: ${live.regions.size}, of ${live.zones.size} zones; ${orphans} without a zone`);
    this.canvas.dataset.orphans = orphans;
    this.draw();
  }

  drawBusiest() {
    const all = [...this.desk.live.regions.values()].sort((a, b) => b.players - a.players || b.costMicros - a.costMicros);
    const rows = all.slice(0, 12);
    const columns = [
      { name: "Region", of: spot },
      { name: "Zone", of: ({ zone }) => zone ?? chip("nobody", "bad") },
      { name: "Goes to", of: ({ goesTo, zone }) => (goesTo && goesTo !== zone ? goesTo : undefined) },
      { name: "Players", number: true, of: ({ players }) => many(players) },
      { name: "Tick", number: true, of: ({ costMicros }) => `${(costMicros / 1000).toFixed(2)} ms` },
      { name: "State", of: ({ paused }) => (paused ? chip("paused", "bad") : chip("played", "good")) },
    ];
    if (this.desk.may("admin")) columns.push({ name: "Act", of: (region) => pausing(this.desk, region) });
    redraw(this.busiest, rows, () => table(`The first 12 of ${all.length}`, columns, rows));
  }

  draw() {
    const { canvas, chart } = this;
    const { clientWidth: w, clientHeight: h } = canvas;
    if (!this.shown || !w || !h) return;
    if (!this.scale) this.whole();
    if (!this.scale) return;
    const ratio = devicePixelRatio || 1;
    [canvas.width, canvas.height] = [w * ratio, h * ratio];
    const c = canvas.getContext("2d");
    c.scale(ratio, ratio);
    c.fillStyle = chart.sea ?? "#22302a";
    c.fillRect(0, 0, w, h);
    if (chart.sheet) {
      const [x, y] = this.point(chart.left, chart.low);
      const point = this.scale * chart.tiles;
      const [wide, high] = [chart.columns * point, chart.rows * point];
      c.drawImage(chart.sheet, x, y - high, wide, high);
    }
    c.fillStyle = "rgba(14, 20, 18, 0.5)";
    c.fillRect(0, 0, w, h);
    for (const region of this.desk.live.regions.values()) this.region(c, region);
    if (this.followed?.x !== undefined) this.dot(c);
  }

  region(c, region) {
    const { live } = this.desk;
    const side = SIDE * this.scale;
    const [x, low] = this.point(region.x * SIDE, region.z * SIDE);
    const y = low - side;
    const colour = live.owned(region) ? live.zones.get(region.zone).colour : NOBODY;
    c.globalAlpha = 0.22 + 0.5 * Math.min(1, (region.costMicros * 12) / TICK_US);
    c.fillStyle = colour;
    c.fillRect(x + 1, y + 1, side - 2, side - 2);
    c.globalAlpha = 1;
    c.strokeStyle = colour;
    const fresh = Date.now() - region.movedAt < FRESH_MS;
    c.lineWidth = fresh ? 4 : 1.5;
    c.setLineDash(region.goesTo && region.goesTo !== region.zone ? [5, 4] : []);
    c.strokeRect(x + 2, y + 2, side - 4, side - 4);
    c.setLineDash([]);
    if (region.paused || !live.owned(region)) cross(c, x, y, side);
    if (side < 26) return;
    c.textAlign = "center";
    c.fillStyle = "#fff8e6";
    c.strokeStyle = "rgba(14, 20, 18, 0.9)";
    c.lineWidth = 3;
    const line = (words, at, size) => {
      c.font = `${size}px Georgia, "DejaVu Serif", serif`;
      c.strokeText(words, x + side / 2, at);
      c.fillText(words, x + side / 2, at);
    };
    if (region.players) line(many(region.players), y + side / 2 + 5, Math.min(22, side / 3));
    if (side >= 60) line(`${(region.costMicros / 1000).toFixed(1)} ms`, y + side - 8, 11);
  }

  dot(c) {
    const { name, x, z } = this.followed;
    const [px, py] = this.point(x, z);
    c.fillStyle = "#ffffff";
    c.strokeStyle = "#1c241f";
    c.lineWidth = 3;
    c.beginPath();
    c.arc(px, py, 6, 0, 7);
    c.stroke();
    c.fill();
    c.font = '15px Georgia, "DejaVu Serif", serif';
    c.textAlign = "center";
    c.strokeText(name, px, py - 12);
    c.fillText(name, px, py - 12);
  }
}

function cross(c, x, y, side) {
  c.beginPath();
  for (const [from, to] of [[0, 1], [1, 0]]) {
    c.moveTo(x + 4 + from * (side - 8), y + 4);
    c.lineTo(x + 4 + to * (side - 8), y + side - 4);
  }
  c.stroke();
}

function told({ x, z, zone, goesTo, epoch, players, costMicros, paused, faults }) {
  const owner = zone ? `zone ${zone}` : "nobody";
  const going = goesTo && goesTo !== zone ? `, goes to zone ${goesTo}` : "";
  const state = paused ? ` It is paused${faults ? ` after ${faults} faults` : ""}.` : "";
  return `Region ${x},${z}: ${owner}${going}, ${players} players, ${(costMicros / 1000).toFixed(2)} ms of a tick, epoch ${epoch}.${state}`;
}
