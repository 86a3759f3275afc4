//! Plays the records of real runs again.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use proto::rpc::zone::v1::{RecordRequest, inspect_client::InspectClient};
use tokio::task::JoinHandle;
use tonic::{Code, Status};
use world::CharacterId;

use super::*;
use crate::replay::{change::Change, command, file::Record};

/// Attempts to make one player walk.
const TELLS_MAX: u64 = 10;
const TEN: [&str; 10] = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"];

/// Returns the path of a folder of its own, which does not exist yet.
fn folder(name: &str) -> PathBuf {
    let name = format!("zone-replay-{}-{name}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// Returns the only record in a folder.
async fn record_in(folder: &Path) -> PathBuf {
    let found = || {
        let entries = std::fs::read_dir(folder).ok()?;
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .into_iter()
            .find(|path| path.extension().is_some_and(|e| e == "rmp"))
    };
    until("a record", || found().is_some()).await;
    found().unwrap()
}

/// Plays a record, and returns the exit code and the lines.
fn played(file: &Path) -> (u8, Vec<String>) {
    let mut out = Vec::new();
    let code = command::replay((file, false), "/nonexistent", &mut (), &mut out).unwrap();
    let lines = String::from_utf8(out).unwrap();
    (code, lines.lines().map(str::to_owned).collect())
}

/// Returns the number of changes of each kind in a record.
fn kinds(file: &Path) -> BTreeMap<&'static str, usize> {
    let mut kinds = BTreeMap::new();
    for change in Record::open(file).unwrap() {
        let kind = match change.unwrap() {
            Change::RegionIn { state: Some(_), .. } => "picture",
            Change::RegionIn { state: None, .. } => "in",
            Change::RegionSavedIn { .. } => "saved",
            Change::RegionOut { .. } => "out",
            Change::Leave { .. } => "leave",
            Change::Hold { .. } => "hold",
            Change::SetRegion { .. } => "set",
            Change::Tick { .. } => "tick",
            Change::GroundIn { .. } => "ground",
            Change::PersistentObjectsIn { .. } => "persistent_objects",
            Change::CallOff { .. } => "call_off",
            Change::Regain { .. } => "regain",
            Change::Check { .. } => "check",
        };
        *kinds.entry(kind).or_default() += 1;
    }
    kinds
}

struct Side {
    trap: Trap,
    address: String,
    folder: PathBuf,
    run: u64,
}

/// Starts a zone server that records everything, with a picture every `ticks`.
async fn side(store: &FakeStore, name: &str, ticks: u64, stop: &CancellationToken) -> Side {
    let (trap, folder) = (Trap::at(Phase::Npcs), folder(name));
    let server = trapped(store, &trap, |config| {
        config.tick_ms = 60;
        config.replay_dir = Some(folder.display().to_string());
        config.replay_ticks = ticks;
        config.replay_checks = true;
    })
    .await;
    let address = server.address().to_string();
    tokio::spawn(server.run(stop.clone()));
    until("it registers", || store.run_at(&address).is_some()).await;
    let run = store.run_at(&address).unwrap();
    Side {
        trap,
        address,
        folder,
        run,
    }
}

async fn all_stand(gateway: &Gateway, run: u64) {
    until("all stand in the run", || {
        let players = |seen: &gateway::Seen| {
            let (_, players) = seen.standing.get(&run)?.last_key_value()?;
            Some(players.len())
        };
        gateway.read(players) == Some(TEN.len())
    })
    .await;
}

/// Makes all players walk to the other side, once the first run has them all: it refuses players
/// whom it does not play yet. On a busy machine a giver may be too slow. The taker then plays a
/// player by the store's word, which does not name the player's destination. So the test tells that
/// player once more.
async fn all_walk(gateway: &Gateway, runs: [u64; 2], number: u64, to: Tile) {
    all_stand(gateway, runs[0]).await;
    let there = |name: &&str| gateway.position(name).is_some_and(|p| p.x == to.x);
    for time in 0..TELLS_MAX {
        for name in TEN.iter().filter(|name| !there(name)) {
            let plays = |run: &u64| {
                gateway.read(|seen| {
                    let last = seen.standing.get(run).and_then(BTreeMap::last_key_value);
                    last.is_some_and(|(_, players)| players.contains(*name))
                })
            };
            if let Some(run) = runs.into_iter().find(plays) {
                let number = number * TELLS_MAX + time;
                gateway.walk(run, name, number, to).await;
            }
        }
        let told = std::time::Instant::now();
        while told.elapsed() < TIMEOUT / 10 {
            if TEN.iter().all(there) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
    panic!("not all are there");
}

fn last_tick(gateway: &Gateway, run: u64) -> u64 {
    let last = |seen: &gateway::Seen| Some(*seen.standing.get(&run)?.last_key_value()?.0);
    gateway.read(last).unwrap_or(0)
}

/// Two recorded zones and ten players attached to the first.
struct Pair {
    store: FakeStore,
    gateway: Gateway,
    a: Side,
    b: Side,
}

async fn pair(stop: &CancellationToken) -> Pair {
    let (west, east, from, _) = land::border();
    let store = FakeStore::start().await;
    TEN.iter().for_each(|name| store.log_in(name, from));
    let a = side(&store, "a", 10_000, stop).await;
    let b = side(&store, "b", 60, stop).await;
    store.assign(west, a.run);
    store.assign(east, b.run);
    let gateway = Gateway::new("g");
    for side in [&a, &b] {
        gateway
            .link(side.run, &side.address, 1, &[west, east])
            .await;
    }
    all_stand(&gateway, a.run).await;
    for name in TEN {
        gateway.attach(a.run, name, 1, 1).await;
    }
    until("all are attached", || {
        gateway.read(|seen| seen.attached.len()) == TEN.len()
    })
    .await;
    Pair {
        store,
        gateway,
        a,
        b,
    }
}

impl Pair {
    /// Players come and go, and so do regions.
    async fn live(&self) {
        let (west, east, from, to) = land::border();
        let further = Region {
            x: west.x - 1,
            ..west
        };
        let Pair {
            store,
            gateway,
            a,
            b,
        } = self;
        let begun = last_tick(gateway, a.run);
        let transfers = || store.read(|state| state.transfers);
        all_walk(gateway, [a.run, b.run], 1, to).await;
        until("all are handed over", || transfers() == 10).await;
        store.assign(further, a.run);
        all_walk(gateway, [b.run, a.run], 2, from).await;
        until("all are handed back", || transfers() == 20).await;
        // Now both sides of the border are one run's.
        store.assign(further, b.run);
        store.assign(east, a.run);
        until("one run plays both sides", || {
            gateway.read(|seen| seen.regions[&a.run].contains(&east))
        })
        .await;
        all_walk(gateway, [a.run, b.run], 3, to).await;
        all_walk(gateway, [a.run, b.run], 4, from).await;
        until("a few hundred ticks", || {
            last_tick(gateway, a.run) > begun + 220
        })
        .await;
        a.trap.set();
        b.trap.set();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_all_that_happens_to_it_is_played_again_to_the_same_bytes() {
    let stop = CancellationToken::new();
    let pair = pair(&stop).await;
    pair.live().await;
    let Pair { a, b, .. } = pair;
    let (file, other) = (record_in(&a.folder).await, record_in(&b.folder).await);
    stop.cancel();
    let kinds_a = kinds(&file);
    let all: BTreeSet<&str> = ["in", "out", "leave", "hold", "set", "tick", "check"].into();
    assert_eq!(kinds_a.keys().copied().collect::<BTreeSet<_>>(), all);
    assert!(kinds_a["check"] >= 200, "{kinds_a:?}");
    let kinds_b = kinds(&other);
    assert!(kinds_b["picture"] >= 1, "{kinds_b:?}");
    assert!((2..=122).contains(&kinds_b["tick"]), "{kinds_b:?}");
    for file in [file, other] {
        let ended = Record::open(&file).unwrap().header.tick;
        let (code, lines) = played(&file);
        assert_eq!(code, 0, "{:?}", lines.last());
        let last = &lines[lines.len() - 1];
        assert!(
            last.contains(&format!("the last tick is {ended};")),
            "{last}"
        );
    }
    for side in [a, b] {
        std::fs::remove_dir_all(side.folder).unwrap();
    }
}

/// Panics at the inputs of one player.
struct Bug(CharacterId);

impl world::PhaseClock for Bug {
    fn phase(&mut self, _: Phase) {}

    fn input(&mut self, who: &CharacterId) {
        assert_ne!(*who, self.0, "the bug bites");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_made_a_tick_panic_is_disconnected_and_named_in_the_record() {
    let (trap, store) = (Trap::at(Phase::Inputs), FakeStore::start().await);
    let folder = folder("ann");
    let server = trapped(&store, &trap, |config| {
        config.replay_dir = Some(folder.display().to_string());
    })
    .await;
    let at = server.shelf.get().content.spawn();
    let scene = Scene {
        address: server.address().to_string(),
        region: Region::from(at),
        at,
        store,
    };
    scene.store.log_in("ann", scene.at);
    scene.store.log_in("bob", scene.at);
    let stop = CancellationToken::new();
    let running = tokio::spawn(server.run(stop.clone()));
    let run = || scene.store.run_at(&scene.address).unwrap_or_default();
    until("the first run", || run() > 0).await;
    let first = run();
    let gateway = scene.ann_plays(first, 1).await;
    gateway.attach(first, "bob", 1, 1).await;
    until("bob is attached", || {
        gateway.read(|seen| seen.attached.contains_key("bob"))
    })
    .await;

    trap.set();
    gateway.walk(first, "ann", 1, scene.at).await;
    until("the links have ended", || {
        gateway.read(|seen| seen.closed.contains(&first))
    })
    .await;
    let left = gateway.read(|seen| {
        let left = seen.left.iter();
        left.map(|(_, left)| (left.character_id.clone(), left.reason.clone()))
            .collect::<Vec<_>>()
    });
    assert_eq!(left, [("ann".to_owned(), "server_fault".to_owned())]);

    let file = record_in(&folder).await;
    stop.cancel();
    running.await.unwrap().unwrap();
    let ann = CharacterId::from("ann");
    let header = Record::open(&file).unwrap().header;
    assert_eq!((header.run_id, header.truncated), (first, false));
    assert_eq!(header.handled, Some(ann.clone()));
    assert_eq!(header.players, std::slice::from_ref(&ann));
    let (code, lines) = played(&file);
    assert_eq!(code, 0);
    let last_tick = format!("tick {} ", header.tick);
    assert!(lines[lines.len() - 2].starts_with(&last_tick), "{lines:?}");

    // The replay finds a bug that bites again in the same tick.
    let mut out = Vec::new();
    let code = command::replay((&file, false), "/nonexistent", &mut Bug(ann), &mut out);
    assert_eq!(code, Ok(3));
    let out = String::from_utf8(out).unwrap();
    let words = format!("panics in tick {}, at an input of ann;", header.tick);
    assert!(out.lines().last().unwrap().starts_with(&words), "{out}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Asks a zone for a record of the next ticks.
async fn recorded(address: String, run_id: u64, ticks: u32) -> Result<Vec<u8>, Status> {
    let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{address}")).unwrap();
    let mut client = InspectClient::new(endpoint.connect_lazy());
    let mut parts = client
        .record(RecordRequest { run_id, ticks })
        .await?
        .into_inner();
    let mut bytes = Vec::new();
    while let Some(part) = parts.message().await? {
        bytes.extend_from_slice(&part.data);
    }
    Ok(bytes)
}

/// Returns whoever waits for a record of 100 ticks, once the zone makes it.
async fn being_recorded<F>(ask: impl Fn(u32) -> F) -> JoinHandle<Result<Vec<u8>, Status>>
where
    F: Future<Output = Result<Vec<u8>, Status>> + Send + 'static,
{
    let mut long = tokio::spawn(ask(100));
    loop {
        match ask(1).await {
            // The long one came second and was refused.
            Ok(_) if long.is_finished() => long = tokio::spawn(ask(100)),
            Ok(_) => {}
            Err(status) if status.code() == Code::ResourceExhausted => return long,
            Err(status) => panic!("{status}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_gets_a_record_of_the_next_ticks_and_sees_each_step() {
    let store = FakeStore::start().await;
    // Nobody set REPLAY_DIR: nothing is remembered before somebody asks.
    let server = trapped(&store, &Trap::at(Phase::Inputs), |_| {}).await;
    let at = server.shelf.get().content.spawn();
    let scene = Scene {
        address: server.address().to_string(),
        region: Region::from(at),
        at,
        store,
    };
    scene.store.log_in("ann", scene.at);
    let stop = CancellationToken::new();
    let running = tokio::spawn(server.run(stop.clone()));
    let run = || scene.store.run_at(&scene.address);
    until("the run", || run().is_some()).await;
    let run = run().unwrap();
    let gateway = scene.ann_plays(run, 1).await;
    let ask = |run, ticks| recorded(scene.address.clone(), run, ticks);
    for (run, ticks, code) in [
        (run, 0, Code::InvalidArgument),
        (run, 101, Code::InvalidArgument),
        (run + 1, 5, Code::NotFound),
    ] {
        assert_eq!(ask(run, ticks).await.unwrap_err().code(), code);
    }

    // One at a time, until whoever asked for it gives up.
    being_recorded(|ticks| ask(run, ticks)).await.abort();
    let bytes = loop {
        let asked = tokio::spawn(ask(run, 5));
        gateway.walk(run, "ann", 1, scene.at).await;
        match asked.await.unwrap() {
            Ok(bytes) => break bytes,
            Err(status) => assert_eq!(status.code(), Code::ResourceExhausted, "{status}"),
        }
    };
    stop.cancel();
    running.await.unwrap().unwrap();

    let folder = folder("ordered");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("record.rmp");
    std::fs::write(&file, bytes).unwrap();
    let header = Record::open(&file).unwrap().header;
    assert_eq!((header.run_id, header.truncated), (run, false));
    assert_eq!(kinds(&file)["tick"], 5);
    let mut out = Vec::new();
    let code = command::replay((&file, true), "/nonexistent", &mut (), &mut out);
    assert_eq!(code, Ok(0));
    let out = String::from_utf8(out).unwrap();
    assert_eq!(out.matches("phase inputs").count(), 5, "{out}");
    assert!(
        out.contains(&format!("runs through; the last tick is {}", header.tick)),
        "{out}"
    );
    std::fs::remove_dir_all(folder).unwrap();
}
