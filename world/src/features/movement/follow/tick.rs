//! Players that follow others: setting out, and keeping up after each step.

use std::collections::VecDeque;

use super::rules::{self, Course};
use crate::entity::ids::{CharacterId, EntityId};
use crate::features::movement;
use crate::refusal::Refusal;
use crate::request::Answer;
use crate::tick::{Outcome, PhaseClock, failed, turn_away};
use crate::world::World;

/// Share of a tick's searches that followers may use.
const SEARCH_SHARE: u64 = 4;

impl World {
    /// Makes a player set out to follow another one.
    pub(crate) fn go_after(
        &mut self,
        who: &CharacterId,
        target: EntityId,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let leader = target.character();
        if leader == *who {
            return Err(Refusal::Unsupported);
        }
        let Some(there) = self.players.get(&leader) else {
            if self.npcs.contains_key(&target) || self.look(&target).is_some() {
                return Err(Refusal::Unsupported);
            }
            let bound = player.dealings.trade.is_some() || player.dealings.duel.is_some();
            if !bound && self.may_be_elsewhere(player.tile()) {
                return Ok(Answer::Elsewhere { target });
            }
            return Err(Refusal::PlayerOffline);
        };
        rules::may_follow(player.tile(), there)?;
        let follow = rules::begin(leader, there);
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        turn_away(player, out);
        player.gait.path.clear();
        player.follow = Some(follow);
        Ok(Answer::Done { value: false })
    }

    /// Turns followers to where their leaders went, by player slot.
    pub(crate) fn play_follows(&mut self, phases: &mut dyn PhaseClock, out: &mut Outcome) {
        let following = self.players.values();
        let following = following.filter(|player| player.follow.is_some() && player.free());
        let mut following: Vec<(u32, CharacterId)> = following
            .map(|player| (player.pid, player.record.id.clone()))
            .collect();
        following.sort_unstable();
        let askers = following.iter().map(|(_, who)| who);
        let mut searches = self.share_searches(SEARCH_SHARE, askers);
        for (_, who) in following {
            let end = searches.turn(&who);
            if let Some(player) = self.players.get(&who) {
                phases.region(player.region);
            }
            if let Err(why) = self.play_follow(&who, end)
                && let Some(player) = self.players.get_mut(&who)
            {
                player.follow = None;
                player.gait.path.clear();
                out.events.push(failed(player, why));
            }
        }
    }

    /// Plays one tick of following somebody.
    ///
    /// # Errors
    /// The reason why it ends.
    fn play_follow(&mut self, who: &CharacterId, searches_end: u64) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let before = player.follow.as_ref().ok_or(Refusal::NotFound)?;
        let from = player.tile();
        let mut follow = before.clone();
        let course = match self.players.get(&before.leader) {
            Some(leader) => {
                rules::may_follow(from, leader)?;
                follow = rules::begin(follow.leader, leader);
                rules::course(from, leader.tile(), leader.gait.trail)
            }
            None => match rules::lost(&mut follow)? {
                at if at == from => Course::There,
                at => Course::Onto(at),
            },
        };
        let as_before = before.seen_at == follow.seen_at
            && (before.lost_ticks == 0) == (follow.lost_ticks == 0)
            && !player.gait.path.is_empty();
        let path = match course {
            Course::There => Some(VecDeque::new()),
            Course::Onto(_) | Course::Beside(_) if as_before => None,
            Course::Onto(to) | Course::Beside(to) => {
                let (router, terrain) = (&mut self.router, self.content.terrain());
                match movement::way(player, router, terrain, searches_end, to) {
                    // The world is busy: it goes on as before.
                    Err(Refusal::Busy) => None,
                    way => Some(course.along(way?)),
                }
            }
        };
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        if let Some(path) = path {
            player.gait.path = path;
        }
        player.follow = Some(follow);
        Ok(())
    }
}
