// Runs in the page: no two items look alike, what is worn and done is seen, things fly, names make
// room, and a level is a moment. Answers a list of what is wrong; an empty one is good.
async function checks() {
  const wrong = [];
  const same = (what, found, expected) => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
    if (a !== b) wrong.push(`${what}: ${a} instead of ${b}`);
  };
  const check = (what, good) => good || wrong.push(what);
  const SIDE = 80;
  /** Paints on a canvas of SIDE x SIDE with a tile of `unit` pixels; returns its pixels. */
  const pixels = (paint, unit = SIDE, foot = 0.79) => {
    const c = new OffscreenCanvas(SIDE, SIDE).getContext("2d", { willReadFrequently: true });
    c.setTransform(unit, 0, 0, unit, SIDE / 2, SIDE * foot);
    paint(c);
    return c.getImageData(0, 0, SIDE, SIDE).data;
  };
  /** How many pixels differ by more than `seen`. It stops counting at `enough`. */
  const apart = (a, b, enough = Infinity, seen = 48) => {
    let sum = 0;
    for (let n = 0; n < a.length && sum < enough; n += 4) {
      const [p, q] = [a[n + 3] / 255, b[n + 3] / 255];
      let far = Math.abs(a[n + 3] - b[n + 3]);
      for (let k = 0; k < 3; k += 1) far += Math.abs(a[n + k] * p - b[n + k] * q);
      if (far > seen) sum += 1;
    }
    return sum;
  };

  const things = await import("/page/things.js");
  await things.learn();
  const FILES = ["food", "misc", "resources", "tools", "weapons", "ammunition", "armor", "runes"];
  const lists = await Promise.all(
    FILES.map(async (name) => (await fetch(`/manifests/items/${name}.json`)).json()),
  );
  const items = lists.flatMap((list) => (Array.isArray(list) ? list : list.items));
  check(`only ${items.length} items`, items.length >= 400);
  const icons = items.map(({ id }) => pixels((c) => things.thing(c, id)));
  const LEAST = 160;
  for (let n = 0; n < items.length; n += 1) {
    check(
      `${items[n].id} is hardly to be seen`,
      apart(icons[n], new Uint8ClampedArray(4 * SIDE * SIDE)) > 100,
    );
    for (let m = 0; m < n; m += 1) {
      const far = apart(icons[n], icons[m], LEAST);
      check(`${items[n].id} and ${items[m].id} look alike: ${far}`, far >= LEAST);
    }
  }
  const { WEAPONS } = await import("/page/weapons.js");
  const drawn = ({ id }) => WEAPONS.some(([words]) => words.test(id));
  const { person } = await import("/page/person.js");
  const body = (how) => pixels((c) => person(c, "Ann", how), 46);
  const bare = body({});
  const SEEN = ["weapon", "shield", "helmet", "body", "legs", "boots", "gloves", "cape"];
  for (const { id, equipSlot } of items) {
    const place = equipSlot === "2h" ? "weapon" : equipSlot;
    if (!SEEN.includes(place)) continue;
    check(`${id} in the hand is not drawn`, place !== "weapon" || drawn({ id }));
    const far = apart(bare, body({ worn: { [place]: id } }));
    check(`nobody sees that ${id} is worn: ${far}`, far >= 8);
    same(`${id} is told`, things.outfit(`bronze_arrow ${id}`)[place], id);
  }
  const plate = { body: "bronze_breastplate", helmet: "bronze_helm" };
  const steel = { body: "steel_breastplate", helmet: "steel_helm" };
  check("bronze looks like steel", apart(body({ worn: plate }), body({ worn: steel })) > 60);

  const { CHOICES, next } = await import("/page/looks.js");
  CHOICES.forEach(({ words, cuts, colours }, at) => {
    const all = [];
    let look = "00000";
    while (all.length < (cuts ?? colours).length) {
      all.push(body({ look }));
      look = next(look, at);
    }
    same(`after the last of ${words} comes the first`, look, "00000");
    all.forEach((one, n) => {
      for (let m = 0; m < n; m += 1)
        check(`${words} ${m} and ${n} look alike`, apart(one, all[m], 6, 30) >= 6);
    });
  });

  const { NAMES, Poses } = await import("/page/poses.js");
  const strip = (name) => [0, 1, 2, 3].map((frame) => body({ pose: { name, frame } }));
  const strips = NAMES.map(strip);
  for (const [n, name] of NAMES.entries()) {
    check(
      `${name} looks like standing`,
      strips[n].some((one) => apart(one, bare) > 40),
    );
    const moves = strips[n].some((one) => apart(one, strips[n][0]) > 3);
    check(`${name} does not move`, moves);
    for (let m = 0; m < n; m += 1) {
      const far = strips[n].reduce((sum, one, k) => sum + apart(one, strips[m][k]), 0);
      check(`${name} looks like ${NAMES[m]}: ${far}`, far > 60);
    }
  }
  const verbs = [
    "chop",
    "mine",
    "fish",
    "pick",
    "cook",
    "light",
    "smelt",
    "smith",
    "craft",
    "fletch",
  ];
  same(
    "all work has a pose",
    verbs.filter((verb) => !NAMES.includes(verb)),
    [],
  );

  const poses = new Poses();
  const ann = { id: "a", type: "player", x: 0, z: 0, doing: "chop" };
  const tree = { id: "t", type: "resource", resourceType: "tree", x: -1, z: 0 };
  const rock = { id: "r", type: "resource", resourceType: "ore", x: 0, z: 1 };
  const rat = { id: "b", type: "npc", x: 3, z: 0 };
  const view = {
    now: 1000,
    own: "a",
    entities: new Map([ann, tree, rock, rat].map((e) => [e.id, e])),
  };
  same("who chops looks at the tree", poses.of(ann, undefined, view, 0).toward.id, "t");
  poses.strike({ attacker: "a", target: "b", style: "ranged" }, 1000);
  same("a shot goes before work", poses.of(ann, "oak_bow", view, 0).name, "shoot");
  same("at once", poses.of(ann, "oak_bow", { ...view, now: 995 }, 0).frame, 0);
  same("for a moment", poses.of(ann, "oak_bow", { ...view, now: 2000 }, 0).name, "chop");
  const styles = [
    ["melee", "iron_dagger", "swing"],
    ["melee", undefined, "punch"],
    ["magic", "poker_staff", "cast"],
  ];
  for (const [style, weapon, name] of styles) {
    poses.strike({ attacker: "a", target: "b", style }, 1000);
    same(`${style} with ${weapon}`, poses.of(ann, weapon, view, 0).name, name);
  }

  const { uncover } = await import("/page/figures.js");
  const south = { ...tree, id: "s", x: 0, z: -1 };
  const covered = [south, ann].map((entity) => ({ entity, z: entity.z, at: entity }));
  const around = { ...view, entities: new Map([ann, south].map((e) => [e.id, e])) };
  const veiled = uncover(covered, around, new Poses());
  same("one sees through what hides the worker", [...veiled], ["s"]);
  check("the worker comes before it", covered[1].z < covered[0].z);

  const { Flights } = await import("/page/flights.js");
  for (const style of ["ranged", "magic"]) {
    const flights = new Flights();
    const blow = { attacker: "a", target: "b", style };
    const lands = flights.strike(blow, ann, rat, 0);
    check(`${style}: something flies`, lands > 100 && lands < 900);
    const at = (now) => {
      const place = (id) => ({ x: id === "a" ? -1.3 : 1.3, y: 1.5 });
      const seen = pixels((c) => flights.draw(c, now, 0.5, place), 25, 0);
      let [sum, many] = [0, 0];
      for (let n = 3; n < seen.length; n += 4)
        if (seen[n] > 60) [sum, many] = [sum + (((n - 3) / 4) % SIDE), many + 1];
      return [many, many ? sum / many : 0];
    };
    const ways = [0.55, 0.75, 0.95].map((part) => at(lands * part));
    check(
      `${style}: it is not drawn ${ways}`,
      ways.every(([many]) => many > 3),
    );
    check(`${style}: it does not fly ${ways}`, ways[0][1] < ways[1][1] && ways[1][1] < ways[2][1]);
    same(`${style}: it lands`, at(lands + 1)[0], 0);
  }
  same("a sword does not fly", new Flights().strike({ style: "melee" }, ann, rat, 0), 0);

  const { makeRoom } = await import("/page/labels.js");
  const crowd = () =>
    Array.from({ length: 80 }, (_, n) => {
      const [x, y] = [(n % 10) * 40, Math.floor(n / 10) * 40];
      return { id: `p${n}`, x, y, foot: y + 50, w: 90, h: 14, rank: n === 33 ? 0 : 3 };
    });
  const rows = new Map();
  const names = makeRoom(crowd(), rows);
  const over = (a, b) => Math.abs(a.x - b.x) < (a.w + b.w) / 2 && Math.abs(a.y - b.y) < a.h;
  const clashes = names.flatMap((a, n) => names.slice(0, n).filter((b) => over(a, b)));
  same("names stand on names", clashes.length, 0);
  check(`only ${names.length} of 80 names found room`, names.length > 50);
  check(
    "the own name is left out",
    names.some(({ id }) => id === "p33"),
  );
  const where = (list) => list.map(({ id, y }) => `${id} ${y}`).sort();
  same("names stay where they are", where(makeRoom(crowd(), rows)), where(names));

  const { Moments, MOMENT_MS } = await import("/page/moments.js");
  const moments = new Moments();
  const shown = (now) =>
    pixels(
      (c) => {
        const place = (id) => (id === "a" ? { x: 1, y: 1.4 } : undefined);
        moments.behind(c, now, 0.6, place, false);
        moments.before(c, now, 0.6, place, false);
      },
      40,
      0,
    ).reduce((sum, value, n) => sum + (n % 4 === 3 && value > 30 ? 1 : 0), 0);
  same("no level, no moment", shown(0), 0);
  moments.begin("a", "Woodcutting 2", 0);
  check("a level is hardly to be seen", shown(1000) > 600);
  same("it passes", shown(MOMENT_MS + 1), 0);
  for (const combatLevel of [3, 3, 4]) moments.watch({ ...ann, combatLevel }, "me", 9000);
  check("nobody sees that another has risen", shown(10000) > 600);

  const { Sprites } = await import("/page/sprites.js");
  const sprites = new Sprites(1000);
  let painted = 0;
  const get = (id) => sprites.get(id, 10, 10, () => (painted += 1));
  for (let n = 0; n < 200; n += 1) {
    get(`s${n}`);
    get("often");
  }
  same("what is of use is painted once", painted, 201);
  check(`${sprites.size} pictures are kept`, sprites.size <= 20);

  const { Minimap } = await import("/page/minimap.js");
  const ground = [{ color: "#206040" }, { color: "#c0a080" }];
  const land = { ground, kind: (x, z) => (x * 7 + z * 3) & 1, height: (x, z) => (x + z) & 3 };
  const map = (...ways) => {
    const mini = new Minimap(document.createElement("canvas"), land);
    for (const [x, z] of ways) mini.center(x, z);
    return [...mini.ground.getContext("2d").getImageData(0, 0, 76, 76).data].join();
  };
  check("the small map shifts wrongly", map([0, 0], [3, -2], [2, 5]) === map([2, 5]));
  return wrong;
}
