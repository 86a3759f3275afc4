// The session: found again by itself at any gateway, resumed where that is possible.
// Always: a request is answered exactly once (by its answer, an error, or "lost"); at most one
// socket carries the session, and a second one only while it takes over from the first.

import { Line } from "./line.js";
import { FATAL, Reconnect } from "./reconnect.js";

const CLOSED = {
  1000: "the connection has ended",
  1001: "this gateway is leaving; another one takes over",
  1011: "the server had a fault",
  1013: "the server is full just now",
  4001: "signing in took too long",
  4002: "the server did not understand this page",
  4004: "signed out; signing in again",
  4008: "too much at once; a short rest",
  4009: "the session is over; signing in again",
  4013: "this connection is too slow to follow",
};
const REQUEST_MS = 15000;
/** What passes by itself: a zone or the store is away for a moment. */
const PASSING = new Set(["zone_unavailable", "storage_unavailable", "busy", "timeout"]);
const ENTER_TRIES = 8;
const UNKNOWN = { code: "outcome_unknown", message: "it is not known whether that was done" };

/** What a browser keeps for this page; nothing where it keeps nothing. */
export const kept = {
  get(key) {
    try {
      return localStorage.getItem("tilestead." + key) || undefined;
    } catch {
      return undefined;
    }
  },
  set(key, value) {
    try {
      if (value === undefined) localStorage.removeItem("tilestead." + key);
      else localStorage.setItem("tilestead." + key, value);
    } catch {
      /* private mode: play goes on without */
    }
  },
};

export class Net {
  /** `on(event, data)` hears everything that is no answer; `light(state, words)` what is going on. */
  constructor(on, light) {
    this.on = on;
    this.light = light;
    this.pending = new Map();
    this.nextId = 1;
    this.again = new Reconnect();
    this.lastSeq = 0;
    this.pastGaps = 0;
    this.resume = undefined;
    this.character = undefined;
    this.phase = "connecting";
    this.resumes = { kept: 0, anew: 0, moved: 0 };
    this.leaving = false;
    this.steered = false;
    addEventListener("online", () => this.wake());
    addEventListener("offline", () => this.pause());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.wake();
    });
    setInterval(() => this.watch(), 5000);
  }

  get open() {
    return this.phase === "lobby" || this.phase === "world";
  }

  get gaps() {
    return this.pastGaps + (this.line?.gaps ?? 0) + (this.next?.gaps ?? 0);
  }

  opened(address = this.address()) {
    return new Line(
      address,
      (line, message) => this.hear(line, message),
      (line, code, reason) => this.closed(line, code, reason),
    );
  }

  address() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    return `${scheme}//${location.host}/ws`;
  }

  may() {
    return this.again.may({ hidden: document.hidden, online: navigator.onLine });
  }

  connect() {
    if (this.line || this.again.stopped) return;
    if (!this.may()) return this.pause();
    this.clock(undefined);
    this.phase = "connecting";
    this.light("wait", this.resume ? "reconnecting" : "connecting");
    this.leaving = false;
    this.line = this.opened();
  }

  /** The one timer: whatever was to happen next is replaced by this. */
  clock(what, ms) {
    clearTimeout(this.timer);
    this.timer = what && setTimeout(what, ms);
  }

  hear(line, message) {
    if (line !== this.line && line !== this.next) return;
    const { event, data, re } = message;
    if (!line.count(message)) return;
    if (event === "session:hello") return this.hello(line, data);
    if (line === this.next) return this.hearNext(event, data);
    if (event === "session:resumed") {
      this.resumed(data);
      this.steered = false;
      this.steer(data.gateway);
    }
    if (this.open || event === "session:welcome") this.lastSeq = line.seq;
    if (data?.resumeToken) this.resume = data.resumeToken;
    if (event === "session:welcome") {
      this.steered = false;
      this.welcome(data);
    }
    if (event === "session:invalid") this.invalid();
    if (event === "session:draining") this.leaves(data.afterMs);
    if (event === "world:entered") this.steer(data.gateway);
    this.answer(event, data, re);
  }

  answer(event, data, re) {
    const waiting = re === undefined ? undefined : this.pending.get(re);
    if (waiting) {
      this.pending.delete(re);
      clearTimeout(waiting.timer);
      if (event === "error") waiting.no(data);
      else waiting.yes({ event, data });
      if (event === "error" || event === "ack") return;
    }
    // An answer to a request that is not waited for any more was told of when it was lost.
    if (event === "error" && re !== undefined) return;
    this.on(event, data);
  }

  hello(line, data) {
    if (data.protocol !== 1) return this.end(4012);
    if (line === this.next) this.line.hold();
    else this.phase = "greeting";
    if (!this.resume) return this.authenticate();
    line.resumesFrom = this.lastSeq;
    line.send("session:resume", { resumeToken: this.resume, lastSeq: this.lastSeq });
  }

  async authenticate() {
    const line = this.line;
    if (!kept.get("token")) await this.renew();
    if (line !== this.line) return undefined;
    const token = kept.get("token");
    const lasts = kept.get("refreshToken");
    if (lasts && !token) return this.later("the login cannot go on just now");
    // The key is of this browser's guest, who is somebody else than the one who logged in.
    const deviceKey = lasts ? undefined : kept.get("deviceKey");
    try {
      await this.ask("authenticate", { ...(token && { token }), ...(deviceKey && { deviceKey }) });
    } catch (error) {
      if (line !== this.line || error.code === "lost") return undefined;
      if (error.code === "invalid_credentials" && (token || deviceKey)) {
        kept.set("token", undefined);
        if (!token) kept.set("deviceKey", undefined);
        return this.authenticate();
      }
      this.later(error.message, error.retryAfterMs);
    }
    return undefined;
  }

  /** Authenticates again, after a while. */
  later(words, afterMs) {
    const wait = afterMs || 2000 + Math.random() * 4000;
    this.light("wait", `${words}; trying again`);
    this.clock(() => {
      this.clock(undefined);
      if (this.phase === "greeting") this.authenticate();
    }, wait);
  }

  /** Goes on with a login of a password whose token has ended. */
  async renew() {
    const refreshToken = kept.get("refreshToken");
    if (!refreshToken) return;
    const answer = await fetch("/api/auth/renew", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ refreshToken }),
    }).catch(() => undefined);
    const said = answer?.ok ? await answer.json().catch(() => undefined) : undefined;
    if (said) for (const key of ["token", "refreshToken"]) kept.set(key, said[key]);
    else if (answer?.status === 401) kept.set("refreshToken", undefined);
  }

  welcome(data) {
    this.again.connected(performance.now());
    this.phase = "lobby";
    kept.set("token", data.authToken);
    if (data.deviceKey) kept.set("deviceKey", data.deviceKey);
    this.light("good", "connected");
    if (this.character) this.enter(this.character).catch(() => {});
  }

  invalid() {
    this.resume = undefined;
    this.authenticate();
  }

  resumed(data) {
    this.again.connected(performance.now());
    this.phase = this.character ? "world" : "lobby";
    this.light("good", "connected again");
    this.resumes[data.resync ? "anew" : "kept"] += 1;
    if (!data.resync) return;
    this.refuseAll(UNKNOWN);
    this.on("resync", data);
  }

  /** Enters the world; a part of it that is just changing hands is asked for again. */
  async enter(characterId) {
    this.character = characterId;
    for (let tries = 1; ; tries += 1) {
      try {
        const entered = await this.ask("world:enter", { characterId });
        this.phase = "world";
        return entered.data;
      } catch (error) {
        // A lost answer is asked for again by whoever welcomes us next.
        if (error.code === "lost") throw error;
        if (!PASSING.has(error.code) || tries >= ENTER_TRIES) {
          this.character = undefined;
          this.on("not-entered", error);
          throw error;
        }
        this.light("wait", `${error.message}; trying again`);
        await new Promise((go) => setTimeout(go, 400 + Math.random() * 1200 * tries));
      }
    }
  }

  async leave() {
    const left = await this.ask("world:leave");
    this.character = undefined;
    this.phase = "lobby";
    return left;
  }

  /** Sends a request; resolves with its answer, rejects with an error {code, message}. */
  ask(event, data) {
    const id = this.nextId++;
    return new Promise((yes, no) => {
      const timer = setTimeout(() => {
        this.pending.delete(id);
        no({ code: "timeout", message: "no answer in time", event });
      }, REQUEST_MS);
      this.pending.set(id, { yes, no, timer });
      if (!this.line?.send(event, data, id)) {
        this.pending.delete(id);
        clearTimeout(timer);
        no({ code: "lost", message: "not connected", event });
      }
    });
  }

  refuseAll(why) {
    const all = [...this.pending.values()];
    this.pending.clear();
    for (const waiting of all) {
      clearTimeout(waiting.timer);
      waiting.no(why);
    }
  }

  // --- the gateway leaves: the next connection is made before this one is broken ---

  leaves(afterMs) {
    this.leaving = true;
    if (this.next || !this.open) return;
    this.clock(() => this.openNext(), this.again.leaving(afterMs));
  }

  openNext(address) {
    this.clock(undefined);
    if (this.next || !this.line || !this.open) return;
    this.next = this.opened(address);
  }

  // --- another gateway shows this part of the world to most players ---

  /** Goes there once. If that fails, it stays with the gateway that it has. */
  steer(address) {
    if (!address || this.steered) return;
    this.steered = true;
    this.openNext(address);
  }

  hearNext(event, data) {
    if (event === "session:resumed") {
      // What the old one brought in the meantime is replayed here, or everything is sent anew.
      const { line, next } = this;
      this.retire(line);
      [this.line, this.next] = [next, undefined];
      this.leaving = false;
      this.resumes.moved += 1;
      this.lastSeq = next.seq;
      if (data.resumeToken) this.resume = data.resumeToken;
      this.resumed(data);
      return;
    }
    if (event === "session:invalid" || event === "error") this.nextFailed();
  }

  /** It goes on with the old one; the gateway says when that ends. */
  nextFailed() {
    this.retire(this.next);
    this.next = undefined;
    for (const message of this.line.release()) this.hear(this.line, message);
    if (!this.leaving) return;
    const { ms } = this.again.lost(1006, performance.now());
    if (this.line && this.open) this.clock(() => this.openNext(), ms);
  }

  retire(line) {
    this.pastGaps += line.gaps;
    line.drop();
  }

  // --- it is lost ---

  closed(line, code, reason) {
    if (line === this.next) return this.nextFailed();
    if (line !== this.line) return undefined;
    if (this.next) {
      // Its successor is on the way already: that one resumes.
      this.retire(line);
      [this.line, this.next] = [this.next, undefined];
      this.phase = this.line.seq ? "greeting" : "connecting";
      this.refuseAll({ code: "lost", message: "the connection was lost" });
      return undefined;
    }
    return this.lost(code, reason);
  }

  lost(code, reason) {
    const before = this.phase;
    this.retire(this.line);
    this.line = undefined;
    this.refuseAll({ code: "lost", message: "the connection was lost" });
    const verdict = this.again.lost(code, performance.now());
    if (verdict.stop) return this.end(code, reason);
    if (!verdict.token) kept.set("token", undefined);
    if (!verdict.session) this.resume = undefined;
    this.phase = "lost";
    if (before !== "connecting") this.on("lost", { code });
    const known = CLOSED[code] && before !== "connecting" ? CLOSED[code] : "no connection";
    this.rest(verdict.ms, this.character ? "your character stays in the world" : "", known);
    return undefined;
  }

  /** Counts down to the next try, in words. */
  rest(wait, also, why) {
    const until = performance.now() + wait;
    const tell = () => {
      this.clock(undefined);
      const left = Math.max(0, until - performance.now());
      if (!this.may()) return this.pause();
      if (left === 0) return this.connect();
      const words = [`reconnecting in ${Math.ceil(left / 1000)} s`, also]
        .filter(Boolean)
        .join(", ");
      this.light("wait", `${why}; ${words}`);
      this.clock(tell, Math.min(left, 500));
      return undefined;
    };
    tell();
  }

  end(code, reason) {
    this.again.stopped = true;
    this.clock(undefined);
    for (const line of [this.line, this.next]) if (line) this.retire(line);
    this.line = this.next = undefined;
    this.phase = "ended";
    this.light("bad", FATAL[code] + (code === 4003 && reason ? `: ${reason}` : ""));
    this.on("ended", { code });
  }

  /** Play goes on here although another login took over, because somebody asked for it. */
  takeBack() {
    this.resume = undefined;
    this.again.again();
    this.connect();
  }

  pause() {
    if (this.line || this.again.stopped) return;
    this.clock(undefined);
    const why = navigator.onLine === false ? "offline" : "waiting to be looked at";
    this.light("wait", `${why}; reconnects by itself`);
  }

  wake() {
    if (this.line || this.again.stopped || this.timer) return;
    this.connect();
  }

  /** A half-open socket says nothing: ask, then give up on it. */
  watch() {
    if (!this.open || !this.line) return;
    const silent = performance.now() - this.line.last;
    if (silent > 12000) this.closed(this.line, 1006, "");
    else if (silent > 3500) this.line.send("ping", { t: Math.round(performance.now()) });
  }
}
