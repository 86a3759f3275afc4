// The window in which a person sets things.

import { $, el } from "./dom.js";
import { Pane } from "./pane.js";
import { SETTINGS, heed, resting, set, setting } from "./settings.js";

export class SettingsPane {
  /** `more` are entries `[words, what]` for what is set elsewhere. */
  constructor(more) {
    this.pane = new Pane("settings", "Settings");
    this.pane.body.append(...SETTINGS.map((one) => this.row(...one)));
    this.pane.foot.append(...more.map(([words, what]) => el("button", { onclick: what }, words)));
    heed(() => this.dress());
  }

  row(name, words, choices) {
    const options = choices.map(([value, said]) =>
      el("option", { value, selected: setting(name) === value }, said),
    );
    const field = el("select", { id: `set-${name}`, onchange: () => set(name, field.value) }, options);
    return el("label", { class: "setting" }, el("span", {}, words), field);
  }

  /** What the styles know of. */
  dress() {
    const { classList } = document.body;
    classList.toggle("safe", setting("colours") === "safe");
    classList.toggle("resting", resting());
    const scale = setting("scale");
    for (const id of ["hud", "entry", "menu"]) $(id).style.zoom = scale === "1" ? "" : scale;
  }

  toggle() {
    if (this.pane.shown) this.pane.left();
    else this.pane.show();
  }
}
