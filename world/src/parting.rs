//! What two share, a trade or a duel, when one of them goes without the other, or a region does.
//!
//! Always: what goes along with a region is gone here; whoever stays hears of an end in the next
//! tick.

use crate::duel::{Duel, DuelEnd, DuelStage, Duels};
use crate::ids::CharacterId;
use crate::tile::Region;
use crate::trade::{Trade, TradeEnd, Trades};
use crate::world::World;

impl World {
    /// Whether one of both who trade belongs to `region`.
    pub(crate) fn concerns(&self, trade: &Trade, region: Region) -> bool {
        let belongs = |who| self.players.get(who).is_some_and(|p| p.region == region);
        trade.sides.iter().any(|side| belongs(&side.who))
    }

    /// `region` goes: trades go along with it, or end for whoever stays.
    pub(crate) fn part_trades(&mut self, region: Region) {
        let goes = |who: &CharacterId| self.players.get(who).is_some_and(|p| p.region == region);
        let Trades { all, ended } = &mut self.trades;
        all.retain(|id, trade| {
            let stays = trade.sides.iter().filter(|side| !goes(&side.who));
            let stays: Vec<CharacterId> = stays.map(|side| side.who.clone()).collect();
            let touched = stays.len() < trade.sides.len();
            if touched {
                let told = stays.into_iter();
                ended.extend(told.map(|who| (who, id.clone(), TradeEnd::Server)));
            }
            !touched
        });
    }

    /// `who` goes: whoever trades with it hears of that in the next tick.
    pub(crate) fn leave_trades(&mut self, who: &CharacterId) {
        for id in self.trades.of(who) {
            let Some(trade) = self.trades.all.remove(&id) else {
                continue;
            };
            let others = trade.sides.into_iter().filter(|side| side.who != *who);
            let told = others.map(|side| (side.who, id.clone(), TradeEnd::Disconnected));
            self.trades.ended.extend(told);
        }
    }

    /// Whether one of both who are in a duel belongs to `region`.
    pub(crate) fn fought_in(&self, duel: &Duel, region: Region) -> bool {
        let belongs = |who| self.players.get(who).is_some_and(|p| p.region == region);
        duel.sides.iter().any(|side| belongs(&side.who))
    }

    /// `region` goes: duels go along with it, or end for whoever stays.
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

    /// `who` goes: whoever is in a duel with it hears of that in the next tick; of one that is
    /// decided, how.
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
