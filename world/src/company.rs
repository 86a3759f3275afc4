//! The others with whom a player has to do: whom it fights, trades with, duels or talks to.

use std::collections::BTreeSet;

use crate::World;
use crate::entity::ids::{CharacterId, EntityId};

impl World {
    /// Returns the ids of the others with whom a player has to do now: six at most.
    pub fn company(&self, who: &CharacterId) -> BTreeSet<EntityId> {
        let mut company = BTreeSet::new();
        let Some(player) = self.players.get(who) else {
            return company;
        };
        let fight = &player.fight;
        company.extend(fight.aim.as_ref().map(|aim| aim.target.clone()));
        if fight.clash.in_combat(self.now) {
            let foes = [&fight.clash.attacked, &fight.clash.attacked_by];
            company.extend(foes.into_iter().flatten().map(|foe| foe.who.clone()));
        }
        company.extend(player.open.as_ref().map(|open| open.with.clone()));
        let trade = player.dealings.trade.as_ref();
        let trade = trade.and_then(|trade| self.trades.all.get(trade));
        let sides = trade.and_then(|trade| trade.sides_of(who));
        company.extend(sides.map(|(_, other)| other.who.entity()));
        let duel = self.duels.named(player.dealings.duel.as_ref());
        company.extend(duel.map(|duel| duel.other(who).entity()));
        company.remove(&who.entity());
        company
    }
}
