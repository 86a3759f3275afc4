// Dragging with the mouse, from what has `data-drag` to what has `data-drop`.
// Always: what can be dragged can also be moved by its menu, for fingers and keys.

import { el } from "./dom.js";

const BEGINS_PX = 7;

export class Drag {
  /** `dropped(from, to)` gets both words; true where something comes of it. */
  constructor(dropped) {
    this.dropped = dropped;
    addEventListener("pointerdown", (event) => this.down(event));
    addEventListener("pointermove", (event) => this.move(event));
    addEventListener("pointerup", (event) => this.up(event));
    addEventListener("pointercancel", () => this.end());
    addEventListener("click", (event) => this.click(event), true);
    addEventListener("keydown", (event) => event.key === "Escape" && this.end());
  }

  down(event) {
    this.end();
    if (event.pointerType !== "mouse" || event.button !== 0 || event.shiftKey) return;
    const source = event.target.closest?.("[data-drag]");
    if (!source?.dataset.drag) return;
    this.held = { source, from: source.dataset.drag, x: event.clientX, y: event.clientY };
  }

  move(event) {
    const { held } = this;
    if (!held) return;
    if (!held.ghost) {
      if (Math.hypot(event.clientX - held.x, event.clientY - held.y) < BEGINS_PX) return;
      const canvas = held.source.querySelector("canvas");
      held.ghost = el("canvas", { id: "ghost", width: canvas.width, height: canvas.height, "aria-hidden": "true" });
      held.ghost.getContext("2d").drawImage(canvas, 0, 0);
      document.body.append(held.ghost);
    }
    held.ghost.style.transform = `translate(${event.clientX - 20}px, ${event.clientY - 20}px)`;
    this.mark(this.under(event));
  }

  under(event) {
    return document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-drop]");
  }

  mark(target) {
    if (this.over === target) return;
    this.over?.classList.remove("over");
    this.over = target;
    target?.classList.add("over");
  }

  up(event) {
    const { held } = this;
    if (!held?.ghost) return this.end();
    const target = this.under(event);
    this.end();
    // The click that follows is the end of the drag, and no press.
    this.ends = performance.now();
    if (target && target !== held.source) this.dropped(held.from, target.dataset.drop);
    return undefined;
  }

  click(event) {
    if (!this.ends || performance.now() - this.ends > 50) return;
    this.ends = undefined;
    event.stopPropagation();
    event.preventDefault();
  }

  end() {
    this.held?.ghost?.remove();
    this.held = undefined;
    this.mark(undefined);
  }
}
