//! A trade when one of the two goes without the other, or a region does.
//!
//! Always: what goes along with a region is gone here; whoever stays hears of an end in the next tick.

use super::{Trade, TradeEnd, Trades};
use crate::entity::ids::CharacterId;
use crate::geometry::tile::Region;
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
}
