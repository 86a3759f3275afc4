//! Requests to pray, altars, and the drain of points in a tick.

use std::sync::Arc;

use super::{Event, Intent, rules};
use crate::entity::ids::CharacterId;
use crate::features::quests::Achievement;
use crate::features::training::skill::Skill;
use crate::features::visit::Interface;
use crate::refusal::Refusal;
use crate::request::{Answer, Asked};
use crate::tick::Outcome;
use crate::world::World;

impl World {
    /// Plays a request to pray.
    pub(crate) fn answer_prayer(
        &mut self,
        asked: Asked<'_>,
        intent: Intent,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::Toggle { prayer } => {
                self.pray(asked.who, &prayer, out)?;
                Ok(Answer::Done { value: false })
            }
            Intent::PrayAt { target } => {
                self.visit(asked, target, Interface::Altar, searches_end, out)
            }
        }
    }

    /// Turns a prayer of `who` on or off.
    pub(crate) fn pray(
        &mut self,
        who: &CharacterId,
        id: &str,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let content = Arc::clone(&self.content);
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        rules::toggle(&mut player.record, &content, id)?;
        out.changes.altered.insert(who.clone());
        out.emit(Event::Changed { who: who.clone() });
        Ok(())
    }

    /// Restores all prayer points of `who`, who stands at an altar.
    pub(crate) fn pray_at_altar(&mut self, who: &CharacterId, out: &mut Outcome) {
        if let Some(player) = self.players.get_mut(who) {
            let level = player.record.level(Skill::Prayer);
            player.record.prayer.fill(level);
            out.changes.altered.insert(who.clone());
            out.emit(Event::Changed { who: who.clone() });
            self.did(who, Achievement::Prayed, out);
        }
    }

    /// Drains the points of all players with active prayers.
    pub(crate) fn drain_prayers(&mut self, out: &mut Outcome) {
        for (who, player) in &mut self.players {
            if player.free() && rules::drain(player, &self.content) {
                out.changes.altered.insert(who.clone());
                out.emit(Event::Changed { who: who.clone() });
            }
        }
    }
}
