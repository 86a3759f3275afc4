// What is worn, and how far one has come in the seventeen skills.
// Always: both show what the server said last.

import { counted, thing } from "./things.js";

const $ = (id) => document.getElementById(id);
const PLACES = [
  "helmet",
  "amulet",
  "cape",
  "weapon",
  "body",
  "shield",
  "arrows",
  "legs",
  "ring",
  "gloves",
  "boots",
];
const SKILLS = [
  "attack",
  "strength",
  "defense",
  "constitution",
  "ranged",
  "magic",
  "prayer",
  "woodcutting",
  "mining",
  "fishing",
  "firemaking",
  "cooking",
  "smithing",
  "agility",
  "crafting",
  "fletching",
  "runecrafting",
];

/** Experience at which a level begins. */
export function begins(level) {
  let points = 0;
  for (let n = 1; n < level; n += 1) points += Math.floor(n + 300 * 2 ** (n / 7));
  return Math.floor(points / 4);
}

const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);

export class Gear {
  /** `act(event, data)` asks; `tell(words)` says something to the player. */
  constructor(menu, act, tell) {
    this.menu = menu;
    this.act = act;
    this.tell = tell;
    this.worn = {};
    this.skills = {};
    this.places = PLACES.map((place) => this.place(place));
    $("worn").replaceChildren(...this.places);
    this.rows = SKILLS.map((skill) => this.row(skill));
    $("skills").replaceChildren(...this.rows);
  }

  place(place) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = `place-${place}`;
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 80;
    button.append(canvas);
    button.onclick = () => {
      if (this.worn[place]) this.act("equipment:remove", { slot: place });
    };
    return button;
  }

  row(skill) {
    const row = document.createElement("li");
    const name = document.createElement("span");
    name.textContent = capital(skill);
    const level = document.createElement("b");
    const bar = document.createElement("i");
    row.append(name, level, bar);
    return row;
  }

  /** `player:sync`. */
  all(equipment, skills) {
    this.worn = { ...equipment };
    this.skills = { ...skills };
    this.draw();
  }

  /** `equipment:update`. */
  some(slots) {
    for (const { slot, item } of slots) {
      if (item) this.worn[slot] = item;
      else delete this.worn[slot];
    }
    this.draw();
  }

  /** `skill:xp`. */
  gained({ skill, xp, level, leveledUp }) {
    this.skills[skill] = { level, xp };
    if (leveledUp) this.tell(`You have reached level ${level} in ${skill}!`);
    this.draw();
  }

  draw() {
    PLACES.forEach((place, at) => this.drawPlace(place, this.places[at]));
    SKILLS.forEach((skill, at) => this.drawSkill(skill, this.rows[at]));
    const levels = Object.values(this.skills);
    const total = levels.reduce((sum, { level }) => sum + level, 0);
    $("skills-total").textContent = total ? `${total} levels` : "";
  }

  drawPlace(place, button) {
    const item = this.worn[place];
    const words = item ? counted(item.itemId, item.quantity) : "nothing";
    button.title = item ? `${words}: take off` : capital(place);
    button.setAttribute("aria-label", `${capital(place)}: ${words}`);
    const c = button.firstChild.getContext("2d");
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, 80, 80);
    button.classList.toggle("empty", !item);
    if (!item) return;
    c.setTransform(80, 0, 0, 80, 40, 63);
    thing(c, item.itemId);
  }

  drawSkill(skill, row) {
    const { level = 1, xp = 0 } = this.skills[skill] ?? {};
    const [, number, bar] = row.children;
    number.textContent = level;
    const [from, to] = [begins(level), begins(level + 1)];
    const share = level >= 99 ? 1 : Math.min(1, Math.max(0, (xp - from) / (to - from)));
    bar.style.transform = `scaleX(${share.toFixed(3)})`;
    const shown = Math.floor(xp).toLocaleString("en");
    const left = Math.max(0, Math.ceil(to - xp)).toLocaleString("en");
    row.title = level >= 99 ? `${shown} experience` : `${shown} experience, ${left} to the next`;
  }
}
