//! Gains of experience, and the events that tell of them.

use super::skill::Skill;
use super::{Event, rules, told};
use crate::entity::ids::CharacterId;
use crate::features::movement::agility;
use crate::tick::Outcome;
use crate::world::World;

impl World {
    /// Adds `tenths` of experience in `skill` to `who`, tells `who`, and shows others the visible
    /// part.
    pub(crate) fn train(
        &mut self,
        who: &CharacterId,
        skill: Skill,
        tenths: u64,
        out: &mut Outcome,
    ) {
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        let fights_as = player.record.combat_level;
        let Some(gain) = rules::gain(player, skill, tenths) else {
            return;
        };
        let stronger = fights_as != player.record.combat_level;
        let trained = out.changes.trained.entry(who.clone()).or_default();
        trained.insert(skill);
        out.emit(Event::Gained(who.clone(), told::gained(skill, &gain)));
        if stronger {
            out.touched.insert(who.entity());
        }
        self.trained(who, skill, gain.leveled_up(), out);
    }

    /// Gives experience in agility to each player that has gone far enough.
    pub(crate) fn train_walkers(&mut self, out: &mut Outcome) {
        let gone = self.players.iter_mut();
        let gone = gone.filter_map(|(who, p)| Some((who.clone(), agility::gained(p)?)));
        let gone: Vec<_> = gone.collect();
        for (who, tenths) in gone {
            self.train(&who, Skill::Agility, tenths, out);
        }
    }
}
