//! What of the land outlives the loss of whoever plays it: stumps that stand for long, fires, and
//! beasts that are dead for long.
//!
//! Always: what lasts is told of by the chunk of its region in which it stands; what was due when
//! it was last played is not brought back.

use super::fire::Fire;
use super::ids::EntityId;
use crate::features::combat::NpcCombat;
use crate::geometry::tile::{Chunk, Region};
use crate::time::Tick;
use crate::world::World;

/// What is back sooner is not worth a word with the store, in ticks.
pub(crate) const LASTS_TICKS: u64 = 100;

/// All that lasts of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PersistentObjects {
    /// What is empty, and until when.
    pub empty: Vec<(EntityId, Tick)>,
    /// What burns.
    pub fires: Vec<Fire>,
    /// Who is dead, and until when; by the chunk in which it comes back.
    #[serde(default)]
    pub dead: Vec<(EntityId, Tick)>,
}

impl World {
    /// What lasts of a chunk of a region that is played here.
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
            let back_at = self.npcs.get(&placement.id)?.state.feud.back_at?;
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

    /// Brings back what the store has of `region`, which came from it without its state: `played`
    /// is the last tick that it was played, and timers go on from there. False: it is not here.
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
        for lasting in all {
            for (id, back_at) in lasting.empty {
                let known = self.content.fixture(&id);
                let here = known.is_some_and(|f| Region::from(f.tile) == region);
                if here && back_at > played {
                    self.resources.entry(&id).back_at = Some(back_at.after(away));
                    self.touched.insert(id);
                }
            }
            for (id, back_at) in lasting.dead {
                if back_at > played {
                    self.keep_dead(region, &id, back_at.after(away));
                }
            }
            for mut fire in lasting.fires {
                if fire.region == region && fire.out_at > played {
                    fire.out_at = fire.out_at.after(away);
                    self.settle_fire(fire);
                }
            }
        }
        true
    }

    /// An NPC of `region` that has come to its place is dead until then after all.
    fn keep_dead(&mut self, region: Region, id: &EntityId, back_at: Tick) {
        let npc = self.npcs.get_mut(id);
        let Some(npc) = npc.filter(|npc| npc.region == region && npc.lives()) else {
            return;
        };
        npc.state.feud = NpcCombat {
            back_at: Some(back_at),
            ..NpcCombat::default()
        };
        npc.state.goal = None;
        self.index.take(Chunk::from(npc.state.tile), id);
        self.touched.insert(id.clone());
    }
}
