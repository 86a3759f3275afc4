// Hands on a map: it is dragged, pinched and turned nearer by the wheel; a tap is none of these.

const TAP_POINTS = 7;

export class Grip {
  /** `act`: drag(dx, dy), zoom(by, x, y), tap(x, y), hover(x, y), all in points of the element. */
  constructor(element, act) {
    this.element = element;
    this.act = act;
    this.fingers = new Map();
    this.moved = 0;
    element.addEventListener("pointerdown", (event) => this.down(event));
    element.addEventListener("pointermove", (event) => this.move(event));
    element.addEventListener("pointerup", (event) => this.up(event));
    element.addEventListener("pointercancel", (event) => this.fingers.delete(event.pointerId));
    element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  at({ clientX, clientY }) {
    const box = this.element.getBoundingClientRect();
    return { x: clientX - box.left, y: clientY - box.top };
  }

  down(event) {
    if (event.button > 0) return;
    this.element.setPointerCapture(event.pointerId);
    if (!this.fingers.size) this.moved = 0;
    this.fingers.set(event.pointerId, this.at(event));
    if (this.fingers.size > 1) this.moved = Infinity;
  }

  move(event) {
    const now = this.at(event);
    const before = this.fingers.get(event.pointerId);
    if (!before) return this.act.hover(now.x, now.y);
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    const wide = this.spread();
    this.fingers.set(event.pointerId, now);
    this.moved += Math.hypot(dx, dy);
    if (this.moved < TAP_POINTS) return undefined;
    const share = 1 / this.fingers.size;
    this.act.drag(dx * share, dy * share);
    const [x, y] = this.middle();
    if (wide && this.spread()) this.act.zoom(this.spread() / wide, x, y);
    return undefined;
  }

  up(event) {
    const at = this.fingers.get(event.pointerId);
    this.fingers.delete(event.pointerId);
    if (at && !this.fingers.size && this.moved < TAP_POINTS) this.act.tap(at.x, at.y);
  }

  wheel(event) {
    event.preventDefault();
    const { x, y } = this.at(event);
    this.act.zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 260), x, y);
  }

  /** Points between two fingers; 0 for one. */
  spread() {
    const [a, b] = [...this.fingers.values()];
    return b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
  }

  middle() {
    const all = [...this.fingers.values()];
    return ["x", "y"].map((axis) => all.reduce((sum, one) => sum + one[axis], 0) / all.length);
  }
}
