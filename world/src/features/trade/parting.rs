//! Ends trades when one of the two players leaves without the other, or a region does.
//!
//! Always: a trade that leaves with a region is gone here. A player that stays hears of the end in
//! the next tick.

use super::{Trade, TradeEnd, Trades};
use crate::entity::ids::CharacterId;
use crate::geometry::tile::Region;
use crate::world::World;

impl World {
    /// Returns whether a player of `trade` belongs to `region`.
    pub(crate) fn concerns(&self, trade: &Trade, region: Region) -> bool {
        let belongs = |who| self.players.get(who).is_some_and(|p| p.region == region);
        trade.sides.iter().any(|side| belongs(&side.who))
    }

    /// Parts the trades of `region`, which leaves: a trade leaves with it, or ends for the player
    /// that stays.
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

    /// Ends the trades and requests of `who`, which leaves. The next tick tells the other players.
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
