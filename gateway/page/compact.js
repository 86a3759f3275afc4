// Compact updates to updates with ids, for one connection. docs/compact.md says how.
// Always: a frame that makes no sense changes nothing here. What has no name yet is kept, and is
// told when its name comes.

import { UPDATE, sections } from "./sections.js";

const key = ({ x, z }) => `${x},${z}`;
const chunkOf = ({ x, z }) => ({ x: x >> 3, z: z >> 3 });

export class Compact {
  constructor() {
    /** By number: id, kind and fields. */
    this.names = new Map();
    /** By number: its chunk and its tile. */
    this.placed = new Map();
    /** Numbers that chunk sections placed, by chunk. */
    this.chunks = new Map();
    /** Numbers of the nearest players, in order. */
    this.near = [];
  }

  /** Whether a frame holds an update; all others are MessagePack. */
  static is(bytes) {
    return bytes[0] === UPDATE;
  }

  /** Reads a frame to the message that JSON would bring; throws if it makes no sense. */
  read(bytes) {
    const frame = sections(bytes, this.near.length);
    return { event: "world:update", seq: frame.seq, data: this.apply(frame) };
  }

  apply({ tick, gone, forget, names, chunks, near }) {
    const records = new Records();
    // Numbers that enter at the end with all that is known of them.
    const anew = new Set();
    for (const chunk of gone) this.clear(chunk);
    for (const news of chunks) {
      records.of(news.at).full = news.full;
      if (news.full) this.clear(news.at);
    }
    for (const news of chunks) this.leave(news, records);
    if (near) this.walk(near, anew, records);
    for (const number of forget) this.forget(number, anew, records);
    for (const named of names) this.name(named, anew, records);
    for (const news of chunks) {
      for (const { number, x, z } of news.enter) {
        this.place(number, news.at, { x, z });
        anew.add(number);
      }
    }
    for (const news of chunks) this.change(news, anew, records);
    this.showAgain(chunks, anew);
    for (const number of [...anew].sort((a, b) => a - b)) this.enter(number, records);
    const update = { tick, chunks: records.told() };
    if (gone.length) update.gone = gone.map(({ x, z }) => [x, z]);
    return update;
  }

  clear(chunk) {
    for (const number of this.chunks.get(key(chunk)) ?? []) this.placed.delete(number);
    this.chunks.delete(key(chunk));
  }

  leave(news, records) {
    const here = this.chunks.get(key(news.at));
    for (const { number } of news.leave) {
      if (!here?.delete(number)) continue;
      this.placed.delete(number);
      const named = this.names.get(number);
      if (named) records.of(news.at).leave.push(named.id);
    }
  }

  /** Moves the listed players, and lists those who come. */
  walk({ anew: again, steps, added }, anew, records) {
    const listed = this.near;
    this.near = [];
    listed.forEach((number, at) => {
      const was = this.placed.get(number);
      if (!was) return;
      const step = again ? { goes: true } : steps[at];
      if (step.goes) {
        this.placed.delete(number);
        const named = this.names.get(number);
        if (named) records.of(was.chunk).leave.push(named.id);
        return;
      }
      this.near.push(number);
      const tile = step.to ?? { x: was.x + step.by[0], z: was.z + step.by[1] };
      if (tile.x !== was.x || tile.z !== was.z) this.step(number, was, tile, anew, records);
    });
    const there = new Set(this.near);
    for (const { number, x, z } of added) {
      if (there.has(number)) continue;
      there.add(number);
      this.placed.set(number, { chunk: chunkOf({ x, z }), x, z });
      this.near.push(number);
      anew.add(number);
    }
  }

  step(number, was, tile, anew, records) {
    const chunk = chunkOf(tile);
    this.placed.set(number, { chunk, ...tile });
    const named = this.names.get(number);
    if (!named) return;
    if (key(chunk) !== key(was.chunk)) {
      records.of(was.chunk).leave.push(named.id);
      anew.add(number);
    } else if (!anew.has(number)) {
      records.of(chunk).update.push({ id: named.id, ...tile });
    }
  }

  /** The chunk in which a number was shown before this frame. */
  showed(number, anew) {
    return anew.has(number) ? undefined : this.placed.get(number)?.chunk;
  }

  forget(number, anew, records) {
    const named = this.names.get(number);
    this.names.delete(number);
    const chunk = this.showed(number, anew);
    if (named && chunk) records.of(chunk).leave.push(named.id);
  }

  name({ number, id, kind, fields }, anew, records) {
    const was = this.names.get(number);
    const chunk = this.showed(number, anew);
    this.names.set(number, { id, kind, fields });
    if (was && was.id !== id && chunk) records.of(chunk).leave.push(was.id);
    anew.add(number);
  }

  place(number, chunk, tile) {
    const was = this.placed.get(number);
    if (was && key(was.chunk) !== key(chunk)) this.chunks.get(key(was.chunk))?.delete(number);
    this.placed.set(number, { chunk, ...tile });
    if (!this.chunks.has(key(chunk))) this.chunks.set(key(chunk), new Set());
    this.chunks.get(key(chunk)).add(number);
  }

  change(news, anew, records) {
    const here = this.chunks.get(key(news.at));
    const deltas = new Map();
    const delta = (number, { id }) => {
      if (!deltas.has(number)) deltas.set(number, { id });
      return deltas.get(number);
    };
    for (const { number, x, z } of news.moved.filter(({ number }) => here?.has(number))) {
      this.placed.set(number, { chunk: news.at, x, z });
      const named = this.names.get(number);
      if (named) Object.assign(delta(number, named), { x, z });
    }
    for (const { number, fields } of news.fields) {
      const named = this.names.get(number);
      if (!named) continue;
      for (const [name, value] of Object.entries(fields)) {
        if (value === null) delete named.fields[name];
        else named.fields[name] = value;
      }
      Object.assign(delta(number, named), fields);
    }
    const record = records.of(news.at);
    for (const number of [...deltas.keys()].sort((a, b) => a - b)) {
      if (!anew.has(number) && this.placed.has(number)) record.update.push(deltas.get(number));
    }
    record.hits = news.hits;
  }

  /** Whoever applies the update forgets the listed players of a full chunk as well. */
  showAgain(chunks, anew) {
    const full = new Set(chunks.filter((news) => news.full).map((news) => key(news.at)));
    for (const number of this.near) {
      const placed = this.placed.get(number);
      if (placed && full.has(key(placed.chunk))) anew.add(number);
    }
  }

  enter(number, records) {
    const named = this.names.get(number);
    const placed = this.placed.get(number);
    if (!named || !placed) return;
    const { chunk, x, z } = placed;
    records.of(chunk).enter.push({ id: named.id, type: named.kind, x, z, ...named.fields });
  }
}

/** The records of one update, in the order in which the frame spoke of their chunks. */
class Records {
  constructor() {
    this.all = new Map();
  }

  of(chunk) {
    const id = key(chunk);
    if (!this.all.has(id)) {
      const { x, z } = chunk;
      this.all.set(id, { x, z, full: false, enter: [], update: [], leave: [], hits: [] });
    }
    return this.all.get(id);
  }

  /** What is in them, as JSON would have it: without empty lists. */
  told() {
    return [...this.all.values()].map((record) => {
      const said = Object.entries(record).filter(([, of]) => of !== false && of.length !== 0);
      return Object.fromEntries(said);
    });
  }
}
