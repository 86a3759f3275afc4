// What is known of the world: the land, and who and what is in sight.
// Always: applying every update to an empty map gives what the server holds of those chunks.

import { TICK_MS } from "./walk.js";

export const key = (x, z) => `${x},${z}`;
const SIDE = 64;

export class Land {
  constructor() {
    this.meta = undefined;
    this.regions = new Map();
    this.houses = [];
    this.onload = () => {};
  }

  async load() {
    const response = await fetch("/world/terrain.json");
    if (!response.ok) throw new Error(`the map answered ${response.status}`);
    this.meta = await response.json();
    this.ground = [];
    for (const ground of this.meta.grounds) this.ground[ground.id] = ground;
    this.named = Object.fromEntries(this.meta.grounds.map((g) => [g.name, g.id]));
    fetch("/manifests/buildings.json")
      .then((r) => (r.ok ? r.json() : []))
      .then((list) => {
        this.houses = Array.isArray(list) ? list : [];
        this.onload();
      })
      .catch(() => {});
  }

  /** The bytes of a region, or undefined while they are under way. */
  region(rx, rz) {
    const { last } = this;
    if (last?.bytes && last.rx === rx && last.rz === rz) return last.bytes;
    const id = key(rx, rz);
    const known = this.regions.get(id);
    this.last = known;
    if (known) return known.bytes;
    const b = this.meta?.bounds;
    if (
      !b ||
      rx * SIDE < b.minX ||
      rz * SIDE < b.minZ ||
      rx * SIDE >= b.maxX ||
      rz * SIDE >= b.maxZ
    )
      return undefined;
    const entry = { rx, rz, bytes: undefined };
    this.regions.set(id, entry);
    fetch(`/world/terrain/${rx}/${rz}`)
      .then(async (r) => {
        if (!r.ok) throw new Error(String(r.status));
        entry.bytes = new Uint8Array(await r.arrayBuffer());
        this.onload(rx, rz);
      })
      .catch(() => setTimeout(() => this.regions.delete(id), 4000));
    return undefined;
  }

  /** -1 where the land is not known yet; deep water beyond the edge. */
  kind(x, z) {
    const b = this.meta.bounds;
    if (x < b.minX || z < b.minZ || x >= b.maxX || z >= b.maxZ) return this.named.deep_water;
    const bytes = this.region(x >> 6, z >> 6);
    return bytes ? bytes[((z & 63) * SIDE + (x & 63)) * 2] : -1;
  }

  height(x, z) {
    const bytes = this.region(x >> 6, z >> 6);
    return bytes ? bytes[((z & 63) * SIDE + (x & 63)) * 2 + 1] : 0;
  }

  walkable(x, z) {
    const kind = this.kind(x, z);
    return kind >= 0 && this.ground[kind]?.walkable === true;
  }

  area(x, z) {
    let best;
    let size = Infinity;
    for (const area of this.meta?.areas ?? []) {
      const b = area.bounds;
      const here = (b.maxX - b.minX) * (b.maxZ - b.minZ);
      if (x >= b.minX && x < b.maxX && z >= b.minZ && z < b.maxZ && here < size) {
        best = area;
        size = here;
      }
    }
    return best;
  }
}

export class Scene {
  constructor() {
    this.clear();
  }

  clear() {
    this.heard(0);
    this.entities = new Map();
    this.chunks = new Map();
    this.solid = new Set();
  }

  /** It is that tick now. */
  heard(tick) {
    this.tick = tick;
    this.at = performance.now();
  }

  /** Milliseconds until a tick, below nothing once it is over. Nothing is heard of quiet ticks. */
  until(tick) {
    return (tick - this.tick) * TICK_MS - (performance.now() - this.at);
  }

  /** Applies one `world:update`; `moved(entity, from)` hears of every step. */
  apply(update, moved) {
    this.heard(update.tick);
    for (const [x, z] of update.gone ?? []) this.drop(key(x, z));
    const before = new Map();
    const forget = (id) => {
      const known = this.entities.get(id);
      if (known) before.set(id, known);
      this.remove(id);
    };
    for (const chunk of update.chunks) {
      if (chunk.full)
        for (const id of [...(this.chunks.get(key(chunk.x, chunk.z)) ?? [])]) forget(id);
    }
    for (const chunk of update.chunks) {
      const ids = this.chunks.get(key(chunk.x, chunk.z));
      for (const id of chunk.leave ?? []) if (ids?.has(id)) forget(id);
    }
    for (const chunk of update.chunks) {
      for (const entity of chunk.enter ?? []) {
        const known = this.entities.get(entity.id) ?? before.get(entity.id);
        this.put(entity, key(chunk.x, chunk.z));
        if (!known || known.x !== entity.x || known.z !== entity.z) moved(entity, known);
      }
    }
    for (const chunk of update.chunks) {
      for (const delta of chunk.update ?? []) this.change(delta, moved);
    }
  }

  change(delta, moved) {
    const entity = this.entities.get(delta.id);
    if (!entity) return;
    const from = { x: entity.x, z: entity.z };
    if (isSolid(entity)) this.solid.delete(key(entity.x, entity.z));
    for (const [name, value] of Object.entries(delta)) {
      if (value === null) delete entity[name];
      else entity[name] = value;
    }
    if (isSolid(entity)) this.solid.add(key(entity.x, entity.z));
    if (from.x !== entity.x || from.z !== entity.z) moved(entity, from);
  }

  put(entity, chunk) {
    this.remove(entity.id);
    this.entities.set(entity.id, entity);
    Object.defineProperty(entity, "chunk", { value: chunk, writable: true, configurable: true });
    if (!this.chunks.has(chunk)) this.chunks.set(chunk, new Set());
    this.chunks.get(chunk).add(entity.id);
    if (isSolid(entity)) this.solid.add(key(entity.x, entity.z));
  }

  remove(id) {
    const entity = this.entities.get(id);
    if (!entity) return;
    this.entities.delete(id);
    this.chunks.get(entity.chunk)?.delete(id);
    if (isSolid(entity)) this.solid.delete(key(entity.x, entity.z));
  }

  drop(chunk) {
    for (const id of [...(this.chunks.get(chunk) ?? [])]) this.remove(id);
    this.chunks.delete(chunk);
  }
}

const isSolid = (e) =>
  e.type === "station" || (e.type === "resource" && e.resourceType !== "fishing_spot");
