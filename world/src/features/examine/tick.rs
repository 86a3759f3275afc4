//! Taking a good look.

use super::{Event, Intent, rules};
use crate::entity::ids::{CharacterId, EntityId};
use crate::refusal::Refusal;
use crate::request::Answer;
use crate::tick::Outcome;
use crate::world::World;

impl World {
    /// Plays a request to take a good look.
    pub(crate) fn answer_examine(
        &mut self,
        who: &CharacterId,
        intent: Intent,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::Examine { target } => self.examine(who, target, out)?,
        }
        Ok(Answer::Done { value: false })
    }

    fn examine(
        &self,
        who: &CharacterId,
        target: EntityId,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let from = self.players.get(who).ok_or(Refusal::NotFound)?.tile();
        let played = |region| self.regions.contains_key(&region);
        let (players, npcs, ground) = (&self.players, &self.npcs, &self.ground);
        let content = &self.content;
        let text = rules::examine(players, npcs, ground, content, played, from, &target)?;
        out.emit(Event::Examined {
            who: who.clone(),
            target,
            text,
        });
        Ok(())
    }
}
