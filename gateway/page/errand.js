// Going up to somebody who may walk on, to do something there that is only done from near.
// Always: one errand at a time; walking elsewhere ends it.

const GIVES_UP_MS = 20000;

export class Errand {
  /** `game`: me, scene, walkTo, beside. */
  constructor({ me, scene, walkTo, beside, tell }) {
    Object.assign(this, { me, scene, walkTo, beside, tell });
    this.now = undefined;
  }

  /** Calls `what` once `who` is within `reach` tiles. */
  near(who, reach, what) {
    this.now = { id: who.id, name: who.name, reach, what, since: performance.now(), at: undefined };
    this.step();
  }

  drop() {
    this.now = undefined;
  }

  /** Called when the world has moved on. */
  step() {
    const errand = this.now;
    if (!errand) return;
    const who = this.scene.entities.get(errand.id);
    const here = this.me.position;
    if (!who || !here || performance.now() - errand.since > GIVES_UP_MS) {
      this.now = undefined;
      if (!who) this.tell(`${errand.name} is out of sight.`);
      return;
    }
    if (Math.max(Math.abs(who.x - here.x), Math.abs(who.z - here.z)) <= errand.reach) {
      this.now = undefined;
      errand.what();
      return;
    }
    const at = `${who.x},${who.z}`;
    if (at === errand.at) return;
    errand.at = at;
    const tile = this.beside(who) ?? who;
    this.walkTo(tile.x, tile.z, true);
  }
}
