// Potions: raised levels, poison, doses, and what herbs and cauldrons look like.
// Always: it shows what the server said last.

import { $ } from "./dom.js";
import { box, oval, shade, shape } from "./pen.js";

export class Potions {
  /** `game`: tell, raise(boosts), which shows levels on top of those of experience. */
  constructor(game) {
    Object.assign(this, game);
    this.poison = undefined;
  }

  /** `effects` of `player:sync` and of `vitals:update`; nothing: there are none. */
  update({ boosts = {}, poison } = {}, anew = false) {
    this.raise(boosts);
    const bar = $("health");
    bar.classList.toggle("poisoned", poison > 0);
    bar.dataset.tip = poison ? `Poisoned: the next strike takes ${poison}` : "";
    bar.setAttribute("aria-label", poison ? "Health, poisoned" : "Health");
    if (!anew && poison && !this.poison) this.tell("You have been poisoned.", "warning");
    if (!anew && !poison && this.poison) this.tell("The poison has left you.");
    this.poison = poison;
  }
}

/** How many doses are left in a potion of the content, as its name says; nothing for all else. */
export const doses = (item) => (item?.potion ? (/\((\d+)\)$/.exec(item.name)?.[1] ?? "") : "");

const signed = ({ levels = 0, percent = 0 }) =>
  [levels && `+${levels}`, percent && `+${percent} %`].filter(Boolean).join(" ");

/** What a dose does, line by line. */
export function dose(item) {
  const words = {
    boost: (effect) => `Raises ${effect.skill} ${signed(effect)}`,
    prayer: (effect) => `Prayer ${signed({ levels: effect.points, percent: effect.percent })}`,
    energy: (effect) => `Energy +${effect.percent} %`,
    cure: () => "Cures poison",
  };
  const effects = item?.potion?.effects ?? [];
  return effects.map((effect) => words[effect.type]?.(effect)).filter(Boolean);
}

const HERBS = {
  pointed_thistle: ["#5f8a4a", "#b05cb8"],
  stubborn_dock: ["#4d7a3a", "#a8603c"],
  shieldleaf: ["#4a7d5c", "#8fb89a"],
  farsight_clover: ["#5c9448", "#e6dcf0"],
  murmuring_sage: ["#7f9a86", "#8a7fc8"],
  humblewort: ["#6a8a50", "#e8d890"],
  spiderbane: ["#3f6a44", "#d8e0d8"],
  hurry_mint: ["#4fae7a", "#bff0d0"],
};

/** A sprig of that herb. */
export function herb(c, id) {
  const [leaf, flower] = HERBS[id] ?? ["#5c8a48", "#d8e0a8"];
  box(c, -0.02, -0.5, 0.04, 0.48, leaf);
  for (const [x, y] of [
    [-0.14, -0.2],
    [0.14, -0.28],
    [-0.12, -0.38],
  ])
    oval(c, x, y, 0.13, 0.07, leaf);
  oval(c, 0, -0.56, 0.11, 0.1, flower);
}

/** A patch of the herb that `patch_…` names; of a picked one only the stalks. */
export function patch(c, id, picked) {
  shade(c, 0.4);
  if (picked) {
    for (const x of [-0.22, 0, 0.2]) box(c, x, -0.1, 0.03, 0.14, "#7d8a4c");
    return;
  }
  for (const x of [-0.24, 0.22, 0]) {
    c.save();
    c.translate(x, 0.04 - Math.abs(x) * 0.5);
    herb(c, id.replace(/^patch_/, ""));
    c.restore();
  }
}

export function cauldron(c, time) {
  shade(c, 0.46);
  for (const x of [-0.3, 0.22]) box(c, x, -0.16, 0.08, 0.2, "#2a2a2e");
  oval(c, 0, -0.05, 0.24, 0.07 + Math.sin(time / 140) * 0.012, "#ff9a3a");
  shape(c, "#3a3b42", [-0.44, -0.58], [-0.34, -0.16], [0.34, -0.16], [0.44, -0.58]);
  oval(c, 0, -0.58, 0.44, 0.15, "#4c4e57");
  oval(c, 0, -0.58, 0.36, 0.11, "#5fa86a");
  for (let n = 0; n < 3; n += 1) {
    const t = (time / 1400 + n / 3) % 1;
    oval(c, (n - 1) * 0.16, -0.6 - t * 0.22, 0.05 * (1 - t), 0.05 * (1 - t), "#8fd89a");
  }
}
