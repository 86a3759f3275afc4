//! The launcher as people use it: the real binary on a free port and a new data folder.
#![allow(clippy::unwrap_used)]

mod models;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

/// A start on a busy machine takes a while; nothing should take this long.
const LIMIT: Duration = Duration::from_secs(60);

/// A data folder that goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = format!("tilestead-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn launcher(data: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilestead"));
    command.env_clear().arg("--data").arg(data).args(words);
    command.stdin(Stdio::null());
    command
}

/// A running launcher; killed when the test ends without stopping it.
struct Launcher {
    child: Child,
    lines: mpsc::Receiver<String>,
    printed: Vec<String>,
}

impl Launcher {
    fn start(data: &Path, words: &[&str]) -> Self {
        Self::run(launcher(data, words))
    }

    fn run(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut launcher = Self {
            child,
            lines,
            printed: Vec::new(),
        };
        launcher.wait_for("Open http://");
        launcher
    }

    fn wait_for(&mut self, words: &str) {
        let deadline = Instant::now() + LIMIT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let printed = &self.printed;
            let line = line.unwrap_or_else(|_| panic!("no {words:?} in {printed:?}"));
            let found = line.contains(words);
            self.printed.push(line);
            if found {
                return;
            }
        }
    }

    /// Returns the address that the table gives for a service.
    fn address(&self, name: &str) -> SocketAddr {
        let row = self
            .printed
            .iter()
            .find(|line| line.trim_start().starts_with(name));
        let row = row.unwrap_or_else(|| panic!("no {name} in {:?}", self.printed));
        row.split_whitespace().last().unwrap().parse().unwrap()
    }

    /// Sends a signal and gives the exit code.
    fn signal(mut self, signal: &str) -> Option<i32> {
        let id = self.child.id().to_string();
        let sent = Command::new("kill")
            .args(["-s", signal, &id])
            .status()
            .unwrap();
        assert!(sent.success());
        self.wait_for("Stopped. Everything is saved");
        self.child.wait().unwrap().code()
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn get(address: SocketAddr, path: &str) -> String {
    get_with(address, path, "")
}

/// Returns the whole answer; `headers` end with a line break each.
fn get_with(address: SocketAddr, path: &str, headers: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n");
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(64), "{output:?}");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.starts_with("tilestead: "), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn a_world_starts_serves_stops_and_starts_again() {
    let folder = Folder::new("again");
    for signal in ["TERM", "INT"] {
        let words = ["--port", "0", "--gateways", "2", "--zones", "3"];
        let launcher = Launcher::start(&folder.0, &words);
        for gateway in ["gateway 1", "gateway 2"] {
            let address = launcher.address(gateway);
            assert!(get(address, "/health").contains("\"ok\""));
            assert!(get(address, "/readyz").starts_with("HTTP/1.1 200"));
            assert!(get(address, "/").contains("<html"));
        }
        launcher.address("zone-server 3");
        launcher.address("persistence-svc");
        assert!(folder.0.exists());
        assert_eq!(launcher.signal(signal), Some(0));
    }
}

#[test]
fn a_second_launcher_on_the_same_folder_ends_with_a_sentence() {
    let folder = Folder::new("second");
    let first = Launcher::start(&folder.0, &["--port", "0"]);
    let second = launcher(&folder.0, &["--port", "0"]).output().unwrap();
    let sentence = refused(&second);
    assert!(sentence.contains(folder.0.to_str().unwrap()), "{sentence}");
    assert!(get(first.address("gateway 1"), "/health").contains("\"ok\""));
    assert_eq!(first.signal("INT"), Some(0));
}

#[test]
fn a_taken_port_is_named() {
    let folder = Folder::new("taken");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = launcher(&folder.0, &["--port", &port]).output().unwrap();
    let sentence = refused(&output);
    assert!(
        sentence.contains(&format!("port {port} is taken")),
        "{sentence}"
    );
}

#[test]
fn assets_are_served_on_another_port_when_theirs_is_taken() {
    let (folder, world) = (Folder::new("assets"), Folder::new("world"));
    std::fs::create_dir_all(world.0.join("assets/models/trees")).unwrap();
    std::fs::write(world.0.join("assets/models/trees/oak.glb"), "an oak").unwrap();
    std::fs::write(world.0.join("assets/secret.glb"), "no model").unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken_port = taken.local_addr().unwrap().port().to_string();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let free_port = free.local_addr().unwrap().port().to_string();
    drop(free);
    let words = ["--port", &free_port, "--cdn-port", &taken_port];
    let mut command = launcher(&folder.0, &words);
    command.env("WORLD", &world.0);
    let launcher = Launcher::run(command);
    let said = format!("Port {taken_port} is taken: assets and manifests are served on");
    assert!(
        launcher.printed.iter().any(|line| line.starts_with(&said)),
        "{:?}",
        launcher.printed
    );
    let assets = launcher.address("assets");
    assert!(get(assets, "/health").contains("\"ok\""));
    let food = get(assets, "/manifests/items/food.json");
    assert!(food.starts_with("HTTP/1.1 200"), "{food}");
    assert!(food.contains("cache-control: public, max-age=300, must-revalidate"));
    assert!(get(assets, "/models/trees/oak.glb").ends_with("an oak"));
    for path in [
        "/models/../secret.glb",
        "/models/%2e%2e/secret.glb",
        "/models/..%2fsecret.glb",
        "/models/trees",
        "/audio/none.mp3",
        "/manifests/none.json",
    ] {
        let answer = get(assets, path);
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    // The services fetched their content from there, and tell clients its address.
    let gateway = launcher.address("gateway 1");
    assert!(get(gateway, "/status").contains("\"source\":\"cdn\""));
    let here = format!("http://localhost:{}", assets.port());
    assert!(get(gateway, "/env.js").contains(&here));
    assert_eq!(launcher.signal("INT"), Some(0));
}

#[test]
fn assets_are_asked_for_again_only_when_they_changed() {
    let (folder, world) = (Folder::new("tags"), Folder::new("tagged"));
    let assets = world.0.join("assets");
    for (path, text) in [
        ("audio/music/normal/calm.mp3", "some music"),
        ("world/terrain.json", "{\"some\": \"land\"}"),
        ("models/oak.glb", "an oak"),
    ] {
        let file = assets.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let mut command = launcher(&folder.0, &["--port", "0"]);
    command.env("WORLD", &world.0);
    let launcher = Launcher::run(command);
    let at = launcher.address("assets");
    for (path, kind, text) in [
        ("/audio/music/normal/calm.mp3", "audio/mpeg", "some music"),
        (
            "/world/terrain.json",
            "application/json",
            "{\"some\": \"land\"}",
        ),
        ("/models/oak.glb", "model/gltf-binary", "an oak"),
        ("/manifests/npcs.json", "application/json", ""),
    ] {
        let first = get(at, path);
        assert!(first.starts_with("HTTP/1.1 200"), "{path}: {first}");
        assert!(first.contains(&format!("content-type: {kind}")), "{first}");
        assert!(first.ends_with(text), "{path}: {first}");
        let tag = first
            .lines()
            .find_map(|line| line.strip_prefix("etag: "))
            .unwrap();
        let known = format!("if-none-match: {tag}\r\n");
        let again = get_with(at, path, &known);
        assert!(again.starts_with("HTTP/1.1 304"), "{path}: {again}");
        assert!(again.contains(&format!("etag: {tag}")), "{again}");
        assert!(
            again.ends_with("\r\n\r\n"),
            "nothing is sent twice: {again}"
        );
        let other = get_with(at, path, "if-none-match: \"another\"\r\n");
        assert!(other.starts_with("HTTP/1.1 200"), "{path}: {other}");
        if let Some(name) = path
            .strip_prefix('/')
            .filter(|name| !name.starts_with("manifests"))
        {
            std::fs::write(assets.join(name), "all new").unwrap();
            let new = get_with(at, path, &known);
            assert!(
                new.starts_with("HTTP/1.1 200") && new.ends_with("all new"),
                "{new}"
            );
        }
    }
    assert_eq!(launcher.signal("INT"), Some(0));
}

#[test]
fn models_that_changed_are_measured_before_the_world_starts() {
    let (folder, world) = (Folder::new("measured"), Folder::new("models"));
    let assets = world.0.join("assets");
    for (path, text) in world::Content::embedded_files() {
        let file = assets.join("manifests").join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        if *path != "model-bounds.json" {
            std::fs::write(file, text).unwrap();
        }
    }
    let bounds = assets.join("manifests/model-bounds.json");
    let start = || {
        let mut command = launcher(&folder.0, &["--port", "0", "--zones", "1"]);
        command.env("WORLD", &world.0);
        let launcher = Launcher::run(command);
        let status = get(launcher.address("gateway 1"), "/status");
        assert!(status.contains("\"source\":\"folder\""), "{status}");
        assert_eq!(launcher.signal("INT"), Some(0));
        let text = std::fs::read_to_string(&bounds).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    models::furnace(&assets, 1.5);
    let first = start();
    assert_eq!(first["models"][0]["id"], "stations/furnace", "{first}");
    assert_eq!(first["models"][0]["dimensions"]["x"], 1.5);
    assert_eq!(
        start(),
        first,
        "nothing changed: the same file, and its time"
    );
    models::furnace(&assets, 2.5);
    assert_eq!(start()["models"][0]["dimensions"]["x"], 2.5);
    std::fs::remove_file(assets.join("models/stations/furnace.glb")).unwrap();
    assert_eq!(start()["models"], serde_json::json!([]));
}

/// Returns the ids of a process's children.
fn children(of: u32) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{of}/task")).unwrap();
    let lists = threads.map(|thread| thread.unwrap().path().join("children"));
    // A thread may have ended since.
    let lists = lists.map(|list| std::fs::read_to_string(list).unwrap_or_default());
    let all = lists.collect::<Vec<_>>().join(" ");
    all.split_whitespace().map(str::to_owned).collect()
}

/// Returns whether a process runs or stands still; one that only waits for its parent does not.
fn lives(id: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"));
    status.is_ok_and(|status| !status.contains("State:\tZ"))
}

fn send(signal: &str, id: &str) {
    let sent = Command::new("kill").args(["-s", signal, id]).status();
    assert!(sent.unwrap().success(), "{signal} {id}");
}

#[cfg(target_os = "linux")]
#[test]
fn zone_servers_apart_end_with_the_launcher_however_it_ends() {
    let folder = Folder::new("chaos");
    for signal in ["KILL", "INT"] {
        let words = ["--port", "0", "--zones", "2", "--chaos"];
        let launcher = Launcher::start(&folder.0, &words);
        launcher.address("zone-server 2");
        let zones = children(launcher.child.id());
        assert_eq!(zones.len(), 2, "{zones:?}");
        let (own, temporary) = (launcher.child.id().to_string(), std::env::temp_dir());
        let private = temporary.join(format!("tilestead-chaos-{own}"));
        assert!(private.join("socket").exists());
        if signal == "INT" {
            assert_eq!(launcher.signal(signal), Some(0));
            assert!(!private.exists(), "keys are left behind");
        } else {
            // A process that stands still hears nothing of an end.
            send("STOP", &zones[0]);
            send(signal, &own);
            drop(launcher);
            let _ = std::fs::remove_dir_all(private);
        }
        let deadline = Instant::now() + LIMIT;
        while zones.iter().any(|id| lives(id)) {
            assert!(Instant::now() < deadline, "{signal}: {zones:?} live on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_wrong_setting_starts_nothing() {
    let folder = Folder::new("wrong");
    let mut command = launcher(&folder.0, &["--port", "0"]);
    let output = command.env("WALK_TILES_PER_TICK", "far").output().unwrap();
    let sentence = refused(&output);
    assert!(sentence.contains("WALK_TILES_PER_TICK"), "{sentence}");
    assert!(!folder.0.exists());
    let output = launcher(&folder.0, &["--zones", "none"]).output().unwrap();
    assert!(refused(&output).contains("--zones"));
}

#[test]
fn every_setting_is_printed_and_no_secret() {
    let folder = Folder::new("print");
    let mut command = launcher(&folder.0, &["--print-config"]);
    let output = command
        .env("JWT_SECRET", "a-very-secret-text")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stdout);
    for words in [
        "persistence-svc",
        "zone-server 2",
        "gateway 1",
        "PORT",
        "DATA_DIR",
    ] {
        assert!(text.contains(words), "{text}");
    }
    assert!(text.contains("[redacted]") && !text.contains("a-very-secret-text"));
    assert!(!folder.0.exists());
}
