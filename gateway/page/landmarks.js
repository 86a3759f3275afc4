// What stands where, by the content: the signs on the map of the world, and what its search finds.
// Always: a group of trees, rocks or fishing spots of one kind is one sign.

import { capital, words } from "./dom.js";
import { fixture } from "./fixtures.js";
import { icon, picture } from "./icons.js";
import { areas, lore } from "./lore.js";
import { ware } from "./wares.js";

const station = (stationType) => (c) => fixture(c, { type: "station", stationType }, 0);
const item = (id) => (c) => ware(c, id, undefined, "");
/**
 * The kinds of signs, the most important first: what it is called, the scale in points a tile from
 * which it is shown, and its picture.
 */
const KINDS = {
  bank: ["bank", 0, item("coins")],
  quest: ["quest", 0.9, undefined],
  shop: ["shop", 1.1, item("sack")],
  altar: ["altar", 0.9, station("altar")],
  runecrafting_altar: ["rune altar", 0.7, item("air_rune")],
  furnace: ["furnace", 1.6, station("furnace")],
  anvil: ["anvil", 1.9, station("anvil")],
  range: ["range", 1.9, station("range")],
  spinning_wheel: ["spinning wheel", 1.9, station("spinning_wheel")],
  cauldron: ["cauldron", 1.9, station("cauldron")],
  well: ["well", 2.2, station("well")],
  ore: ["mining", 1.5, item("bronze_pickaxe")],
  fishing_spot: ["fishing", 1.5, item("raw_trout")],
  tree: ["woodcutting", 2.2, item("bronze_hatchet")],
  herb_patch: ["herbs", 2.2, item("humblewort")],
};
/** Names without a sign: words, and the scale from which they are shown. */
const NAMES = { town: ["town", 0], area: ["place", 1.1], house: ["house", 5] };
const RANKS = [...Object.keys(NAMES), ...Object.keys(KINDS)];
const GATHERED = ["gathering/woodcutting", "gathering/mining", "gathering/fishing", "resources"];
/** Tiles within which things of one kind make a group. */
const GROUP = 22;
const FOUND_MOST = 14;
/** How many of one name the search finds: more tell nobody anything. */
const ALIKE_MOST = 3;
const SIGN = 56;

/** What a kind is called, and from which scale on it is shown. */
export const about = (kind) => KINDS[kind] ?? NAMES[kind];

const drawn = new Map();
/** The sign of a kind: its picture on a disc of paper. Nothing for what has only a name. */
export function sign(kind) {
  if (!KINDS[kind]) return undefined;
  if (!drawn.has(kind)) drawn.set(kind, disc(kind));
  return drawn.get(kind);
}

function disc(kind) {
  const paint = KINDS[kind][2];
  const small = paint ? picture(paint, SIGN) : icon("quests");
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIGN;
  const c = canvas.getContext("2d");
  const middle = SIGN / 2;
  c.beginPath();
  c.arc(middle, middle, middle - 4, 0, 7);
  c.fillStyle = kind === "quest" ? "#4c6ea0" : "#f1e4c3";
  c.shadowColor = "rgba(0,0,0,.6)";
  c.shadowBlur = 5;
  c.fill();
  c.shadowBlur = 0;
  c.lineWidth = 3;
  c.strokeStyle = "#6b4a22";
  c.stroke();
  c.drawImage(small, 6, 5, SIGN - 12, SIGN - 12);
  return canvas;
}

/**
 * Everything that the map names: `{ kind, name, more, x, z, size, goods }`, the most important
 * first. `goods` are words by which the search finds it as well.
 */
export async function landmarks(houses) {
  const lists = ["npcs", "stores", "quests", "stations"].map((name) => lore(name));
  const [npcs, stores, quests, stations] = await Promise.all(lists);
  const known = {
    places: await areas(),
    npcs: byId(npcs),
    stores: byId(stores),
    quests: Object.values(quests),
    stations: new Map((stations.stations ?? []).map((kind) => [kind.type, kind.name])),
    gathered: await gathered(),
  };
  const all = known.places.flatMap((area) => [
    named(area),
    ...people(area, known),
    ...workplaces(area, known),
    ...groups(area, known),
  ]);
  for (const { id, name, minX, maxX, minZ, maxZ } of houses) {
    const at = { x: Math.round((minX + maxX) / 2), z: Math.round((minZ + maxZ) / 2) };
    if (name) all.push({ id, kind: "house", name, ...at });
  }
  return all.sort((a, b) => RANKS.indexOf(a.kind) - RANKS.indexOf(b.kind));
}

const byId = (list) => new Map(Object.values(list).map((one) => [one.id, one]));

/** What trees, rocks, spots and patches are called and give, by their ids. */
async function gathered() {
  const files = await Promise.all(GATHERED.map((name) => lore(name)));
  return byId(files.flatMap((file) => Object.values(file).flat()));
}

function named({ id, name, bounds, group, difficultyLevel, safeZone, pvpEnabled }) {
  const [x, z] = [(bounds.minX + bounds.maxX) / 2, (bounds.minZ + bounds.maxZ) / 2];
  const danger = ["", "gentle wilds", "rough country", "deep wilderness"][difficultyLevel] ?? "";
  const more = [safeZone ? "safe" : danger, pvpEnabled ? "players may attack" : ""];
  return {
    id,
    kind: group === "starterTowns" ? "town" : "area",
    name,
    more: more.filter(Boolean).join(", "),
    x: Math.round(x),
    z: Math.round(z),
    size: (bounds.maxX - bounds.minX) * (bounds.maxZ - bounds.minZ),
  };
}

/** Those who keep a shop, and those who have a quest. */
function people(area, { npcs, stores, quests }) {
  return (area.npcs ?? []).flatMap(({ id, storeId, position: { x, z } }) => {
    const store = stores.get(storeId);
    const who = npcs.get(id)?.name ?? capital(words(id));
    const goods = (store?.items ?? []).map((sold) => sold.name);
    const shop = store && { kind: "shop", name: store.name, more: who, goods, x, z };
    const given = quests.filter((quest) => quest?.startNpc === id);
    const signs = given.map((quest) => ({
      kind: "quest",
      name: quest.name,
      more: who,
      quest: quest.id,
      x,
      z,
    }));
    return shop ? [shop, ...signs] : signs;
  });
}

function workplaces(area, { stations }) {
  const known = (area.stations ?? []).filter(({ type }) => KINDS[type]);
  return known.map(({ type, name, runeType, position: { x, z } }) => ({
    kind: type,
    name:
      name ??
      (runeType ? `${capital(runeType)} altar` : (stations.get(type) ?? capital(words(type)))),
    more: area.name,
    x,
    z,
  }));
}

/** What grows, lies or swims together. */
function groups(area, { gathered }) {
  const found = [];
  for (const { type, resourceId, position } of area.resources ?? []) {
    if (!KINDS[type]) continue;
    const near = ({ x, z }) =>
      Math.max(Math.abs(x - position.x), Math.abs(z - position.z)) <= GROUP;
    const group = found.find((one) => one.resourceId === resourceId && near(one));
    if (group) group.count += 1;
    else found.push({ kind: type, resourceId, count: 1, x: position.x, z: position.z });
  }
  return found.map(({ resourceId, count, ...group }) => {
    const { name, levelRequired, harvestYield = [] } = gathered.get(resourceId) ?? {};
    const level = levelRequired > 1 ? `level ${levelRequired}` : "";
    return {
      ...group,
      name: name ?? capital(words(resourceId)),
      more: [count > 1 ? `${count} of them` : "", level].filter(Boolean).join(", "),
      goods: harvestYield.map((one) => one.itemName ?? words(one.itemId)),
    };
  });
}

/** What fits the words best and, of what fits as well, what is nearest to `from`. */
export function find(all, text, from) {
  const sought = text.trim().toLowerCase();
  if (!sought) return [];
  const far = ({ x, z }) => (from ? Math.hypot(x - from.x, z - from.z) : 0);
  const rated = all.map((one) => ({ one, rank: fits(one, sought), far: far(one) }));
  const fitting = rated.filter(({ rank }) => rank < Infinity);
  fitting.sort((a, b) => a.rank - b.rank || a.far - b.far);
  const alike = new Map();
  const few = fitting.filter(({ one: { kind, name } }) => {
    const id = `${kind} ${name}`;
    alike.set(id, (alike.get(id) ?? 0) + 1);
    return alike.get(id) <= ALIKE_MOST;
  });
  return few.slice(0, FOUND_MOST).map(({ one }) => one);
}

/** How well words fit: 0 is best. */
function fits({ kind, name, more = "", goods = [] }, sought) {
  const called = name.toLowerCase();
  if (called.startsWith(sought)) return kind === "town" ? 0 : 1;
  if (about(kind)[0].startsWith(sought)) return 1;
  if (called.includes(` ${sought}`)) return 2;
  if (goods.some((word) => word.toLowerCase().includes(sought))) return 3;
  return called.includes(sought) || more.toLowerCase().includes(sought) ? 4 : Infinity;
}
