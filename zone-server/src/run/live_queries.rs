//! Answers the live queries that come over HTTP. Reads only.

use std::collections::BTreeMap;

use proto::rpc::{
    common::v1 as common,
    queries::v1::{CrowdReply, RegionCrowd, WhereaboutsReply},
};
use world::{CharacterId, Region};

use super::Run;

impl Run {
    /// Returns the place of a character that is played here.
    pub(super) fn whereabouts(&self, character_id: &str) -> Option<WhereaboutsReply> {
        let player = self.world.player(&CharacterId::from(character_id))?;
        let (tile, region) = (player.tile(), player.region());
        Some(WhereaboutsReply {
            tick: self.now,
            region: Some(wire(region)),
            x: tile.x,
            y: player.record().y as f32,
            z: tile.z,
        })
    }

    /// Returns the numbers of players and NPCs in each region that is played here, and the mean times of
    /// ticks and commits.
    pub(super) fn crowd(&self) -> CrowdReply {
        let empty = |region: Region| (region, RegionCrowd::default());
        let mut crowds: BTreeMap<Region, RegionCrowd> = self.world.regions().map(empty).collect();
        for player in self.world.players() {
            if let Some(crowd) = crowds.get_mut(&player.region()) {
                crowd.players += 1;
            }
        }
        for (kind, tile) in self.shown.published.shown() {
            if kind == "npc"
                && let Some(crowd) = crowds.get_mut(&Region::from(tile))
            {
                crowd.npcs += 1;
            }
        }
        let told = |(region, crowd)| RegionCrowd {
            region: Some(wire(region)),
            ..crowd
        };
        let pulse = &self.context.pulse;
        CrowdReply {
            tick: self.now,
            regions: crowds.into_iter().map(told).collect(),
            tick_us: pulse.tick.micros(),
            commit_us: pulse.commit.micros(),
        }
    }
}

fn wire(region: Region) -> common::Region {
    common::Region {
        x: region.x,
        z: region.z,
    }
}
