// The menu of what can be done with something, and the long press that asks for it.
// Always: its first entry has the focus only where a key opened it; else Enter means the chat.

import { $, el } from "./dom.js";

const LONG_MS = 450;
/** More than these are no longer looked over: the rest is scrolled to. */
const NUMBERED = 9;

/** A menu of `[words, what, detail?]` at a place. */
export class Menu {
  constructor() {
    this.box = $("menu");
    this.box.tabIndex = -1;
    this.box.onkeydown = (event) => this.key(event);
    addEventListener("pointerdown", (event) => {
      if (!this.box.contains(event.target)) this.close(false);
    });
    addEventListener("blur", () => this.close(false));
    addEventListener("resize", () => this.close(false));
  }

  get shown() {
    return !this.box.hidden;
  }

  open(x, y, title, entries) {
    if (!this.shown) this.from = document.activeElement;
    const rows = entries.map(([words, what, detail]) =>
      el(
        "button",
        {
          role: "menuitem",
          onclick: () => {
            this.close();
            what();
          },
        },
        words,
        detail === undefined ? undefined : el("em", {}, detail),
      ),
    );
    this.box.setAttribute("aria-label", title);
    this.box.replaceChildren(el("b", {}, title), ...rows);
    this.box.hidden = false;
    this.box.scrollTop = 0;
    const left = Math.max(8, Math.min(x, innerWidth - this.box.offsetWidth - 8));
    const top = Math.max(8, Math.min(y, innerHeight - this.box.offsetHeight - 8));
    this.box.style.transform = `translate(${left}px, ${top}px)`;
    const byKey = this.from?.matches("button");
    (byKey ? (rows[0] ?? this.box) : this.box).focus({ preventScroll: true });
  }

  /** The same under something that was clicked. */
  under(element, title, entries) {
    const at = element.getBoundingClientRect();
    this.open(at.left, at.bottom + 4, title, entries);
  }

  key(event) {
    event.stopPropagation();
    const rows = [...this.box.querySelectorAll("button")];
    const at = rows.indexOf(document.activeElement);
    if (event.key === "Enter" && at < 0) {
      event.preventDefault();
      this.close(false);
      $("line").focus();
    } else if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      this.close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      rows[step(event.key, at, rows.length)]?.focus();
    } else if (event.key >= "1" && Number(event.key) <= Math.min(NUMBERED, rows.length)) {
      event.preventDefault();
      rows[Number(event.key) - 1].click();
    }
  }

  /** `back`: whoever opened it has the keys again. */
  close(back = true) {
    if (this.box.hidden) return;
    this.box.hidden = true;
    const from = this.from;
    this.from = undefined;
    if (back) (from?.isConnected ? from : $("map")).focus({ preventScroll: true });
  }
}

/** Where an arrow leads in a list of so many, from `at`, or from none of them at -1. */
export function step(key, at, count) {
  return (key === "ArrowDown" ? at + 1 : Math.max(at, 0) + count - 1) % count;
}

/** Calls `what(x, y)` for a finger that rests, and for the other mouse button. */
export function longPress(element, what) {
  let timer;
  /** Whether a finger rested long enough: some browsers ask for the menu then as well. */
  let rested = false;
  let done = false;
  let at;
  const stop = () => clearTimeout(timer);
  element.addEventListener("pointerdown", (event) => {
    stop();
    rested = false;
    done = false;
    if (event.pointerType === "mouse" || !event.isPrimary) return;
    at = { x: event.clientX, y: event.clientY };
    timer = setTimeout(() => {
      done = what(at.x, at.y);
      rested = done;
    }, LONG_MS);
  });
  element.addEventListener("pointermove", (event) => {
    if (at && Math.hypot(event.clientX - at.x, event.clientY - at.y) > 12) stop();
  });
  for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, stop);
  element.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    if (!rested) done = what(event.clientX, event.clientY);
  });
  /** Whether the press that just ended was a long one. */
  return () => done;
}
