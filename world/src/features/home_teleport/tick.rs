//! Requests to go home by magic, and their progress in a tick.

use super::rules::{self, Due};
use super::{Intent, told};
use crate::entity::ids::CharacterId;
use crate::entity::player::Player;
use crate::event::Event;
use crate::features::{home_teleport, movement};
use crate::geometry::tile::{Chunk, Region};
use crate::refusal::Refusal;
use crate::request::Answer;
use crate::tick::{Outcome, failed, lay_down};
use crate::world::World;

impl World {
    /// Plays a request to go home by magic.
    pub(crate) fn answer_home_teleport(
        &mut self,
        who: &CharacterId,
        intent: Intent,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::Begin => {
                let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
                rules::begin(&mut player.homeward, &player.fight.clash, self.now)?;
                player.gait.path.clear();
                lay_down(player, out);
                out.events.push(progress(player));
            }
        }
        Ok(Answer::Done { value: false })
    }

    /// Returns the progress to show a player that comes back; none if it may begin at any time.
    pub fn home_shown(&self, who: &CharacterId) -> Option<Event> {
        let player = self.players.get(who)?;
        let homeward = &player.homeward;
        let shown = homeward.done_at.is_some() || self.now < homeward.ready_at;
        shown.then(|| progress(player))
    }

    /// Puts players at home who have stood still for long enough, or begins their way there.
    pub(crate) fn bring_home(&mut self, out: &mut Outcome) {
        let (content, now) = (&self.content, self.now);
        let under_way = |player: &Player| {
            let homeward = &player.homeward;
            !player.gait.held && (homeward.done_at.is_some() || homeward.leaving.is_some())
        };
        let mut risen = Vec::new();
        for (who, player) in &mut self.players {
            if !under_way(player) {
                continue;
            }
            let place = player.leaving_for().unwrap_or_else(|| content.home_of(who));
            let here = self.regions.contains_key(&Region::from(place));
            let before = (player.homeward.done_at, player.homeward.ready_at);
            let due = rules::due(&mut player.homeward, place, here, now);
            player.record.home_ready_at = player.homeward.ready_at;
            if before != (player.homeward.done_at, player.homeward.ready_at) {
                out.events.push(progress(player));
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
                    player.gait.path.clear();
                    player.stand(content.terrain(), place);
                    self.index.shift(before, Chunk::from(place), &id);
                    out.touched.insert(id);
                    out.changes.altered.insert(who.clone());
                    out.emit(movement::Event::Teleported {
                        who: who.clone(),
                        tile: place,
                    });
                }
            }
        }
        // A dead player rises at home, or where it is if the way there failed.
        risen.retain(|who| self.players.get(who).is_some_and(|p| !p.lives()));
        for who in risen {
            self.revive(&who, None, out);
        }
    }
}

/// Returns the event that tells `player` its progress in going home by magic.
pub(crate) fn progress(player: &Player) -> Event {
    let who = player.record.id.clone();
    home_teleport::Event::Progress(who, told::progress(&player.homeward)).into()
}

/// Ends the magic that was to bring `player` home. Returns whether the magic was under way.
pub(crate) fn call_off(player: &mut Player, out: &mut Outcome) -> bool {
    let casts = player.homeward.done_at.take().is_some();
    if casts {
        out.events.push(progress(player));
    }
    casts
}
