//! Ends duels when one of the two players leaves without the other, or a region does.
//!
//! Always: a duel that leaves with a region is gone here. A player that stays hears of the end in
//! the next tick.

use super::{Duel, DuelEnd, DuelStage, Duels};
use crate::entity::ids::CharacterId;
use crate::geometry::tile::Region;
use crate::world::World;

impl World {
    /// Returns whether a player of `duel` belongs to `region`.
    pub(crate) fn fought_in(&self, duel: &Duel, region: Region) -> bool {
        let belongs = |who| self.players.get(who).is_some_and(|p| p.region == region);
        duel.sides.iter().any(|side| belongs(&side.who))
    }

    /// Parts the duels of `region`, which leaves: a duel leaves with it, or ends for the player
    /// that stays.
    pub(crate) fn part_duels(&mut self, region: Region) {
        let goes = |who: &CharacterId| self.players.get(who).is_some_and(|p| p.region == region);
        let Duels { all, ended, .. } = &mut self.duels;
        all.retain(|id, duel| {
            let stays = duel.fighters().into_iter().filter(|who| !goes(who));
            let stays: Vec<CharacterId> = stays.collect();
            let touched = stays.len() < duel.sides.len();
            if touched {
                let told = stays.into_iter();
                ended.extend(told.map(|who| (who, id.clone(), DuelEnd::Server)));
            }
            !touched
        });
    }

    /// Ends the duel of `who`, which leaves. The next tick tells the opponent. A duel that has
    /// finished stays, so that the opponent hears its result.
    pub(crate) fn leave_duels(&mut self, who: &CharacterId) {
        let Duels { all, ended, .. } = &mut self.duels;
        all.retain(|id, duel| {
            let own = duel.sides.iter().any(|side| side.who == *who);
            if !own || duel.stage == DuelStage::Finished {
                return true;
            }
            let other = duel.other(who).clone();
            ended.push((other, id.clone(), DuelEnd::Disconnected));
            false
        });
    }
}
