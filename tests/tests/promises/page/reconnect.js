// Runs in the page: the decisions about lost connections, and the session over sockets that are
// not there. Answers a list of what is wrong; an empty one is good.
async function checks() {
  const wrong = [];
  const same = (what, found, expected) => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
    if (a !== b) wrong.push(`${what}: ${a} instead of ${b}`);
  };
  const { Reconnect } = await import("/page/reconnect.js");
  const { Net } = await import("/page/net.js");

  const always = new Reconnect(() => 1);
  const waits = Array.from({ length: 7 }, () => always.lost(1006, 0).ms);
  same("the longest waits double", waits, [1000, 2000, 4000, 8000, 16000, 30000, 30000]);
  always.connected(0);
  same("a short stay does not begin anew", always.lost(1006, 29999).ms, 30000);
  always.connected(0);
  same("a stable stay does", always.lost(1006, 30000).ms, 1000);
  same("jitter reaches down to nothing", new Reconnect(() => 0).lost(1006, 0).ms, 0);
  same("a leaving gateway is left in waves", new Reconnect(() => 0.5).leaving(8000), 2000);
  for (const code of [4003, 4010, 4012]) {
    const ended = new Reconnect();
    same(`${code} stops`, ended.lost(code, 0).stop, true);
    same(`${code} stays stopped`, ended.may({ hidden: false, online: true }), false);
  }
  const after = (code) => new Reconnect(() => 0).lost(code, 0);
  same("4009", after(4009), { stop: false, ms: 0, session: false, token: true });
  same("4004", after(4004), { stop: false, ms: 0, session: false, token: false });
  same("1013 waits", after(1013), { stop: false, ms: 5000, session: true, token: true });
  const fresh = new Reconnect();
  same("hidden waits", fresh.may({ hidden: true, online: true }), false);
  same("offline waits", fresh.may({ hidden: false, online: false }), false);
  same("else it tries", fresh.may({ hidden: false, online: true }), true);

  await sessions(Net, same);
  return wrong;
}

/** A socket that the checks speak for. */
class Fake {
  static OPEN = 1;
  static all = [];
  constructor(url) {
    this.url = url;
    this.readyState = 1;
    this.sent = [];
    this.seq = 0;
    Fake.all.push(this);
  }
  send(text) {
    this.sent.push(JSON.parse(text));
  }
  close() {
    this.readyState = 3;
  }
  tell(event, data, seq = this.seq + 1, re) {
    this.seq = seq;
    this.onmessage?.({ data: JSON.stringify({ event, seq, data, ...(re && { re }) }) });
  }
  end(code) {
    this.readyState = 3;
    this.onclose?.({ code, reason: "" });
  }
  greet() {
    this.tell("session:hello", { protocol: 1, heartbeatMs: 1, authTimeoutMs: 1, anonymous: true });
    return this.sent.at(-1);
  }
}

const soon = (ms = 20) => new Promise((go) => setTimeout(go, ms));

/** A session in the lobby over a fake socket, whose dice always fall to nothing. */
async function begin(Net) {
  Fake.all = [];
  const heard = [];
  const net = new Net((event) => heard.push(event), () => {});
  net.again.dice = () => 0;
  net.connect();
  const [first] = Fake.all;
  const asked = first.greet();
  const welcome = { sessionId: "s", resumeToken: "r1", authToken: "t", characters: [] };
  first.tell("session:welcome", welcome, 2, asked.id);
  await soon();
  return { net, first, heard };
}

async function sessions(Net, same) {
  const real = window.WebSocket;
  const kept = ["token", "deviceKey"].map((name) => localStorage.getItem(`tilestead.${name}`));
  window.WebSocket = Fake;
  try {
    await resumes(Net, same);
    await movesOn(Net, same);
    await failsToMoveOn(Net, same);
    await isSteered(Net, same);
    await isSteeredInVain(Net, same);
    await isTold(Net, same);
  } finally {
    window.WebSocket = real;
    ["token", "deviceKey"].forEach((name, at) => {
      if (kept[at] === null) localStorage.removeItem(`tilestead.${name}`);
      else localStorage.setItem(`tilestead.${name}`, kept[at]);
    });
  }
}

async function resumes(Net, same) {
  const { net, first } = await begin(Net);
  first.tell("world:entered", { resumeToken: "r2" });
  first.end(1006);
  await soon();
  same("one socket after a loss", Fake.all.length, 2);
  const second = Fake.all[1];
  const resume = second.greet();
  same("it resumes with the last token", resume.data, { resumeToken: "r2", lastSeq: 3 });
  second.tell("session:resumed", { sessionId: "s", replayed: 1, resync: false }, 4);
  second.tell("notice", { code: "c", message: "m", level: "info" }, 5);
  first.end(1001);
  await soon();
  same("a stale close changes nothing", [Fake.all.length, net.open, net.lastSeq], [2, true, 5]);
  same("no gaps", net.gaps, 0);
  second.end(4010);
  await soon();
  same("another login ends it", [Fake.all.length, net.phase], [2, "ended"]);
}

async function movesOn(Net, same) {
  const { net, first, heard } = await begin(Net);
  first.tell("session:draining", { afterMs: 1000 });
  await soon();
  const next = Fake.all[1];
  same("the next is made before this one is broken", [Fake.all.length, first.readyState], [2, 1]);
  same("it resumes", next.greet().event, "session:resume");
  first.tell("notice", { code: "late", message: "m", level: "info" });
  const lost = net.ask("player:move", { stop: true }).catch((error) => error.code);
  next.tell("session:resumed", { sessionId: "s", replayed: 0, resync: true, resumeToken: "r9" });
  same("then the old one goes", [first.readyState, net.line.socket === next], [3, true]);
  same("what came late there is not heard twice", heard.includes("notice"), false);
  same("everything comes anew", heard.includes("resync"), true);
  same("what was open is unknown", await lost, "outcome_unknown");
  same("the token was replaced", net.resume, "r9");
  first.end(1001);
  await soon();
  same("its late close opens nothing", [Fake.all.length, net.open], [2, true]);
  same("no gaps on the way", net.gaps, 0);
  net.end(4010);
}

async function failsToMoveOn(Net, same) {
  const { net, first, heard } = await begin(Net);
  first.tell("session:draining", { afterMs: 1000 });
  await soon();
  Fake.all[1].greet();
  first.tell("notice", { code: "late", message: "m", level: "info" });
  Fake.all[1].end(1006);
  same("it goes on with the old one", [net.open, heard.includes("notice")], [true, true]);
  await soon();
  same("and tries once more", Fake.all.length, 3);
  first.end(1001);
  await soon();
  same("the one under way resumes", Fake.all.length, 3);
  same("from where it was", Fake.all[2].greet().data, { resumeToken: "r1", lastSeq: 4 });
  Fake.all[2].tell("session:resumed", { sessionId: "s", replayed: 0, resync: false }, 5);
  same("and it is there", [net.open, net.gaps], [true, 0]);
  net.end(4010);
}

const THERE = "wss://two.test/ws";

async function isSteered(Net, same) {
  const { net, first } = await begin(Net);
  first.tell("world:entered", { resumeToken: "r2", gateway: THERE });
  const next = Fake.all[1];
  same("it goes where it is sent", next?.url.startsWith(THERE), true);
  same("and keeps the old one meanwhile", first.readyState, 1);
  same("it resumes there", next.greet().data, { resumeToken: "r2", lastSeq: 3 });
  const back = { sessionId: "s", replayed: 0, resync: true, gateway: "wss://one.test/ws" };
  next.tell("session:resumed", back);
  same("then the old one goes", [first.readyState, net.line.socket === next], [3, true]);
  await soon();
  same("it is not sent to and fro", Fake.all.length, 2);
  next.end(1006);
  await soon();
  same("after a loss it goes to the front door", Fake.all[2].url.includes("two.test"), false);
  Fake.all[2].end(4010);
}

async function isSteeredInVain(Net, same) {
  const { net, first, heard } = await begin(Net);
  first.tell("world:entered", { resumeToken: "r2", gateway: THERE });
  Fake.all[1].greet();
  first.tell("notice", { code: "c", message: "m", level: "info" });
  Fake.all[1].end(1006);
  same("it goes on with the old one", [net.open, heard.includes("notice")], [true, true]);
  await soon();
  same("and does not try again", Fake.all.length, 2);
  first.tell("session:draining", { afterMs: 1000 });
  await soon();
  same("until that one leaves", Fake.all[2]?.url.includes("two.test"), false);
  net.end(4010);
}

async function isTold(Net, same) {
  const { net, first } = await begin(Net);
  first.end(1006);
  await soon();
  Fake.all[1].greet();
  Fake.all[1].tell("session:invalid", { reason: "over" });
  await soon();
  same("an unknown session authenticates anew", Fake.all[1].sent.at(-1).event, "authenticate");
  Fake.all[1].end(4009);
  await soon();
  same("an expired one too", Fake.all[2].greet().event, "authenticate");
  net.end(4010);
}
