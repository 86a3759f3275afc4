// A long way on foot: farther than the server leads anybody at once. It is walked leg by leg.
// Always: the next leg is asked for before the one under way ends, so that nobody stops in between.

const LEG_TILES = 70;
/** Tiles before the end of a leg at which the next one is asked for. */
const AHEAD_TILES = 16;
/** Who has stood still for so long goes no farther. */
const RESTS_MS = 7000;
/** Something may stand on the goal itself. */
const BESIDE_TILES = 4;

const apart = (a, b) => Math.max(Math.abs(a.x - b.x), Math.abs(a.z - b.z));

export class Journey {
  /** `way` leads from tile to tile; `walkTo(x, z)` asks for a leg; `ended(there)` hears of the end. */
  constructor(way, me, walkTo, ended) {
    Object.assign(this, { way, me, walkTo, ended });
    /** How far one has come, and where the leg under way ends, both along the way. */
    this.at = 0;
    this.leg = 0;
    /** Tiles from one place of the way to the next. */
    this.stride = way.length > 1 ? Math.max(1, apart(way[0], way[1])) : 1;
    this.moved = performance.now();
    this.next();
  }

  get goal() {
    return this.way.at(-1);
  }

  /** What is left of the way. */
  get rest() {
    return this.way.slice(this.at);
  }

  next() {
    this.leg = Math.min(this.at + Math.floor(LEG_TILES / this.stride), this.way.length - 1);
    const { x, z } = this.way[this.leg];
    this.walkTo(x, z, true);
  }

  /** Called when the world has moved on; false once the journey is over. */
  step() {
    const here = this.me.position;
    const now = performance.now();
    if (!here) return false;
    if (this.last && apart(here, this.last)) this.moved = now;
    this.last = { ...here };
    this.follow(here);
    const far = apart(here, this.goal);
    if (far <= 1 || this.me.target?.bad || now - this.moved > RESTS_MS) {
      this.ended(far <= BESIDE_TILES);
      return false;
    }
    const last = this.leg === this.way.length - 1;
    if (!last && (this.leg - this.at) * this.stride <= AHEAD_TILES) this.next();
    return true;
  }

  /** Finds out how far one has come: the server's way is not quite the one here. */
  follow(here) {
    const end = Math.min(this.leg + 1, this.way.length);
    for (let n = this.at; n < end; n += 1)
      if (apart(this.way[n], here) < apart(this.way[this.at], here)) this.at = n;
  }
}
