// Having died: who did it, and the way back. And the graves that are left, while they stand.
// Always: it shows what the server said last.

import { $, clock, el, reveal, say } from "./dom.js";
import { Pane } from "./pane.js";
import { counted } from "./things.js";

export class Death {
  /** `game`: act, tell, scene. */
  constructor(game) {
    Object.assign(this, game);
    this.graves = new Map();
    this.pane = new Pane("death", "Oh dear", { modal: true, permanent: true });
    this.words = el("div", {});
    this.wait = el("p", { class: "dim", role: "timer" });
    this.wakes = undefined;
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
    this.graves.clear();
    this.pane.hide();
    this.draw();
  }

  /** `player:sync`: whether one is dead just now. */
  sync(dead) {
    if (!dead) this.pane.hide();
    else if (!this.pane.shown) this.died({});
  }

  died(data) {
    this.wakes = data.respawnTick;
    this.words.replaceChildren(
      el("p", { class: "big" }, "You have died."),
      data.killedBy ? el("p", {}, `${data.killedBy} saw to that.`) : "",
      this.wait,
    );
    this.draw();
    this.pane.show();
  }

  respawned() {
    if (!this.pane.shown) return;
    this.pane.hide();
    this.tell("You wake up in town.");
  }

  /** Where it is, what is in it, and how long it is one's own; without a place it is gone. */
  graved({ graveId, position, items, expiresInMs }) {
    if (position) {
      const until = performance.now() + expiresInMs;
      this.graves.set(graveId, { ...position, items, until });
    } else if (this.graves.delete(graveId)) this.tell("Your grave is no more.");
    const all = [...this.graves.values()].flatMap((grave) => grave.items);
    const words = all.map((item) => counted(item.itemId, item.quantity));
    $("grave").dataset.tip = ["What you left behind", ...words].join("\n");
    this.draw();
  }

  /** What passes with time; called a few times a second. */
  draw() {
    const left = Math.ceil(this.scene.until(this.wakes ?? 0) / 1000);
    say(this.wait, left > 0 ? `You wake in town in ${left} s.` : "");
    this.grave();
  }

  /** The line under the map. */
  grave() {
    const box = $("grave");
    // The one that is one's own no more the soonest.
    const [first] = [...this.graves.values()].sort((a, b) => a.until - b.until);
    reveal(box, first);
    if (!first) return;
    const left = clock(first.until - performance.now());
    const more = this.graves.size > 1 ? `, and ${this.graves.size - 1} more` : "";
    say(box, `Your grave: ${first.x}, ${first.z}, ${left} left${more}`);
  }
}
