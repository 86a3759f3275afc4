// Joins the parts: what the server says to what is shown, and what a person does to what is asked.

import { Account } from "./account.js";
import { Asking } from "./asking.js";
import { Bank } from "./bank.js";
import { Combat } from "./combat.js";
import { Death } from "./death.js";
import { Actions, Doing } from "./actions.js";
import { Dialogue } from "./dialogue.js";
import { $ } from "./dom.js";
import { Picture } from "./draw.js";
import { Drag } from "./drag.js";
import { Duel } from "./duel.js";
import { Ears } from "./ears.js";
import { Emotes } from "./emotes.js";
import { Friends } from "./friends.js";
import { Gauge } from "./gauge.js";
import { Gear } from "./gear.js";
import { forget } from "./goods.js";
import { Controls } from "./controls.js";
import { Guide } from "./guide.js";
import { Help } from "./help.js";
import { Hiscores } from "./hiscores.js";
import { Hits } from "./hits.js";
import { Make } from "./make.js";
import { Menu } from "./menu.js";
import { Minimap } from "./minimap.js";
import { Music } from "./music.js";
import { Net } from "./net.js";
import { Pack } from "./pack.js";
import { closeAll, closeLast } from "./pane.js";
import { Potions } from "./potions.js";
import { Prayers } from "./prayer.js";
import { probe } from "./probe.js";
import { Quests } from "./quests.js";
import { Quick } from "./quick.js";
import { SettingsPane } from "./settingspane.js";
import { Shop } from "./shop.js";
import { Side } from "./side.js";
import { Sight } from "./sight.js";
import { Skills } from "./skills.js";
import { Sound } from "./sound.js";
import { learn } from "./things.js";
import { Tip } from "./tip.js";
import { Tracker } from "./tracker.js";
import { Trade } from "./trade.js";
import { Ui } from "./ui.js";
import { Volume } from "./volume.js";
import { Walkers } from "./walk.js";
import { refusal } from "./words.js";
import { Land, Scene, key } from "./world.js";
import { WorldMap } from "./worldmap.js";

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
const tell = (words, level) => ui.notice(words, level);
const celebrate = (words, more) => {
  picture.moments.begin(me.id, words, performance.now());
  ui.banner(words, more);
  ui.system(more);
  quests.draw();
};
const menu = new Menu();
new Tip();
const account = new Account();
const hits = new Hits();
const side = new Side();
const pack = new Pack(menu, act, tell);
const gear = new Gear(act);
const skills = new Skills(celebrate);
const level = (skill) => skills.level(skill);
const asking = new Asking();
const ask = (id, words, answers) => asking.ask(id, words, answers);
const settled = (id) => asking.settled(id);
const game = { act, tell, menu, me, scene, land, pack, gear, level, ask, settled, walkTo, beside };
const bank = new Bank(menu, act);
const shop = new Shop(game);
const trade = new Trade(game);
const duel = new Duel({ ...game, banner: (words, more) => ui.banner(words, more) });
const make = new Make(game);
const prayers = new Prayers({ ...game, bar: (...of) => ui.bar(...of) });
const potions = new Potions({ tell, raise: (boosts) => skills.raise(boosts) });
const combat = new Combat(game);
const death = new Death(game);
const dialogue = new Dialogue(act);
const combatLevel = () => combat.combatLevel;
const quests = new Quests({ ...game, celebrate, combatLevel, mark: () => side.mark("quests") });
const tracker = new Tracker({ ...game, quests });
const guide = new Guide({ scene, free, quests, bubbles: picture.bubbles });
const whisper = (name) => ui.whisperTo(name);
const friends = new Friends({ ...game, whisper, mark: () => side.mark("friends") });
const actions = new Actions({ ...game, trade, duel, make, friends, whisper });
const emotes = new Emotes(game);
const doing = new Doing({ ...game, emotes });
const worldmap = new WorldMap({ ...game, pending: actions.pending, friends, quests });
const sound = new Sound();
const ears = new Ears({ ...game, sound, walkers });
const music = new Music({ ...game, sound });
const volume = new Volume(sound, music);
const settings = new SettingsPane([["Sound …", () => volume.toggle()]]);
const help = new Help([["Settings", () => settings.toggle()]]);
const hiscores = new Hiscores(tell);
$("hiscores-open").onclick = () => hiscores.open();
const gauge = new Gauge();
const quick = new Quick(game);
const controls = new Controls(
  { net, me, free, picture, minimap, here: () => sight.here() },
  {
    walkTo: walkOff,
    tapped,
    ground,
    toggleRun: () => setRun(!me.run),
    panel: (code) => {
      if (code === "KeyO") settings.toggle();
      return code === "KeyO" || worldmap.opens(code) || side.key(code) || quick.key(code);
    },
    back: () => pack.layDown() || closeLast(),
    drop: () => actions.pending.drop(),
    help: () => help.toggle(),
  },
);
const told = { quests, guide, tracker };
const shown = { picture, minimap, hits, ui, controls, actions, doing, death, gauge, ...told };
const heard = { ears, music, sound };
const all = { land, scene, walkers, me, worldmap, ...shown, ...heard };
const sight = new Sight(all);
picture.minimap = minimap;
pack.counters = [trade, duel, bank, shop].map((at) => (slot, item) => at.counter(slot, item));
pack.more = (slot, item) => actions.ofSlot(slot, item);
pack.level = level;
pack.onuse = (slot, other) => actions.together(slot, other);
pack.onquick = (itemId) => quick.add(itemId);
pack.onchange = () => {
  quick.draw();
  shop.purse(pack.coins);
  make.changed();
  combat.draw();
  quests.refresh();
};
gear.onchange = () => combat.draw();
new Drag((from, to) => {
  const [[source, what], [target, place]] = [from, to].map((words) => words.split(" "));
  const slot = Number(what);
  if (source === "slot" && target === "slot") act("inventory:move", { from: slot, to: Number(place) });
  else if (source === "slot" && target === "bank") bank.dropped(slot);
  else if (source === "slot" && target === "quick")
    quick.put(Number(place), pack.slots[slot]?.itemId);
  else if (source === "bank" && target === "slot") bank.dragged(what);
});
new ResizeObserver(() => picture.covered($("side"))).observe($("side"));
side.onlook = (tab) => {
  if (tab === "quests") quests.look();
};
land.onload = (rx, rz) => picture.changed(rx, rz);
$("home").onclick = () => doing.mayGoHome() && actions.request("home-teleport");

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
    account.knows(data.account, data.characters);
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
    forgetWorld();
    ui.phase(true);
    side.phase(true);
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
    hits.clear();
    picture.clear();
  },
  "player:sync"(data) {
    scene.heard(data.tick);
    me.name = data.character.name;
    me.id ??= data.character.id;
    me.position = { x: data.position.x, z: data.position.z };
    me.run = data.run;
    me.health = data.health;
    // What is still open is shown again.
    for (const screen of [bank, shop, dialogue]) screen.close();
    trade.end();
    duel.end();
    ui.vitals({ health: data.health, energy: data.energy, run: data.run });
    skills.sync(data.skills);
    potions.update(data.effects, true);
    gear.all(data.equipment);
    pack.all(data.inventory, data.coins);
    prayers.update(data.prayer);
    combat.update({ combatLevel: data.character.combatLevel, ...data.combat });
    death.sync(data.dead);
    quests.sync(data.quests);
  },
  "inventory:update"(data) {
    pack.some(data.slots);
  },
  "coins:update"(data) {
    pack.purse(data.coins);
  },
  "vitals:update"(data) {
    if (data.run !== undefined) me.run = data.run;
    if (data.health) {
      me.health = data.health;
      potions.update(data.effects);
    }
    ui.vitals(data);
  },
  "world:update"(data) {
    const now = performance.now();
    timeTicks(data.tick, now);
    scene.apply(data, (entity, from) => walkers.moved(entity, from, now));
    for (const chunk of data.chunks) for (const blow of chunk.hits ?? []) struck(blow, now);
    const own = scene.entities.get(me.id);
    if (own) me.position = { x: own.x, z: own.z };
    if (own && me.target && own.x === me.target.x && own.z === me.target.z) me.target = undefined;
    actions.pending.step();
  },
  "combat:hit"(data) {
    struck(data, performance.now());
  },
  teleport(data) {
    me.position = { x: data.position.x, z: data.position.z };
    walkers.shown.delete(me.id);
    me.target = undefined;
    actions.pending.drop();
  },
  "chat:message"(data) {
    ui.hear(data, me.id);
    if (data.channel === "local" && data.entityId)
      picture.bubbles.say(data.entityId, data.message, performance.now());
  },
  notice(data) {
    ui.notice(data.message, data.level);
  },
  error: refused,
  tradeError: refused,
  duelError: refused,
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
    actions.pending.drop();
  },
  ended(data) {
    const words =
      { 4010: "Another login plays this character now.", 4003: "This account is banned." }[
        data.code
      ] ?? "Reload the page to go on.";
    out(words, true);
    ui.characters([]);
    if (data.code === 4010) {
      ui.characters(characters);
      ui.act.enter = (id) => {
        ui.act.enter = enter;
        net.character = id;
        net.takeBack();
      };
    }
  },
};
const features = [bank, shop, trade, duel, gear, skills, prayers, combat, death, dialogue, emotes];
for (const part of [...features, quests, friends, doing]) Object.assign(HEARS, part.hears);

function hear(event, data) {
  HEARS[event]?.(data);
  ears.hear(event, data);
}

function refused(data) {
  ui.notice(refusal(data), "warning");
}

const named = (id) => scene.entities.get(id)?.name ?? "somebody";

/** Writes the own blows, and those that one gets, into the log. */
function writes({ attacker, target, damage }) {
  if (damage === undefined) return;
  if (attacker === me.id) ui.log("fight", `You hit ${named(target)}: ${damage}.`);
  else if (target === me.id) ui.log("fight", `${named(attacker)} hits you: ${damage}.`);
}

/** A blow, told in its chunk or to those whom it concerns. */
function struck(blow, now) {
  const view = { now, entities: scene.entities };
  const spell = blow.attacker === me.id ? combat.spell : undefined;
  if (hits.hit(blow, scene.tick, now, () => picture.struck(blow, view, spell))) {
    ears.blow(blow);
    writes(blow);
  }
  if (blow.attacker === me.id) me.foe = blow.target;
  else if (blow.target === me.id) me.foe ??= blow.attacker;
  if (blow.killed && blow.target === me.foe) me.foe = undefined;
}

function list(known) {
  characters = known;
  ui.characters(known);
}

/** Another world, or none: nothing of the one before is shown. */
function forgetWorld() {
  scene.clear();
  walkers.clear();
  hits.clear();
  picture.clear();
  asking.clear();
  me.target = me.foe = undefined;
  actions.pending.drop();
}

function out(words, bad) {
  remember(undefined);
  forgetWorld();
  ui.phase(false);
  side.phase(false);
  trade.end();
  duel.end();
  closeAll();
  for (const part of [pack, friends, death, emotes, doing, guide, tracker]) part.clear();
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

async function create(raw, look) {
  const name = raw.trim();
  ui.busy(true);
  ui.word("Writing the name down …");
  try {
    const { data } = await net.ask("character:create", { name, look });
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
    refused(error);
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
    refused(error);
  }
}

/** Walks somewhere because a person wants it; whatever was to be done elsewhere is not. */
function walkOff(x, z, stay) {
  actions.pending.drop();
  return walkTo(x, z, stay);
}

/**
 * Asks for something; a refusal is shown. What comes of it is told by the server. True where it
 * was not refused.
 */
async function act(event, data) {
  try {
    const answer = await net.ask(event, data);
    return !/Error$/.test(answer.event);
  } catch (error) {
    refused(error);
    return false;
  }
}

async function setRun(run) {
  try {
    await net.ask("player:move", { run });
  } catch (error) {
    refused(error);
  }
}

async function say(line) {
  const parsed = ui.parse(line);
  if (parsed.problem) {
    ui.system(parsed.problem);
    return;
  }
  if (parsed.emote) {
    await emotes.perform(parsed.emote);
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
    ui.system(refusal(error));
  }
}

/** What can be done with what lies, stands or walks at a place of the map. */
function ground(px, py) {
  if (net.phase !== "world") return false;
  const tile = picture.toTile(px, py);
  const things = picture.allUnder(px, py, sight.view(performance.now()));
  const entries = things.slice(0, 5).flatMap((thing) => actions.of(thing));
  const place = things.find((thing) => free(thing.x, thing.z)) ?? tile;
  entries.push(["Walk here", () => walkOff(place.x, place.z, true)]);
  menu.open(px, py, things.length === 1 ? things[0].name : "Here", entries);
  return true;
}

/** A tap on the map: the likeliest thing is done with what is there, else it is walked to. */
function tapped(px, py) {
  const thing = picture.under(px, py, sight.view(performance.now()));
  const first = thing && actions.first(thing);
  if (first) return first[1]();
  if (pack.layDown()) return undefined;
  const tile = picture.toTile(px, py);
  const goal = thing && !free(tile.x, tile.z) ? (beside(thing) ?? tile) : tile;
  return walkOff(goal.x, goal.z, true);
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

const light = () => $("light").textContent.trim();
const parts = { net, pack, gear, skills, bank, trade, act, walkTo: walkOff, say, light };
const objects = [...features, ...Object.values(all), net, pack, friends, make, menu, side, sight];
window.tilestead = probe({ ...all, ...parts, objects });

// In the order in which a newcomer needs them: few requests are under way at the same time.
net.connect();
land
  .load()
  .then(() => sight.start())
  .catch((error) => ui.word(`No map: ${error.message}. Reload to try again.`, true));
learn().then(() => {
  forget();
  picture.forget();
  pack.anew();
  gear.anew();
});
