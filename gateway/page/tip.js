// What is said of something while it is pointed at or has the keys: `data-tip`, line by line.

import { $, el } from "./dom.js";

const WAIT_MS = 350;

export class Tip {
  constructor() {
    this.box = $("tip");
    document.addEventListener("pointerover", (event) => {
      if (event.pointerType === "mouse") this.over(event.target);
    });
    document.addEventListener("focusin", (event) => {
      if (event.target.matches?.(":focus-visible")) this.over(event.target);
    });
    for (const end of ["pointerdown", "focusout", "keydown"])
      document.addEventListener(end, () => this.hide(), true);
    document.addEventListener("pointerleave", () => this.hide());
  }

  over(target) {
    const about = target.closest?.("[data-tip]");
    if (about === this.about) return;
    this.hide();
    if (!about?.dataset.tip) return;
    this.about = about;
    this.timer = setTimeout(() => this.show(), WAIT_MS);
  }

  show() {
    const { about, box } = this;
    if (!about?.isConnected) return;
    const [first, ...rest] = about.dataset.tip.split("\n");
    box.replaceChildren(el("b", {}, first), ...rest.map((line) => el("div", {}, line)));
    box.hidden = false;
    const at = about.getBoundingClientRect();
    const below = at.bottom + 6 + box.offsetHeight < innerHeight;
    const y = below ? at.bottom + 6 : Math.max(6, at.top - 6 - box.offsetHeight);
    const x = Math.max(6, Math.min(at.left, innerWidth - box.offsetWidth - 6));
    box.style.transform = `translate(${x}px, ${y}px)`;
  }

  hide() {
    clearTimeout(this.timer);
    this.about = undefined;
    this.box.hidden = true;
  }
}
