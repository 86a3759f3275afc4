// Faults for trial: zone servers that are killed, frozen or cut off, and how the world recovers.
// Always: a process is broken only after a question about it is answered.

import { el } from "../dom.js";
import { FAULTS, goesOn, seconds, unowned } from "./live.js";
import { swatch } from "./overview.js";
import { button, chip, confirm, does, field, panel, redraw, shape, table } from "./parts.js";

const STATES = { up: "good", down: "bad", frozen: "bad", cut_off: "bad" };
/** What may be done: its word, what happens, and the seconds that the form begins with. */
const ACTS = [
  ["kill", "Kill", "It ends at once, and others take its regions. After the seconds another process begins in its place.", 3],
  ["freeze", "Freeze", "It stands still for so long, with all its connections open.", 10],
  ["cut_off", "Cut off", "For so long nothing reaches it from gateways and other zones, and nothing passes between it and the store.", 10],
];
const [WIDTH, HEIGHT] = [1000, 40];

export class Chaos {
  constructor(desk) {
    this.desk = desk;
    this.processes = el("div", { id: "processes" });
    this.recovery = el("div", { id: "recovery" });
    const about = "This world is one for trial: its zone servers may be broken. Players stay in the world, and the map shows who takes the regions.";
    this.root = el(
      "div",
      { class: "view" },
      el("h1", {}, "Chaos"),
      el("p", { class: "dim" }, about),
      panel("Zone servers", this.processes),
      panel("Recovery", this.recovery),
    );
  }

  show() {
    this.desk.live.trial = true;
    this.desk.live.again();
  }

  hide() {
    this.desk.live.trial = false;
  }

  beat() {
    const { live } = this.desk;
    const { processes, faults, reason } = live.chaos;
    const rows = processes.map((process) => {
      const { regions, players } = live.sum(process.zone);
      return { ...process, colour: live.zones.get(process.zone)?.colour, regions, players, mark: process.condition };
    });
    redraw(this.processes, rows, () => table("Zone servers, each a process of its own", this.columns(), rows, reason ?? "None."));
    // What is over has no age that matters.
    const facts = faults.map((fault) => (goesOn(fault) ? fault : { ...fault, ageMs: 0 }));
    redraw(this.recovery, facts, () => {
      const list = faults.map((fault) => el("li", { data: { fault: fault.id, over: !goesOn(fault) } }, story(fault)));
      return faults.length ? el("ol", { class: "faults" }, list) : el("p", { class: "dim" }, "Nothing was broken yet.");
    });
  }

  columns() {
    const columns = [
      { name: "Process", of: ({ name }) => name },
      { name: "Zone", of: ({ zone, colour }) => zone && [colour ? swatch(colour) : "", ` ${zone}`] },
      { name: "State", of: ({ condition }) => chip(condition.replace("_", " "), STATES[condition]) },
      { name: "Regions", number: true, of: ({ regions }) => String(regions) },
      { name: "Players", number: true, of: ({ players }) => String(players) },
    ];
    if (this.desk.may("admin")) columns.push({ name: "Act", of: (process) => this.acts(process) });
    return columns;
  }

  acts({ name, condition }) {
    if (condition !== "up") return undefined;
    const acts = ACTS.map(([fault, words, about, time]) => {
      const act = button(words, () => this.break(name, { fault, words, about, time }), "danger");
      Object.assign(act.dataset, { key: `${fault} ${name}`, fault, process: name });
      act.setAttribute("aria-label", `${words} ${name}`);
      return act;
    });
    return el("div", { class: "row acts" }, acts);
  }

  async break(process, { fault, words, about, time }) {
    const { api, live } = this.desk;
    const span = field("Seconds", { id: "seconds", type: "number", min: "1", max: "60", required: true, value: String(time) });
    const asked = await confirm(`${words} ${process}?`, about, `${words} it`, [span]);
    if (!asked) return;
    const order = { process, fault, seconds: Number(asked[0]) };
    await does(`${process} is ${FAULTS[fault]}.`, () => api.ask("POST", "/admin/chaos", order));
    live.again();
  }
}

/** What a fault did, as words and as a picture. */
function story(fault) {
  const { process, zone, regions, taken, replacedBy, lastedMs, seconds: span } = fault;
  const state = goesOn(fault) ? "bad" : "good";
  const time = fault.fault === "kill" ? "" : ` for ${span} s`;
  const back = lastedMs === null ? "" : ` It was whole again after ${seconds(lastedMs)}${replacedBy ? `, as zone ${replacedBy}` : ""}.`;
  const steps = taken.map(({ afterMs, zone: to, regions: number }) => {
    const who = to === zone ? `zone ${to} plays on` : `zone ${to} has`;
    return el("li", {}, `${seconds(afterMs)}: ${who} ${number === 1 ? "1 region" : `${number} regions`}`);
  });
  return [
    el("p", {}, el("b", {}, `${process} was ${FAULTS[fault.fault]}${time}. `), chip(unowned(fault), state), back),
    regions ? picture(fault) : "",
    el("ul", { class: "steps" }, steps),
  ];
}

/** The share of regions without an owner over time: red above, green below. */
function picture(fault) {
  const { taken, regions, lastedMs, unownedMs, ageMs } = fault;
  const end = Math.max(1, goesOn(fault) ? ageMs : Math.max(lastedMs, unownedMs) * 1.1);
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "timeline", role: "img" });
  svg.setAttribute("aria-label", `${unowned(fault)}, of ${seconds(end)}`);
  svg.append(shape("rect", { width: WIDTH, height: HEIGHT, fill: "#5f9f58" }));
  let left = regions;
  let from = 0;
  for (const { afterMs, regions: number } of [...taken, { afterMs: end, regions: 0 }]) {
    const to = (Math.min(afterMs, end) / end) * WIDTH;
    svg.append(shape("rect", { x: from, width: Math.max(0, to - from), height: (left / regions) * HEIGHT, fill: "#d9604c" }));
    [from, left] = [to, left - number];
  }
  return svg;
}
