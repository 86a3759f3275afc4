// The connection: one socket at a time, found again by itself, resumed where that is possible.
// Always: a request is answered exactly once (by its answer, an error, or "lost").

const FATAL = {
  4003: "this account is banned",
  4010: "another login plays this character",
  4012: "this page is out of date; reload it",
};
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
const REST_MS = { 4008: 60000, 1013: 5000 };
const REQUEST_MS = 15000;
/** What passes by itself: a zone or the store is away for a moment. */
const PASSING = new Set(["zone_unavailable", "storage_unavailable", "busy", "timeout"]);
const ENTER_TRIES = 8;

const kept = {
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
    this.attempt = 0;
    this.lastSeq = 0;
    this.gaps = 0;
    this.resume = undefined;
    this.character = undefined;
    this.phase = "connecting";
    this.stopped = false;
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

  connect() {
    if (this.socket || this.stopped) return;
    if (document.hidden || navigator.onLine === false) return this.pause();
    clearTimeout(this.timer);
    this.timer = undefined;
    this.phase = "connecting";
    this.light("wait", this.resume ? "reconnecting" : "connecting");
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/ws`, "tilestead.json");
    this.socket = socket;
    this.socketSeq = 0;
    this.heard = performance.now();
    socket.onmessage = (event) => {
      if (socket === this.socket) this.hear(event.data);
    };
    socket.onclose = (event) => {
      if (socket === this.socket) this.lost(event.code, event.reason);
    };
  }

  hear(text) {
    this.heard = performance.now();
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      return this.socket.close(4002, "not JSON");
    }
    const { event, data, seq, re } = message;
    if (!this.count(event, data, seq)) return;
    if (event === "session:hello") return this.hello(data);
    if (event === "session:welcome") this.welcome(data);
    if (event === "session:resumed") this.resumed(data);
    if (event === "session:invalid") {
      this.resume = undefined;
      this.authenticate();
    }
    const waiting = re === undefined ? undefined : this.pending.get(re);
    if (waiting) {
      this.pending.delete(re);
      clearTimeout(waiting.timer);
      if (event === "error") waiting.no(data);
      else waiting.yes({ event, data });
      if (event === "error" || event === "ack") return;
    }
    this.on(event, data);
  }

  /** Keeps count of `seq`; false for a message that is known already. */
  count(event, data, seq) {
    const fresh =
      event === "session:hello" || (this.phase === "greeting" && event !== "session:resumed");
    if (fresh) {
      if (seq !== this.socketSeq + 1) this.gaps += 1;
      this.socketSeq = seq;
      if (event === "session:welcome") this.lastSeq = seq;
      return true;
    }
    if (event === "session:resumed" && data.resync) {
      if (seq !== this.socketSeq + 1) this.gaps += 1;
      this.lastSeq = seq;
      return true;
    }
    if (seq <= this.lastSeq) return false;
    if (seq !== this.lastSeq + 1) this.gaps += seq - this.lastSeq - 1;
    this.lastSeq = seq;
    return true;
  }

  hello(data) {
    if (data.protocol !== 1) return this.end(4012);
    this.phase = "greeting";
    if (this.resume)
      this.send("session:resume", { resumeToken: this.resume, lastSeq: this.lastSeq });
    else this.authenticate();
  }

  async authenticate() {
    const token = kept.get("token");
    const deviceKey = kept.get("deviceKey");
    try {
      await this.ask("authenticate", { ...(token && { token }), ...(deviceKey && { deviceKey }) });
    } catch (error) {
      if (error.code === "invalid_credentials" && (token || deviceKey)) {
        kept.set("token", undefined);
        if (!token) kept.set("deviceKey", undefined);
        return this.authenticate();
      }
      if (error.code === "lost") return;
      this.light("wait", `${error.message}; trying again`);
      const wait = error.retryAfterMs || 2000 + Math.random() * 4000;
      this.timer = setTimeout(() => {
        this.timer = undefined;
        if (this.phase === "greeting") this.authenticate();
      }, wait);
    }
  }

  welcome(data) {
    this.attempt = 0;
    this.phase = "lobby";
    this.resume = data.resumeToken;
    kept.set("token", data.authToken);
    if (data.deviceKey) kept.set("deviceKey", data.deviceKey);
    this.light("good", "connected");
    if (this.character) this.enter(this.character).catch(() => {});
  }

  resumed(data) {
    this.attempt = 0;
    this.phase = this.character ? "world" : "lobby";
    this.light("good", "connected again");
    if (data.resync) this.on("resync", data);
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

  send(event, data, id) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(
      JSON.stringify({ event, ...(id !== undefined && { id }), ...(data && { data }) }),
    );
    return true;
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
      if (!this.send(event, data, id)) {
        this.pending.delete(id);
        clearTimeout(timer);
        no({ code: "lost", message: "not connected", event });
      }
    });
  }

  lost(code, reason) {
    this.socket = undefined;
    const before = this.phase;
    for (const waiting of this.pending.values()) {
      clearTimeout(waiting.timer);
      waiting.no({ code: "lost", message: "the connection was lost" });
    }
    this.pending.clear();
    if (code === 4004) {
      kept.set("token", undefined);
      this.resume = undefined;
    }
    if (code === 4009) this.resume = undefined;
    if (FATAL[code]) return this.end(code, reason);
    this.phase = "lost";
    if (before !== "connecting") this.on("lost", { code });
    const most = Math.min(30000, 1000 * 2 ** this.attempt++);
    const wait = (REST_MS[code] || 0) + Math.random() * most;
    const known = CLOSED[code] && before !== "connecting" ? CLOSED[code] : "no connection";
    this.rest(wait, this.character ? "your character stays in the world" : "", known);
  }

  /** Counts down to the next try, in words. */
  rest(wait, also, why) {
    clearTimeout(this.timer);
    const until = performance.now() + wait;
    const tell = () => {
      this.timer = undefined;
      const left = Math.max(0, until - performance.now());
      if (document.hidden || navigator.onLine === false) return this.pause();
      if (left === 0) return this.connect();
      const words = [`reconnecting in ${Math.ceil(left / 1000)} s`, also]
        .filter(Boolean)
        .join(", ");
      this.light("wait", `${why}; ${words}`);
      this.timer = setTimeout(tell, Math.min(left, 500));
      return undefined;
    };
    tell();
  }

  end(code, reason) {
    this.stopped = true;
    this.phase = "ended";
    this.socket?.close(1000);
    this.socket = undefined;
    this.light("bad", FATAL[code] + (code === 4003 && reason ? `: ${reason}` : ""));
    this.on("ended", { code });
  }

  /** Play goes on here although another login took over, because somebody asked for it. */
  again() {
    this.stopped = false;
    this.resume = undefined;
    this.attempt = 0;
    this.connect();
  }

  pause() {
    if (this.socket || this.stopped) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    const why = navigator.onLine === false ? "offline" : "waiting to be looked at";
    this.light("wait", `${why}; reconnects by itself`);
  }

  wake() {
    if (this.socket || this.stopped || this.timer) return;
    this.connect();
  }

  /** A half-open socket says nothing: ask, then give up on it. */
  watch() {
    if (!this.open || !this.socket) return;
    const silent = performance.now() - this.heard;
    if (silent > 12000) {
      const socket = this.socket;
      this.lost(1006, "");
      socket.onclose = socket.onmessage = null;
      socket.close();
    } else if (silent > 3500) {
      this.send("ping", { t: Math.round(performance.now()) });
    }
  }
}
