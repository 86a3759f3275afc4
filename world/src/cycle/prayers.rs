//! Who prays.

use std::sync::Arc;

use super::Outcome;
use crate::event::Event;
use crate::ids::CharacterId;
use crate::refusal::Refusal;
use crate::rules::prayer;
use crate::world::World;

impl World {
    /// A player turns a prayer on or off.
    pub(super) fn pray(
        &mut self,
        who: &CharacterId,
        id: &str,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let content = Arc::clone(&self.content);
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        prayer::toggle(&mut player.record, &content, id)?;
        out.changes.moved.insert(who.clone());
        out.events.push(Event::Prayer { who: who.clone() });
        Ok(())
    }

    /// One who stands at an altar has all its points again.
    pub(super) fn pray_at_altar(&mut self, who: &CharacterId, out: &mut Outcome) {
        if let Some(player) = self.players.get_mut(who) {
            prayer::fill(&mut player.record);
            out.changes.moved.insert(who.clone());
            out.events.push(Event::Prayer { who: who.clone() });
        }
    }

    /// The prayers that are on use up points.
    pub(super) fn drain_prayers(&mut self, out: &mut Outcome) {
        for (who, player) in &mut self.players {
            if player.free() && prayer::drain(player, &self.content) {
                out.changes.moved.insert(who.clone());
                out.events.push(Event::Prayer { who: who.clone() });
            }
        }
    }
}
