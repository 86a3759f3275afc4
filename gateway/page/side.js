// The panel at the side: the pack, what is worn, skills, prayers and the rest, one at a time.

import { $, el, capital } from "./dom.js";
import { icon } from "./icons.js";
import { setting } from "./settings.js";

/** Where there is room for the panel beside the map: the limit is that of layout.css. */
const WIDE = "(min-width: 960px) and (min-height: 600px)";
/** Name, key, words; the panel is the element of that id. */
const TABS = [
  ["pack", "KeyI", "Pack"],
  ["gear", "KeyE", "Worn"],
  ["skills-panel", "KeyK", "Skills"],
  ["combat", "KeyC", "Combat"],
  ["prayers", "KeyP", "Prayers"],
  ["quests", "KeyQ", "Quests"],
  ["friends", "KeyF", "Friends"],
  ["emotes", "KeyG", "Gestures"],
];

/** The keys of the same panels in the row above; F5 loads a page anew in every browser. */
const F_KEYS = ["F1", "F2", "F3", "F4", "F6", "F7", "F8", "F9"];

export class Side {
  constructor() {
    this.tab = "pack";
    /** Called with the name of a panel that is looked at. */
    this.onlook = () => {};
    this.buttons = TABS.map(([id, code, title]) => this.button(id, code, title));
    $("side-tabs").replaceChildren(...this.buttons);
    $("side-toggle").onclick = () => this.toggle();
    $("side-close").onclick = () => this.toggle(false);
    $("side-tabs").onkeydown = (event) => this.along(event);
    this.wanted = matchMedia(WIDE).matches;
    this.draw();
  }

  button(id, code, title) {
    return el(
      "button",
      {
        role: "tab",
        id: `tab-${id}`,
        "aria-controls": id,
        "aria-label": title,
        title: `${title} (${code.slice(3)})`,
        onclick: () => this.show(id),
      },
      icon(id),
    );
  }

  get shown() {
    return !$("side").hidden;
  }

  phase(playing) {
    $("side").hidden = !playing || !this.wanted;
    this.draw();
  }

  toggle(open = !this.shown) {
    this.wanted = open;
    $("side").hidden = !open;
    if (open) this.onlook(this.tab);
    else $("map").focus();
    this.draw();
  }

  show(id) {
    this.tab = id;
    if (!this.shown) this.toggle(true);
    else {
      this.draw();
      this.onlook(id);
    }
  }

  /** A key of the keyboard; false where it is none of these. */
  key(code) {
    const at = setting("keys") === "both" ? F_KEYS.indexOf(code) : -1;
    const tab = TABS[at] ?? TABS.find(([, known]) => known === code);
    if (!tab) return false;
    if (this.shown && this.tab === tab[0]) this.toggle(false);
    else this.show(tab[0]);
    return true;
  }

  along(event) {
    const step = { ArrowRight: 1, ArrowLeft: TABS.length - 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const at = TABS.findIndex(([id]) => id === this.tab);
    const [id] = TABS[(at + step) % TABS.length];
    this.show(id);
    $(`tab-${id}`).focus();
  }

  /** Something new is there to be looked at. */
  mark(id) {
    if (this.shown && this.tab === id) return;
    $(`tab-${id}`).classList.add("new");
  }

  draw() {
    $("side-toggle").setAttribute("aria-expanded", String(this.shown));
    for (const [id, , title] of TABS) {
      const on = id === this.tab;
      const tab = $(`tab-${id}`);
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      if (on && this.shown) tab.classList.remove("new");
      $(id).hidden = !on;
      if (on) $("side-title").textContent = capital(title);
    }
  }
}
