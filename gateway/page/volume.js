// The window for sound: how loud things are, how loud the lute, and silence.

import { $, el, say } from "./dom.js";
import { icon } from "./icons.js";
import { Pane } from "./pane.js";

export class Volume {
  /** `sound` is what is set, `music` says what it plays. */
  constructor(sound, music) {
    this.sound = sound;
    this.pane = new Pane("sound", "Sound");
    this.playing = el("p", { class: "dim", role: "status" });
    this.mute = el("button", { onclick: () => this.silence() });
    this.pane.body.append(
      this.slider("effects", "Steps and tools"),
      this.slider("music", "The lute"),
    );
    this.pane.foot.append(this.mute, this.playing);
    music.onplay = (track) => this.plays(track);
    $("sound-open").append(icon("sound"));
    $("sound-open").onclick = () => this.toggle();
    this.plays(undefined);
    this.draw();
  }

  slider(name, words) {
    const { sound } = this;
    const field = el("input", {
      type: "range",
      id: `sound-${name}`,
      min: "0",
      max: "100",
      step: "5",
      value: String(Math.round(sound.levels[name] * 100)),
      oninput: () => sound.set({ [name]: Number(field.value) / 100 }),
      onchange: () => name === "effects" && sound.play("coins"),
    });
    return el("label", { class: "slider" }, el("span", {}, words), field);
  }

  toggle() {
    if (this.pane.shown) this.pane.left();
    else this.pane.show();
  }

  silence() {
    this.sound.set({ muted: !this.sound.levels.muted });
    this.draw();
  }

  plays(track) {
    say(this.playing, track ? `The lute plays “${track.name}”.` : "The lute rests.");
  }

  draw() {
    const { muted } = this.sound.levels;
    this.mute.setAttribute("aria-pressed", String(muted));
    say(this.mute, muted ? "Sound is off" : "Sound is on");
    $("sound-open").classList.toggle("off", muted);
  }
}
