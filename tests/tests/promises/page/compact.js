// Runs in the page: its decoder of `tilestead.v2` against the frames that the server's own decoder is
// held to, given as `GOLDEN`, and MessagePack there and back. Answers a list of what is wrong; an
// empty one is good.
async function checks() {
  const wrong = [];
  const text = (value) => JSON.stringify(sorted(value));
  const same = (what, found, expected) => {
    if (text(found) !== text(expected))
      wrong.push(`${what}: ${text(found)} instead of ${text(expected)}`);
  };
  const { Compact } = await import("/page/compact.js");
  const { FIELDS, KINDS } = await import("/page/sections.js");
  const { pack, unpack } = await import("/page/msgpack.js");
  same("kinds", KINDS, GOLDEN.kinds);
  same("fields", FIELDS, GOLDEN.fields);
  for (const frames of GOLDEN.connections) follow(Compact, frames, same);
  messages(pack, unpack, same);
  await speaks(same);
  return wrong;
}

/** The same value with its keys in order. */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object" || value instanceof Uint8Array) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((name) => [name, sorted(value[name])]));
}

const bytesOf = (hex) => new Uint8Array(hex.match(/../g).map((byte) => parseInt(byte, 16)));

const refuses = (read) => {
  try {
    read();
    return false;
  } catch {
    return true;
  }
};

function follow(Compact, frames, same) {
  const decoder = new Compact();
  const now = () => {
    const chunks = [...decoder.chunks].map(([chunk, numbers]) => [chunk, [...numbers]]);
    return JSON.stringify([[...decoder.names], [...decoder.placed], chunks, decoder.near]);
  };
  for (const { says, frame, seq, update } of frames) {
    const bytes = bytesOf(frame);
    const before = now();
    for (const broken of [[...bytes, 9], [...bytes, 2, 255], [9], [1, 1]])
      same(`${says}, broken`, refuses(() => decoder.read(new Uint8Array(broken))), true);
    same(`${says}: a broken frame changes nothing`, now(), before);
    same(`${says}: an update`, Compact.is(bytes), true);
    same(says, decoder.read(bytes), { event: "world:update", seq, data: update });
  }
}

function messages(pack, unpack, same) {
  const list = (length, of) => Array.from({ length }, (_, at) => of(at));
  const value = {
    event: "ping",
    id: 7,
    data: {
      plain: [null, true, false, "", "ä", []],
      whole: [0, 127, 128, -1, -32, -33, 70000, -70000, 2147483648, -2147483649, 2 ** 52],
      half: [0.5, -1e300],
      texts: [31, 32, 255, 256, 65536].map((length) => "x".repeat(length)),
      long: [list(15, () => 1), list(16, () => 2), list(65536, () => 3)],
      map: Object.fromEntries(list(20, (at) => [`k${at}`, at])),
    },
  };
  same("there and back", unpack(pack(value)), value);
  same("what is not there is left out", unpack(pack({ a: undefined, b: 1 })), { b: 1 });
  const read = (hex) => unpack(bytesOf(hex));
  same("8 bits", [read("ccff"), read("d080")], [255, -128]);
  same("16 bits", [read("cdffff"), read("d18000")], [65535, -32768]);
  same("32 bits", [read("ceffffffff"), read("d280000000")], [4294967295, -2147483648]);
  same("64 bits", [read("cf0000000100000000"), read("d3ffffffff00000000")], [2 ** 32, -(2 ** 32)]);
  same("a short float", read("ca3fc00000"), 1.5);
  same("bytes", [...read("c4020102")], [1, 2]);
  const broken = ["c1", "c0c0", "a2ff", "a1ff", "92c0", "d9", "dfffffffff"];
  same("broken", broken.filter((hex) => !refuses(() => read(hex))), []);
}

/** The page speaks `tilestead.v2` to this gateway, and JSON where its link says so. */
async function speaks(same) {
  const { Line } = await import("/page/line.js");
  const url = `ws://${location.host}/ws`;
  const opened = (search) => {
    const before = location.href;
    history.replaceState(null, "", `/${search}`);
    return new Promise((go) => {
      const line = new Line(url, (_, message) => go([line, message]), () => go([line]));
      history.replaceState(null, "", before);
    });
  };
  for (const [search, protocol, kind] of [
    ["", "tilestead.v2", true],
    ["?format=json", "tilestead.json", false],
  ]) {
    const [line, message] = await opened(search);
    same(`hello to ${search}`, [line.socket.protocol, message?.event], [protocol, "session:hello"]);
    same(`players for ${search}`, line.socket.url.endsWith("/ws?players=255"), kind);
    line.drop();
  }
}
