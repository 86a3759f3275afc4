// Having died: who did it, what is left where, and the way back. And the grave, while it stands.
// Always: it shows what the server said last.

import { $, el, say } from "./dom.js";
import { Pane } from "./pane.js";
import { counted } from "./things.js";

const TICK_MS = 600;

export class Death {
  /** `game`: act, tell, scene. */
  constructor(game) {
    Object.assign(this, game);
    this.grave = undefined;
    this.pane = new Pane("death", "Oh dear", { modal: true, lasting: true });
    this.words = el("div", {});
    this.back = el(
      "button",
      { class: "main", onclick: () => this.act("player:action", { action: "respawn" }) },
      "Wake up",
    );
    this.pane.body.append(this.words);
    this.pane.foot.append(this.back);
  }

  get hears() {
    return {
      "player:died": (data) => this.died(data),
      "player:respawned": (data) => this.respawned(data),
      "grave:update": (data) => this.graved(data),
    };
  }

  clear() {
    this.grave = undefined;
    this.pane.hide();
    this.draw();
  }

  /** `player:sync`: whether one is dead just now. */
  sync(dead) {
    if (!dead) this.pane.hide();
    else if (!this.pane.shown) this.died({});
  }

  died(data) {
    const list = (items) => (items ?? []).map((item) => counted(item.itemId, item.quantity));
    const kept = list(data.kept ?? data.keptItems);
    const lost = list(data.lost ?? data.lostItems);
    this.words.replaceChildren(
      el("p", { class: "big" }, "You have died."),
      data.killedBy ? el("p", {}, `${data.killedBy} saw to that.`) : "",
      lost.length ? el("p", {}, `Left behind: ${lost.join(", ")}.`) : "",
      kept.length ? el("p", {}, `Kept: ${kept.join(", ")}.`) : "",
      el("p", { class: "dim" }, "You wake in town in a moment."),
    );
    this.pane.show();
    this.back.focus();
  }

  respawned() {
    if (!this.pane.shown) return;
    this.pane.hide();
    this.tell("You wake up in town.");
  }

  /** Where it is and until when; nothing: it is gone. */
  graved(data) {
    const gone = !data || data.open === false || data.gone === true || data.x === undefined;
    const before = this.grave;
    this.grave = gone ? undefined : { ...data, at: this.scene.tick };
    if (gone && before) this.tell(data?.message ?? "Your grave is empty.");
    this.draw();
  }

  /** The line under the map; called about once a second. */
  draw() {
    const box = $("grave");
    box.hidden = !this.grave;
    if (!this.grave) return;
    const { x, z } = this.grave;
    const until = this.grave.untilTick ?? this.grave.expiresAtTick ?? this.grave.expiresTick;
    const left = until === undefined ? undefined : Math.max(0, until - this.scene.tick) * TICK_MS;
    const time =
      left === undefined
        ? ""
        : `, ${Math.floor(left / 60000)}:${String(Math.floor(left / 1000) % 60).padStart(2, "0")} left`;
    say(box, `Your grave: ${x}, ${z}${time}`);
  }
}
