// One socket, from its opening to its end.
// Always: after `drop` nothing of it is heard any more.

import { Compact } from "./compact.js";
import { pack, unpack } from "./msgpack.js";

const JSON_ONLY = "tilestead.json";
const COMPACT = "tilestead.v2";
/** So many players are shown at once, the nearest. */
const PLAYERS = 255;

/** Whether the link of the page asks for messages that a person can read: `?format=json`. */
const readable = () => new URLSearchParams(location.search).get("format") === "json";

export class Line {
  /** `heard(line, message)` and `closed(line, code, reason)` are called while it is wanted. */
  constructor(url, heard, closed) {
    this.seq = 0;
    this.gaps = 0;
    this.resumesFrom = undefined;
    this.kept = undefined;
    this.last = performance.now();
    this.compact = new Compact();
    // During an upgrade a gateway may answer that knows JSON only.
    this.socket = readable()
      ? new WebSocket(url, JSON_ONLY)
      : new WebSocket(`${url}?players=${PLAYERS}`, [COMPACT, JSON_ONLY]);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = (event) => {
      this.last = performance.now();
      let message;
      try {
        message = this.read(event.data);
      } catch {
        this.socket.close(4002, "not readable");
        return;
      }
      if (this.kept) this.kept.push(message);
      else heard(this, message);
    };
    this.socket.onclose = (event) => closed(this, event.code, event.reason);
  }

  read(data) {
    if (typeof data === "string") return JSON.parse(data);
    const bytes = new Uint8Array(data);
    return Compact.is(bytes) ? this.compact.read(bytes) : unpack(bytes);
  }

  get open() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  send(event, data, id) {
    if (!this.open) return false;
    const message = { event, ...(id !== undefined && { id }), ...(data && { data }) };
    const compact = this.socket.protocol === COMPACT;
    this.socket.send(compact ? pack(message) : JSON.stringify(message));
    return true;
  }

  /**
   * Counts a message's `seq`: it grows by one from 1, and goes on from where the session was when
   * that is resumed without everything being sent anew. False for what is known already.
   */
  count({ event, data, seq }) {
    const goesOn = event === "session:resumed" && !data.resync;
    const expected = (goesOn ? this.resumesFrom : this.seq) + 1;
    if (seq < expected) return false;
    this.gaps += seq - expected;
    this.seq = seq;
    return true;
  }

  /** From now on what comes is kept aside: the session may go on elsewhere from here. */
  hold() {
    this.kept ??= [];
  }

  /** It goes on here after all: what came in between. */
  release() {
    const kept = this.kept ?? [];
    this.kept = undefined;
    return kept;
  }

  drop(code = 1000) {
    this.socket.onmessage = this.socket.onclose = null;
    this.socket.close(code);
  }
}
