// Kept pictures: what is drawn again and again is painted once.
// Always: at most twice `most` pixels are kept; what was drawn lately stays.

export class Sprites {
  constructor(most) {
    this.most = most;
    this.young = new Map();
    this.old = new Map();
    this.pixels = 0;
  }

  /** The picture of that name, `w` x `h` pixels; `paint(c)` paints it where it is not kept. */
  get(id, w, h, paint) {
    const young = this.young.get(id);
    if (young) return young;
    const old = this.old.get(id);
    if (old) this.old.delete(id);
    const bitmap = old ?? painted(w, h, paint);
    if (this.pixels + w * h > this.most) this.age();
    this.young.set(id, bitmap);
    this.pixels += w * h;
    return bitmap;
  }

  /** What was not asked for since the last time is forgotten. */
  age() {
    for (const bitmap of this.old.values()) bitmap.close();
    this.old = this.young;
    this.young = new Map();
    this.pixels = 0;
  }

  get size() {
    return this.young.size + this.old.size;
  }
}

function painted(w, h, paint) {
  const canvas = new OffscreenCanvas(w, h);
  paint(canvas.getContext("2d"));
  return canvas.transferToImageBitmap();
}
