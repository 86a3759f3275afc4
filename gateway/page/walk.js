// How things glide between the tiles that the server names, one tick behind it.

const AROUND = [
  [-1, 0],
  [1, 0],
  [0, -1],
  [0, 1],
  [-1, -1],
  [1, -1],
  [-1, 1],
  [1, 1],
];
export const TICK_MS = 600;
const JUMP_TILES = 10;

/** A short way over free ground from `a` to `b`, without `a`; straight where there is none. */
export function path(free, a, b) {
  const far = Math.max(Math.abs(a.x - b.x), Math.abs(a.z - b.z));
  if (far <= 1) return [{ x: b.x, z: b.z }];
  const reach = far + 3;
  const from = new Map([[`${a.x},${a.z}`, null]]);
  let edge = [{ x: a.x, z: a.z }];
  for (let step = 0; step < reach + 4 && edge.length; step += 1) {
    const next = [];
    for (const tile of edge) {
      for (const [dx, dz] of AROUND) {
        const to = { x: tile.x + dx, z: tile.z + dz };
        const id = `${to.x},${to.z}`;
        if (
          from.has(id) ||
          Math.abs(to.x - a.x) > reach ||
          Math.abs(to.z - a.z) > reach ||
          !free(to.x, to.z)
        )
          continue;
        if (dx && dz && !(free(tile.x + dx, tile.z) && free(tile.x, tile.z + dz))) continue;
        from.set(id, tile);
        if (to.x === b.x && to.z === b.z) {
          const way = [];
          for (let at = to; at && !(at.x === a.x && at.z === a.z); at = from.get(`${at.x},${at.z}`))
            way.unshift(at);
          return way;
        }
        next.push(to);
      }
    }
    edge = next;
  }
  return [{ x: b.x, z: b.z }];
}

/** Where everything is shown, between where it was and where it is. */
export class Walkers {
  constructor(free) {
    this.free = free;
    this.shown = new Map();
  }

  clear() {
    this.shown.clear();
  }

  moved(entity, from, now) {
    const view = this.shown.get(entity.id);
    if (!view || !from) {
      this.shown.set(entity.id, {
        x: entity.x,
        z: entity.z,
        way: [],
        speed: 0,
        face: 1,
        walked: 0,
        last: now,
      });
      return;
    }
    const far = Math.max(Math.abs(entity.x - view.x), Math.abs(entity.z - view.z));
    if (far > JUMP_TILES) {
      Object.assign(view, { x: entity.x, z: entity.z, way: [], speed: 0 });
      return;
    }
    const start = view.way.at(-1) ?? { x: Math.round(view.x), z: Math.round(view.z) };
    view.way.push(...path(this.free, start, entity));
    view.speed = length(view) / TICK_MS;
  }

  /** Moves all on by the time since last asked; drops who is gone. */
  step(now, entities) {
    for (const [id, view] of this.shown) {
      if (!entities.has(id)) {
        this.shown.delete(id);
        continue;
      }
      let left = (now - view.last) * view.speed;
      view.last = now;
      view.moving = view.way.length > 0;
      while (left > 0 && view.way.length) {
        const to = view.way[0];
        const dx = to.x - view.x;
        const dz = to.z - view.z;
        const distance = Math.hypot(dx, dz);
        if (Math.abs(dx) > 0.01) view.face = Math.sign(dx);
        view.up = dz > Math.abs(dx);
        if (distance <= left) {
          view.x = to.x;
          view.z = to.z;
          view.way.shift();
          left -= distance;
          view.walked += distance;
        } else {
          view.x += (dx / distance) * left;
          view.z += (dz / distance) * left;
          view.walked += left;
          left = 0;
        }
      }
    }
  }

  at(entity) {
    return this.shown.get(entity.id) ?? entity;
  }
}

function length(view) {
  let sum = 0;
  let at = view;
  for (const to of view.way) {
    sum += Math.hypot(to.x - at.x, to.z - at.z);
    at = to;
  }
  return sum;
}
