// Runs in the console: what a flame graph makes of a profile, and what is drawn anew. Answers a list of
// what is wrong; an empty one is good.
async function checks() {
  const wrong = [];
  const same = (what, found, expected) => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
    if (a !== b) wrong.push(`${what}: ${a} instead of ${b}`);
  };
  const { button, redraw, table } = await import("/page/console/parts.js");
  const box = document.createElement("div");
  const pressed = [];
  const draw = (load, who, key) =>
    redraw(box, [load, who, key], () => {
      const act = button("Drain", () => pressed.push(`${load} ${who}`));
      if (key) act.dataset.key = `drain ${who}`;
      const columns = [{ name: "Load", of: () => load }, { name: "Act", of: () => act }];
      return table("Zones", columns, [{}]);
    });
  const there = () => box.querySelector("button");
  draw("1 ms", "zone 1", true);
  const first = there();
  draw("2 ms", "zone 1", true);
  same("the button that is about to be pressed stays", there() === first, true);
  same("the number changes", box.querySelector("td").textContent, "2 ms");
  draw("2 ms", "zone 2", true);
  same("the button of another zone is another one", there() === first, false);
  draw("2 ms", "zone 3", false);
  draw("3 ms", "zone 4", false);
  there().click();
  same("a button that does not say what it does is made anew", pressed, ["3 ms zone 4"]);

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
