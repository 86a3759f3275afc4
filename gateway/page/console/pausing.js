// Pausing a region, so that no zone plays it, and resuming it.

import { spot } from "./live.js";
import { button, confirm, does } from "./parts.js";

/** The button that pauses a region or resumes it. */
export function pausing(desk, region) {
  const act = region.paused
    ? button("Resume region", () => resume(desk, region))
    : button("Pause region", () => pause(desk, region), "danger");
  act.dataset.key = `pause ${spot(region)}`;
  act.setAttribute("aria-label", `${act.textContent} ${spot(region)}`);
  return act;
}

async function pause({ api, live }, { x, z }) {
  const what = "Its zone saves all that is in it. Its players stay connected, stand still and read why, until you resume it.";
  if (!(await confirm(`Pause region ${x},${z}?`, what, "Pause it"))) return;
  await does(`Region ${x},${z} is paused.`, () => api.ask("POST", "/admin/regions/pause", { x, z }));
  live.again();
}

export async function resume({ api, live }, { x, z }) {
  if (!(await confirm(`Resume region ${x},${z}?`, "A zone plays it again.", "Resume it"))) return;
  await does(`Region ${x},${z} is played again.`, () => api.ask("POST", "/admin/regions/resume", { x, z }));
  live.again();
}
