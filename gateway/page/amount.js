// How many: the numbers one usually means, and a small window for any other.

import { el, many } from "./dom.js";
import { Pane } from "./pane.js";
import { short } from "./things.js";

const MOST = 2147483647;
const USUAL = [1, 5, 10, 50];
/** How many a click means while a counter is open; `Infinity`: all. */
let usual = 1;
let asked;

export const usually = () => usual;

/** The window, made when it is first needed. */
class Amount {
  constructor() {
    this.pane = new Pane("amount", "How many?");
    this.field = el("input", {
      inputmode: "numeric",
      maxlength: 12,
      "aria-label": "How many",
      enterkeyhint: "done",
    });
    this.form = el(
      "form",
      { class: "row", autocomplete: "off" },
      this.field,
      el("button", { type: "submit", class: "main" }, "Done"),
    );
    this.form.onsubmit = (event) => {
      event.preventDefault();
      const n = read(this.field.value);
      if (!n) return this.field.focus();
      this.pane.hide();
      return this.what(Math.min(n, this.most));
    };
    this.pane.body.append(this.form);
  }

  ask(title, most, what) {
    Object.assign(this, { most, what });
    this.pane.name(title, most < MOST ? `at most ${many(most)}` : "");
    this.field.value = "";
    this.pane.show();
    this.field.focus();
  }
}

/** A number as people write it: 1500, 1,500, 2k, 1m. Nothing for anything else. */
export function read(text) {
  const [, digits, unit] = /^\s*([\d.,' ]+?)\s*([km]?)\s*$/i.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const times = { k: 1000, m: 1000000 }[unit.toLowerCase()] ?? 1;
  const n = unit ? Number(digits.replace(",", ".")) : Number(digits.replace(/\D/g, ""));
  const whole = Math.floor(n * times);
  return Number.isSafeInteger(whole) && whole > 0 ? Math.min(whole, MOST) : undefined;
}

/** Buttons that choose how many a click means. */
export function amounts() {
  const choices = [["1", 1], ["5", 5], ["10", 10], ["X", undefined], ["All", Infinity]];
  const box = el("div", { class: "amounts", role: "group", "aria-label": "How many a click takes" });
  const draw = () => {
    const fits = choices.findIndex(([, n]) => n === usual);
    [...box.children].forEach((button, at) => {
      button.setAttribute("aria-pressed", String(at === (fits < 0 ? 3 : fits)));
      if (at === 3) button.textContent = fits < 0 ? `X: ${short(usual)}` : "X";
    });
  };
  const choose = (n) => {
    usual = n;
    draw();
  };
  const press = (n) => {
    if (n) return choose(n);
    asked ??= new Amount();
    return asked.ask("How many does a click take?", MOST, choose);
  };
  box.append(...choices.map(([words, n]) => el("button", { onclick: () => press(n) }, words)));
  draw();
  return box;
}

/**
 * Entries of a menu to do something with 1, 5, 10 …, any number, or `all` of `most`.
 * `what(n)` does it; `detail(n)` says what comes of it.
 */
export function howMany(verb, most, what, { all = most, detail } = {}) {
  const entry = (words, n) => [`${verb} ${words}`, () => what(n), detail?.(Math.min(n, most))];
  if (most <= 1) return most === 1 ? [entry("it", 1)] : [];
  const entries = USUAL.filter((n) => n < most).map((n) => entry(String(n), n));
  if (most > USUAL[1])
    entries.push([
      `${verb} …`,
      () => {
        asked ??= new Amount();
        asked.ask(`${verb} how many?`, most, what);
      },
    ]);
  entries.push(entry(`all ${short(most)}`, all));
  // What a click means comes first.
  if (usual >= most) entries.unshift(entries.pop());
  else if (usual > 1) {
    const words = String(usual);
    const others = entries.filter(([said]) => said !== `${verb} ${words}`);
    return [entry(words, usual), ...others];
  }
  return entries;
}
