//! Objects of the land that outlive the loss of their owner: stumps that stand for long, fires, and
//! beasts that are dead for long.
//!
//! Always: the store has each object under the chunk of its region in which it stands. The world
//! does not restore an object that was due when its region was last played.

use super::fire::Fire;
use super::ids::EntityId;
use crate::features::combat::NpcCombat;
use crate::geometry::tile::{Chunk, Region};
use crate::time::Tick;
use crate::world::World;

/// Ticks: an object that is back sooner is not worth saving.
pub(crate) const LASTS_TICKS: u64 = 100;

/// All persistent objects of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PersistentObjects {
    /// Empty resources, each with the tick at which it is back.
    pub empty: Vec<(EntityId, Tick)>,
    /// Fires that burn.
    pub fires: Vec<Fire>,
    /// Dead NPCs, each with the tick at which it is back; by the chunk in which it comes back.
    #[serde(default)]
    pub dead: Vec<(EntityId, Tick)>,
}

impl World {
    /// Returns the persistent objects of a chunk of a region that is played here.
    pub fn persistent_objects(&self, chunk: Chunk) -> PersistentObjects {
        let region = Region::from(chunk);
        let content = self.content();
        let states = self.resources.of(content, region);
        let empty = states.filter_map(|state| {
            let fixture = content.fixture(&state.id)?;
            let back_at = state.back_at?;
            let here = Chunk::from(fixture.tile) == chunk;
            (here && back_at.since(self.now) > LASTS_TICKS).then(|| (state.id.clone(), back_at))
        });
        let fires = self.fires.values();
        let fires = fires.filter(|f| f.region == region && Chunk::from(f.tile) == chunk);
        let dead = content.npcs_in(region).iter().filter_map(|placement| {
            let back_at = self.npcs.get(&placement.id)?.state.combat.back_at?;
            let here = Chunk::from(placement.tile) == chunk;
            let long = back_at.since(self.now) > LASTS_TICKS;
            (here && long).then(|| (placement.id.clone(), back_at))
        });
        PersistentObjects {
            empty: empty.collect(),
            fires: fires.cloned().collect(),
            dead: dead.collect(),
        }
    }

    /// Brings back the persistent objects of `region`, which the store gave without its state.
    /// `played` is the last tick of its play, and timers go on from there. Returns false if the
    /// region is not here.
    pub fn persistent_objects_in(
        &mut self,
        region: Region,
        played: Tick,
        all: Vec<PersistentObjects>,
    ) -> bool {
        if !self.regions.contains_key(&region) {
            return false;
        }
        let away = self.now.since(played);
        for objects in all {
            for (id, back_at) in objects.empty {
                let known = self.content.fixture(&id);
                let here = known.is_some_and(|f| Region::from(f.tile) == region);
                if here && back_at > played {
                    self.resources.entry(&id).back_at = Some(back_at.after(away));
                    self.index.touch(id);
                }
            }
            for (id, back_at) in objects.dead {
                if back_at > played {
                    self.keep_dead(region, &id, back_at.after(away));
                }
            }
            for mut fire in objects.fires {
                if fire.region == region && fire.out_at > played {
                    fire.out_at = fire.out_at.after(away);
                    self.settle_fire(fire);
                }
            }
        }
        true
    }

    /// Keeps an NPC of `region`, which has come to its place, dead until `back_at` after all.
    fn keep_dead(&mut self, region: Region, id: &EntityId, back_at: Tick) {
        let npc = self.npcs.get_mut(id);
        let Some(npc) = npc.filter(|npc| npc.region == region && npc.lives()) else {
            return;
        };
        npc.state.combat = NpcCombat {
            back_at: Some(back_at),
            ..NpcCombat::default()
        };
        npc.state.goal = None;
        self.index.go(Chunk::from(npc.state.tile), id);
    }
}
