//! Time for which regions stood still when one zone server gave them to another.
//!
//! Always: every give is counted once, by the run that took the region.

use anyhow::{Context, Result};

use crate::{
    cluster::{Cluster, Member, metrics::sum},
    http,
};

const NAME: &str = "zone_region_missed_ticks";

/// Gives of regions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gives {
    /// All of them.
    pub count: u64,
    /// Those in which at most one tick was not played by anybody.
    pub in_time: u64,
}

impl Gives {
    /// Reads the metrics of a zone server; one that has taken no region has none of them.
    fn read(metrics: &str) -> Gives {
        let count = sum(metrics, &format!("{NAME}_count"), "");
        let in_time = sum(metrics, &format!("{NAME}_bucket"), "le=\"1\"");
        Gives {
            count: count as u64,
            in_time: in_time as u64,
        }
    }

    /// Returns the regions that a zone server has taken since it began.
    ///
    /// # Errors
    /// It does not say.
    pub async fn of(cluster: &Cluster, zone: Member) -> Result<Gives> {
        let answer = http::get(&cluster.probes(zone)?, "/metrics").await;
        let answer = answer.with_context(|| format!("the metrics of {zone:?}"))?;
        Ok(Gives::read(&answer.text()))
    }

    /// Returns the regions that all these zone servers have taken since they began.
    ///
    /// # Errors
    /// One of them does not say.
    pub async fn of_all(cluster: &Cluster, zones: &[Member]) -> Result<Gives> {
        let mut all = Gives::default();
        for zone in zones {
            all.add(Gives::of(cluster, *zone).await?);
        }
        Ok(all)
    }

    /// Counts others too.
    pub fn add(&mut self, more: Gives) {
        self.count += more.count;
        self.in_time += more.in_time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_are_read_from_the_metrics() {
        let metrics = "# TYPE zone_region_missed_ticks histogram\n\
            zone_region_missed_ticks_bucket{otel_scope_name=\"zone\",le=\"0\"} 3\n\
            zone_region_missed_ticks_bucket{otel_scope_name=\"zone\",le=\"1\"} 5\n\
            zone_region_missed_ticks_bucket{otel_scope_name=\"zone\",le=\"16\"} 6\n\
            zone_region_missed_ticks_sum{otel_scope_name=\"zone\"} 9\n\
            zone_region_missed_ticks_count{otel_scope_name=\"zone\"} 6\n";
        let gives = Gives {
            count: 6,
            in_time: 5,
        };
        assert_eq!(Gives::read(metrics), gives);
        assert_eq!(Gives::read("zone_regions 4\n"), Gives::default());
    }
}
