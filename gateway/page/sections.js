// The bytes of a compact update to its sections. docs/compact.md says what every byte means. Pure:
// nothing here knows what the page has.
// Always: a frame that makes no sense is thrown out as a whole.

export const UPDATE = 1;
const [GONE, NAME, CHUNK, NEAR, FORGET] = [1, 2, 3, 4, 5];
const [FULL, LEAVE, ENTER, MOVED, FIELDS_OF, HITS] = [1, 2, 4, 8, 16, 32];
const ELSEWHERE = 64;
const SIDE = 8;

export const KINDS = ["", "player", "npc", "resource", "station", "item", "fire", "grave"];

export const FIELDS = [
  "",
  "name",
  "combatLevel",
  "health",
  "maxHealth",
  "run",
  "dead",
  "agent",
  "emote",
  "npcId",
  "level",
  "category",
  "attackable",
  "service",
  "shop",
  "itemId",
  "quantity",
  "owner",
  "resourceId",
  "resourceType",
  "depleted",
  "stationType",
  "tick",
  "attacker",
  "target",
  "damage",
  "style",
  "targetHealth",
  "targetMaxHealth",
  "killed",
];

const DIRECTIONS = [
  [0, 1],
  [1, 1],
  [1, 0],
  [1, -1],
  [0, -1],
  [-1, -1],
  [-1, 0],
  [-1, 1],
];

const texts = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const SAFE_BYTES = 7;

/** Reads a frame for a page whose list of the nearest has `listed` players. */
export function sections(bytes, listed) {
  const reader = new Reader(bytes);
  if (reader.byte() !== UPDATE) throw new Error("no update");
  const frame = { seq: reader.number(), tick: reader.number() };
  Object.assign(frame, { gone: [], forget: [], names: [], chunks: [], near: undefined });
  while (reader.at < bytes.length) {
    const section = reader.byte();
    if (section === GONE) frame.gone.push(...reader.items(() => reader.chunk()));
    else if (section === FORGET) frame.forget.push(...reader.items(() => reader.small()));
    else if (section === NAME) frame.names.push(reader.name());
    else if (section === CHUNK) frame.chunks.push(reader.news());
    else if (section === NEAR && !frame.near) frame.near = reader.near(listed);
    else throw new Error(`section ${section} is unknown`);
  }
  return frame;
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  byte() {
    if (this.at >= this.bytes.length) throw new Error("the frame ends too early");
    return this.bytes[this.at++];
  }

  take(length) {
    if (length > this.bytes.length - this.at) throw new Error("the frame ends too early");
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  /** An unsigned number: a `BigInt` where it may be too large for an exact one. */
  large() {
    const from = this.at;
    let number = 0;
    for (let scale = 1; this.at - from < SAFE_BYTES; scale *= 128) {
      const byte = this.byte();
      number += (byte & 127) * scale;
      if (byte < 128) return number;
    }
    let large = BigInt(number);
    for (let shift = 49n; shift < 64n; shift += 7n) {
      const byte = this.byte();
      if (shift === 63n && (byte & 127) > 1) break;
      large |= BigInt(byte & 127) << shift;
      if (byte < 128) return large;
    }
    throw new Error("a number is too large");
  }

  number() {
    return Number(this.large());
  }

  small() {
    const number = this.number();
    if (number > 0xffffffff) throw new Error("a number is too large");
    return number;
  }

  signed() {
    const number = this.large();
    if (typeof number === "bigint") return Number((number >> 1n) ^ -(number & 1n));
    return number % 2 ? -(number + 1) / 2 : number / 2;
  }

  coordinate() {
    return whole(this.signed());
  }

  items(read) {
    const count = this.number();
    if (count > this.bytes.length - this.at) throw new Error("the frame ends too early");
    const items = [];
    for (let i = 0; i < count; i += 1) items.push(read());
    return items;
  }

  text() {
    return texts.decode(this.take(this.number()));
  }

  uuid() {
    const digits = [...this.take(16)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }

  word(table) {
    const at = this.number();
    if (at === 0) return this.text();
    if (at >= table.length) throw new Error(`word ${at} is unknown`);
    return table[at];
  }

  value() {
    const kind = this.byte();
    if (kind === 0) return null;
    if (kind === 1) return false;
    if (kind === 2) return true;
    if (kind === 3) return this.signed();
    if (kind === 4) return this.text();
    if (kind === 5) return this.uuid();
    throw new Error(`value ${kind} is unknown`);
  }

  fields() {
    return Object.fromEntries(this.items(() => [this.word(FIELDS), this.value()]));
  }

  chunk() {
    return { x: this.coordinate(), z: this.coordinate() };
  }

  name() {
    const number = this.small();
    const id = this.value();
    if (typeof id !== "string") throw new Error("an id is a text");
    return { number, id, kind: this.word(KINDS), fields: this.fields() };
  }

  place({ x, z }) {
    const inside = this.byte();
    if (inside === ELSEWHERE) return { x: this.coordinate(), z: this.coordinate() };
    if (inside > ELSEWHERE) throw new Error(`place ${inside} is unknown`);
    return { x: whole(x * SIDE + (inside % SIDE)), z: whole(z * SIDE + (inside >> 3)) };
  }

  /** A list of things, each with the distance of its number from the one before. */
  things(there, read) {
    if (!there) return [];
    let number = 0;
    return this.items(() => {
      number = (number + this.small()) % 0x100000000;
      return { number, ...read() };
    });
  }

  news() {
    const at = this.chunk();
    const flags = this.byte();
    if (flags >= 2 * HITS) throw new Error(`flags ${flags} are unknown`);
    const place = () => this.place(at);
    return {
      at,
      full: (flags & FULL) !== 0,
      leave: this.things(flags & LEAVE, () => ({})),
      enter: this.things(flags & ENTER, place),
      moved: this.things(flags & MOVED, place),
      fields: this.things(flags & FIELDS_OF, () => ({ fields: this.fields() })),
      hits: flags & HITS ? this.items(() => this.fields()) : [],
    };
  }

  near(listed) {
    const origin = this.chunk();
    const anew = this.byte();
    if (anew > 1) throw new Error(`flag ${anew} is unknown`);
    const place = (x, z) => ({ x: whole(origin.x + x), z: whole(origin.z + z) });
    const bits = new Bits(this);
    const steps = [];
    for (let i = 0; !anew && i < listed; i += 1) steps.push(bits.step(place));
    const added = this.items(() => ({
      number: this.small(),
      ...place(this.byte(), this.byte()),
    }));
    return { anew: anew === 1, steps, added };
  }
}

/** Bits in a reader's bytes, the highest bit of a byte first. */
class Bits {
  constructor(reader) {
    this.reader = reader;
    this.left = 0;
  }

  take(count) {
    let value = 0;
    for (let i = 0; i < count; i += 1) {
      if (this.left === 0) {
        this.byte = this.reader.byte();
        this.left = 8;
      }
      this.left -= 1;
      value = (value << 1) | ((this.byte >> this.left) & 1);
    }
    return value;
  }

  /** A listed player's move: `by` so far, `to` a place, or it `goes`. */
  step(place) {
    if (!this.take(1)) return { by: [0, 0] };
    if (!this.take(1)) return { by: DIRECTIONS[this.take(3)] };
    if (!this.take(1)) return { goes: true };
    return { to: place(this.take(6), this.take(6)) };
  }
}

/** A coordinate has 32 bits. */
function whole(number) {
  if (number !== (number | 0)) throw new Error("a coordinate is too large");
  return number | 0;
}
