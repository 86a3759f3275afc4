// A stack of something, as a button: its picture, how many, and what it is when it is pointed at.

import { el } from "./dom.js";
import { picture } from "./icons.js";
import { counted, details, short, thing } from "./things.js";

const SIDE = 80;
const KEPT = 600;
const kept = new Map();

/** The picture of an item. Drawn once, then copied. */
export function portrait(id) {
  let drawn = kept.get(id);
  if (!drawn) {
    drawn = picture((c) => thing(c, id), SIDE);
    if (kept.size >= KEPT) kept.clear();
    kept.set(id, drawn);
  }
  const canvas = el("canvas", { width: SIDE, height: SIDE, "aria-hidden": "true" });
  canvas.getContext("2d").drawImage(drawn, 0, 0);
  return canvas;
}

/** Pictures were drawn before it was known what the things are. */
export function forget() {
  kept.clear();
}

/**
 * `chosen(button, event)` is called for a click and for the other mouse button. `label` says more
 * than what it is and how many; `name` and `note` are shown beside it.
 */
export function goods(stack, chosen, { label, note, name, ...attributes } = {}) {
  const words = label ?? counted(stack.itemId, stack.quantity);
  const button = el(
    "button",
    {
      class: "goods",
      "aria-label": note ? `${words}, ${note}` : words,
      data: { tip: [words, note, ...details(stack.itemId)].filter(Boolean).join("\n") },
      ...attributes,
    },
    portrait(stack.itemId),
    el("span", {}, stack.quantity > 1 || stack.quantity === 0 ? short(stack.quantity) : ""),
    name === undefined ? undefined : el("b", {}, name),
    note === undefined ? undefined : el("small", {}, note),
  );
  button.onclick = (event) => chosen?.(button, event);
  button.oncontextmenu = (event) => {
    event.preventDefault();
    chosen?.(button, event);
  };
  return button;
}
