"""The page in a real browser, over real processes and beside bots. `tests/page --help` explains it.

Each service is a process of its own: persistence over SQLite, two zone servers and a gateway.
"""

import argparse
import base64
import contextlib
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from websockets.sync.client import connect

BINARIES = Path(os.environ["TILESTEAD_BIN_DIR"])
READY_S = 60
CALL_S = 60
# Ramp of the bots, and their time to spread.
RAMP_S = 10
# Windows: the narrowest one that counts as a desktop, for a small picture, and a usual one.
SHOWN = (1000, 560)
MEASURED = (1280, 720)
# The animation: seconds before and after the kill, pictures a second, size in pixels and bytes.
BEFORE_S, AFTER_S, PICTURES = 2.5, 6.5, 8
WIDTH, STRIP = 800, 52
BYTES_MAX = 1_500_000
FONT = "DejaVuSans.ttf"

# Waits for the door and goes through it.
DOOR = """
  const open = window.tilestead?.state().phase === "lobby" && !window.begun;
  if (open) {
    window.begun = true;
    document.getElementById("name").value = "Wren Walker";
    document.getElementById("create").requestSubmit();
  }
  window.tilestead?.state().phase === "world" && Boolean(window.tilestead.state().position);
"""

# Walks to and fro, and counts pictures.
PLAYER = """
  const t = window.tilestead;
  const watch = (window.watch = { pictures: 0, steps: [] });
  const picture = () => {
    watch.pictures += 1;
    requestAnimationFrame(picture);
  };
  picture();
  const land = t.objects().find((one) => one.walkable);
  const home = t.state().position;
  let side = 1;
  const walk = () => {
    side = -side;
    const far = (tile) => Math.abs(tile.x - home.x - 7 * side) + Math.abs(tile.z - home.z - 2 * side);
    const tiles = [];
    for (let x = home.x - 9; x <= home.x + 9; x += 1)
      for (let z = home.z - 3; z <= home.z + 3; z += 1)
        if (land.walkable(x, z) && t.bare(x, z)) tiles.push({ x, z });
    const to = tiles.sort((a, b) => far(a) - far(b))[0];
    if (to) t.walkTo(to.x, to.z);
  };
  walk();
  setInterval(walk, 3600);
"""

# Keeps the times at which any player in sight has taken a step. Ticks alone would not do: the other
# zone server goes on with them.
STEPS = """
  let before;
  setInterval(() => {
    const players = window.tilestead.entities().filter((one) => one.type === "player");
    const now = players.map((one) => `${one.id} ${one.x},${one.z}`).join();
    if (now !== before) window.watch.steps.push(Date.now() / 1000);
    before = now;
  }, 20);
"""


class Cluster:
    """The services and the bots, in a folder of their own. All of it ends with the `with`."""

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tilestead-page-"))
        self.processes = {}
        self.zones = {}
        store, self.port = free_port(), free_port()
        address = f"127.0.0.1:{store}"
        self.serve("persistence-svc", PERSISTENCE_LISTEN=address, DATA_DIR=str(self.folder / "data"))
        for number in (1, 2):
            listen = f"127.0.0.1:{free_port()}"
            self.zones[listen] = number
            self.serve("zone-server", number, PERSISTENCE_ADDRESSES=address, ZONE_LISTEN=listen)
        # All bots have one address, and more than a gateway lets in from one.
        self.serve("gateway", PERSISTENCE_ADDRESSES=address, PORT=str(self.port), DISABLE_RATE_LIMIT="true")
        return self

    def start(self, name, program, arguments=(), settings=None):
        with open(self.folder / f"{name}.log", "w") as log:
            self.processes[name] = subprocess.Popen(
                [BINARIES / program, *arguments], env=settings or {}, stdout=log, stderr=subprocess.STDOUT
            )

    def serve(self, program, number="", **settings):
        probes = free_port()
        self.start(f"{program}{number}", program, settings=settings | {"METRICS_PORT": str(probes)})
        until(f"http://127.0.0.1:{probes}/readyz")

    def bots(self, players, seconds):
        words = f"bench --players {players} --ramp {RAMP_S}s --for {int(seconds)}s --scenario steps --maps 0 --format v2"
        self.start("bots", "tilestead", [*words.split(), "--gateways", f"ws://127.0.0.1:{self.port}/ws"])

    def owner(self, tile):
        """Returns the number of the zone server that plays a tile, and none if nobody does."""
        lines = subprocess.check_output(
            [BINARIES / "persistence-svc", "regions"],
            env={"DATA_DIR": str(self.folder / "data"), "LOG_LEVEL": "error"},
            text=True,
        ).splitlines()
        region = f"{tile['x'] >> 6},{tile['z'] >> 6} "
        line = next((line for line in lines if line.startswith(region)), "")
        return next((number for listen, number in self.zones.items() if f"at {listen}," in line), None)

    def __exit__(self, *_):
        for process in self.processes.values():
            process.kill()
            process.wait()
        shutil.rmtree(self.folder)


class Browser:
    """A headless Chromium with one window, spoken to by its DevTools protocol."""

    def __init__(self, url, size):
        self.url, self.size = url, size
        self.calls = 0
        self.events = []
        self.ends = contextlib.ExitStack()

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tilestead-browser-"))
        words = "--headless=new --disable-gpu --disable-dev-shm-usage --force-device-scale-factor=1 --remote-debugging-port=0"
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        self.process = subprocess.Popen(
            ["chromium", *words.split(), *sandbox, f"--user-data-dir={self.folder}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        found = self.folder / "DevToolsActivePort"
        deadline = time.monotonic() + READY_S
        while not (found.exists() and "\n" in found.read_text()):
            if time.monotonic() > deadline:
                raise SystemExit("tests/page: Chromium does not start")
            time.sleep(0.05)
        targets = f"http://127.0.0.1:{found.read_text().split()[0]}/json/list"
        pages = json.load(until(targets))
        target = next(one for one in pages if one["type"] == "page")
        self.line = self.ends.enter_context(connect(target["webSocketDebuggerUrl"], max_size=None))
        width, height = self.size
        window = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **window)
        for part in ("Network", "Page", "Runtime", "Performance", "HeapProfiler"):
            self.call(f"{part}.enable")
        self.call("Page.navigate", url=self.url)
        deadline = time.monotonic() + READY_S
        while not self.run(DOOR):
            if time.monotonic() > deadline:
                raise SystemExit("tests/page: the page does not reach the world")
            time.sleep(0.1)
        self.run(PLAYER)
        return self

    def call(self, method, **params):
        """Sends a command and returns its answer; keeps the events that come before it."""
        self.calls += 1
        number = self.calls
        self.line.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self.line.recv(timeout=CALL_S))
            if message.get("id") == number:
                if "error" in message:
                    raise SystemExit(f"tests/page: {method}: {message['error']}")
                return message["result"]
            self.heard(message)

    def heard(self, message):
        # A frame goes into the film at once: the browser sends the next one after this answer.
        if message.get("method") == "Page.screencastFrame":
            ack = {"sessionId": message["params"]["sessionId"]}
            self.calls += 1
            self.line.send(json.dumps({"id": self.calls, "method": "Page.screencastFrameAck", "params": ack}))
        if "method" in message:
            self.events.append(message)

    def listen(self, seconds):
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            try:
                self.heard(json.loads(self.line.recv(timeout=left)))
            except TimeoutError:
                return

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=f"{{{script}}}", returnByValue=True)
        if "exceptionDetails" in answer:
            raise SystemExit(f"tests/page: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def metrics(self):
        return {one["name"]: one["value"] for one in self.call("Performance.getMetrics")["metrics"]}

    def told(self, method):
        return [event["params"] for event in self.events if event["method"] == method]

    def __exit__(self, *_):
        self.ends.close()
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        # Processes of the browser may still write there.
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def until(url):
    """Waits until an address answers well, and returns the answer."""
    deadline = time.monotonic() + READY_S
    while True:
        try:
            return urllib.request.urlopen(url, timeout=CALL_S)
        except OSError as error:
            if time.monotonic() > deadline:
                raise SystemExit(f"tests/page: {url}: {error}") from error
            time.sleep(0.05)


# --- a zone server is killed ---


def kill(players, out):
    with Cluster() as cluster:
        cluster.bots(players, 2 * RAMP_S + BEFORE_S + AFTER_S)
        with Browser(f"http://127.0.0.1:{cluster.port}/", SHOWN) as browser:
            browser.run(STEPS)
            browser.listen(1.5 * RAMP_S)
            tile = browser.run("window.tilestead.state().position")
            owner = cluster.owner(tile)
            began = time.time()
            width, height = SHOWN
            film = {"format": "jpeg", "quality": 95, "maxWidth": width, "maxHeight": height}
            browser.call("Page.startScreencast", **film)
            browser.listen(BEFORE_S)
            killed = time.time()
            cluster.processes[f"zone-server{owner}"].kill()
            taken = {}
            watch = threading.Thread(target=successor, args=(cluster, tile, owner, taken))
            watch.start()
            browser.listen(AFTER_S)
            watch.join()
            steps = browser.run("window.watch.steps")
            log = browser.run("document.getElementById('log').innerText")
            frames = browser.told("Page.screencastFrame")
            sockets = len(browser.told("Network.webSocketCreated")), len(browser.told("Network.webSocketClosed"))
        cluster.processes["bots"].wait(timeout=READY_S + 3 * RAMP_S)
        print((cluster.folder / "bots.log").read_text())
    if sockets != (1, 0):
        raise SystemExit(f"tests/page: the player noticed: sockets opened and closed: {sockets}")
    if "at" not in taken:
        raise SystemExit("tests/page: nobody took the town over")
    report = f"zone server {owner} killed; zone server {taken['by']} owns the town {taken['at'] - killed:.1f} s later"
    print(f"{report}; longest time without anybody's step: {longest(steps, began, killed):.2f} s before the kill")
    print(f"and {longest(steps, killed - 1, killed + AFTER_S):.2f} s around it; {len(frames)} pictures came; the page's log:\n{log}")
    pictures = []
    for number in range(int((BEFORE_S + AFTER_S) * PICTURES)):
        now = began + number / PICTURES
        shown = [frame for frame in frames if frame["metadata"]["timestamp"] <= now]
        frame = (shown or frames)[-1 if shown else 0]
        zone = f"Zone server {owner} owns this town."
        if now >= killed:
            zone = f"Zone server {owner}: killed with SIGKILL {now - killed:.1f} s ago."
        if now >= taken["at"]:
            zone += f" Zone server {taken['by']} owns the town now."
        still = longest(steps, began, now)
        line = f"This player's socket: open all the time. Longest time without anybody's step in sight: {still:.1f} s."
        pictures.append(captioned(frame["data"], zone, now >= killed, line))
    save(pictures, out)


def successor(cluster, tile, owner, taken):
    """Notes who plays a tile after its owner, and since when."""
    deadline = time.monotonic() + AFTER_S
    while time.monotonic() < deadline:
        now = cluster.owner(tile)
        if now not in (None, owner):
            taken.update(by=now, at=time.time())
            return


def longest(steps, since, now):
    """Returns the longest time without a step between two times."""
    times = [since, *(at for at in steps if since <= at <= now), now]
    return max(late - early for early, late in zip(times, times[1:]))


def captioned(data, zone, dead, line):
    frame = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
    height = round(frame.height * WIDTH / frame.width)
    picture = Image.new("RGB", (WIDTH, height + STRIP), "#1b2520")
    picture.paste(frame.resize((WIDTH, height), Image.Resampling.LANCZOS))
    draw = ImageDraw.Draw(picture)
    font = ImageFont.truetype(FONT, 15)
    for row, (words, colour) in enumerate([(zone, "#f08a78" if dead else "#8fd08a"), (line, "#8fd08a")]):
        top = height + 6 + 22 * row
        draw.ellipse((12, top + 4, 21, top + 13), fill=colour)
        draw.text((30, top), words, font=font, fill="#f2ead8")
    return picture


def save(pictures, out):
    """Writes the animation as well as its size allows."""
    for quality in range(80, 10, -5):
        data = io.BytesIO()
        first, *rest = pictures
        first.save(
            data,
            "WEBP",
            save_all=True,
            append_images=rest,
            duration=round(1000 / PICTURES),
            loop=0,
            quality=quality,
            method=4,
        )
        if len(data.getvalue()) <= BYTES_MAX:
            out.write_bytes(data.getvalue())
            print(f"{out}: {len(pictures)} pictures, quality {quality}, {len(data.getvalue())} bytes")
            return
    raise SystemExit("tests/page: no quality makes the animation small enough")


# --- amid a crowd ---


def measure(players, minutes):
    with Cluster() as cluster:
        cluster.bots(players, (minutes + 1) * 60)
        with Browser(f"http://127.0.0.1:{cluster.port}/", MEASURED) as browser:
            browser.listen(2 * RAMP_S)
            print("minute  heap MB  busy %  processor %  pictures/s  players in sight", flush=True)
            for minute in range(minutes):
                before, drawn, since = browser.metrics(), browser.run("window.watch.pictures"), time.time()
                browser.listen(60)
                after, now = browser.metrics(), time.time()
                share = {
                    name: 100 * (after[name] - before[name]) / (after["Timestamp"] - before["Timestamp"])
                    for name in ("TaskDuration", "ThreadTime")
                }
                pictures = (browser.run("window.watch.pictures") - drawn) / (now - since)
                sight = browser.run("window.tilestead.entities().filter((one) => one.type === 'player').length")
                browser.call("HeapProfiler.collectGarbage")
                heap = browser.call("Runtime.getHeapUsage")["usedSize"] / 1e6
                print(
                    f"{minute + 1:6}  {heap:7.1f}  {share['TaskDuration']:6.1f}  {share['ThreadTime']:11.1f}"
                    f"  {pictures:10.1f}  {sight:16}",
                    flush=True,
                )
                # Only the events of the last minute are kept.
                browser.events.clear()


def main():
    parser = argparse.ArgumentParser(prog="tests/page")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("kill")
    one.add_argument("--players", type=int, default=30)
    one.add_argument("--out", type=Path, default=Path("gateway/screenshots/kill.webp"))
    one = commands.add_parser("measure")
    one.add_argument("--players", type=int, default=100)
    one.add_argument("--for", type=int, default=10, dest="minutes", metavar="MINUTES")
    asked = parser.parse_args(sys.argv[1:])
    if asked.command == "kill":
        kill(asked.players, asked.out)
    else:
        measure(asked.players, asked.minutes)


main()
