// What of the page cannot be reached or read, one sentence each: parts that lie over each other or
// outside the window, controls that are cut off, covered, or too small for their words.

const CONTROLS = "button, input, summary, a[href], [tabindex='0']:not(#map, .body), #minimap";
const PARTS =
  "#light, #foe, #tracker, #corner, #chat, #side, #vitals, #buttons, #doing, .pane, .card, #asking > div, #notices > div";
/** Rounding of edges. */
const SLACK = 1;
/** The least width and height of what is to be touched. */
const LEAST = 16;

const shown = (e) => {
  const at = e.getBoundingClientRect();
  return at.width > 0 && at.height > 0 && e.checkVisibility({ visibilityProperty: true });
};
const called = (e) =>
  e.id ? `#${e.id}` : `${e.tagName.toLowerCase()} "${(e.ariaLabel ?? e.innerText).slice(0, 40)}"`;
const around = () => ({ left: 0, top: 0, right: innerWidth, bottom: innerHeight });
const within = (a, b) =>
  a.left >= b.left - SLACK &&
  a.top >= b.top - SLACK &&
  a.right <= b.right + SLACK &&
  a.bottom <= b.bottom + SLACK;
const overlap = (a, b) =>
  Math.min(a.right, b.right) - Math.max(a.left, b.left) > SLACK &&
  Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > SLACK;
const place = (at) =>
  [at.left, at.top, at.right, at.bottom].map((edge) => Math.round(edge)).join(" ");

/** Ancestors beyond whose edges nothing of it is seen. */
function* frames(e) {
  for (let up = e.parentElement; up && up !== document.body; up = up.parentElement) {
    const how = getComputedStyle(up);
    if (how.display !== "contents" && how.overflow !== "visible") yield up;
  }
}

/** Scrolls what is in a list into view, as a person does; gives back how to undo it. */
function seek(e) {
  const undo = [];
  for (const frame of frames(e)) {
    if (!/auto|scroll/.test(getComputedStyle(frame).overflowY)) continue;
    const [at, box] = [e.getBoundingClientRect(), frame.getBoundingClientRect()];
    const before = frame.scrollTop;
    if (at.bottom > box.bottom) frame.scrollTop += at.bottom - box.bottom + 1;
    if (at.top < box.top) frame.scrollTop -= box.top - at.top + 1;
    undo.push(() => {
      frame.scrollTop = before;
    });
  }
  return () => undo.forEach((back) => back());
}

/** The middle, and a point near each edge: where a click must come to it. */
function points(at) {
  const [x, y] = [(at.left + at.right) / 2, (at.top + at.bottom) / 2];
  const [dx, dy] = [(at.right - at.left) / 2 - 2, (at.bottom - at.top) / 2 - 2];
  return [[x, y], [x - dx, y], [x + dx, y], [x, y - dy], [x, y + dy]];
}

function control(e) {
  const wrong = [];
  const back = seek(e);
  const at = e.getBoundingClientRect();
  if (!within(at, around())) wrong.push("is outside the window");
  for (const frame of frames(e))
    if (!within(at, frame.getBoundingClientRect())) wrong.push(`is cut off by ${called(frame)}`);
  if (!wrong.length) {
    const over = points(at)
      .map(([x, y]) => document.elementFromPoint(x, y))
      .find((hit) => !e.contains(hit));
    if (over !== undefined) wrong.push(`is covered by ${over ? called(over) : "nothing"}`);
  }
  if (at.width < LEAST || at.height < LEAST) wrong.push("is too small");
  if (e.tagName === "BUTTON" && e.scrollWidth > e.clientWidth + SLACK)
    wrong.push(`has no room for its words`);
  back();
  return wrong.map((words) => `${called(e)} ${words} at ${place(at)}`);
}

function geometry() {
  const wrong = [];
  const parts = [...document.querySelectorAll(PARTS)].filter(shown);
  for (const [n, one] of parts.entries()) {
    const at = one.getBoundingClientRect();
    if (!one.matches(".card") && !within(at, around()))
      wrong.push(`${called(one)} reaches out of the window: ${place(at)}`);
    for (const other of parts.slice(n + 1)) {
      const box = other.getBoundingClientRect();
      if (!one.contains(other) && !other.contains(one) && overlap(at, box))
        wrong.push(`${called(one)} (${place(at)}) and ${called(other)} (${place(box)}) overlap`);
    }
  }
  // While a menu or a question is open it lies over the rest, and is what is chosen from.
  const root = document.querySelector("dialog[open], #menu:not([hidden])") ?? document;
  for (const e of root.querySelectorAll(CONTROLS)) if (shown(e)) wrong.push(...control(e));
  return wrong;
}
