//! Quests in play: beginning, counting, giving up and completing.
//!
//! Always: the store saves the rewards of a quest together with its end, and a count together with
//! the act behind it.

use std::sync::Arc;

use super::{Achievement, Event, Intent, QuestStatus, rules};
use crate::content::Quest;
use crate::entity::ids::CharacterId;
use crate::features::movement::Pace;
use crate::features::visit::{self, Interface};
use crate::item::ledger::Cause;
use crate::item::leg::Leg;
use crate::refusal::Refusal;
use crate::request::Answer;
use crate::tick::Outcome;
use crate::world::World;

impl World {
    /// Counts an act of a character for its quests.
    pub(crate) fn did(
        &mut self,
        who: &CharacterId,
        achievement: Achievement<'_>,
        out: &mut Outcome,
    ) {
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        if !rules::under_way(&player.record.quests) {
            return;
        }
        for id in rules::counts(&mut player.record.quests, &self.content, achievement) {
            quest_changed(who, id, out);
        }
    }

    /// Counts gathered, made, sold or banked items for quests.
    pub(crate) fn count_work(&mut self, cause: Option<Cause>, legs: &[Leg], out: &mut Outcome) {
        for leg in legs {
            let (who, achievement) = match leg {
                Leg::ToPack { who, stack } | Leg::ToSlot { who, stack, .. } => {
                    let (item, many) = (&*stack.item, stack.quantity);
                    // Nothing else that comes into a pack is work.
                    let work = if cause == Some(Cause::Gather) {
                        Achievement::Gathered(item, many)
                    } else if cause == Some(Cause::Make) {
                        Achievement::Made(item, many)
                    } else {
                        continue;
                    };
                    (who, work)
                }
                // A quest's gift that finds no room in the pack is no deed.
                Leg::ToBank { who, stack, .. } if cause.is_none_or(|of| of == Cause::Note) => {
                    (who, Achievement::Banked(&stack.item, stack.quantity))
                }
                _ => continue,
            };
            self.did(who, achievement, out);
        }
    }

    /// Counts the new contents of a character's pack for its quests.
    pub(crate) fn has_with_it(&mut self, who: &CharacterId, out: &mut Outcome) {
        let Some(player) = self.players.get(who) else {
            return;
        };
        if rules::under_way(&player.record.quests) {
            let pack = player.record.inventory.clone();
            self.did(who, Achievement::Has(&pack), out);
        }
    }

    /// Counts the new clothes and weapons of a character for its quests.
    pub(crate) fn wears_now(&mut self, who: &CharacterId, out: &mut Outcome) {
        let Some(player) = self.players.get(who) else {
            return;
        };
        if rules::under_way(&player.record.quests) {
            let worn = player.record.equipment.clone();
            self.did(who, Achievement::Wears(&worn), out);
        }
    }

    /// Counts the places of players that moved for quests.
    pub(crate) fn travel(&mut self, out: &mut Outcome) {
        let players = self.players.values();
        let gone = players.filter(|player| {
            player.gait.pace != Pace::Stood && rules::under_way(&player.record.quests)
        });
        let gone: Vec<_> = gone.map(|p| (p.record.id.clone(), p.tile())).collect();
        for (who, tile) in gone {
            self.did(&who, Achievement::Stood(tile), out);
        }
    }

    /// Answers a request about quests.
    pub(crate) fn answer_quests(
        &mut self,
        who: &CharacterId,
        intent: Intent,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::List => out.emit(Event::Listed { who: who.clone() }),
            Intent::Show { quest } => self.show_quest(who, &quest, out)?,
            Intent::Accept { quest } => self.accept_quest(who, &quest, out)?,
            Intent::Abandon { quest } => self.abandon_quest(who, &quest, out)?,
            Intent::Complete { quest } => self.tell_of_quest(who, &quest, out)?,
        }
        Ok(Answer::Done { value: true })
    }

    fn quest(&self, id: &str) -> Result<Arc<Quest>, Refusal> {
        let quest = self.content.quests().get(id);
        quest.cloned().ok_or(Refusal::NotFound)
    }

    /// Returns the quest, if the character may begin it.
    pub(crate) fn may_be_offered(&self, who: &CharacterId, id: &str) -> Result<Arc<str>, Refusal> {
        let quest = self.quest(id)?;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        rules::may_begin(&player.record, &quest)?;
        Ok(Arc::clone(&quest.id))
    }

    /// Shows all about one quest.
    fn show_quest(&self, who: &CharacterId, id: &str, out: &mut Outcome) -> Result<(), Refusal> {
        let quest = Arc::clone(&self.quest(id)?.id);
        let who = who.clone();
        out.emit(Event::Shown { who, quest });
        Ok(())
    }

    /// Begins a quest that an NPC offers.
    fn accept_quest(
        &mut self,
        who: &CharacterId,
        id: &str,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let quest = self.quest(id)?;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let offer = Interface::Offer {
            quest: Arc::clone(&quest.id),
        };
        if !player.has_open(&offer) {
            return Err(Refusal::NotOpen);
        }
        rules::may_begin(&player.record, &quest)?;
        self.give_first(who, &quest, out)?;
        if let Some(player) = self.players.get_mut(who) {
            visit::tick::close(player, out);
        }
        self.begin_quest(who, &quest, true, out);
        Ok(())
    }

    /// Begins the quests of welcome for a character that is new in the world.
    pub(crate) fn welcome(&mut self, who: &CharacterId, out: &mut Outcome) {
        let Some(player) = self.players.get(who) else {
            return;
        };
        let quests = self.content.quests().iter();
        let quests = quests.filter(|quest| rules::welcomes(&player.record, quest));
        let quests: Vec<Arc<Quest>> = quests.cloned().collect();
        for quest in quests {
            // A quest whose gifts find no room waits until its giver offers it.
            if self.give_first(who, &quest, out).is_ok() {
                self.begin_quest(who, &quest, false, out);
            }
        }
    }

    /// Gives the gifts for the beginning of a quest, unless the character got them before.
    fn give_first(
        &mut self,
        who: &CharacterId,
        quest: &Quest,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let state = player.record.quests.get(&quest.id);
        if state.is_some_and(|state| state.given) || quest.given.is_empty() {
            return Ok(());
        }
        let legs = rules::gifts(&player.record, &self.content, &quest.given)?;
        self.transfer(Some(Cause::Quest), &legs, out)
    }

    /// Begins a quest, and counts all that the character has and wears already, and its place.
    fn begin_quest(&mut self, who: &CharacterId, quest: &Quest, met: bool, out: &mut Outcome) {
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        let quests = &mut player.record.quests;
        let state = quests.entry(Arc::clone(&quest.id)).or_default();
        rules::begin(quest, state, met);
        let tile = player.tile();
        quest_changed(who, Arc::clone(&quest.id), out);
        self.has_with_it(who, out);
        self.wears_now(who, out);
        self.did(who, Achievement::Stood(tile), out);
    }

    /// Gives a quest up.
    pub(crate) fn abandon_quest(
        &mut self,
        who: &CharacterId,
        id: &str,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let content = Arc::clone(&self.content);
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        let state = player.record.quests.get_mut(id);
        let quest = content.quests().get(id).map(AsRef::as_ref);
        rules::give_up(quest, state.ok_or(Refusal::QuestStage)?)?;
        quest_changed(who, id.into(), out);
        Ok(())
    }

    /// Completes a quest with its giver, who must be near.
    fn tell_of_quest(
        &mut self,
        who: &CharacterId,
        id: &str,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let quest = self.quest(id)?;
        let from = self.players.get(who).ok_or(Refusal::NotFound)?.tile();
        let mut givers = self.npcs.values().filter(|npc| {
            let near = from.steps_to(npc.state.tile) <= visit::REACH_TILES;
            near && npc.placement.kind.id == quest.giver
        });
        if !quest.giver.is_empty() && givers.next().is_none() {
            return Err(Refusal::TooFar);
        }
        self.complete_quest(who, id, out)
    }

    /// Completes a quest, and gives its rewards.
    pub(crate) fn complete_quest(
        &mut self,
        who: &CharacterId,
        id: &str,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let quest = self.quest(id)?;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        if crate::features::quests::status(&player.record.quests, id)
            != QuestStatus::ReadyToComplete
        {
            return Err(Refusal::QuestStage);
        }
        let legs = rules::gifts(&player.record, &self.content, &quest.rewards)?;
        self.transfer(Some(Cause::Quest), &legs, out)?;
        if let Some(player) = self.players.get_mut(who)
            && let Some(state) = player.record.quests.get_mut(id)
        {
            rules::complete(state);
        }
        quest_changed(who, Arc::clone(&quest.id), out);
        out.emit(Event::Completed {
            who: who.clone(),
            quest: Arc::clone(&quest.id),
        });
        for (skill, tenths) in &quest.xp_tenths {
            self.train(who, *skill, u64::from(*tenths), out);
        }
        Ok(())
    }
}

/// Notes that a character is elsewhere in a quest, to save it and to tell it.
fn quest_changed(who: &CharacterId, quest: Arc<str>, out: &mut Outcome) {
    let changed = out.changes.quests.entry(who.clone()).or_default();
    changed.insert(Arc::clone(&quest));
    let who = who.clone();
    out.emit(Event::Progressed { who, quest });
}
