// Joins the parts: what the server says to what is shown, and what a person does to what is asked.

import { Net } from "./net.js";
import { Land, Scene, key } from "./world.js";
import { Picture } from "./draw.js";
import { Walkers } from "./walk.js";
import { Minimap } from "./minimap.js";
import { Ui } from "./ui.js";

const $ = (id) => document.getElementById(id);
const land = new Land();
const scene = new Scene();
const free = (x, z) => land.walkable(x, z) && !scene.solid.has(key(x, z));
const walkers = new Walkers(free);
const picture = new Picture($("map"), land);
const minimap = new Minimap($("minimap"), land);
const me = { id: undefined, name: undefined, run: false, position: undefined, target: undefined };
const mouse = { x: 0, y: 0, inside: false };
let characters = [];
let wordsSince = 0;
let ticks = { at: 0, tick: 0, ms: undefined };

const ui = new Ui({ create, enter, leave, run: () => setRun(!me.run), say });
const net = new Net(hear, (state, words) => ui.light(state, words));
picture.minimap = minimap;
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
    ui.notice(data.message, "warning");
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
    ui.word(words, true);
    ui.characters([]);
    if (data.code === 4010) {
      ui.characters(characters);
      ui.busy(false);
      ui.act.enter = (id) => {
        ui.act.enter = enter;
        net.character = id;
        net.again();
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

// --- keys: a held arrow keeps a goal a few tiles ahead, asked for once a tick ---

const WAYS = {
  ArrowUp: [0, 1],
  KeyW: [0, 1],
  ArrowDown: [0, -1],
  KeyS: [0, -1],
  ArrowLeft: [-1, 0],
  KeyA: [-1, 0],
  ArrowRight: [1, 0],
  KeyD: [1, 0],
};
const held = new Set();
let steered = 0;

function steer(now) {
  if (!held.size || !me.position || now - steered < 280 || net.phase !== "world") return;
  let dx = 0;
  let dz = 0;
  for (const code of held) {
    dx += WAYS[code][0];
    dz += WAYS[code][1];
  }
  dx = Math.sign(dx);
  dz = Math.sign(dz);
  if (!dx && !dz) return;
  const reach = me.run ? 8 : 4;
  let { x, z } = me.position;
  for (
    let n = 0;
    n < reach && free(x + dx, z + dz) && (!dx || !dz || (free(x + dx, z) && free(x, z + dz)));
    n += 1
  ) {
    x += dx;
    z += dz;
  }
  if (x === me.position.x && z === me.position.z) return;
  steered = now;
  net.ask("player:move", { target: { x, z } }).catch(() => {});
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || net.phase !== "world") return;
  const typing = ["INPUT", "TEXTAREA"].includes(event.target.tagName);
  if (typing) return;
  const button = event.target.tagName === "BUTTON" || event.target.tagName === "SUMMARY";
  if (WAYS[event.code]) {
    if (event.target.id === "log" && event.code.startsWith("Arrow")) return;
    event.preventDefault();
    held.add(event.code);
    me.target = undefined;
    steer(performance.now());
  } else if (event.code === "KeyR" && !event.repeat) setRun(!me.run);
  else if (event.key === "Enter" && !button) {
    event.preventDefault();
    $("line").focus();
  } else if (event.key === "/" && !button) {
    event.preventDefault();
    $("line").focus();
    $("line").value = "/";
  } else if (event.key === "+" || event.key === "=") picture.zoomBy(1.15);
  else if (event.key === "-") picture.zoomBy(1 / 1.15);
});
addEventListener("keyup", (event) => {
  if (!held.delete(event.code) || held.size || net.phase !== "world") return;
  net.ask("player:move", { stop: true }).catch(() => {});
});
addEventListener("blur", () => held.clear());

// --- pointer: tap walks, two fingers or the wheel zoom ---

const fingers = new Map();
let pinch = 0;
let pinched = false;
const map = $("map");
map.addEventListener("pointerdown", (event) => {
  map.setPointerCapture(event.pointerId);
  fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  if (fingers.size === 1) pinched = false;
  if (fingers.size === 2) {
    pinch = spread();
    pinched = true;
  }
});
map.addEventListener("pointermove", (event) => {
  Object.assign(mouse, {
    x: event.clientX,
    y: event.clientY,
    inside: event.pointerType === "mouse",
  });
  if (!fingers.has(event.pointerId)) return;
  fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  if (fingers.size !== 2) return;
  const now = spread();
  if (pinch > 0 && now > 0) picture.zoomBy(now / pinch);
  pinch = now;
});
map.addEventListener("pointerup", (event) => {
  fingers.delete(event.pointerId);
  if (pinched || fingers.size || event.button > 0 || net.phase !== "world") return;
  map.focus();
  const thing = picture.under(event.clientX, event.clientY, view(performance.now()));
  const tile = picture.toTile(event.clientX, event.clientY);
  const goal = thing && !free(tile.x, tile.z) ? (beside(thing) ?? tile) : tile;
  walkTo(goal.x, goal.z, true);
});
map.addEventListener("pointercancel", (event) => fingers.delete(event.pointerId));
map.addEventListener("pointerleave", () => {
  mouse.inside = false;
});
map.addEventListener(
  "wheel",
  (event) => {
    event.preventDefault();
    picture.zoomBy(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 320));
  },
  { passive: false },
);
$("minimap").addEventListener("click", (event) => {
  if (net.phase !== "world") return;
  const box = event.target.getBoundingClientRect();
  const tile = minimap.toTile(event.clientX - box.left, event.clientY - box.top, box.width, here());
  walkTo(tile.x, tile.z, true);
  map.focus();
});

function spread() {
  const [a, b] = [...fingers.values()];
  return Math.hypot(a.x - b.x, a.y - b.y);
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
  steer(now);
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
    ui.hover(hovered.name, level === undefined ? undefined : `level ${level}`, mouse.x, mouse.y);
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
      near.push([entity.name, far, entity.type === "player"]);
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
  entities: () => [...scene.entities.values()].map((e) => ({ ...e })),
  chat: () => ui.chat.map((m) => ({ ...m })),
  walkTo,
  say,
  get gaps() {
    return net.gaps;
  },
};

land
  .load()
  .then(() => {
    requestAnimationFrame(frame);
  })
  .catch((error) => ui.word(`No map: ${error.message}. Reload to try again.`, true));
net.connect();
