// What every view is made of: tables, figures, times, questions, notices.
// Always: words are set as text, and nothing is done before a question about it is answered.

import { $, el } from "../dom.js";

const NOTICE_MS = 6000;

/** A table. A column has a name, `of`, which gives its cell, and `number` where that is one. */
export function table(caption, columns, rows, none = "None.") {
  const head = columns.map(({ name, number }) => el("th", { scope: "col", class: number ? "number" : undefined }, name));
  const cells = (row) =>
    columns.map(({ name, of, number }) =>
      el("td", { data: { name }, class: number ? "number" : undefined }, of(row) ?? "–"),
    );
  const body = rows.map((row) => el("tr", { data: row.mark ? { mark: row.mark } : {} }, cells(row)));
  const empty = el("tr", { class: "none" }, el("td", { colspan: String(columns.length) }, none));
  return el(
    "table",
    {},
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, head)),
    el("tbody", {}, body.length ? body : empty),
  );
}

export const panel = (title, ...children) =>
  el("section", { class: "block", "aria-label": title }, el("h2", {}, title), children);

export const figure = (words, value, state) =>
  el("div", { class: "figure", data: state ? { state } : {} }, el("b", {}, String(value)), el("span", {}, words));

export const button = (words, onclick, kind = "quiet") => el("button", { class: kind, onclick }, words);

export const chip = (words, state) => el("span", { class: "chip", data: { state } }, words);

/** A moment in this browser's time. */
export function time(iso) {
  if (!iso) return undefined;
  const at = new Date(iso);
  const words = at.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
  return el("time", { datetime: at.toISOString(), title: at.toISOString() }, words);
}

/** The time of a day. */
export function clock(at) {
  return el("time", { datetime: at.toISOString() }, at.toLocaleTimeString("en-GB"));
}

/** A span in hours and minutes. */
export function span(seconds) {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return hours ? `${hours} h ${minutes} min` : `${minutes} min ${Math.floor(seconds % 60)} s`;
}

/** Microseconds as milliseconds; nothing for what is not known. */
export const ms = (micros) => (micros === null || micros === undefined ? undefined : `${(micros / 1000).toFixed(micros < 10000 ? 2 : 1)} ms`);

/** A picture of how full something is, with its number. */
export function load(part) {
  const percent = Math.round(part * 100);
  const state = part > 0.8 ? "bad" : part > 0.5 ? "wait" : "good";
  return el("span", { class: "load" }, el("meter", { min: "0", max: "1", value: String(part), "aria-label": "Load", data: { state } }), ` ${percent} %`);
}

export function field(words, attributes) {
  const input = el("input", { spellcheck: "false", autocomplete: "off", ...attributes });
  const label = el("label", { class: "entry" }, el("span", {}, words), input);
  return { label, input };
}

export function choice(words, options) {
  const input = el("select", {}, options.map(([value, text]) => el("option", { value }, text)));
  return { label: el("label", { class: "entry" }, el("span", {}, words), input), input };
}

/** Asks before something is done. Gives back the values of the fields, or nothing. */
export function confirm(title, words, act, fields = []) {
  const going = el("button", { type: "submit", value: "go", class: "main danger" }, act);
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { id: "ask-title" }, title),
    el("p", {}, words),
    fields.map(({ label }) => label),
    el("div", { class: "row" }, going, el("button", { type: "submit", value: "", class: "quiet", formnovalidate: true }, "Leave it")),
  );
  const dialog = el("dialog", { class: "ask", "aria-labelledby": "ask-title" }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => {
      dialog.remove();
      resolve(dialog.returnValue === "go" ? fields.map(({ input }) => input.value.trim()) : undefined);
    };
  });
}

export function notice(words, state = "good") {
  const one = el("div", { class: "notice", data: { state } }, words);
  $("notices").append(one);
  setTimeout(() => one.remove(), NOTICE_MS);
}

/** An element of a picture. The page allows no style on it. */
export function shape(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** Draws facts anew only when they changed, and of them only what looks different. So a button that somebody is
 *  about to press stays the same one, and keeps the focus, if its `data-key` says what it does and to what. */
export function redraw(box, facts, make) {
  const drawn = JSON.stringify(facts);
  if (drawn === box.drawn) return;
  box.drawn = drawn;
  const held = box.contains(document.activeElement) && document.activeElement.dataset.key;
  const fresh = el("div", {}, make());
  settle(box, [...box.childNodes], [...fresh.childNodes]);
  if (held) box.querySelector(`[data-key="${held}"]`)?.focus();
}

/** Turns the children of a box into others, and leaves those alone that are as they should be. */
function settle(box, old, fresh) {
  if (old.length !== fresh.length) {
    box.replaceChildren(...fresh);
    return;
  }
  for (const [n, node] of old.entries()) {
    const next = fresh[n];
    if (node.isEqualNode(next) && named(node)) continue;
    if (shells(node, next)) settle(node, [...node.childNodes], [...next.childNodes]);
    else node.replaceWith(next);
  }
}

/** Whether two elements are the same but for what is in them. Never: of what can be pressed. */
function shells(one, other) {
  const element = one.nodeType === Node.ELEMENT_NODE && !one.onclick && !other.onclick;
  return element && one.cloneNode(false).isEqualNode(other.cloneNode(false));
}

/** Whether everything in it that can be pressed says by its `data-key` what it does. */
function named(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return true;
  return [node, ...node.querySelectorAll("*")].every((one) => !one.onclick || one.dataset.key);
}

/** Gives a file to the browser to keep. */
export function save(blob, name) {
  const href = URL.createObjectURL(blob);
  el("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), NOTICE_MS);
}

/** Does something, and says whether it went well. */
export async function does(words, work) {
  try {
    const done = await work();
    notice(words);
    return done ?? true;
  } catch (error) {
    notice(error.message, "bad");
    return undefined;
  }
}
