// Where a newcomer's character gets its look: a picture, and a button for each choice.

import { $, el } from "./dom.js";
import { CHOICES, anyLook, next } from "./looks.js";
import { person } from "./person.js";

const WIDTH = 76;
const HEIGHT = 96;
/** Pixels of a tile. */
const ZOOM = 74;
/** So much larger is the figure whose look is being chosen. */
const CLOSE = 1.5;

/** Paints somebody into a canvas of its own. */
export function figure(name, look, scale = 1) {
  const ratio = scale * Math.min(2, devicePixelRatio || 1);
  const canvas = el("canvas", {
    class: "figure",
    width: WIDTH * ratio,
    height: HEIGHT * ratio,
    "aria-hidden": "true",
  });
  const c = canvas.getContext("2d");
  c.scale(ZOOM * ratio, ZOOM * ratio);
  c.translate(WIDTH / 2 / ZOOM, (HEIGHT - 8) / ZOOM);
  person(c, name, { look });
  return canvas;
}

export class Creator {
  constructor() {
    this.picture = el("div", {});
    this.buttons = CHOICES.map(({ words }, at) =>
      el("button", { type: "button", title: words, onclick: () => this.choose(next(this.look, at)) }),
    );
    const choices = el("div", { class: "choices" }, this.buttons);
    $("look").replaceChildren(this.picture, choices);
    this.choose(anyLook());
  }

  /** Another look by chance. */
  roll() {
    this.choose(anyLook());
  }

  choose(look) {
    this.look = look;
    $("look").dataset.look = look;
    this.picture.replaceChildren(figure("", look, CLOSE));
    CHOICES.forEach(({ words, cuts, colours }, at) => {
      const button = this.buttons[at];
      const digit = Number(look[at]);
      const said = cuts ? cuts[digit] : `${digit + 1} of ${colours.length}`;
      button.setAttribute("aria-label", `${words}: ${said}`);
      if (cuts) return button.replaceChildren(`${words}: ${said}`);
      const swatch = el("i");
      swatch.style.background = colours[digit];
      return button.replaceChildren(swatch, words);
    });
  }
}
