// Blows that were just struck: numbers over whoever took them, and how much health is left.
// Always: a blow is shown once, however often it is told of.

const SPLAT_MS = 1300;
const BAR_MS = 9000;
const KNOWN_TICKS = 20;
const COLORS = { melee: "#b5332a", ranged: "#3f7f3f", magic: "#5a4fb0" };

export class Hits {
  constructor() {
    this.clear();
  }

  clear() {
    this.splats = [];
    this.health = new Map();
    this.known = new Map();
  }

  /**
   * One blow, from a chunk or told to oneself; false where it is known already. `flies(blow)` says
   * how long it is on its way.
   */
  hit(blow, tick, now, flies = () => 0) {
    const id = `${blow.tick ?? tick} ${blow.attacker} ${blow.target} ${blow.style ?? ""}`;
    if (this.known.has(id)) return false;
    this.known.set(id, tick);
    for (const [old, at] of this.known) {
      if (at >= tick - KNOWN_TICKS) break;
      this.known.delete(old);
    }
    if (blow.damage !== undefined) {
      const beside = this.splats.filter((s) => s.target === blow.target && s.until > now).length;
      const { target, damage, style } = blow;
      this.splats.push({ target, damage, style, beside, until: now + flies(blow) + SPLAT_MS });
    }
    if (blow.targetMaxHealth)
      this.health.set(blow.target, {
        now: blow.targetHealth,
        max: blow.targetMaxHealth,
        until: now + BAR_MS,
      });
    return true;
  }

  /** What is left of somebody's health, while that is of interest. */
  left(entity, now) {
    const known = this.health.get(entity.id);
    if (known && known.until < now) this.health.delete(entity.id);
    if (entity.maxHealth) {
      const hurt = entity.health < entity.maxHealth;
      return hurt || known?.until > now ? { now: entity.health, max: entity.maxHealth } : undefined;
    }
    return known?.until > now ? known : undefined;
  }

  /** Draws the numbers; `place(id)` is where somebody stands on the screen, if they are seen. */
  draw(c, now, zoom, place) {
    this.splats = this.splats.filter((splat) => splat.until > now);
    for (const splat of this.splats) {
      const at = place(splat.target);
      const left = (splat.until - now) / SPLAT_MS;
      if (!at || left > 1) continue;
      const side = splat.beside ? ((splat.beside % 2) * 2 - 1) * Math.ceil(splat.beside / 2) : 0;
      const x = at.x + side * Math.max(16, zoom * 0.5);
      const y = at.y - zoom * 0.45 - (1 - left) * zoom * 0.25;
      const r = Math.max(9, zoom * 0.28);
      c.globalAlpha = Math.min(1, left * 3);
      c.fillStyle = splat.damage > 0 ? (COLORS[splat.style] ?? COLORS.melee) : "#3f6f9c";
      c.beginPath();
      for (let n = 0; n < 16; n += 1) {
        const long = n % 2 ? r : r * 1.28;
        c.lineTo(x + Math.cos((n * Math.PI) / 8) * long, y + Math.sin((n * Math.PI) / 8) * long);
      }
      c.fill();
      c.fillStyle = "#fff";
      c.font = `700 ${Math.round(r * 1.1)}px Georgia,"DejaVu Serif",serif`;
      c.textAlign = "center";
      c.fillText(String(splat.damage), x, y + r * 0.38);
    }
    c.globalAlpha = 1;
  }
}
