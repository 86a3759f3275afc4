//! Who gains experience.

use super::Outcome;
use crate::event::Event;
use crate::ids::CharacterId;
use crate::rules::{agent, agility, prayer, training};
use crate::skill::Skill;
use crate::world::World;

impl World {
    /// `who` gains so many tenths in `skill`: kept, told, and shown to others where they can see.
    pub(super) fn train(
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
        let Some(gain) = training::gain(player, skill, tenths) else {
            return;
        };
        if let Some(agent) = &mut player.agent {
            agent::trained(agent, skill);
        }
        let trained = out.changes.trained.entry(who.clone()).or_default();
        trained.insert(skill);
        out.events.push(Event::Trained {
            who: who.clone(),
            skill,
            gained_tenths: gain.gained_tenths,
            now: gain.now,
            leveled_up: gain.leveled_up(),
        });
        if gain.leveled_up() && skill == Skill::Constitution {
            out.events.push(Event::Vitals { who: who.clone() });
            out.touched.insert(who.entity());
        }
        if gain.leveled_up() && skill == Skill::Prayer && prayer::fill(&mut player.record) {
            out.events.push(Event::Prayer { who: who.clone() });
        }
        if fights_as != player.record.combat_level {
            out.touched.insert(who.entity());
        }
    }

    /// Those who have gone far enough gain for it.
    pub(super) fn train_walkers(&mut self, out: &mut Outcome) {
        let gone = self.players.iter_mut();
        let gone = gone.filter_map(|(who, p)| Some((who.clone(), agility::gained(p)?)));
        let gone: Vec<_> = gone.collect();
        for (who, tenths) in gone {
            self.train(&who, Skill::Agility, tenths, out);
        }
    }
}
