// Going up to somebody who may walk on, to do something there that is only done from near; and long
// ways, that are walked leg by leg.
// Always: one pending action at a time; walking elsewhere ends it.

const GIVES_UP_MS = 20000;

export class PendingAction {
  /** `game`: me, scene, walkTo, beside. */
  constructor({ me, scene, walkTo, beside, tell }) {
    Object.assign(this, { me, scene, walkTo, beside, tell });
    this.drop();
  }

  /** Calls `what` once `who` is within `reach` tiles. */
  near(who, reach, what) {
    this.drop();
    this.now = { id: who.id, name: who.name, reach, what, since: performance.now(), at: undefined };
    this.step();
  }

  /** Sets out on a journey. */
  travel(journey) {
    this.now = undefined;
    this.journey = journey;
  }

  drop() {
    this.now = undefined;
    this.journey = undefined;
  }

  /** Called when the world has moved on. */
  step() {
    if (this.journey && !this.journey.step()) this.journey = undefined;
    const pending = this.now;
    if (!pending) return;
    const who = this.scene.entities.get(pending.id);
    const here = this.me.position;
    if (!who || !here || performance.now() - pending.since > GIVES_UP_MS) {
      this.now = undefined;
      if (!who) this.tell(`${pending.name} is out of sight.`);
      return;
    }
    if (Math.max(Math.abs(who.x - here.x), Math.abs(who.z - here.z)) <= pending.reach) {
      this.now = undefined;
      pending.what();
      return;
    }
    const at = `${who.x},${who.z}`;
    if (at === pending.at) return;
    pending.at = at;
    const tile = this.beside(who) ?? who;
    this.walkTo(tile.x, tile.z, true);
  }
}
