//! The cost of each region in a tick, for placement and for operators. The run divides the measured work of the whole
//! tick among the regions by the players and NPCs there.

use std::{collections::BTreeMap, sync::PoisonError};

use proto::rpc::persistence::v1::RegionLoad;
use world::Region;

use super::Run;
use crate::translate::record;

/// Cost of a player, in NPCs; it is higher because the run sends messages to it.
const PLAYER_WEIGHT: u64 = 20;

/// The players and NPCs in a region.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Crowd {
    players: u32,
    npcs: u64,
}

impl Crowd {
    fn weight(self) -> u64 {
        u64::from(self.players) * PLAYER_WEIGHT + self.npcs + 1
    }
}

/// Divides `cost_us` among regions by their weight.
fn shares(cost_us: u32, crowds: &BTreeMap<Region, Crowd>) -> Vec<RegionLoad> {
    let whole: u64 = crowds.values().map(|crowd| crowd.weight()).sum();
    let share = |crowd: &Crowd| u64::from(cost_us) * crowd.weight() / whole.max(1);
    crowds
        .iter()
        .map(|(region, crowd)| RegionLoad {
            region: Some(record::rpc_region(*region)),
            cost_us: u32::try_from(share(crowd)).unwrap_or(u32::MAX),
            players: crowd.players,
        })
        .collect()
}

impl Run {
    /// Sets the regions' costs for the next renewal, when a tick costs `cost_us` on average.
    pub(super) fn measure_regions(&self, cost_us: u32) {
        let content = self.world.content();
        let empty = |region: &Region| Crowd {
            players: 0,
            npcs: content.npcs_in(*region).len() as u64,
        };
        let regions = self.regions.held.keys();
        let mut crowds: BTreeMap<Region, Crowd> = regions.map(|at| (*at, empty(at))).collect();
        for slot in self.roster.values() {
            if let Some(crowd) = crowds.get_mut(&slot.region) {
                crowd.players += 1;
            }
        }
        let shares = shares(cost_us, &crowds);
        self.context.metrics.loads(cost_us, &shares);
        let loads = &self.context.pulse.regions;
        *loads.lock().unwrap_or_else(PoisonError::into_inner) = shares;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticks_work_is_shared_out_by_who_is_there() {
        let at = |x| Region { x, z: 0 };
        let crowd = |players, npcs| Crowd { players, npcs };
        let crowds = BTreeMap::from([
            (at(0), crowd(10, 9)),
            (at(1), crowd(0, 4)),
            (at(2), crowd(0, 0)),
        ]);
        let loads = shares(2_160, &crowds);
        let told: Vec<(u32, u32)> = loads.iter().map(|l| (l.cost_us, l.players)).collect();
        assert_eq!(told, [(2_100, 10), (50, 0), (10, 0)]);
        assert!(shares(100, &BTreeMap::new()).is_empty());
    }
}
