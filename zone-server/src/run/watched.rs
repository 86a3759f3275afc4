//! A simulation's view of a run.

use world::{CharacterId, Region};

use super::Run;
use crate::{roster::Stage, simulation::Played};

impl Run {
    /// Returns the characters that the run plays or brings in.
    pub(crate) fn played(&self) -> Vec<Played> {
        let played = self.roster.iter().map(|(who, slot)| Played {
            who: who.to_string(),
            region: slot.region,
            sequence: slot.sequence,
            stands: slot.stage == Stage::Playing && self.world.player(who).is_some(),
            attached: slot.session.is_some(),
        });
        played.collect()
    }

    /// Returns all knowledge of the run about a character, for people.
    pub(crate) fn slots(&self, who: &CharacterId) -> Vec<String> {
        let id = self.id;
        let player = self.world.player(who).map(world::Player::tile);
        let slot = self.roster.get(who).map(|slot| {
            let (stage, source, sequence) = (&slot.stage, &slot.departure.source, slot.sequence);
            format!(
                "run {id}: slot in {:?} with sequence {sequence}, {stage:?}, {source:?}, stands at \
                 {player:?}",
                slot.region,
            )
        });
        let announced = self
            .handovers
            .announced
            .get(who)
            .map(|announced| &announced.pending);
        let announced = announced.map(|pending| format!("run {id}: announced {pending:?}"));
        let gone = self.handovers.departed.get(who).map(|gone| &gone.state);
        let gone = gone.map(|state| format!("run {id}: departed {state:?}"));
        slot.into_iter().chain(announced).chain(gone).collect()
    }

    /// Returns whether the player acts on things in this run and must not go.
    pub(crate) fn pinned(&self, who: &CharacterId) -> bool {
        let player = self.world.player(who);
        player.is_some_and(|player| player.pinned(self.world.now()))
    }

    /// Describes the work of the run, for people.
    pub(crate) fn about(&self) -> String {
        let id = self.id;
        let giving: Vec<_> = self
            .moves
            .giving
            .iter()
            .map(|(r, m)| (r, m.closing()))
            .collect();
        let announced: Vec<_> = self.handovers.announced.keys().collect();
        let held: Vec<_> = self
            .roster
            .iter()
            .map(|(who, slot)| (who, slot.region, &slot.stage, &slot.departure.source))
            .collect();
        format!(
            "run {id} at tick {}: holds {:?}, gives {giving:?}, turned down {:?}, loads {:?}, awaits \
             {announced:?}, slots {held:?}, a batch flies: {}, drains: {}, stops: {:?}",
            self.now,
            self.regions.held,
            self.moves.refusals(),
            self.regions.coming(),
            self.batch.flying(),
            self.ending.drain.is_some(),
            self.ending.stopping,
        )
    }

    /// Returns the regions that the run plays, with their epochs.
    pub(crate) fn regions_held(&self) -> Vec<(Region, u64)> {
        let held = self.regions.held.iter();
        held.map(|(region, epoch)| (*region, *epoch)).collect()
    }
}
