//! A stage for zone servers: a store and a gateway that only pretend, and real zones.

// Each test binary uses its part of the stage.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod agents;
pub mod audit;
pub mod gateway;
pub mod land;
pub mod store;

use std::{sync::Mutex, time::Duration};

use service_runtime::telemetry::{Telemetry, TelemetryConfig};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use zone_server::{Config, Server};

pub use land::{border, npc};

/// A tick of the stage.
pub const TICK_MS: u64 = 300;
/// No condition is waited for longer.
pub const TIMEOUT: Duration = Duration::from_secs(20);

/// A zone server that runs.
pub struct Zone {
    pub address: String,
    telemetry: Telemetry,
    stop: CancellationToken,
    running: Mutex<Option<JoinHandle<anyhow::Result<()>>>>,
}

impl Zone {
    /// Starts a zone against a store.
    pub async fn start(store: &str, change: impl FnOnce(&mut Config)) -> Zone {
        let env = service_runtime::config::Env::from_pairs([
            ("PERSISTENCE_ADDRESSES", store),
            ("SKIP_MANIFESTS", "true"),
        ]);
        let mut reader = service_runtime::config::Reader::new(env);
        let mut config = Config::read(&mut reader);
        reader.finish().unwrap();
        config.tick_ms = TICK_MS;
        config.rules.newcomer_ticks = 0;
        change(&mut config);
        let telemetry = Telemetry::new("zone-server", &TelemetryConfig::default()).unwrap();
        let server = Server::bind(config, telemetry.clone()).await.unwrap();
        let stop = CancellationToken::new();
        Zone {
            address: server.address().to_string(),
            telemetry,
            stop: stop.clone(),
            running: Mutex::new(Some(tokio::spawn(server.run(stop)))),
        }
    }

    /// Returns the sum of a measure over all series with this label.
    pub fn measured(&self, name: &str, label: &str) -> f64 {
        let text = self.telemetry.render_metrics();
        let series = text.lines().filter(|line| {
            let labels = line.strip_prefix(name);
            let of_it = labels.is_some_and(|labels| labels.starts_with(['{', ' ']));
            of_it && line.contains(label)
        });
        let values = series.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        values.sum()
    }

    /// Stops it in order.
    pub async fn stop(&self) {
        self.stop.cancel();
        let running = self.running.lock().unwrap().take();
        let running = running.expect("stopped once");
        let ended = tokio::time::timeout(TIMEOUT, running).await;
        ended.expect("the zone ends in time").unwrap().unwrap();
    }
}

/// Waits until something holds.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !holds() {
        assert!(begun.elapsed() < TIMEOUT, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
