// How people look: what a player can choose for a character, and what a name decides for all others.
// Always: a look has one digit for each choice, in the order of CHOICES; the server checks the same.

import { hash } from "./ground.js";
import { box, line, oval, pick, shape, text } from "./pen.js";

const HAIR = [
  "#3a2718",
  "#6b4526",
  "#a8763c",
  "#d9b36a",
  "#7b7b7b",
  "#1f1a18",
  "#8a3d20",
  "#e9e4d6",
  "#c2622e",
  "#4f67a8",
];
const SKIN = ["#f0cba6", "#dca97e", "#b98158", "#8a5a3a", "#f5d8bd", "#67412b"];
const CLOTHES = [
  "#8c3b3b",
  "#3f6b8c",
  "#5b7f3d",
  "#7c5391",
  "#b27a34",
  "#3d7f76",
  "#9a5a3c",
  "#54608f",
  "#a8475f",
  "#6d6a42",
];
const TROUSERS = [
  "#4a3a2c",
  "#2f3f66",
  "#6b7078",
  "#7d6a2c",
  "#33553a",
  "#7a2f2c",
  "#9c8a66",
  "#1d1b22",
];
const CUTS = ["short", "long", "none", "a bun", "curls", "a crest", "plaits", "short, and a beard"];
/** Of a name come only the colours that came before there was a choice. */
const HAIR_OF_NAMES = HAIR.slice(0, 7);
const SKIN_OF_NAMES = SKIN.slice(0, 5);

/** What is chosen: words, and the colours or the words of each choice. */
export const CHOICES = [
  { words: "Hair", cuts: CUTS },
  { words: "Hair colour", colours: HAIR },
  { words: "Skin", colours: SKIN },
  { words: "Clothes", colours: CLOTHES },
  { words: "Trousers", colours: TROUSERS },
];
const many = ({ cuts, colours }) => (cuts ?? colours).length;

/** A look by chance. */
export const anyLook = () => CHOICES.map((one) => Math.floor(Math.random() * many(one))).join("");

/** The look whose choice `at` is the next one. */
export function next(look, at) {
  const digits = [...look].map(Number);
  digits[at] = (digits[at] + 1) % many(CHOICES[at]);
  return digits.join("");
}

/** What is drawn of a person: by the look that was chosen, or by the name. */
export function looks(name, look) {
  if (look?.length !== CHOICES.length) {
    const hat = hash(text(name), 4);
    return {
      cut: "short",
      hair: pick(HAIR_OF_NAMES, name, 2),
      skin: pick(SKIN_OF_NAMES, name, 3),
      cloak: pick(CLOTHES, name, 1),
      hat: hat < 0.25 ? "straw" : hat < 0.4 ? "pointed" : undefined,
    };
  }
  const [cut, hair, skin, cloak, trousers] = [...look].map(
    (digit, at) => (CHOICES[at].cuts ?? CHOICES[at].colours)[Number(digit)],
  );
  return { cut, hair, skin, cloak, trousers };
}

/** The hair behind the head. */
export function hairBehind(c, { cut, hair }) {
  if (cut === "long") {
    oval(c, -0.05, -0.7, 0.2, 0.2, hair);
    box(c, -0.22, -0.7, 0.22, 0.22, hair);
  }
}

const CURLS = [
  [-0.17, -0.76],
  [-0.16, -0.86],
  [-0.09, -0.94],
  [0.01, -0.97],
  [0.11, -0.93],
  [0.17, -0.85],
];

/** The hair on the head, and the beard; `up`: seen from behind; `covered`: by a hat or a helmet. */
export function hairOn(c, { cut, hair, up }, covered) {
  if (cut === "none") return;
  if (up) {
    oval(c, 0, -0.79, 0.18, 0.17, hair);
    if (cut === "long") box(c, -0.17, -0.78, 0.34, 0.3, hair);
  } else {
    c.fillStyle = hair;
    c.beginPath();
    c.arc(0, -0.79, 0.18, Math.PI * 0.95, Math.PI * 2.1);
    c.quadraticCurveTo(0.08, -0.82, -0.18, -0.77);
    c.fill();
  }
  if (cut === "plaits") {
    line(c, hair, 0.075, -0.16, -0.74, -0.19, -0.5);
    if (up) line(c, hair, 0.075, 0.16, -0.74, 0.19, -0.5);
  }
  if (cut === "short, and a beard" && !up) {
    oval(c, 0.05, -0.645, 0.115, 0.075, hair);
    box(c, -0.08, -0.73, 0.05, 0.1, hair);
  }
  if (covered) return;
  if (cut === "a bun") oval(c, up ? 0 : -0.1, -0.985, 0.085, 0.075, hair);
  if (cut === "curls") for (const [x, y] of CURLS) oval(c, x, y, 0.07, 0.065, hair);
  if (cut === "a crest")
    shape(c, hair, [-0.15, -0.86], [-0.13, -1.04], [-0.02, -1.1], [0.1, -1.03], [0.14, -0.86]);
}
