//! Who goes home by magic.

use super::{Outcome, failed};
use crate::event::Event;
use crate::player::Player;
use crate::refusal::Refusal;
use crate::rules::home_teleport::{self, Due};
use crate::rules::movement;
use crate::tile::{Chunk, Region};
use crate::world::World;

impl World {
    /// Those who have stood still for long enough are at home, or are to be brought there.
    pub(super) fn bring_home(&mut self, out: &mut Outcome) {
        let (terrain, spawn, now) = (self.content.terrain(), self.content.spawn(), self.now);
        // Something may stand on the spawn itself.
        let free = || movement::settled(terrain, spawn, spawn).unwrap_or(spawn);
        let under_way = |player: &Player| {
            let homeward = &player.homeward;
            !player.held && (homeward.done_at.is_some() || homeward.leaving.is_some())
        };
        let mut risen = Vec::new();
        for (who, player) in &mut self.players {
            if !under_way(player) {
                continue;
            }
            let place = player.leaving_for().unwrap_or_else(free);
            let here = self.regions.contains_key(&Region::from(place));
            let due = home_teleport::due(&mut player.homeward, place, here, now);
            player.record.home_ready_at = player.homeward.ready_at;
            match due {
                Due::Nothing => {}
                Due::Failed => {
                    out.events.push(failed(player, Refusal::Unreachable));
                    risen.push(who.clone());
                }
                Due::Home => {
                    risen.push(who.clone());
                    let (id, before) = (who.entity(), Chunk::from(player.tile()));
                    player.path.clear();
                    movement::stand(player, terrain, place);
                    self.index.shift(before, Chunk::from(place), &id);
                    out.touched.insert(id);
                    out.changes.moved.insert(who.clone());
                    out.events.push(Event::Teleported {
                        who: who.clone(),
                        tile: place,
                    });
                }
            }
        }
        // Who was dead stands up there, or where it is if it could not be brought there.
        risen.retain(|who| self.players.get(who).is_some_and(|p| !p.lives()));
        for who in risen {
            self.revive(&who, None, out);
        }
    }
}
