// The panels around the map. Always: what others wrote is shown as text, never as markup.

import { Creator, figure } from "./creator.js";
import { $, say as write } from "./dom.js";
import { EMOTES } from "./emotes.js";
import { afterPress } from "./refill.js";
import { heed, setting } from "./settings.js";

const LOG_LINES = 120;
/** What the tab of all shows beside chat, by what is set. */
const LOGGED = { all: ["news", "fight"], news: ["news"], chat: [] };

const FIRST = [
  "Alder",
  "Bramble",
  "Cobb",
  "Dill",
  "Ember",
  "Fennel",
  "Gorse",
  "Hazel",
  "Isla",
  "Juniper",
  "Kestrel",
  "Linden",
  "Marlow",
  "Nettle",
  "Orrin",
  "Pippin",
  "Quill",
  "Rowan",
  "Sorrel",
  "Thistle",
  "Una",
  "Vesper",
  "Wren",
  "Yarrow",
];
const LAST = [
  "Ashby",
  "Brook",
  "Crumb",
  "Dale",
  "Eaves",
  "Flint",
  "Gable",
  "Hob",
  "Inkwell",
  "Kettle",
  "Lantern",
  "Moss",
  "Nook",
  "Oakes",
  "Pebble",
  "Quince",
  "Reed",
  "Stile",
  "Tansy",
  "Underhill",
  "Vale",
  "Wick",
];
export function suggest() {
  const one = (list) => list[Math.floor(Math.random() * list.length)];
  return `${one(FIRST)} ${one(LAST)}`;
}

export class Ui {
  constructor(act) {
    this.act = act;
    this.chat = [];
    this.tab = "all";
    this.replyTo = undefined;
    this.partner = undefined;
    this.names = new Map();
    this.creator = new Creator();
    $("name").value = suggest();
    $("dice").onclick = () => {
      $("name").value = suggest();
      this.creator.roll();
    };
    $("create").onsubmit = (event) => {
      event.preventDefault();
      act.create($("name").value, this.creator.look);
    };
    $("run").onclick = () => {
      act.run();
      $("map").focus();
    };
    $("leave").onclick = () => act.leave();
    $("say").onsubmit = (event) => {
      event.preventDefault();
      this.submit();
    };
    $("line").onkeydown = (event) => {
      if (event.key === "Escape") $("map").focus();
      event.stopPropagation();
    };
    for (const tab of document.querySelectorAll("#tabs button")) {
      tab.onclick = () => this.choose(tab.dataset.tab);
      tab.onkeydown = (event) => {
        const to = { ArrowRight: tab.nextElementSibling, ArrowLeft: tab.previousElementSibling }[
          event.key
        ];
        if (to) {
          to.focus();
          to.click();
          event.stopPropagation();
        }
      };
    }
    if (innerWidth < 760) $("near").open = false;
    heed(() => this.choose(this.tab));
  }

  light(state, words) {
    $("light").dataset.state = state;
    const span = $("light").lastElementChild;
    if (span.textContent !== words) span.textContent = words;
  }

  phase(playing) {
    $("entry").hidden = playing;
    for (const id of ["corner", "chat", "bars", "asking", "gains"]) $(id).hidden = !playing;
    if (playing) $("map").focus();
  }

  word(words, bad = false) {
    $("entry-word").textContent = words;
    $("entry-word").classList.toggle("error", bad);
  }

  busy(on) {
    for (const button of document.querySelectorAll("#entry button")) button.disabled = on;
  }

  characters(list) {
    const rows = list.map((character) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("role", "listitem");
      const name = document.createElement("b");
      name.textContent = character.name;
      const level = document.createElement("span");
      level.textContent = `combat ${character.combatLevel}`;
      button.append(figure(character.name, character.look), name, level);
      button.onclick = () => this.act.enter(character.id);
      return button;
    });
    $("characters").replaceChildren(...rows);
  }

  notice(words, level = "info") {
    const note = document.createElement("div");
    note.className = level;
    note.textContent = words;
    this.log("news", words);
    afterPress(() => {
      $("notices").append(note);
      while ($("notices").children.length > 3) $("notices").firstChild.remove();
      setTimeout(() => afterPress(() => note.remove()), level === "info" ? 4500 : 7500);
    });
  }

  submit() {
    const line = $("line").value.trim();
    $("line").value = "";
    if (!line) {
      $("map").focus();
      return;
    }
    this.act.say(line);
  }

  /** Reads /g, /w name text, /r text, /l and gestures; the open tab says where plain words go. */
  parse(line) {
    const command = /^\/(g|l|w|r)(?:\s+(.*))?$/is.exec(line);
    const word = command?.[1].toLowerCase();
    const rest = (command?.[2] ?? "").trim();
    if (word === "g") return { channel: "global", message: rest };
    if (word === "l") return { channel: "local", message: rest };
    if (word === "r")
      return this.replyTo
        ? { channel: "private", to: this.replyTo, message: rest }
        : { problem: "Nobody has written to you yet." };
    if (word === "w") return this.whisper(rest);
    const emote = EMOTES.find((emote) => line.toLowerCase() === `/${emote}`);
    if (emote) return { emote };
    if (line.startsWith("/"))
      return {
        problem:
          "There is /g to all, /l nearby, /w name to one, and /r to answer; " +
          `and gestures: /${EMOTES.join(", /")}.`,
      };
    if (this.tab === "global") return { channel: "global", message: line };
    const to = this.partner ?? this.replyTo;
    if (this.tab === "private" && to) return { channel: "private", to, message: line };
    return { channel: "local", message: line };
  }

  whisper(rest) {
    const quoted = /^"([^"]+)"\s+(.+)$/s.exec(rest);
    if (quoted) return { channel: "private", to: quoted[1], message: quoted[2] };
    const lower = rest.toLowerCase();
    const known = [...this.names.keys()]
      .filter((n) => lower.startsWith(`${n.toLowerCase()} `))
      .sort((a, b) => b.length - a.length)[0];
    if (known) return { channel: "private", to: known, message: rest.slice(known.length).trim() };
    const [, to, message] = /^(\S+)\s+(.+)$/s.exec(rest) ?? [];
    return to
      ? { channel: "private", to, message }
      : { problem: 'To whom, and what? /w name words, or /w "two words" words.' };
  }

  hear(message, own) {
    this.names.set(message.from, true);
    if (message.channel === "private" && message.fromId !== own) this.replyTo = message.from;
    // Whom one has written to is whom one goes on writing to, whoever else writes meanwhile.
    if (message.channel === "private" && message.to) this.partner = message.to;
    this.aim();
    this.chat.push(message);
    if (this.chat.length > LOG_LINES) this.chat.shift();
    if (this.shows(message)) this.append(message);
    else if (message.from)
      document.querySelector(`#tabs [data-tab=${message.channel}]`)?.classList.add("new");
  }

  /** What a person is told beside the chat: `kind` is `news` or `fight`. */
  log(kind, words) {
    this.hear({ channel: kind, from: "", message: words });
  }

  system(words) {
    this.log("system", words);
  }

  shows({ channel }) {
    const told = channel === "news" || channel === "fight";
    if (this.tab === "game") return told || channel === "system";
    if (!told) return this.tab === "all" || channel === this.tab || channel === "system";
    return this.tab === "all" && LOGGED[setting("log")].includes(channel);
  }

  append(message) {
    const log = $("log");
    const stick = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    const line = document.createElement("p");
    line.className = message.channel;
    if (message.from) {
      const from = document.createElement("b");
      from.textContent = message.to ? `to ${message.to}: ` : `${message.from}: `;
      line.append(from);
    }
    line.append(message.message);
    log.append(line);
    while (log.children.length > LOG_LINES) log.firstChild.remove();
    if (stick) log.scrollTop = log.scrollHeight;
  }

  /** Says where plain words go. */
  aim() {
    const to = this.partner ?? this.replyTo;
    const words = {
      global: "Say something to all",
      private: to ? `Write to ${to}` : "Write to one: /w name words",
    }[this.tab];
    $("line").placeholder = words ?? "Say something — /g to all, /w name to one";
  }

  choose(tab) {
    this.tab = tab;
    this.aim();
    for (const button of document.querySelectorAll("#tabs button")) {
      const on = button.dataset.tab === tab;
      button.setAttribute("aria-selected", String(on));
      if (on) button.classList.remove("new");
    }
    $("log").replaceChildren();
    for (const message of this.chat) if (this.shows(message)) this.append(message);
    $("log").scrollTop = $("log").scrollHeight;
  }

  bar(id, now, most, word) {
    const bar = $(id);
    const part = most ? Math.max(0, Math.min(1, now / most)) : 0;
    bar.firstElementChild.style.transform = `scaleX(${part})`;
    bar.lastElementChild.textContent = word;
    for (const [name, value] of [
      ["valuemin", 0],
      ["valuemax", most],
      ["valuenow", Math.round(now)],
    ])
      bar.setAttribute(`aria-${name}`, value);
  }

  vitals({ health, energy, run }) {
    if (health) this.bar("health", health.current, health.max, `${health.current} / ${health.max}`);
    if (energy !== undefined) this.bar("energy", energy, 100, `${Math.round(energy)} % energy`);
    if (run !== undefined) {
      $("run").setAttribute("aria-pressed", String(run));
      $("run").textContent = run ? "Run" : "Walk";
    }
  }

  where(area, x, z) {
    write($("area"), area?.name ?? "Nowhere in particular");
    write($("tile"), `${x}, ${z}${area?.safeZone ? " · safe" : ""}`);
    if (area && area.id !== this.areaId) {
      if (this.areaId !== undefined || !this.greeted) this.announce(area);
      this.areaId = area.id;
      this.greeted = true;
    }
  }

  announce(area) {
    const place = $("place");
    const kind = document.createElement("small");
    kind.textContent = area.safeZone
      ? "a safe place"
      : (["", "gentle wilds", "rough country", "deep wilderness"][area.difficultyLevel] ?? "");
    place.replaceChildren(area.name, kind);
    place.classList.add("shown");
    clearTimeout(this.placeTimer);
    this.placeTimer = setTimeout(() => place.classList.remove("shown"), 3200);
  }

  /** Something to be glad of, in large letters for a while. */
  banner(words, more) {
    const box = $("banner");
    const small = document.createElement("small");
    small.textContent = more;
    box.replaceChildren(words, small);
    box.classList.add("shown");
    clearTimeout(this.bannerTimer);
    this.bannerTimer = setTimeout(() => box.classList.remove("shown"), more ? 4200 : 900);
  }

  /** Plain words go to somebody from now on. */
  whisperTo(name) {
    this.partner = name;
    this.names.set(name, true);
    this.choose("private");
    $("line").focus();
  }

  near(list) {
    const text = JSON.stringify(list);
    if (text === this.nearText) return;
    this.nearText = text;
    const rows = list.map(([name, far, player]) => {
      const row = document.createElement("li");
      if (player) row.className = "player";
      const who = document.createElement("span");
      who.textContent = name;
      const distance = document.createElement("span");
      distance.textContent = far;
      row.append(who, distance);
      return row;
    });
    $("near").lastElementChild.replaceChildren(...rows);
  }

  hover(words, extra, x, y) {
    const box = $("hover");
    if (box.hidden === Boolean(words)) box.hidden = !words;
    if (!words) return;
    const shown = `${words} ${extra ?? ""}`;
    if (shown !== this.hoverText) {
      this.hoverText = shown;
      const em = document.createElement("em");
      em.textContent = extra ?? "";
      box.replaceChildren(words, ...(extra ? [em] : []));
    }
    box.style.transform = `translate(${Math.min(x + 14, innerWidth - box.offsetWidth - 8)}px, ${Math.max(8, y - 32)}px)`;
  }
}
