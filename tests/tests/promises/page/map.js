// Runs in the page: what the map of the world makes of land, signs and long ways. Answers a list of
// what is wrong; an empty one is good.
async function checks() {
  const wrong = [];
  const same = (what, found, expected) => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
    if (a !== b) wrong.push(`${what}: ${a} instead of ${b}`);
  };
  const { Chart } = await import("/page/chart.js");
  const drawn = ["....~", "###.~", ".....", "..~~~"];
  const ground = [{ walkable: true }, { walkable: false }, { walkable: false, name: "water" }];
  const chart = new Chart({ ground, houses: [] });
  // The last line is the southernmost row.
  const bytes = drawn
    .toReversed()
    .flatMap((line) => [...line].flatMap((sort) => [".#~".indexOf(sort), 0]));
  Object.assign(chart, { tiles: 1, columns: 5, rows: 4, left: -2, low: 10, bytes });
  const way = (from, to) => chart.way({ x: from[0], z: from[1] }, { x: to[0], z: to[1] });
  const tiles = (list) => list.map(({ x, z }) => [x, z]);
  same("around a wall, and no corner is cut", tiles(way([-2, 13], [-2, 11])), [
    [-1, 13],
    [0, 13],
    [1, 13],
    [1, 12],
    [1, 11],
    [0, 11],
    [-1, 11],
    [-2, 11],
  ]);
  same("into the water", way([-2, 13], [2, 12]), []);
  same("beyond the edge", way([-2, 13], [40, 12]), []);
  same("to where one stands", way([0, 11], [0, 11]), []);
  same("the land beside water", chart.landing(2, 10), { x: 1, z: 11 });
  same("on land", chart.landing(0, 11), { x: 0, z: 11 });

  const { find } = await import("/page/landmarks.js");
  const at = (x) => ({ x, z: 0 });
  const signs = [
    { kind: "town", name: "Bankside", ...at(90) },
    { kind: "bank", name: "Counter", ...at(50) },
    { kind: "bank", name: "Vault", ...at(5) },
    { kind: "shop", name: "Net & Knot", goods: ["Rope"], ...at(3) },
    ...[9, 1, 30, 20].map((x) => ({ kind: "tree", name: "Oak", goods: ["oak logs"], ...at(x) })),
  ];
  const found = (text) => find(signs, text, { x: 0, z: 0 }).map(({ name, x }) => `${name} ${x}`);
  same("a town first, then the nearest", found("bank"), ["Bankside 90", "Vault 5", "Counter 50"]);
  same("by what is sold", found("rope"), ["Net & Knot 3"]);
  same("no more of one name than help", found("oak"), ["Oak 1", "Oak 9", "Oak 20"]);
  same("by its kind", found("woodcutting"), ["Oak 1", "Oak 9", "Oak 20"]);
  same("nothing", [found(""), found("zebra")], [[], []]);

  const { Journey } = await import("/page/journey.js");
  const long = Array.from({ length: 300 }, (_, n) => ({ x: n + 1, z: 0 }));
  const me = { position: { x: 0, z: 0 } };
  const legs = [];
  let end;
  const walks = (x) => legs.push(x);
  const journey = new Journey(long, me, walks, (there) => {
    end = there;
  });
  for (let ticks = 0; ticks < 400 && journey.step(); ticks += 1)
    me.position.x = Math.min(me.position.x + 2, legs.at(-1));
  same("it arrives", [me.position.x >= 299, end], [true, true]);
  const farthest = Math.max(...legs.map((leg, n) => leg - (legs[n - 1] ?? 0)));
  same("no leg is longer than the server leads", [farthest < 150, legs.length > 3], [true, true]);
  return wrong;
}
