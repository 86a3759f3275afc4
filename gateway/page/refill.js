// What waits until nobody presses a button: a browser drops the click if the button leaves the page,
// or moves away from under the pointer, between press and release.
// Always: what the server said last is shown at the latest when the pointer is let go.

/** Longest time from the release of a finger to its click. */
const CLICK_MS = 100;

/** The element on which a pointer is down. */
let held;
/** What is done once it is let go; of the new children of one parent, the last. */
const later = new Map();
let timer;

addEventListener(
  "pointerdown",
  (event) => {
    clearTimeout(timer);
    held = event.target;
  },
  true,
);
for (const [end, ms] of [["click", 0], ["pointerup", CLICK_MS], ["pointercancel", CLICK_MS]])
  addEventListener(end, () => letGoIn(ms), true);
// The mouse was let go outside of the window.
addEventListener("pointermove", (event) => held && !event.buttons && letGo(), true);

function letGoIn(ms) {
  clearTimeout(timer);
  timer = setTimeout(letGo, ms);
}

function letGo() {
  held = undefined;
  const all = [...later.values()];
  later.clear();
  for (const what of all) what();
}

/** Whether a pointer is down on a button. */
export const pressing = () => Boolean(held?.closest?.("button"));

/** Does what may move a button, after the press if there is one. */
export function afterPress(what) {
  if (pressing()) later.set(what, what);
  else what();
}

/** Replaces the children, after the press if a pointer is down on one of them. */
export function refill(parent, children) {
  const fill = () => parent.replaceChildren(...children);
  if (held && parent.contains(held)) {
    later.set(parent, fill);
  } else {
    later.delete(parent);
    fill();
  }
}
