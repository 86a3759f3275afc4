// Other children for an element, when nobody presses one of them: a browser drops the click on an
// element that leaves the page between press and release.
// Always: what the server said last is shown at the latest when the pointer is let go.

/** Longest time from the release of a finger to its click. */
const CLICK_MS = 100;

/** The element on which a pointer is down. */
let held;
/** The children that are shown once it is let go, by their parent. */
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
  for (const [parent, children] of later) parent.replaceChildren(...children);
  later.clear();
}

/** Replaces the children, after the press if a pointer is down on one of them. */
export function refill(parent, children) {
  if (held && parent.contains(held)) later.set(parent, children);
  else parent.replaceChildren(...children);
}
