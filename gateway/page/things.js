// Things that can be carried: what they are called, what is said of them, and how they look.
// A unit is a tile; (0, 0) is where the thing touches the ground, up is negative.

import { capital, many, words } from "./dom.js";
import { shape } from "./pen.js";
import { ware } from "./wares.js";

const FILES = ["food", "misc", "resources", "tools", "weapons", "ammunition", "armor", "runes"];
const known = new Map();

/** Reads what the content says of its items; without it, ids serve as names. */
export async function learn() {
  const lists = await Promise.all(
    FILES.map((name) =>
      fetch(`/manifests/items/${name}.json`)
        .then((answer) => (answer.ok ? answer.json() : []))
        .catch(() => []),
    ),
  );
  for (const list of lists)
    for (const item of Array.isArray(list) ? list : (list.items ?? [])) known.set(item.id, item);
}

const plain = (id) => id.charAt(0).toUpperCase() + id.slice(1).replaceAll("_", " ");
const base = (id) => (known.has(id) ? id : id.replace(/_noted$/, ""));
const noted = (id) => (base(id) === id ? "" : " (note)");
export const called = (id) => (known.get(base(id))?.name ?? plain(base(id))) + noted(id);
export const described = (id) =>
  known.get(base(id))?.examine ?? `It is ${called(id).toLowerCase()}.`;
/** What the content says of it; a note has no use but to be paper. */
export const item = (id) => known.get(id);

/** What it is used for by itself, in one word; nothing for most things. */
export function use(id) {
  const item = known.get(id);
  const word = item?.inventoryActions?.[0];
  if (item?.healAmount > 0) return word === "Drink" ? word : "Eat";
  if (item?.prayerXp > 0) return "Bury";
  return teaches(id) ? "Rub" : undefined;
}

/** What a lamp teaches, in points of experience; nothing for what is none. */
export const teaches = (id) => {
  const effect = known.get(id)?.useEffect;
  return effect?.type === "xp_lamp" ? effect.xpAmount : undefined;
};

/** Whether it can be worn; a note cannot. */
export const wearable = (id) => Boolean(known.get(id)?.equipSlot);
export const tradeable = (id) => known.get(base(id))?.tradeable !== false;
export const value = (id) => known.get(base(id))?.value ?? 0;
export const counted = (id, quantity) =>
  quantity > 1 ? `${called(id)} × ${quantity.toLocaleString("en")}` : called(id);

/** What it adds when it is worn: `[words, number]`. */
export const bonuses = (id) =>
  Object.entries(known.get(id)?.bonuses ?? {}).map(([name, n]) => [capital(words(name)), n]);

/** What a person wants to know of it at a glance, line by line. */
export function facts(id) {
  const item = known.get(id);
  const lines = [];
  if (item?.healAmount > 0) lines.push(`Heals ${item.healAmount}`);
  if (teaches(id)) lines.push(`Teaches ${many(teaches(id))} experience`);
  if (item?.equipSlot) {
    const list = bonuses(id).filter(([, n]) => n);
    for (const [name, n] of list) lines.push(`${name} ${n > 0 ? "+" : ""}${n}`);
    const needs = Object.entries(item.requirements?.skills ?? {}).filter(([, level]) => level > 1);
    if (needs.length)
      lines.push(`Needs ${needs.map(([skill, level]) => `${skill} ${level}`).join(", ")}`);
  }
  if (value(id)) lines.push(`Worth ${many(value(id))}`);
  return lines;
}

/** A quantity in at most four characters. */
export function short(n) {
  if (n < 10000) return String(n);
  if (n < 10000000) return `${Math.floor(n / 1000)}K`;
  return `${Math.floor(n / 1000000)}M`;
}

/** A sheet of paper with a small picture of what it stands for. */
function note(c, id) {
  shape(c, "#efe6d2", [-0.3, -0.6], [0.3, -0.56], [0.28, 0.02], [-0.32, 0]);
  c.save();
  c.translate(0, -0.1);
  c.scale(0.6, 0.6);
  thing(c, id);
  c.restore();
}

/** Draws the item. */
export function thing(c, id) {
  if (noted(id)) return note(c, base(id));
  return ware(c, id, known.get(id), called(id));
}
