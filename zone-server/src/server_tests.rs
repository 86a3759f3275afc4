//! Tests how the process acts when a tick panics.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use opentelemetry::{
    KeyValue,
    metrics::{
        Gauge, Histogram, HistogramBuilder, InstrumentBuilder, InstrumentProvider, Meter,
        SyncInstrument,
    },
};
use service_runtime::telemetry::TelemetryConfig;
use world::{Phase, Region, Tile};

use super::*;

#[allow(dead_code, unreachable_pub)]
#[path = "../tests/stage/gateway.rs"]
mod gateway;
#[allow(dead_code, unreachable_pub)]
#[path = "../tests/stage/land.rs"]
mod land;
#[path = "server_replay_tests.rs"]
mod replay;
#[allow(dead_code, unreachable_pub)]
#[path = "../tests/stage/store/mod.rs"]
mod store;
#[allow(dead_code, unreachable_pub)]
#[path = "../tests/stage/agents.rs"]
mod store_agents;
#[path = "server_value_tests.rs"]
mod value;

use gateway::Gateway;
use store::Store as FakeStore;

/// Longest wait for a condition.
const TIMEOUT: Duration = Duration::from_secs(60);

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !holds() {
        assert!(begun.elapsed() < TIMEOUT, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Instruments of which one panics once in the middle of a tick, after a test sets it. It panics at
/// the end of a phase; after the phase of inputs only if there were some.
#[derive(Clone)]
struct Trap {
    set: Arc<AtomicBool>,
    inputs: Arc<AtomicBool>,
    at: Phase,
}

impl Trap {
    fn at(phase: Phase) -> Trap {
        Trap {
            set: Arc::default(),
            inputs: Arc::default(),
            at: phase,
        }
    }

    fn set(&self) {
        self.set.store(true, Ordering::SeqCst);
    }

    fn is_set(&self) -> bool {
        self.set.load(Ordering::SeqCst)
    }
}

/// Sees the number of inputs of a tick.
struct Inputs(Arc<AtomicBool>);

impl SyncInstrument<u64> for Inputs {
    fn measure(&self, inputs: u64, _: &[KeyValue]) {
        self.0.store(inputs > 0, Ordering::SeqCst);
    }
}

impl InstrumentProvider for Trap {
    fn f64_histogram(&self, _: HistogramBuilder<'_, Histogram<f64>>) -> Histogram<f64> {
        Histogram::new(Arc::new(self.clone()))
    }

    fn u64_gauge(&self, of: InstrumentBuilder<'_, Gauge<u64>>) -> Gauge<u64> {
        let inbox = of.name == "zone_inbox_inputs";
        let seen = if inbox {
            self.inputs.clone()
        } else {
            Arc::default()
        };
        Gauge::new(Arc::new(Inputs(seen)))
    }
}

impl SyncInstrument<f64> for Trap {
    fn measure(&self, _: f64, labels: &[KeyValue]) {
        let over = labels.contains(&KeyValue::new("phase", self.at.name()));
        let ready = self.at != Phase::Inputs || self.inputs.load(Ordering::SeqCst);
        let sprung = over && ready && self.set.swap(false, Ordering::SeqCst);
        assert!(!sprung, "the trap is sprung");
    }
}

/// Starts a zone server with a trap in its tick.
async fn trapped(store: &FakeStore, trap: &Trap, change: impl FnOnce(&mut Config)) -> Server {
    let env = service_runtime::config::Env::from_pairs([
        ("PERSISTENCE_ADDRESSES", store.address.as_str()),
        ("SKIP_MANIFESTS", "true"),
    ]);
    let mut reader = service_runtime::config::Reader::new(env);
    let mut config = Config::read(&mut reader);
    reader.finish().unwrap();
    config.tick_ms = 300;
    change(&mut config);
    let telemetry = Telemetry::new("zone-server", &TelemetryConfig::default()).unwrap();
    let mut server = Server::bind(config, telemetry).await.unwrap();
    server.metrics = Metrics::new(&Meter::new(Arc::new(trap.clone())));
    server
}

struct Scene {
    store: FakeStore,
    address: String,
    region: Region,
    at: Tile,
}

impl Scene {
    /// Gives the region to the run, attaches ann there, and returns the gateway.
    async fn ann_plays(&self, run: u64, attach: u64) -> Gateway {
        self.store.assign(self.region, run);
        let gateway = Gateway::new("g");
        gateway
            .link(run, &self.address, attach, &[self.region])
            .await;
        until("ann stands in the world", || {
            let players = |seen: &gateway::Seen| {
                let (_, players) = seen.standing.get(&run)?.last_key_value()?;
                Some(players.contains("ann"))
            };
            gateway.read(players) == Some(true)
        })
        .await;
        gateway.attach(run, "ann", 1, attach).await;
        until("ann is attached", || {
            gateway.read(|seen| seen.attached.contains_key("ann"))
        })
        .await;
        gateway
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_in_a_tick_ends_the_run_and_the_process_lives_a_new_empty_one() {
    let (trap, store) = (Trap::at(Phase::Npcs), FakeStore::start().await);
    let server = trapped(&store, &trap, |_| {}).await;
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
    let run = || scene.store.run_at(&scene.address).unwrap_or_default();
    until("the first run", || run() > 0).await;
    let first = run();
    let gateway = scene.ann_plays(first, 1).await;

    trap.set();
    until("another run", || run() > first).await;
    until("the links of the first have ended", || {
        gateway.read(|seen| seen.closed.contains(&first))
    })
    .await;
    assert!(!trap.is_set(), "the trap was sprung");
    let second = run();
    let last = scene.store.read(|state| {
        assert!(state.released.is_empty(), "nothing ended in order");
        assert!(state.characters["ann"].online);
        let ended: Vec<u64> = state.ended.iter().map(|ended| ended.run_id).collect();
        assert_eq!(ended, [first], "the store has heard of the panic");
        state.applied.get(&first).copied()
    });

    // The new run holds nothing until the store gives it a region, and then plays that.
    scene.store.change(|state| state.fenced.push(first));
    scene.ann_plays(second, 2).await;
    scene.store.read(|state| {
        assert_eq!(
            state.applied.get(&first).copied(),
            last,
            "the first is over"
        );
        assert_eq!(state.problems, Vec::<String>::new());
    });
    stop.cancel();
    running.await.unwrap().unwrap();
    assert_eq!(scene.store.read(|state| state.released.clone()), [second]);
}

/// The world was handling nobody's input: the run names the region that it was playing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_that_nobody_asked_for_names_the_region_that_was_played() {
    let (trap, store) = (Trap::at(Phase::Players), FakeStore::start().await);
    let server = trapped(&store, &trap, |_| {}).await;
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
    let run = || scene.store.run_at(&scene.address).unwrap_or_default();
    until("the first run", || run() > 0).await;
    let gateway = scene.ann_plays(run(), 1).await;
    trap.set();
    until("the store has heard of it", || {
        scene.store.read(|state| !state.ended.is_empty())
    })
    .await;
    let ended = scene.store.read(|state| state.ended[0].clone());
    let regions = ended
        .regions
        .into_iter()
        .map(|region| store::key(Some(region)));
    assert_eq!(regions.collect::<Vec<_>>(), [scene.region]);
    assert!(gateway.read(|seen| seen.left.is_empty()), "it was nobody's");
    stop.cancel();
    running.await.unwrap().unwrap();
}
