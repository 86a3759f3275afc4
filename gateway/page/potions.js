// Potions: raised levels, poison, doses, and what herbs and cauldrons look like.
// Always: it shows what the server said last.

import { $ } from "./dom.js";
import { box, line, oval, shade, shape } from "./pen.js";

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

/** Leaves and flowers of those that look like no other; by the name of the herb. */
const GROWN = {
  pointed_thistle(c, leaf, flower) {
    for (const [x, y] of [
      [-0.3, -0.2],
      [0.3, -0.28],
      [-0.26, -0.42],
    ])
      shape(c, leaf, [0, y + 0.08], [x, y], [x * 0.5, y - 0.06], [0, y - 0.04]);
    for (const x of [-0.14, 0, 0.14]) line(c, flower, 0.06, 0, -0.5, x, -0.7);
    oval(c, 0, -0.5, 0.1, 0.09, leaf);
  },
  stubborn_dock(c, leaf, flower) {
    oval(c, -0.2, -0.24, 0.14, 0.24, leaf);
    oval(c, 0.2, -0.28, 0.14, 0.26, leaf);
    for (const y of [-0.46, -0.54, -0.62, -0.7]) oval(c, 0, y, 0.07, 0.05, flower);
  },
  shieldleaf(c, leaf, flower) {
    shape(c, leaf, [-0.32, -0.62], [0.32, -0.62], [0.26, -0.3], [0, -0.1], [-0.26, -0.3]);
    line(c, flower, 0.04, 0, -0.58, 0, -0.14);
    line(c, flower, 0.035, -0.2, -0.5, 0, -0.34, 0.2, -0.5);
  },
  farsight_clover(c, leaf, flower) {
    for (const [x, y] of [
      [-0.14, -0.42],
      [0.14, -0.42],
      [-0.14, -0.62],
      [0.14, -0.62],
    ])
      oval(c, x, y, 0.16, 0.13, leaf);
    oval(c, 0, -0.52, 0.09, 0.08, flower);
    oval(c, 0, -0.52, 0.04, 0.04, "#3a4a6c");
  },
  murmuring_sage(c, leaf, flower) {
    for (const side of [-1, 1])
      for (const y of [-0.12, -0.26]) oval(c, side * 0.15, y, 0.17, 0.05, leaf);
    for (let n = 0; n < 5; n += 1)
      oval(c, (n % 2) * 0.1 - 0.05, -0.38 - n * 0.08, 0.08, 0.055, flower);
  },
  humblewort(c, leaf, flower) {
    for (const side of [-1, 1]) {
      oval(c, side * 0.22, -0.06, 0.2, 0.09, leaf);
      line(c, leaf, 0.035, 0, -0.36, side * 0.2, -0.46, side * 0.26, -0.34);
      shape(
        c,
        flower,
        [side * 0.26 - 0.1, -0.18],
        [side * 0.26, -0.36],
        [side * 0.26 + 0.1, -0.18],
      );
    }
  },
  spiderbane(c, leaf, flower) {
    for (let n = 0; n < 8; n += 1) {
      const a = (n / 8) * Math.PI * 2 + 0.4;
      line(c, leaf, 0.06, 0, -0.38, Math.cos(a) * 0.32, -0.38 + Math.sin(a) * 0.3);
    }
    oval(c, 0, -0.38, 0.11, 0.11, flower);
  },
  hurry_mint(c, leaf, flower) {
    for (const y of [-0.12, -0.3, -0.48])
      for (const side of [-1, 1])
        shape(
          c,
          side < 0 ? leaf : flower,
          [0, y],
          [side * 0.16, y - 0.13],
          [side * 0.36, y - 0.1],
          [side * 0.18, y + 0.03],
        );
    shape(c, flower, [-0.07, -0.56], [0, -0.74], [0.07, -0.56]);
  },
};

/** A sprig of that herb. */
export function herb(c, id) {
  const [leaf, flower] = HERBS[id] ?? ["#5c8a48", "#d8e0a8"];
  box(c, -0.02, -0.5, 0.04, 0.48, leaf);
  if (Object.hasOwn(GROWN, id)) return GROWN[id](c, leaf, flower);
  for (const [x, y] of [
    [-0.14, -0.2],
    [0.14, -0.28],
    [-0.12, -0.38],
  ])
    oval(c, x, y, 0.13, 0.07, leaf);
  return oval(c, 0, -0.56, 0.11, 0.1, flower);
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
