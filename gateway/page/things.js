// Things that can be carried: what they are called, what is said of them, and how they look.
// A unit is a tile; (0, 0) is where the thing touches the ground, up is negative.

import { capital, many, words } from "./dom.js";
import { shape } from "./pen.js";
import { dose, doses } from "./potions.js";
import { ware } from "./wares.js";

/** Items stand in these files of a folder, or all in one. */
const FILES = ["food", "misc", "resources", "tools", "weapons", "ammunition", "armor", "runes"];
const known = new Map();
/** Notes that have a name of their own, and what they stand for. */
const notes = new Map();

/** Reads what the content says of its items; without it, ids serve as names. */
export async function learn() {
  const read = (path) =>
    fetch(`/manifests/${path}.json`)
      .then((answer) => (answer.ok ? answer.json() : []))
      .catch(() => []);
  take(await Promise.all(FILES.map((name) => read(`items/${name}`))));
  if (!known.size) take([await read("items")]);
}

function take(lists) {
  for (const list of lists)
    for (const item of Array.isArray(list) ? list : (list.items ?? [])) {
      known.set(item.id, item);
      if (item.notedItemId) notes.set(item.notedItemId, item.id);
      if (item.baseItemId) notes.set(item.id, item.baseItemId);
    }
}

/** Of a metal, a sword and a shortsword are the same where the content has only one of them. */
const renamed = (id) =>
  id.endsWith("_shortsword")
    ? id.replace(/_shortsword$/, "_sword")
    : id.replace(/_sword$/, "_shortsword");
const plain = (id) => id.charAt(0).toUpperCase() + id.slice(1).replaceAll("_", " ");
/** The thing itself, if it is a note. */
const base = (id) => notes.get(id) ?? (known.has(id) ? id : id.replace(/_noted$/, ""));
const noted = (id) => (base(id) === id ? "" : " (note)");
/** What the content says of it, by whichever of its names; a note has no use but to be paper. */
const item = (id) => (noted(id) ? undefined : (known.get(id) ?? known.get(renamed(id))));
export const called = (id) => (item(base(id))?.name ?? plain(base(id))) + noted(id);
export const described = (id) =>
  item(base(id))?.examine || `There is nothing to say about ${called(id).toLowerCase()}.`;

/** What it is used for by itself, in one word; nothing for most things. */
export function use(id) {
  const { inventoryActions, healAmount, potion, prayerXp } = item(id) ?? {};
  if (potion) return "Drink";
  if (healAmount > 0) return inventoryActions?.[0] === "Drink" ? "Drink" : "Eat";
  if (prayerXp > 0) return "Bury";
  return teaches(id) ? "Rub" : undefined;
}

/** What a lamp teaches, in points of experience; nothing for what is none. */
export const teaches = (id) => {
  const effect = item(id)?.useEffect;
  return effect?.type === "xp_lamp" ? effect.xpAmount : undefined;
};

/** The doses left in a potion, for its picture; nothing for what is none. */
export const dosesLeft = (id) => doses(item(id));

const outfits = new Map();

/** What is worn, by place, of ids with spaces between them. */
export function outfit(ids) {
  let worn = outfits.get(ids);
  if (worn) return worn;
  worn = {};
  for (const id of ids.split(" ")) {
    const place = item(id)?.equipSlot ?? "2h";
    worn[place === "2h" ? "weapon" : place] = id;
  }
  if (outfits.size > 1000) outfits.clear();
  if (known.size) outfits.set(ids, worn);
  return worn;
}

/** Whether it can be worn, or may be, as far as is known here; a note cannot. */
export const wearable = (id) => !noted(id) && (!item(id) || Boolean(item(id).equipSlot));
export const tradeable = (id) => item(base(id))?.tradeable !== false;
export const value = (id) => item(base(id))?.value ?? 0;
export const counted = (id, quantity) =>
  quantity > 1 ? `${called(id)} × ${quantity.toLocaleString("en")}` : called(id);

/** What it adds when it is worn: `[words, number]`. */
export const bonuses = (id) =>
  Object.entries(item(id)?.bonuses ?? {}).map(([name, n]) => [capital(words(name)), n]);

/** What a person wants to know of it at a glance, line by line. */
export function details(id) {
  const what = item(id);
  const lines = [];
  if (what?.healAmount > 0) lines.push(`Heals ${what.healAmount}`);
  lines.push(...dose(what));
  if (teaches(id)) lines.push(`Teaches ${many(teaches(id))} experience`);
  if (what?.equipSlot) {
    const list = bonuses(id).filter(([, n]) => n);
    for (const [name, n] of list) lines.push(`${name} ${n > 0 ? "+" : ""}${n}`);
    const needs = Object.entries(what.requirements?.skills ?? {}).filter(([, level]) => level > 1);
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
  return ware(c, id, item(id), called(id));
}
