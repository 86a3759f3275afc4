//! Puts characters of a lost run where gateways saw them last.
//!
//! Always: the first offer for a character decides. The run refuses a wrong one in silence: the
//! character stays where the store has it.

use proto::rpc::{AGENT_SESSION, persistence::v1::LoadRegionReply, zone::v1::Attach};
use world::CharacterId;

use super::Run;
use crate::{regained::Sight, roster::Stage};

/// Characters whose offered places the run remembers.
const OFFERS_MAX: usize = 10_000;

impl Run {
    /// Notes the place that a gateway offers, for a character that may still be on its way from the
    /// store.
    pub(super) fn offered(&mut self, who: &CharacterId, attach: &Attach) {
        let slot = self.roster.get(who);
        let counts = slot.is_none_or(|slot| slot.regains.is_some());
        let offers = &mut self.handovers.offers;
        if !counts {
            // It plays here. What was offered before must not count when it comes back.
            offers.remove(who);
        } else if let Some(sight) = Sight::of(attach.shown.as_ref())
            && offers.len() < OFFERS_MAX
        {
            offers.insert(who.clone(), (sight, self.now));
        }
    }

    /// Returns whether gateways have offered places for all characters of a region that they hold.
    pub(super) fn all_offered(&self, region: &LoadRegionReply) -> bool {
        let offers = &self.handovers.offers;
        let mut characters = region.characters.iter();
        characters.all(|row| {
            let offered = offers.contains_key(&CharacterId::from(row.id.as_str()));
            offered || row.session_id == AGENT_SESSION
        })
    }

    /// Puts a character that came from the store where a gateway saw it last, if it can have walked
    /// there.
    pub(super) fn regain(&mut self, who: &CharacterId) {
        let playing = |slot: &&mut crate::roster::PlayerSlot| slot.stage == Stage::Playing;
        let Some(slot) = self.roster.get_mut(who).filter(playing) else {
            return;
        };
        let Some(saved) = slot.regains else {
            return;
        };
        let Some((sight, _)) = self.handovers.offers.remove(who) else {
            return;
        };
        slot.regains = None;
        let run_tiles = self.config.rules.run_tiles;
        let steps = sight.steps_max(saved, self.now, run_tiles);
        let taken = steps.is_some_and(|steps| self.world.regain(who, sight.tile, steps));
        self.context
            .metrics
            .regained(if taken { "taken" } else { "refused" });
        if taken {
            self.batch.altered(who, self.now);
        }
    }
}
