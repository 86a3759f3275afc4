// People: colours of their own, what they wear and hold, and what their body does, drawn in code.

import { cut } from "./armour.js";
import { hairBehind, hairOn, looks } from "./looks.js";
import { box, hoop, line, oval, placed, shade, shape } from "./pen.js";
import { frameOf, glows, holds, steams } from "./poses.js";
import { stuff } from "./stuffs.js";
import { held, kind } from "./weapons.js";

const INK = "#2a1c14";
const DARK = "rgba(0,0,0,.16)";
const NOTHING = {};

/**
 * A person; `phase` is how far they have walked, in tiles, `worn` an item for each place, `pose`
 * what they do, `look` what their player chose.
 */
export function person(c, name, how = NOTHING) {
  const { phase = 0, moving = false, face = 1, up = false, worn = NOTHING, pose } = how;
  const who = {
    ...looks(name, how.look),
    up,
    worn,
    pose,
    crown: how.crown,
    swing: moving ? Math.sin(phase * 5) : 0,
    frame: frameOf(pose),
  };
  const [, , lean, sink] = who.frame;
  shade(c);
  c.save();
  c.scale(face < 0 ? -1 : 1, 1);
  legs(c, who, sink);
  c.translate(0, -0.16 + Math.min(sink, 0.15) - Math.abs(who.swing) * 0.045);
  c.rotate(lean);
  c.translate(0, 0.16);
  upper(c, who);
  c.restore();
}

/** All above the legs, from behind to the front. */
function upper(c, who) {
  const { up, worn } = who;
  if (!up && worn.cape) cape(c, worn.cape);
  (up ? front : behind)(c, who);
  torso(c, who);
  if (up && worn.cape) cape(c, worn.cape);
  head(c, who);
  (up ? behind : front)(c, who);
  if (who.pose && glows(who.pose)) sparks(c, who);
  if (who.pose && steams(who.pose)) steam(c, who);
}

function legs(c, { worn, swing, trousers }, sink) {
  const rise = Math.min(0, sink);
  const of = worn.legs && stuff(worn.legs);
  const feet = worn.boots && stuff(worn.boots);
  const low = Math.max(0, sink);
  for (const [x, side, tone] of [
    [-0.13, 1, "#4a3a2c"],
    [0.03, -1, "#3e3024"],
  ]) {
    const at = x + side * swing * 0.07;
    box(c, at, -0.24 + low + rise, 0.1, 0.24 - low, of?.tone ?? trousers ?? tone);
    if (!of && trousers && side < 0) box(c, at, -0.24 + low + rise, 0.1, 0.24 - low, DARK);
    if (of && cut(worn.legs, "legs") === "greaves") box(c, at, -0.15 + rise, 0.1, 0.05, of.trim);
    if (!feet) continue;
    box(c, at - 0.01, -0.09 + rise, 0.12, 0.09, feet.tone);
    box(c, at - 0.01, -0.025 + rise, 0.16, 0.03, feet.trim);
  }
}

/** The robe or coat that hangs to the knees, or armour that ends at the belt. */
function torso(c, { worn, cloak, trousers }) {
  const of = worn.body && stuff(worn.body);
  const tone = of?.tone ?? cloak;
  const made = worn.body && cut(worn.body, "body");
  const coat = !worn.legs && !made && !trousers;
  const long = made === "robe" || coat || cut(worn.legs ?? "", "legs") === "skirt";
  const hem = long ? -0.14 : -0.26;
  const wide = long ? 0.23 : 0.18;
  if (long && made !== "robe" && worn.legs)
    shape(c, stuff(worn.legs).tone, [-0.17, -0.34], [0.17, -0.34], [0.23, hem], [-0.23, hem]);
  const foot = long && worn.legs && made !== "robe" ? -0.3 : hem;
  const side = foot === hem ? wide : 0.18;
  shape(c, tone, [-0.15, -0.62], [0.15, -0.62], [side, foot], [-side, foot]);
  shape(c, DARK, [0.04, -0.62], [0.15, -0.62], [side, foot], [0.08, foot]);
  if (of) {
    if (of.mark) placed(c, -0.01, -0.46, 0, 0.5, (d) => of.mark(d, of.trim));
    box(c, -side, foot - 0.04, side * 2, 0.04, of.trim);
  }
  if (made === "plate") {
    line(c, of.trim, 0.03, -0.1, -0.47, 0, -0.5, 0.1, -0.47);
    oval(c, -0.04, -0.55, 0.06, 0.035, "rgba(255,255,255,.4)");
  }
  if (made !== "robe") box(c, -0.185, -0.36, 0.37, 0.05, "rgba(40,26,14,.75)");
}

/** An arm from its shoulder, with a hand that may hold something. */
function arm(c, who, x, raised, grasp) {
  const { worn, cloak, skin } = who;
  const body = worn.body && stuff(worn.body);
  const made = worn.body && cut(worn.body, "body");
  c.save();
  c.translate(x, -0.55);
  c.rotate(-raised);
  oval(c, 0, 0.1, 0.062, 0.13, body?.tone ?? cloak);
  if (made === "plate") oval(c, 0, 0, 0.085, 0.07, body.trim);
  oval(c, 0, 0.22, 0.055, 0.055, worn.gloves ? stuff(worn.gloves).tone : skin);
  if (worn.gloves) box(c, -0.06, 0.13, 0.12, 0.04, stuff(worn.gloves).trim);
  if (grasp) {
    c.translate(0, 0.22);
    c.rotate(raised);
    grasp(c);
  }
  c.restore();
}

/** The arm that holds the weapon or the tool. */
function front(c, who) {
  const { frame, pose, worn, swing } = who;
  const [raised, , , , turn] = frame;
  const item = holds(pose, worn.weapon);
  const own = item === worn.weapon;
  const bow = item && own && kind(item) === "bow";
  const grasp =
    item &&
    ((d) => {
      if (bow) d.rotate(pose?.name === "shoot" ? 0 : 0.5);
      else d.rotate(turn);
      grip(d, item);
      if (bow && pose?.name === "shoot") drawn(d, who);
    });
  arm(c, who, 0.17, raised - swing * 0.5, grasp);
}

/** The other arm, with the shield. */
function behind(c, who) {
  const { frame, worn, swing } = who;
  arm(c, who, -0.17, frame[1] + swing * 0.5, worn.shield && ((d) => shield(d, worn.shield)));
}

function grip(c, item) {
  if (held(c, item)) return;
  if (item === "pan") {
    c.rotate(-1.5);
    box(c, 0, -0.025, 0.2, 0.05, "#3a3c42");
    oval(c, 0.31, 0, 0.14, 0.06, "#3a3c42");
    oval(c, 0.31, -0.02, 0.08, 0.03, "#e0a04c");
  } else if (item === "tinderbox") {
    box(c, -0.07, -0.05, 0.14, 0.09, "#8a6a41");
    shape(c, "#f7b03c", [0.06, -0.02], [0.13, -0.16], [0.17, 0]);
  }
}

/** The string drawn back, with an arrow on it until it flies. */
function drawn(c, { pose }) {
  const back = [-0.16, -0.26, 0, 0][pose.frame];
  line(c, "#f1ead8", 0.02, -0.1, -0.3, back - 0.06, 0.02, -0.1, 0.34);
  if (pose.frame > 1) return;
  line(c, "#a98555", 0.035, back, 0.02, 0.34, 0.02);
  shape(c, "#d5dbe0", [0.32, -0.05], [0.44, 0.02], [0.32, 0.09]);
}

function shield(c, id) {
  const of = stuff(id);
  if (cut(id, "shield") === "lid") {
    oval(c, 0, -0.02, 0.19, 0.2, of.trim);
    oval(c, 0, -0.02, 0.15, 0.16, of.tone);
    hoop(c, 0, -0.02, 0.08, 0.08, of.trim, 0.025);
    return;
  }
  shape(c, of.trim, [-0.19, -0.22], [0.19, -0.22], [0.17, 0.06], [0, 0.24], [-0.17, 0.06]);
  shape(c, of.tone, [-0.15, -0.18], [0.15, -0.18], [0.13, 0.04], [0, 0.18], [-0.13, 0.04]);
  oval(c, 0, -0.04, 0.05, 0.05, "#e8b65a");
}

function cape(c, id) {
  const of = stuff(id);
  if (cut(id, "cape") === "scarf") {
    line(c, of.tone, 0.1, -0.12, -0.6, -0.22, -0.3);
    line(c, of.trim, 0.03, -0.26, -0.34, -0.18, -0.32);
    return;
  }
  shape(
    c,
    of.tone,
    [-0.14, -0.64],
    [0.14, -0.64],
    [0.27, -0.1],
    [0.06, -0.06],
    [-0.1, -0.1],
    [-0.28, -0.05],
  );
  if (of.mark) placed(c, -0.02, -0.32, 0, 0.6, (d) => of.mark(d, of.trim));
  line(c, of.trim, 0.03, -0.27, -0.07, -0.1, -0.11, 0.06, -0.07, 0.26, -0.11);
}

function head(c, who) {
  const { up, skin, worn } = who;
  if (!up) hairBehind(c, who);
  oval(c, 0, -0.76, 0.17, 0.175, skin);
  hairOn(c, who, Boolean(worn.helmet) || who.crown || who.hat);
  if (!up) {
    oval(c, 0.02, -0.75, 0.018, 0.024, INK);
    oval(c, 0.11, -0.75, 0.018, 0.024, INK);
  }
  if (worn.cape && cut(worn.cape, "cape") === "scarf")
    line(c, stuff(worn.cape).tone, 0.1, -0.12, -0.61, 0.12, -0.6);
  if (worn.helmet) return helmet(c, worn.helmet, up);
  return ownHat(c, who);
}

/** What some wear since they were born. */
function ownHat(c, { hat, crown, cloak }) {
  if (crown)
    shape(
      c,
      "#e8b65a",
      [-0.15, -0.88],
      [-0.15, -1.02],
      [-0.07, -0.94],
      [0, -1.05],
      [0.07, -0.94],
      [0.15, -1.02],
      [0.15, -0.88],
    );
  else if (hat === "straw") {
    oval(c, 0, -0.87, 0.26, 0.07, "#8a6a3c");
    oval(c, 0, -0.94, 0.14, 0.11, "#9c7a48");
  } else if (hat === "pointed") shape(c, cloak, [-0.17, -0.84], [0.02, -1.14], [0.17, -0.84]);
}

const HELMETS = {
  hat(c, of) {
    oval(c, 0, -0.86, 0.27, 0.07, of.tone);
    shape(c, of.tone, [-0.16, -0.88], [0.05, -1.3], [0.17, -0.88]);
    box(c, -0.16, -0.93, 0.32, 0.05, of.trim);
    if (of.mark) placed(c, 0.02, -1.02, 0, 0.4, (d) => of.mark(d, of.trim));
  },
  bobble(c, of) {
    c.fillStyle = of.tone;
    c.beginPath();
    c.arc(0, -0.82, 0.2, Math.PI, 0);
    c.fill();
    box(c, -0.21, -0.85, 0.42, 0.07, of.trim);
    oval(c, 0, -1.04, 0.075, 0.07, of.trim);
  },
  hood(c, of, up) {
    c.fillStyle = of.tone;
    c.beginPath();
    c.moveTo(-0.22, -0.58);
    c.quadraticCurveTo(-0.26, -1.02, 0, -1.02);
    c.quadraticCurveTo(0.25, -1, 0.2, -0.58);
    if (!up) {
      c.lineTo(0.16, -0.62);
      c.quadraticCurveTo(0.2, -0.86, 0.05, -0.87);
      c.quadraticCurveTo(-0.12, -0.84, -0.08, -0.6);
    }
    c.fill();
    if (up && of.mark) placed(c, 0, -0.8, 0, 0.55, (d) => of.mark(d, of.trim));
  },
  helmet(c, of, up) {
    c.fillStyle = of.tone;
    c.beginPath();
    c.arc(0, -0.79, 0.2, Math.PI, 0);
    c.lineTo(0.2, up ? -0.64 : -0.72);
    if (!up) {
      c.lineTo(0.15, -0.72);
      c.lineTo(0.15, -0.8);
      c.lineTo(-0.05, -0.8);
      c.lineTo(-0.08, -0.62);
    }
    c.lineTo(-0.2, -0.64);
    c.fill();
    box(c, -0.2, -0.83, 0.4, 0.045, of.trim);
    line(c, of.trim, 0.05, -0.06, -0.98, 0.02, -1.04, 0.12, -1);
    oval(c, -0.08, -0.91, 0.05, 0.035, "rgba(255,255,255,.45)");
  },
};

function helmet(c, id, up) {
  const made = cut(id, "helmet");
  (HELMETS[made] ?? HELMETS.hood)(c, stuff(id), up);
}

/** What is cast glows around the hand that casts. */
function sparks(c, { frame, pose }) {
  const [raised] = frame;
  const [x, y] = [0.17 + Math.sin(raised) * 0.28, -0.55 + Math.cos(raised) * 0.28];
  oval(c, x, y, 0.13, 0.13, "rgba(190,160,255,.35)");
  oval(c, x, y, 0.07, 0.07, "rgba(240,230,255,.8)");
  for (let n = 0; n < 5; n += 1) {
    const a = n * 1.26 + pose.frame * 0.7;
    oval(
      c,
      x + Math.cos(a) * 0.19,
      y + Math.sin(a) * 0.17,
      0.028,
      0.028,
      n % 2 ? "#fff3b0" : "#d9c2ff",
    );
  }
}

function steam(c, { pose }) {
  for (let n = 0; n < 3; n += 1) {
    const rise = ((pose.frame + n * 1.3) % 4) * 0.09;
    hoop(c, 0.42 + n * 0.07, -0.5 - rise, 0.04, 0.04, "rgba(255,255,255,.55)", 0.03, 0.4, 4);
  }
}
