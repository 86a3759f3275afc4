// Elements, made in one call. Always: words are set as text, never as markup.

export const $ = (id) => document.getElementById(id);

/**
 * An element. `on…` are its listeners, `data` its data set; attributes that are undefined or
 * false are left out; `children` may be lists, however deep, and all but elements is text.
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  if (tag === "button") element.type = "button";
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith("on")) element[name] = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null));
  return element;
}

/** Sets the text only where it is another one. */
export function say(element, words) {
  const text = String(words);
  if (element.textContent !== text) element.textContent = text;
}

/** Whether a person is in the middle of writing something. */
export function writing() {
  const at = document.activeElement;
  return Boolean(at?.matches("input, textarea")) && at.value !== "";
}

/** Shows or hides it, only where that changes something. */
export function reveal(element, on) {
  if (element.hidden === Boolean(on)) element.hidden = !on;
}

export const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);
export const many = (n) => Math.floor(n).toLocaleString("en");
/** A span of time in minutes and seconds: `14:05`. */
export function clock(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
/** An id or a code in words: `ready_to_complete` → `ready to complete`. */
export const words = (id) =>
  String(id)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/[_-]/g, " ")
    .toLowerCase();
