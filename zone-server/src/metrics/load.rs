//! What the run's ticks cost, and which of its regions cost most.
//!
//! Always: at most [`BUSIEST`] regions of a run have a series at a time. An operator needs the name of
//! a region that is too busy and of no other, so that a histogram over all regions would not do; the
//! rest of the work is the run's load less theirs.

use std::sync::{Arc, Mutex, PoisonError};

use opentelemetry::{
    KeyValue,
    metrics::{Meter, ObservableGauge},
};
use proto::rpc::persistence::v1::RegionLoad;

/// Regions of a run that have a series of their own.
pub(super) const BUSIEST: usize = 8;

/// The last measured load of the run, which all clones share.
#[derive(Debug, Clone)]
pub(super) struct Loads {
    now: Arc<Mutex<Load>>,
    /// Registrations of the callbacks.
    _gauges: Arc<[ObservableGauge<f64>; 2]>,
    _players: ObservableGauge<u64>,
}

/// The load of a run.
#[derive(Debug, Clone, Default, PartialEq)]
struct Load {
    cost_us: u32,
    busiest: Vec<Busy>,
}

/// A region among the busiest.
#[derive(Debug, Clone, PartialEq)]
struct Busy {
    region: String,
    cost_us: u32,
    players: u32,
}

impl Loads {
    pub(super) fn new(meter: &Meter) -> Loads {
        let now: Arc<Mutex<Load>> = Arc::default();
        let seen = || {
            let now = Arc::clone(&now);
            move || now.lock().unwrap_or_else(PoisonError::into_inner).clone()
        };
        let (run, regions, players) = (seen(), seen(), seen());
        let gauge = |name: &'static str, what: &'static str| {
            let gauge = meter.f64_observable_gauge(name);
            gauge.with_unit("s").with_description(what)
        };
        let of_run = gauge("zone_load_seconds", "Mean work of a tick of the run")
            .with_callback(move |gauge| gauge.observe(seconds(run().cost_us), &[]))
            .build();
        let of_regions = gauge(
            "zone_region_load_seconds",
            "Share of each of the run's eight busiest regions in the mean work of a tick",
        )
        .with_callback(move |gauge| {
            for busy in regions().busiest {
                let labels = [KeyValue::new("region", busy.region)];
                gauge.observe(seconds(busy.cost_us), &labels);
            }
        })
        .build();
        let of_players = meter
            .u64_observable_gauge("zone_region_players")
            .with_description("Players in each of the run's eight busiest regions")
            .with_callback(move |gauge| {
                for busy in players().busiest {
                    let labels = [KeyValue::new("region", busy.region)];
                    gauge.observe(busy.players.into(), &labels);
                }
            })
            .build();
        Loads {
            now,
            _gauges: Arc::new([of_run, of_regions]),
            _players: of_players,
        }
    }

    /// Sets the mean work of a tick, and the share of each region in it.
    pub(super) fn set(&self, cost_us: u32, regions: &[RegionLoad]) {
        let busiest = busiest(regions);
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Load { cost_us, busiest };
    }
}

fn seconds(us: u32) -> f64 {
    f64::from(us) / 1_000_000.0
}

/// Returns the regions that cost most, and of equals those with more players.
fn busiest(regions: &[RegionLoad]) -> Vec<Busy> {
    let mut sorted: Vec<&RegionLoad> = regions.iter().collect();
    sorted.sort_by_key(|load| std::cmp::Reverse((load.cost_us, load.players)));
    let busiest = sorted.into_iter().take(BUSIEST);
    let busy = busiest.filter_map(|load| {
        let region = load.region?;
        Some(Busy {
            region: format!("{},{}", region.x, region.z),
            cost_us: load.cost_us,
            players: load.players,
        })
    });
    busy.collect()
}

#[cfg(test)]
mod tests {
    use proto::rpc::common::v1::Region;
    use service_runtime::telemetry::{Telemetry, TelemetryConfig};

    use super::*;

    fn load(x: i32, cost_us: u32) -> RegionLoad {
        RegionLoad {
            region: Some(Region { x, z: -1 }),
            cost_us,
            players: cost_us / 100,
        }
    }

    #[tokio::test]
    async fn only_the_busiest_regions_have_series_however_they_change() {
        let telemetry = Telemetry::new("zone-server", &TelemetryConfig::default()).unwrap();
        let loads = Loads::new(&telemetry.meter());
        for first in 0..100 {
            let regions: Vec<RegionLoad> = (0..50)
                .map(|x| load(first * 50 + x, 1_000 * u32::try_from(x).unwrap()))
                .collect();
            loads.set(1_225_000, &regions);
            let shown = telemetry.render_metrics();
            let series = |name: &str| shown.lines().filter(|line| line.starts_with(name)).count();
            assert_eq!(series("zone_region_load_seconds{"), BUSIEST, "{shown}");
            assert_eq!(series("zone_region_players{"), BUSIEST);
            let busiest = format!(
                "zone_region_load_seconds{{region=\"{},-1\"}} 0.049",
                first * 50 + 49
            );
            assert!(shown.contains(&busiest), "{shown}");
        }
        assert!(
            telemetry
                .render_metrics()
                .contains("zone_load_seconds 1.225")
        );
    }
}
