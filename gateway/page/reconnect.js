// What to do about a connection that was lost, or whose gateway leaves. Pure: the time and the
// dice are passed in, and nothing here holds a socket or a timer.

const FIRST_MS = 1000;
const MOST_MS = 30000;
const STABLE_MS = 30000;

/** After these there is nothing to come back to by itself. */
export const FATAL = {
  4003: "this account is banned",
  4010: "another login plays this character",
  4012: "this page is out of date; reload it",
};
/** What a close code says of the session, and how much longer than usual to wait. */
const CODES = {
  1013: { rest: 5000 },
  4004: { session: false, token: false },
  4008: { rest: 60000 },
  4009: { session: false },
};

export class Reconnect {
  constructor(dice = Math.random) {
    this.dice = dice;
    this.tries = 0;
    this.since = undefined;
    this.stopped = false;
  }

  /** The session is there: welcomed, or resumed. */
  connected(now) {
    this.since ??= now;
  }

  /**
   * A connection ended with `code`: `{stop}`, or how long to wait in `ms`, and whether the session
   * and the token are still worth anything.
   */
  lost(code, now) {
    if (this.since !== undefined && now - this.since >= STABLE_MS) this.tries = 0;
    this.since = undefined;
    if (FATAL[code]) {
      this.stopped = true;
      return { stop: true };
    }
    const { rest = 0, session = true, token = true } = CODES[code] ?? {};
    const most = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(this.tries, 10));
    this.tries += 1;
    return { stop: false, ms: rest + this.dice() * most, session, token };
  }

  /** The gateway leaves within `afterMs`: so long to wait before the next one is asked. */
  leaving(afterMs) {
    return (this.dice() * Math.max(0, afterMs)) / 2;
  }

  /** Whether to try at all just now. A hidden page, or one without a network, waits. */
  may({ hidden, online }) {
    return !this.stopped && !hidden && online !== false;
  }

  /** Somebody asked for it. */
  again() {
    this.stopped = false;
    this.tries = 0;
    this.since = undefined;
  }
}
