// Runs in the console: what a flame graph makes of a profile. Answers a list of what is wrong; an
// empty one is good.
async function checks() {
  const wrong = [];
  const same = (what, found, expected) => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
    if (a !== b) wrong.push(`${what}: ${a} instead of ${b}`);
  };
  const { fit, layout, read } = await import("/page/console/flame.js");
  const all = read("main;run;tick<T> 3\nmain;run;write 1\nidle 4\n");
  const seen = (boxes) => boxes.map(({ call, x, width, row }) => [call.name, call.samples, x, width, row]);
  same("the whole", seen(layout(all, 800)).sort(), [
    ["all", 8, 0, 800, 0],
    ["idle", 4, 0, 400, 1],
    ["main", 4, 400, 400, 1],
    ["run", 4, 400, 400, 2],
    ["tick<T>", 3, 400, 300, 3],
    ["write", 1, 700, 100, 3],
  ]);
  const run = all.calls.get("main").calls.get("run");
  same("closer", seen(layout(run, 800)), [
    ["all", 8, 0, 800, 0],
    ["main", 4, 0, 800, 1],
    ["run", 4, 0, 800, 2],
    ["tick<T>", 3, 0, 600, 3],
    ["write", 1, 600, 200, 3],
  ]);
  same("too narrow to be seen", seen(layout(all, 7)).map(([name]) => name).includes("write"), false);
  same("nothing", [read("").samples, layout(read(""), 800).length], [0, 1]);
  for (const text of ["main", "main x", "main -1", " 3", "a 9007199254740991\nb 1", "<html>"])
    same(`what ${JSON.stringify(text)} is`, read(text), undefined);
  same("a name with room", fit("tick", 100), "tick");
  same("a name without", fit("zone_server::run::tick", 76), "zone_serv…");
  same("no room at all", fit("zone_server::run::tick", 20), "");
  return wrong;
}
