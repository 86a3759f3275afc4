//! Who goes home by magic.

use super::{Outcome, failed};
use crate::event::Event;
use crate::ids::CharacterId;
use crate::player::Player;
use crate::refusal::Refusal;
use crate::rules::home_teleport::{self, Due};
use crate::rules::movement;
use crate::tile::{Chunk, Region};
use crate::world::World;

impl World {
    /// What one hears of its way home on coming back: nothing, where it may go at any time.
    pub fn home_shown(&self, who: &CharacterId) -> Option<Event> {
        let player = self.players.get(who)?;
        let homeward = &player.homeward;
        let shown = homeward.done_at.is_some() || self.now < homeward.ready_at;
        shown.then(|| told(player))
    }

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
            let before = (player.homeward.done_at, player.homeward.ready_at);
            let due = home_teleport::due(&mut player.homeward, place, here, now);
            player.record.home_ready_at = player.homeward.ready_at;
            if before != (player.homeward.done_at, player.homeward.ready_at) {
                out.events.push(told(player));
            }
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

/// How far `player` is with going home by magic.
pub(super) fn told(player: &Player) -> Event {
    Event::Homeward {
        who: player.record.id.clone(),
        done_at: player.homeward.done_at,
        ready_at: player.homeward.ready_at,
    }
}

/// Ends the magic that was to bring `player` home. True: it was under way.
pub(super) fn call_off(player: &mut Player, out: &mut Outcome) -> bool {
    let casts = player.homeward.done_at.take().is_some();
    if casts {
        out.events.push(told(player));
    }
    casts
}
