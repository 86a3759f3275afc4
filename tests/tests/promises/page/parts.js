// Runs in the page: what its parts make of numbers, blows and offers. Answers a list of what is
// wrong; an empty one is good.
async function checks() {
  const wrong = [];
  const same = (what, found, expected) => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
    if (a !== b) wrong.push(`${what}: ${a} instead of ${b}`);
  };
  const { read, howMany } = await import("/page/amount.js");
  for (const [text, n] of [
    ["1500", 1500],
    [" 1,500 ", 1500],
    ["2k", 2000],
    ["1.5M", 1500000],
    ["9999999999", 2147483647],
    ["0", undefined],
    ["-5", undefined],
    ["five", undefined],
    ["", undefined],
  ])
    same(`how many is ${text}`, read(text), n);
  const offered = (most) => howMany("Take", most, () => {}).map(([words]) => words);
  same("of none", offered(0), []);
  same("of one", offered(1), ["Take it"]);
  same("of five", offered(5), ["Take 1", "Take all 5"]);
  same("of sixty", offered(60), [
    "Take 1",
    "Take 5",
    "Take 10",
    "Take 50",
    "Take …",
    "Take all 60",
  ]);

  const { begins } = await import("/page/skills.js");
  same("levels begin", [1, 2, 10, 50, 99].map(begins), [0, 83, 1154, 101333, 13034431]);

  const { refusal } = await import("/page/words.js");
  same("capitals", refusal({ code: "TOO_FAR" }), refusal({ code: "too_far" }));
  same("unknown", refusal({ code: "x", message: "no such tree" }), "No such tree.");

  const { EMOTES } = await import("/page/emotes.js");
  const reference = await (await fetch("/asyncapi.json")).json();
  const { data } = reference.components.messages["client.player.emote"].payload.properties;
  same("gestures", EMOTES, data.properties.emote.enum);

  const { el } = await import("/page/dom.js");
  const deep = el("dl", {}, [[el("dt", {}, "a"), [el("dd", {}, "b")]], "c", undefined]);
  same("lists in lists", [deep.children.length, deep.textContent], [2, "abc"]);

  const things = await import("/page/things.js");
  await things.learn();
  const says = (id) => [things.called(id), things.wearable(id), things.value(id) > 0];
  same("a sword", says("bronze_shortsword"), ["Bronze shortsword", true, true]);
  same("its other name", says("bronze_sword"), says("bronze_shortsword"));
  same("a note of it", says("bronze_sword_noted"), ["Bronze shortsword (note)", false, true]);
  same("what nobody knows", says("odd_thing"), ["Odd thing", true, false]);
  same("what is not worn", says("logs"), ["Logs", false, true]);
  const said = ["bronze_shortsword", "bronze_sword", "bronze_sword_noted"].map(things.described);
  same("a good look", new Set(said).size, 1);
  same("a look at what nobody knows", /odd thing/.test(things.described("odd_thing")), true);

  const { Hits } = await import("/page/hits.js");
  const hits = new Hits();
  const blow = { tick: 5, attacker: "a", target: "b", damage: 2, style: "melee" };
  const well = { ...blow, targetHealth: 3, targetMaxHealth: 5 };
  same("a blow is new", hits.hit(well, 5, 0), true);
  same("told of twice", hits.hit({ ...well }, 6, 10), false);
  same("the next one", hits.hit({ ...well, tick: 9, targetHealth: 1 }, 9, 20), true);
  same("health", hits.left({ id: "b" }, 30), { now: 1, max: 5, until: 9020 });
  same("of interest no more", hits.left({ id: "b" }, 9021), undefined);
  for (let tick = 10; tick < 200; tick += 1) hits.hit({ ...blow, tick }, tick, tick);
  same("old blows are forgotten", hits.known.size < 30, true);
  return wrong;
}
