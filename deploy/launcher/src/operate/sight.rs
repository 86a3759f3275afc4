//! One look at a cluster: its zones, and the regions that they play.

use serde::Deserialize;
use serde_json::Value;

use super::cluster::Cluster;

/// A zone, and all that it plays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Zone {
    pub(super) id: String,
    pub(super) address: String,
    pub(super) state: String,
    pub(super) regions: usize,
    pub(super) players: u64,
    /// Work of a tick for all its regions, in microseconds.
    pub(super) cost_micros: u64,
}

/// A region, as the gateway tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub(super) x: i32,
    pub(super) z: i32,
    /// The zone that plays it.
    pub(super) zone: Option<String>,
    pub(super) epoch: u64,
    pub(super) players: u64,
    /// Share of the work of a tick, in microseconds.
    pub(super) cost_micros: u64,
    /// The zone that is to have it.
    pub(super) goes_to: Option<String>,
    pub(super) faults: u64,
    pub(super) paused: bool,
}

impl Region {
    /// Returns what an operator must know of it.
    pub(super) fn note(&self) -> String {
        let mut notes = Vec::new();
        if self.paused {
            notes.push("paused".to_owned());
        }
        if self.zone.is_none() {
            notes.push("nobody plays it".to_owned());
        }
        if let Some(zone) = &self.goes_to {
            notes.push(format!("goes to {zone}"));
        }
        if self.faults > 0 {
            notes.push(format!("{} faults", self.faults));
        }
        notes.join(", ")
    }
}

/// One look at a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sight {
    /// By their numbers.
    pub(super) zones: Vec<Zone>,
    /// The one that costs most first.
    pub(super) regions: Vec<Region>,
}

#[derive(Deserialize)]
struct Told {
    zones: Vec<Process>,
    regions: Vec<Region>,
}

#[derive(Deserialize)]
struct Process {
    id: String,
    address: String,
    state: String,
}

impl Sight {
    /// Looks at a cluster.
    pub(super) async fn of(cluster: &Cluster) -> anyhow::Result<Self> {
        Self::read(cluster.get("/admin/zones", &[]).await?)
    }

    /// Reads an answer of `/admin/zones`.
    pub(super) fn read(answer: Value) -> anyhow::Result<Self> {
        let mut told: Told = serde_json::from_value(answer)?;
        told.regions
            .sort_by_key(|region| (std::cmp::Reverse(region.cost_micros), region.x, region.z));
        let zones = told.zones.into_iter().map(|process| {
            let own = |region: &&Region| region.zone.as_ref() == Some(&process.id);
            let own = || told.regions.iter().filter(own);
            Zone {
                regions: own().count(),
                players: own().map(|region| region.players).sum(),
                cost_micros: own().map(|region| region.cost_micros).sum(),
                id: process.id.clone(),
                address: process.address.clone(),
                state: process.state.clone(),
            }
        });
        let mut zones: Vec<Zone> = zones.collect();
        zones.sort_by_key(|zone| (zone.id.len(), zone.id.clone()));
        Ok(Self {
            zones,
            regions: told.regions,
        })
    }

    /// Returns the number of players in all regions.
    pub(super) fn players(&self) -> u64 {
        self.regions.iter().map(|region| region.players).sum()
    }
}

/// Writes microseconds as milliseconds.
pub(super) fn millis(micros: u64) -> String {
    format!("{}.{}", micros / 1_000, micros % 1_000 / 100)
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// Two zones, and three regions of which nobody plays one.
    pub(in crate::operate) fn answer() -> Value {
        let region = |x: i32, zone: Option<&str>, cost: u64| {
            json!({"x": x, "z": -1, "zone": zone, "epoch": 3, "players": 2, "costMicros": cost,
                   "goesTo": null, "faults": 0, "paused": zone.is_none()})
        };
        json!({
            "zones": [
                {"id": "10", "address": "zone-1:5700", "state": "draining"},
                {"id": "9", "address": "zone-0:5700", "state": "live"},
            ],
            "regions": [region(0, Some("9"), 1_250), region(1, Some("9"), 4_000), region(2, None, 0)],
        })
    }

    #[test]
    fn a_zone_has_the_players_and_the_cost_of_its_regions() {
        let sight = Sight::read(answer()).unwrap();
        let zones = sight.zones.iter();
        let zones: Vec<_> = zones
            .map(|zone| (&*zone.id, zone.regions, zone.players, zone.cost_micros))
            .collect();
        assert_eq!(zones, [("9", 2, 4, 5_250), ("10", 0, 0, 0)]);
        assert_eq!(sight.players(), 6);
        let dearest: Vec<i32> = sight.regions.iter().map(|region| region.x).collect();
        assert_eq!(dearest, [1, 0, 2]);
        assert_eq!(sight.regions[2].note(), "paused, nobody plays it");
        assert_eq!(millis(5_250), "5.2");
    }
}
