// What a person has set: each setting once, with its words, its choices and what it is at first.
// Always: the browser keeps it; a change counts at once, for whoever listens and for the styles.

import { kept } from "./net.js";

/** Name, words, choices `[value, words]`; the first choice is what it is at first. */
export const SETTINGS = [
  ["scale", "Size of everything", [["1", "as it is"], ["0.85", "smaller"], ["1.15", "larger"], ["1.3", "large"]]],
  ["labels", "Names in the world", [["all", "of everybody"], ["pointed", "of what is pointed at"]]],
  ["colours", "Colours", [["usual", "as painted"], ["safe", "for colour-blind eyes"]]],
  ["motion", "Movement", [["system", "as the system says"], ["less", "as little as possible"]]],
  ["click", "A click in the pack", [["act", "does the likeliest"], ["ask", "asks first"]]],
  ["log", "In the log of all", [["all", "chat, news and fights"], ["news", "chat and news"], ["chat", "chat alone"]]],
  ["keys", "Keys for the panels", [["both", "letters and F keys"], ["letters", "letters alone"]]],
  ["pictures", "Pictures a second, at most", [["all", "what the screen can"], ["30", "30"], ["15", "15, for the battery"]]],
  ["figures", "Ping and pictures a second", [["off", "hidden"], ["on", "shown"]]],
];

const KEPT = "settings";
const heard = [];
const still = matchMedia("(prefers-reduced-motion: reduce)");
const values = read();

function read() {
  let known = {};
  try {
    known = JSON.parse(kept.get(KEPT) ?? "{}") ?? {};
  } catch {
    /* what cannot be read is as it is at first */
  }
  const chosen = SETTINGS.map(([name, , choices]) => {
    const fits = choices.some(([value]) => value === known[name]);
    return [name, fits ? known[name] : choices[0][0]];
  });
  return Object.fromEntries(chosen);
}

export const setting = (name) => values[name];

/** Whether things should move as little as possible. */
export const resting = () => values.motion === "less" || still.matches;

/** Calls `what()` now, and whenever something is set. */
export function heed(what) {
  heard.push(what);
  what();
}

export function set(name, value) {
  values[name] = value;
  kept.set(KEPT, JSON.stringify(values));
  for (const what of heard) what();
}
