// A window over the world: a title, something in it, a cross to close it.
// Always: only the one that was opened last is seen, so that none covers another; Escape closes it,
// and what it leaves has the keys again; one who is writing goes on writing when it opens.

import { $, el, say, writing } from "./dom.js";

const open = [];
const KEYED = "button, input, select, textarea, summary, a[href], [tabindex='0']";

/** A list that scrolls can be scrolled by keys: by what is in it, or else by itself. */
function reaches(body) {
  const scrolls = body.scrollHeight > body.clientHeight + 1;
  if (scrolls && !body.querySelector(KEYED)) body.tabIndex = 0;
  else body.removeAttribute("tabindex");
}
const sizes = new ResizeObserver((all) => all.forEach(({ target }) => reaches(target)));

export class Pane {
  /**
   * `leave()` is called when a person closes it; without it the pane is just hidden. A window that
   * the server has open is closed by what the server says then.
   */
  constructor(id, title, { leave, modal = false, permanent = false } = {}) {
    this.leave = leave;
    this.permanent = permanent;
    this.title = el("b", { id: `${id}-title` }, title);
    this.extra = el("span", {});
    this.body = el("div", { class: "body" });
    this.foot = el("footer", {});
    this.cross = el(
      "button",
      { class: "cross", "aria-label": `Close: ${title}`, onclick: () => this.left() },
      "×",
    );
    this.box = el(
      "section",
      {
        id,
        class: "pane",
        role: "dialog",
        tabindex: "-1",
        "aria-modal": modal && "true",
        "aria-labelledby": `${id}-title`,
        hidden: true,
      },
      el("header", {}, this.title, this.extra, permanent ? undefined : this.cross),
      this.body,
      this.foot,
    );
    $("stage").append(this.box);
    sizes.observe(this.body);
    new MutationObserver(() => reaches(this.body)).observe(this.body, { childList: true, subtree: true });
  }

  get shown() {
    return !this.box.hidden;
  }

  name(title, extra = "") {
    say(this.title, title);
    say(this.extra, extra);
    this.cross.setAttribute("aria-label", `Close: ${title}`);
  }

  show(focus = true) {
    if (this.shown) return;
    this.from = document.activeElement;
    this.box.hidden = false;
    open.push(this);
    stack();
    if (focus && !writing()) this.box.focus({ preventScroll: true });
  }

  hide() {
    if (!this.shown) return;
    const held = this.box.contains(document.activeElement);
    this.box.hidden = true;
    open.splice(open.indexOf(this), 1);
    stack();
    const back = this.from?.isConnected && this.from !== document.body ? this.from : $("map");
    this.from = undefined;
    if (held) back.focus({ preventScroll: true });
  }

  /** A person closes it. */
  left() {
    if (this.leave) this.leave();
    else this.hide();
  }
}

/** All but the last wait beneath it. */
function stack() {
  open.forEach((pane, at) => pane.box.classList.toggle("beneath", at < open.length - 1));
}

/** Closes the window that was opened last; false where there is none. */
export function closeLast() {
  const last = open.findLast((pane) => !pane.permanent);
  last?.left();
  return last !== undefined;
}

/** Nothing is open any more: the world was left. */
export function closeAll() {
  for (const pane of [...open]) pane.hide();
}
