// MessagePack: just what JSON can say, and bytes. Pure.

const texts = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const bytesOf = new TextEncoder();

/** Reads one value that takes all the bytes; throws where it does not. */
export function unpack(bytes) {
  const reader = new Reader(bytes);
  const value = reader.value();
  if (reader.at !== bytes.length) throw new Error("more than one value");
  return value;
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  value() {
    const kind = this.uint(1);
    if (kind < 0x80) return kind;
    if (kind < 0x90) return this.map(kind & 15);
    if (kind < 0xa0) return this.list(kind & 15);
    if (kind < 0xc0) return this.text(kind & 31);
    if (kind >= 0xe0) return kind - 256;
    return this.marked(kind);
  }

  marked(kind) {
    switch (kind) {
      case 0xc0:
        return null;
      case 0xc2:
      case 0xc3:
        return kind === 0xc3;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.take(this.uint(1 << (kind - 0xc4)));
      case 0xca:
        return this.view.getFloat32(this.skip(4));
      case 0xcb:
        return this.view.getFloat64(this.skip(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:
        return this.uint(1 << (kind - 0xcc));
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3:
        return this.int(1 << (kind - 0xd0));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.text(this.uint(1 << (kind - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.list(this.uint(kind === 0xdc ? 2 : 4));
      case 0xde:
      case 0xdf:
        return this.map(this.uint(kind === 0xde ? 2 : 4));
      default:
        throw new Error(`no value begins with ${kind}`);
    }
  }

  skip(length) {
    const from = this.at;
    if (length > this.bytes.length - from) throw new Error("it ends too early");
    this.at += length;
    return from;
  }

  take(length) {
    const from = this.skip(length);
    return this.bytes.subarray(from, this.at);
  }

  uint(length) {
    const from = this.skip(length);
    if (length === 1) return this.view.getUint8(from);
    if (length === 2) return this.view.getUint16(from);
    if (length === 4) return this.view.getUint32(from);
    return Number(this.view.getBigUint64(from));
  }

  int(length) {
    const from = this.skip(length);
    if (length === 1) return this.view.getInt8(from);
    if (length === 2) return this.view.getInt16(from);
    if (length === 4) return this.view.getInt32(from);
    return Number(this.view.getBigInt64(from));
  }

  text(length) {
    return texts.decode(this.take(length));
  }

  list(length) {
    const list = [];
    for (let i = 0; i < length; i += 1) list.push(this.value());
    return list;
  }

  map(length) {
    const map = {};
    for (let i = 0; i < length; i += 1) {
      const name = this.value();
      map[name] = this.value();
    }
    return map;
  }
}

/** Writes what JSON can say; as there, a key without a value is left out. */
export function pack(value) {
  const out = [];
  put(out, value);
  return new Uint8Array(out);
}

function put(out, value) {
  if (value === null || value === undefined) out.push(0xc0);
  else if (typeof value === "boolean") out.push(value ? 0xc3 : 0xc2);
  else if (typeof value === "number") putNumber(out, value);
  else if (typeof value === "string") putText(out, value);
  else if (Array.isArray(value)) {
    head(out, value.length, 16, 0x90, [undefined, 0xdc, 0xdd]);
    for (const item of value) put(out, item);
  } else {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    head(out, entries.length, 16, 0x80, [undefined, 0xde, 0xdf]);
    for (const [name, item] of entries) {
      putText(out, name);
      put(out, item);
    }
  }
}

function putText(out, text) {
  const bytes = bytesOf.encode(text);
  head(out, bytes.length, 32, 0xa0, [0xd9, 0xda, 0xdb]);
  for (const byte of bytes) out.push(byte);
}

/** A length below `few` is part of the first byte; else a mark announces 1, 2 or 4 bytes. */
function head(out, length, few, base, [one, two, four]) {
  if (length < few) out.push(base | length);
  else if (one && length < 0x100) out.push(one, length);
  else if (length < 0x10000) out.push(two, length >> 8, length & 255);
  else out.push(four, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255);
}

function putNumber(out, value) {
  if (Number.isInteger(value) && value >= -32 && value < 128) {
    out.push(value & 255);
    return;
  }
  const small = Number.isInteger(value) && Math.abs(value) < 0x80000000;
  const bytes = new DataView(new ArrayBuffer(9));
  if (small) {
    bytes.setUint8(0, 0xd2);
    bytes.setInt32(1, value);
  } else if (Number.isSafeInteger(value)) {
    bytes.setUint8(0, 0xd3);
    bytes.setBigInt64(1, BigInt(value));
  } else {
    bytes.setUint8(0, 0xcb);
    bytes.setFloat64(1, value);
  }
  for (let i = 0; i < (small ? 5 : 9); i += 1) out.push(bytes.getUint8(i));
}
