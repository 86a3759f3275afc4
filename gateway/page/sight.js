// What is seen, frame by frame: the picture, the map in the corner, what is pointed at, who is near.
// Always: panels are written only where their words are others than before.

import { $, reveal, say } from "./dom.js";
import { resting, setting } from "./settings.js";

const SLOW_MS = 200;
/** A screen's picture comes a little sooner or later than its time. */
const EARLY_MS = 4;

export class Sight {
  /**
   * `game`: land, scene, walkers, picture, minimap, me, hits, ui, controls, actions, doing, death,
   * quests, guide, tracker, worldmap, ears, music.
   */
  constructor(game) {
    this.game = game;
    this.hovered = undefined;
    this.slow = 0;
    this.drawn = 0;
  }

  start() {
    requestAnimationFrame((now) => this.frame(now));
  }

  /** Where the own character is shown. */
  here() {
    const { scene, me, walkers } = this.game;
    const own = scene.entities.get(me.id);
    return own ? walkers.at(own) : me.position;
  }

  view(now) {
    const { me, scene, walkers, controls, picture, hits } = this.game;
    const inWorld = Boolean(me.position) && $("entry").hidden;
    const { mouse } = controls;
    return {
      now,
      entities: scene.entities,
      at: (e) => walkers.at(e),
      own: me.id,
      me: inWorld ? this.here() : undefined,
      tick: scene.tick || 1500,
      target: me.target,
      hover: this.hovered?.id,
      hits,
      graves: this.game.death.graves,
      signs: this.game.quests.signs,
      quests: this.game.quests,
      guide: this.game.guide,
      mouse: inWorld && mouse.inside ? picture.toTile(mouse.x, mouse.y) : undefined,
    };
  }

  frame(now) {
    this.start();
    const { land, walkers, scene, picture, controls, minimap, worldmap } = this.game;
    if (!land.meta) return;
    controls.steer(now);
    const most = Number(setting("pictures")) || Infinity;
    if (now - this.drawn < 1000 / most - EARLY_MS) return;
    this.drawn = now;
    walkers.step(now, scene.entities);
    const at = $("entry").hidden ? this.here() : undefined;
    if (at) picture.center = { x: at.x, z: at.z };
    else this.drift(now);
    this.game.guide.frame(at, now);
    const seen = this.view(now);
    if (worldmap.seen) worldmap.draw(seen);
    else picture.draw(seen);
    this.game.gauge.drawn();
    this.point(seen);
    this.game.ears.frame(now);
    this.game.music.frame(now);
    if (at && now - this.slow > SLOW_MS) {
      this.slow = now;
      this.panels(seen);
    }
    if (at) minimap.draw(seen);
  }

  /** Before anybody is played, the view strolls around the middle of the world. */
  drift(now) {
    const { me, land, picture } = this.game;
    const t = resting() ? 0 : now / 14000;
    const { x, z } = me.position ?? land.meta.spawn;
    picture.center = { x: x + Math.sin(t) * 9, z: z + 3 + Math.cos(t * 0.7) * 5 };
  }

  /** Says what a click would do to what is pointed at. */
  point(seen) {
    const { controls, picture, actions, ui, worldmap } = this.game;
    const { mouse } = controls;
    const inside = seen.me && mouse.inside && !worldmap.seen;
    this.hovered = inside ? picture.under(mouse.x, mouse.y, seen) : undefined;
    if (!inside) return ui.hover("");
    if (!this.hovered) {
      const house = picture.houseAt(seen.mouse);
      return ui.hover(house?.name ?? "", undefined, mouse.x, mouse.y);
    }
    const [words, , detail] = actions.first(this.hovered) ?? [this.hovered.name];
    const level = this.hovered.combatLevel;
    const extra = detail ?? (level === undefined ? undefined : `level ${level}`);
    const empty = this.hovered.depleted ? "nothing left just now" : extra;
    return ui.hover(words, empty, mouse.x, mouse.y);
  }

  panels(seen) {
    const { land, scene, me, ui, death, doing } = this.game;
    const x = Math.round(seen.me.x);
    const z = Math.round(seen.me.z);
    ui.where(land.area(x, z), x, z);
    const near = [];
    for (const entity of scene.entities.values()) {
      if (entity.id === me.id || (entity.type !== "player" && entity.type !== "npc")) continue;
      const far = Math.max(Math.abs(entity.x - x), Math.abs(entity.z - z));
      if (entity.type === "player") ui.names.set(entity.name, true);
      if (entity.type === "player" || far <= 14)
        near.push([entity.agent ? `⚙ ${entity.name}` : entity.name, far, entity.type === "player"]);
    }
    near.sort((a, b) => b[2] - a[2] || a[1] - b[1] || (a[0] < b[0] ? -1 : 1));
    ui.near(
      near.slice(0, 9).map(([name, far, player]) => [name, far === 0 ? "here" : `${far}`, player]),
    );
    death.draw();
    doing.draw();
    this.game.tracker.draw(true);
    this.foe(seen);
  }

  /** Whom one fights, and what is left of them. */
  foe(seen) {
    const { me, hits, scene } = this.game;
    const foe = me.foe && scene.entities.get(me.foe);
    const left = foe && hits.left(foe, seen.now);
    reveal($("foe"), left);
    if (!left) return;
    say($("foe").children[0], foe.name);
    say($("foe").children[2], `${left.now} / ${left.max}`);
    const part = Math.max(0, Math.min(1, left.now / left.max));
    $("foe").children[1].firstChild.style.transform = `scaleX(${part.toFixed(3)})`;
  }
}
