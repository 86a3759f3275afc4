// Joins the parts: what the server says to what is shown, and what a person does to what is asked.

import { Net } from "./net.js";
import { Land, Scene, key } from "./world.js";
import { Picture } from "./draw.js";
import { Walkers } from "./walk.js";
import { Minimap } from "./minimap.js";
import { Ui } from "./ui.js";
import { Hands } from "./hands.js";
import { Bank } from "./bank.js";
import { Gear } from "./gear.js";
import { Menu, Pack } from "./pack.js";
import { counted, described, learn } from "./things.js";
import { refusal } from "./words.js";

const $ = (id) => document.getElementById(id);
const land = new Land();
const scene = new Scene();
const free = (x, z) => land.walkable(x, z) && !scene.solid.has(key(x, z));
const walkers = new Walkers(free);
const picture = new Picture($("map"), land);
const minimap = new Minimap($("minimap"), land);
const me = { id: undefined, name: undefined, run: false, position: undefined, target: undefined };
let characters = [];
let wordsSince = 0;
let ticks = { at: 0, tick: 0, ms: undefined };

const ui = new Ui({ create, enter, leave, run: () => setRun(!me.run), say });
const net = new Net(hear, (state, words) => ui.light(state, words));
const menu = new Menu();
const pack = new Pack(menu, act, (words) => ui.notice(words));
const gear = new Gear(menu, act, (words) => ui.notice(words));
const bank = new Bank(menu, act);
pack.banking = () => bank.open;
picture.minimap = minimap;
const hands = new Hands(
  { net, me, free, picture, minimap, here },
  { walkTo, tapped, ground, toggleRun: () => setRun(!me.run), togglePack: () => pack.toggle() },
);
const { mouse } = hands;
land.onload = (rx, rz) => picture.changed(rx, rz);

function playing() {
  try {
    return sessionStorage.getItem("tilestead.playing") ?? undefined;
  } catch {
    return undefined;
  }
}

function remember(id) {
  try {
    if (id) sessionStorage.setItem("tilestead.playing", id);
    else sessionStorage.removeItem("tilestead.playing");
  } catch {
    /* fine */
  }
}

const HEARS = {
  "session:welcome"(data) {
    list(data.characters);
    if (net.character) return;
    const last = data.characters.find((c) => c.id === playing());
    if (last) enter(last.id);
    else {
      ui.phase(false);
      ui.busy(false);
      ui.word(
        data.characters.length ? "Who will you be today?" : "Choose a name, or roll another one.",
      );
    }
  },
  "character:list"(data) {
    list(data.characters);
  },
  "world:entered"(data) {
    me.id = data.entityId;
    remember(data.characterId);
    scene.clear();
    walkers.clear();
    me.target = undefined;
    ui.phase(true);
    pack.phase(true);
    ui.busy(false);
    wordsSince = performance.now();
  },
  "world:left"() {
    net.character = undefined;
    if (net.phase === "world") net.phase = "lobby";
    out("You are out of the world, and saved.");
  },
  resync() {
    scene.clear();
    walkers.clear();
  },
  "player:sync"(data) {
    me.name = data.character.name;
    me.id ??= data.character.id;
    me.position = { x: data.position.x, z: data.position.z };
    me.run = data.run;
    ui.vitals({ health: data.health, energy: data.energy, run: data.run });
    pack.all(data.inventory, data.coins);
    gear.all(data.equipment, data.skills);
    // What is still open is shown again.
    bank.close();
  },
  "equipment:update"(data) {
    gear.some(data.slots);
  },
  "skill:xp"(data) {
    gear.gained(data);
  },
  "bank:state"(data) {
    bank.state(data);
  },
  "inventory:update"(data) {
    pack.some(data.slots);
  },
  "coins:update"(data) {
    pack.purse(data.coins);
  },
  "vitals:update"(data) {
    if (data.run !== undefined) me.run = data.run;
    ui.vitals(data);
  },
  "world:update"(data) {
    const now = performance.now();
    timeTicks(data.tick, now);
    scene.apply(data, (entity, from) => walkers.moved(entity, from, now));
    const own = scene.entities.get(me.id);
    if (own) me.position = { x: own.x, z: own.z };
    if (own && me.target && own.x === me.target.x && own.z === me.target.z) me.target = undefined;
  },
  teleport(data) {
    me.position = { x: data.position.x, z: data.position.z };
    walkers.shown.delete(me.id);
    me.target = undefined;
  },
  "chat:message"(data) {
    ui.hear(data, me.id);
    if (data.channel === "local" && data.entityId)
      picture.bubble(data.entityId, data.message, performance.now());
  },
  notice(data) {
    ui.notice(data.message, data.level);
  },
  error(data) {
    ui.notice(refusal(data), "warning");
  },
  "session:draining"(data) {
    ui.light(
      "wait",
      `this gateway leaves in ${Math.ceil(data.afterMs / 1000)} s; another one takes over`,
    );
  },
  "session:invalid"() {
    ui.light("wait", "signing in again");
  },
  "not-entered"(error) {
    out(error.message, true);
  },
  lost() {
    me.target = undefined;
  },
  ended(data) {
    const words =
      { 4010: "Another login plays this character now.", 4003: "This account is banned." }[
        data.code
      ] ?? "Reload the page to go on.";
    remember(undefined);
    ui.phase(false);
    pack.phase(false);
    bank.close();
    ui.word(words, true);
    ui.characters([]);
    if (data.code === 4010) {
      ui.characters(characters);
      ui.busy(false);
      ui.act.enter = (id) => {
        ui.act.enter = enter;
        net.character = id;
        net.takeBack();
      };
    }
  },
};

function hear(event, data) {
  HEARS[event]?.(data);
}

function list(known) {
  characters = known;
  ui.characters(known);
}

function out(words, bad) {
  remember(undefined);
  me.target = undefined;
  ui.phase(false);
  pack.phase(false);
  bank.close();
  ui.busy(false);
  ui.word(words, bad);
  ui.characters(characters);
}

function timeTicks(tick, now) {
  const gone = tick - ticks.tick;
  if (gone >= 25 || gone < 0) {
    const ms = (now - ticks.at) / gone;
    if (ticks.tick && ms > 100 && ms < 5000) ticks.ms = Math.round(ms / 50) * 50;
    ticks = { at: now, tick, ms: ticks.ms };
  }
  if (now - wordsSince > 1500 && net.phase === "world") {
    wordsSince = now;
    ui.light("good", ticks.ms ? `connected, ${ticks.ms} ms ticks` : "connected");
  }
}

async function create(raw) {
  const name = raw.trim();
  ui.busy(true);
  ui.word("Writing the name down …");
  try {
    const { data } = await net.ask("character:create", { name });
    list([...characters, data.character]);
    await enter(data.character.id);
  } catch (error) {
    ui.busy(false);
    ui.word(error.message, true);
  }
}

async function enter(id) {
  ui.busy(true);
  ui.word("Opening the gate …");
  try {
    await net.enter(id);
  } catch {
    if (net.open) ui.busy(false);
  }
}

async function leave() {
  try {
    await net.leave();
  } catch (error) {
    ui.notice(error.message, "warning");
  }
}

async function walkTo(x, z, stay = false) {
  me.target = { x, z, since: performance.now(), stay };
  const mine = me.target;
  try {
    await net.ask("player:move", { target: { x, z } });
  } catch (error) {
    if (error.code === "lost") return;
    mine.bad = true;
    mine.since = performance.now();
    mine.stay = false;
    ui.notice(error.message, "warning");
  }
}

/** Asks for something of value; a refusal is shown. What comes of it is told by the server. */
async function act(event, data) {
  try {
    await net.ask(event, data);
  } catch (error) {
    ui.notice(refusal(error), "warning");
  }
}

function pickUp(item) {
  me.target = { x: item.x, z: item.z, since: performance.now(), stay: true };
  return act("player:action", { action: "pickup", target: item.id });
}

/** What can be done with what lies, stands or walks at a place of the map. */
function ground(px, py) {
  if (net.phase !== "world") return false;
  const tile = picture.toTile(px, py);
  const thing = picture.under(px, py, view(performance.now()));
  const place = thing?.type === "item" ? thing : tile;
  const items = [...scene.entities.values()].filter(
    (e) => e.type === "item" && e.x === place.x && e.z === place.z,
  );
  const entries = items.slice(0, 6).map((item) => {
    return [`Pick up ${counted(item.itemId, item.quantity)}`, () => pickUp(item)];
  });
  if (items.length)
    entries.push([
      `Examine ${items[0].name}`,
      () => ui.notice(described(items[0].itemId) + whose(items[0])),
    ]);
  if (thing && keepsBank(thing))
    entries.push(["Bank", () => act("bank:open", { target: thing.id })]);
  if (thing && thing.type !== "item")
    entries.push([
      `Examine ${thing.name}`,
      () => act("player:action", { action: "examine", target: thing.id }),
    ]);
  entries.push(["Walk here", () => walkTo(place.x, place.z, true)]);
  menu.open(px, py, items.length ? "On the ground" : (thing?.name ?? "Here"), entries);
  return true;
}

const keepsBank = (thing) => [thing.stationType, thing.service].includes("bank");

function whose(item) {
  if (item.owner === undefined) return "";
  return item.owner === me.id ? " It is yours." : " It still belongs to somebody else.";
}

async function setRun(run) {
  try {
    await net.ask("player:move", { run });
  } catch (error) {
    ui.notice(error.message, "warning");
  }
}

async function say(line) {
  const parsed = ui.parse(line);
  if (parsed.problem) {
    ui.system(parsed.problem);
    return;
  }
  if (!parsed.message) return;
  if ([...parsed.message].length > 200) {
    ui.system("At most 200 characters at a time.");
    return;
  }
  try {
    await net.ask("player:chat", parsed);
    if (parsed.channel === "private") ui.hear({ ...parsed, from: me.name, fromId: me.id }, me.id);
  } catch (error) {
    ui.system(error.message);
  }
}

/** A tap on the map: what lies there is picked up, else it is walked to. */
function tapped(px, py) {
  const thing = picture.under(px, py, view(performance.now()));
  if (thing?.type === "item") return pickUp(thing);
  if (thing && keepsBank(thing)) return act("bank:open", { target: thing.id });
  const tile = picture.toTile(px, py);
  const goal = thing && !free(tile.x, tile.z) ? (beside(thing) ?? tile) : tile;
  return walkTo(goal.x, goal.z, true);
}

/** The free tile beside a thing that is nearest to us. */
function beside(thing) {
  let best;
  let least = Infinity;
  for (const [dx, dz] of [
    [0, -1],
    [1, 0],
    [-1, 0],
    [0, 1],
  ]) {
    const tile = { x: thing.x + dx, z: thing.z + dz };
    const far = me.position ? Math.hypot(tile.x - me.position.x, tile.z - me.position.z) : 0;
    if (free(tile.x, tile.z) && far < least) {
      least = far;
      best = tile;
    }
  }
  return best;
}

// --- the frame ---

function here() {
  const own = scene.entities.get(me.id);
  return own ? walkers.at(own) : me.position;
}

function view(now) {
  const inWorld = Boolean(me.position) && $("entry").hidden;
  return {
    now,
    entities: scene.entities,
    at: (e) => walkers.at(e),
    own: me.id,
    me: inWorld ? here() : undefined,
    tick: scene.tick || 1500,
    target: me.target,
    hover: hovered?.id,
    mouse: inWorld && mouse.inside ? picture.toTile(mouse.x, mouse.y) : undefined,
  };
}

let hovered;
let slow = 0;
function frame(now) {
  requestAnimationFrame(frame);
  if (!land.meta) return;
  walkers.step(now, scene.entities);
  const at = $("entry").hidden ? here() : undefined;
  if (at) picture.center = { x: at.x, z: at.z };
  else drift(now);
  const seen = view(now);
  picture.draw(seen);
  hands.steer(now);
  point(seen);
  if (at && now - slow > 200) {
    slow = now;
    panels(seen);
  }
  if (at) minimap.draw(seen);
}

/** Before anybody is played, the view strolls around the middle of the world. */
function drift(now) {
  const t = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : now / 14000;
  const { x, z } = me.position ?? land.meta.spawn;
  picture.center = { x: x + Math.sin(t) * 9, z: z + 3 + Math.cos(t * 0.7) * 5 };
}

function point(seen) {
  if (!seen.me || !mouse.inside) {
    hovered = undefined;
    ui.hover("");
    return;
  }
  hovered = picture.under(mouse.x, mouse.y, seen);
  if (hovered) {
    const level =
      hovered.combatLevel ??
      (hovered.category === "mob" || hovered.type === "resource" ? hovered.level : undefined);
    const words =
      hovered.type === "item" ? counted(hovered.itemId, hovered.quantity) : hovered.name;
    ui.hover(words, level === undefined ? undefined : `level ${level}`, mouse.x, mouse.y);
    return;
  }
  const house = picture.houseAt(seen.mouse);
  ui.hover(house?.name ?? "", undefined, mouse.x, mouse.y);
}

function panels(seen) {
  const x = Math.round(seen.me.x);
  const z = Math.round(seen.me.z);
  ui.where(land.area(x, z), x, z);
  const near = [];
  for (const entity of scene.entities.values()) {
    if (entity.id === me.id || (entity.type !== "player" && entity.type !== "npc")) continue;
    const far = Math.max(Math.abs(entity.x - x), Math.abs(entity.z - z));
    if (entity.type === "player") ui.names.set(entity.name, true);
    if (entity.type === "player" || far <= 14)
      near.push([entity.agent ? `⚙ ${entity.name}` : entity.name, far, entity.type === "player"]);
  }
  near.sort((a, b) => b[2] - a[2] || a[1] - b[1] || (a[0] < b[0] ? -1 : 1));
  ui.near(
    near.slice(0, 9).map(([name, far, player]) => [name, far === 0 ? "here" : `${far}`, player]),
  );
}

/** For tests: what is known, and the two things a player does most. */
window.tilestead = {
  state: () => ({
    connected: net.open,
    phase: net.phase,
    tick: scene.tick,
    seq: net.lastSeq,
    characterId: me.id,
    position: me.position && { ...me.position },
    entities: scene.entities.size,
    name: me.name,
    area: me.position && land.meta ? land.area(me.position.x, me.position.z)?.name : undefined,
    run: me.run,
    light: $("light").textContent.trim(),
  }),
  pack: () => ({ slots: pack.slots.map((s) => s && { ...s }), coins: pack.coins }),
  drop: (slot, quantity) => act("inventory:drop", { slot, ...(quantity && { quantity }) }),
  gear: () => ({ worn: { ...gear.worn }, skills: { ...gear.skills } }),
  bank: () => ({ open: bank.open, items: [...bank.items.values()].map((i) => ({ ...i })) }),
  act,
  pickUp: (id) => act("player:action", { action: "pickup", target: id }),
  resumes: () => ({ ...net.resumes }),
  cut: () => net.closed(net.line, 1006, ""),
  screen: (x, z) => picture.toScreen(x, z),
  entities: () => [...scene.entities.values()].map((e) => ({ ...e })),
  chat: () => ui.chat.map((m) => ({ ...m })),
  walkTo,
  say,
  get gaps() {
    return net.gaps;
  },
};

learn().then(() => pack.draw());
land
  .load()
  .then(() => {
    requestAnimationFrame(frame);
  })
  .catch((error) => ui.word(`No map: ${error.message}. Reload to try again.`, true));
net.connect();
