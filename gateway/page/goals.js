// What a step of a quest is about: kinds of things in the world, where such stand, and what one needs
// for it in the pack. Always: it follows from the content alone.

import { areas, lore, recipes } from "./lore.js";

const GATHERED = ["woodcutting", "mining", "fishing"];
/** Recipes, what of one is made, and where. */
const MADE = [
  ["cooking", "cooked", () => "range"],
  ["smelting", "output", () => "furnace"],
  ["smithing", "output", () => "anvil"],
  ["crafting", "output", (recipe) => recipe.station],
];
/** What is placed in an area, and what says of which kind it is. */
const PLACED = [
  ["npcs", "id", "npcs"],
  ["mobSpawns", "mobId", "npcs"],
  ["resources", "resourceId", "resources"],
  ["stations", "type", "stations"],
];
const WEAPONS = "items/weapons";

/**
 * The goal of a step: kinds of things, their `spots`, the `place` that it names itself, and what one
 * `needs` in the pack, any of it; `before` is the goal of who has none of that.
 */
export async function goal(step, giver) {
  const kinds = {
    npcs: new Set(),
    resources: new Set(),
    items: new Set(),
    stations: new Set(),
    needs: [],
  };
  await ASKS[step.type]?.(step, kinds, giver);
  const place = step.type === "travel" ? step.location : undefined;
  const made = step.type === "interact";
  const first = made && kinds.needs.length ? { type: "gather", target: kinds.needs[0] } : undefined;
  const before = first && (await goal(first, giver));
  return { ...kinds, place, before, spots: await spots(kinds) };
}

/** Whether a goal is about something in sight; nothing is to be had of what is empty. */
export const isAbout = ({ npcs, resources, items, stations }, entity) =>
  npcs.has(entity.npcId) ||
  (resources.has(entity.resourceId) && !entity.depleted) ||
  items.has(entity.itemId) ||
  stations.has(entity.stationType);

const ASKS = {
  dialogue: (step, { npcs }, giver) => npcs.add(step.npcId ?? giver),
  kill: (step, { npcs }) => npcs.add(step.target),
  gather: (step, kinds) => sources(step.target, kinds),
  interact: (step, kinds) => (step.target === "fire" ? fires(kinds) : benches(step.target, kinds)),
  wield: (step, kinds) => weapons(step, kinds),
  sell: (step, kinds) => counters(step, kinds),
  deposit: (step, kinds) => banks(kinds),
  pray: (step, { stations }) => stations.add("altar"),
};

/** Where an item comes from: the land, else those who leave it behind or sell it. */
async function sources(item, { npcs, resources, items }) {
  items.add(item);
  for (const name of GATHERED)
    for (const thing of Object.values(await lore(`gathering/${name}`)).flat())
      if (thing.harvestYield?.some((yielded) => yielded.itemId === item)) resources.add(thing.id);
  if (resources.size) return;
  for (const npc of Object.values(await lore("npcs")))
    if (Object.values(npc.drops ?? {}).some((list) => isAmong(list, item))) npcs.add(npc.id);
  const stores = Object.values(await lore("stores")).filter((store) => isAmong(store.items, item));
  const sells = new Set(stores.map((store) => store.id));
  for (const { npcs: people = [] } of await areas())
    for (const one of people) if (sells.has(one.storeId)) npcs.add(one.id);
}

const isAmong = (list, item) => Array.isArray(list) && list.some((one) => one.itemId === item);

/** Where something is made; what is cooked, is cooked of something. */
async function benches(item, { stations, needs }) {
  for (const [name, made, where] of MADE)
    for (const recipe of await recipes(name)) {
      if (recipe[made] !== item || !where(recipe)) continue;
      stations.add(where(recipe));
      if (recipe.raw) needs.push(recipe.raw);
    }
}

/** A fire is lit anywhere, of any logs; the easiest come first. */
async function fires({ needs }) {
  const list = [...(await recipes("firemaking"))].sort((a, b) => a.level - b.level);
  needs.push(...list.map((recipe) => recipe.log));
}

async function weapons({ target, alternatives = [] }, { needs }) {
  if (target) return needs.push(target, ...alternatives);
  const all = Object.values(await lore(WEAPONS));
  return needs.push(...all.filter((item) => item.equipSlot).map((item) => item.id));
}

/** Who buys: the one whom the step names, else all who keep a shop. */
async function counters({ npcId }, { npcs }) {
  if (npcId) return npcs.add(npcId);
  for (const { npcs: people = [] } of await areas())
    for (const one of people) if (one.storeId) npcs.add(one.id);
  return npcs;
}

async function banks({ npcs, stations }) {
  stations.add("bank");
  for (const npc of Object.values(await lore("npcs")))
    if (npc.services?.types?.includes("bank")) npcs.add(npc.id);
}

/** Where such things were placed, in areas whose things stand where the area lies. */
async function spots(kinds) {
  const found = [];
  for (const area of await areas()) {
    const { minX, maxX, minZ, maxZ } = area.bounds;
    for (const [list, field, kind] of PLACED)
      for (const thing of area[list] ?? []) {
        const { x, z } = thing.position ?? {};
        const inside = x >= minX && x <= maxX && z >= minZ && z <= maxZ;
        if (inside && kinds[kind].has(thing[field])) found.push({ x, z });
      }
  }
  return found;
}
