//! Talks with NPCs: their words, the answers, and the effects.

use std::sync::Arc;

use super::told::DialogueNode;
use super::{Event, Intent, rules};
use crate::content::{Dialogue, Effect};
use crate::entity::ids::CharacterId;
use crate::features::quests::Achievement;
use crate::features::skilling::RecipeKind;
use crate::features::skilling::make::Request;
use crate::features::visit::{self, Interface};
use crate::features::vitals;
use crate::item::ledger::Cause;
use crate::item::leg::Leg;
use crate::item::{COINS, Stack};
use crate::refusal::Refusal;
use crate::request::{Answer, Asked, Limits};
use crate::tick::Outcome;
use crate::world::World;

/// State of a talk.
struct Talk {
    dialogue: Arc<Dialogue>,
    node: Arc<str>,
    /// Kind of NPC that speaks.
    kind: Arc<str>,
}

impl World {
    /// Follows a request in a talk.
    pub(crate) fn answer_dialogue(
        &mut self,
        asked: Asked<'_>,
        intent: Intent,
        limits: Limits,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::Talk { target } => {
                let what = Interface::Dialogue { node: "".into() };
                return self.visit(asked, target, what, limits.searches_end, out);
            }
            Intent::Respond { index } => self.respond(asked, index, limits, out)?,
            Intent::Continue => self.continue_talk(asked, limits, out)?,
            Intent::End => {
                self.end_talk(asked.who, out)?;
                return Ok(Answer::Done { value: false });
            }
        }
        Ok(Answer::Done { value: true })
    }

    /// Returns the talk that a player has.
    fn talk(&self, who: &CharacterId) -> Result<Talk, Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let open = player.open.as_ref().ok_or(Refusal::NotOpen)?;
        let Interface::Dialogue { node } = &open.what else {
            return Err(Refusal::NotOpen);
        };
        let npc = self.npcs.get(&open.with).ok_or(Refusal::NotOpen)?;
        let dialogue = npc.placement.kind.dialogue.as_ref();
        Ok(Talk {
            dialogue: Arc::clone(dialogue.ok_or(Refusal::NotOpen)?),
            node: Arc::clone(node),
            kind: Arc::clone(&npc.placement.kind.id),
        })
    }

    /// Begins the talk for which a player has come.
    pub(crate) fn begin_talk(&mut self, who: &CharacterId, out: &mut Outcome) {
        let Ok(talk) = self.talk(who) else { return };
        self.did(who, Achievement::Talked(&talk.kind), out);
        let player = self.players.get(who);
        let entry = player.and_then(|p| rules::entry(&talk.dialogue, &p.record));
        self.go_to(who, entry, out);
    }

    /// Takes the talk on to a node, or ends it.
    fn go_to(&mut self, who: &CharacterId, node: Option<Arc<str>>, out: &mut Outcome) {
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        let Some(node) = node else {
            return visit::tick::close(player, out);
        };
        if let Some(open) = &mut player.open {
            open.what = Interface::Dialogue { node };
        }
        if let Some(said) = self.said(who) {
            out.emit(Event::Said(who.clone(), said));
        }
    }

    /// Returns the words that an NPC says to somebody now.
    pub fn said(&self, who: &CharacterId) -> Option<DialogueNode> {
        let talk = self.talk(who).ok()?;
        let player = self.players.get(who)?;
        let node = talk.dialogue.nodes.get(&talk.node)?;
        let with = &player.open.as_ref()?.with;
        Some(DialogueNode {
            open: true,
            target: with.clone().into(),
            name: Arc::clone(&self.npcs.get(with)?.placement.name),
            node: talk.node,
            text: Arc::clone(&node.text),
            responses: rules::answers(node, &player.record),
        })
    }

    /// Gives an answer.
    pub(crate) fn respond(
        &mut self,
        asked: Asked<'_>,
        index: u8,
        limits: Limits,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let who = asked.who;
        let talk = self.talk(who)?;
        let node = talk.dialogue.nodes.get(&talk.node);
        let answer = node.and_then(|node| node.answers.get(usize::from(index)));
        let answer = answer.ok_or(Refusal::NotFound)?;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        if !rules::holds(answer.condition.as_ref(), &player.record) {
            return Err(Refusal::NotFound);
        }
        if let Some(effect) = &answer.effect
            && self.effect(asked, effect, limits, out)?
        {
            return Ok(());
        }
        self.go_to(who, answer.next.clone(), out);
        Ok(())
    }

    /// Ends a talk that has come to its end, and applies its effect.
    pub(crate) fn continue_talk(
        &mut self,
        asked: Asked<'_>,
        limits: Limits,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let who = asked.who;
        let talk = self.talk(who)?;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let node = talk.dialogue.nodes.get(&talk.node);
        if node.is_some_and(|node| !rules::answers(node, &player.record).is_empty()) {
            return Err(Refusal::Unsupported);
        }
        if let Some(effect) = node.and_then(|node| node.effect.as_ref())
            && self.effect(asked, effect, limits, out)?
        {
            return Ok(());
        }
        self.go_to(who, None, out);
        Ok(())
    }

    /// Ends a talk, or turns an offer down, without any effect.
    pub(crate) fn end_talk(&mut self, who: &CharacterId, out: &mut Outcome) -> Result<(), Refusal> {
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        match player.open() {
            Some(Interface::Dialogue { .. } | Interface::Offer { .. }) => {}
            _ => return Err(Refusal::NotOpen),
        }
        visit::tick::close(player, out);
        Ok(())
    }

    /// Applies an effect of something said. Returns whether something else is open or under way
    /// now.
    fn effect(
        &mut self,
        asked: Asked<'_>,
        effect: &Effect,
        limits: Limits,
        out: &mut Outcome,
    ) -> Result<bool, Refusal> {
        let who = asked.who;
        match effect {
            Effect::OpenBank => {
                self.open_instead(who, Interface::Bank, out);
                Ok(true)
            }
            Effect::OpenStore => {
                self.open_shop(who, out)?;
                Ok(true)
            }
            Effect::OpenTanner => {
                self.begin_to_tan(asked, limits.searches_end, out)?;
                Ok(true)
            }
            Effect::Heal => {
                self.heal(who, out);
                Ok(false)
            }
            Effect::StartQuest(quest) => {
                let quest = self.may_be_offered(who, quest)?;
                self.open_instead(who, Interface::Offer { quest }, out);
                Ok(true)
            }
            Effect::CompleteQuest(quest) => {
                limits.value.open()?;
                self.complete_quest(who, quest, out)?;
                Ok(false)
            }
            Effect::AbandonQuest(quest) => {
                limits.value.open()?;
                self.abandon_quest(who, quest, out)?;
                Ok(false)
            }
            Effect::GiveItem(item, quantity) => {
                limits.value.open()?;
                self.give(who, item, *quantity, out)?;
                Ok(false)
            }
            Effect::Other(_) => Ok(false),
        }
    }

    /// Opens something else with the NPC in the talk.
    fn open_instead(&mut self, who: &CharacterId, what: Interface, out: &mut Outcome) {
        let now = self.now;
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        let Some(mut open) = player.open.clone() else {
            return;
        };
        visit::tick::close(player, out);
        open.what = what.clone();
        open.since = now;
        player.open = Some(open);
        let who = who.clone();
        out.emit(visit::Event::Opened { who, what });
    }

    /// Opens the shop of the NPC in the talk.
    fn open_shop(&mut self, who: &CharacterId, out: &mut Outcome) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let open = player.open.as_ref().ok_or(Refusal::NotOpen)?;
        if self.shop_at(&open.with).is_none() {
            return Err(Refusal::Unsupported);
        }
        self.open_instead(who, Interface::Shop, out);
        out.events.extend(self.shop_shown(who));
        Ok(())
    }

    /// Lets the NPC in the talk tan the player's things, if there is only one possible recipe.
    fn begin_to_tan(
        &mut self,
        asked: Asked<'_>,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get(asked.who).ok_or(Refusal::NotFound)?;
        let open = player.open.as_ref().ok_or(Refusal::NotOpen)?;
        let request = Request {
            trade: RecipeKind::Tan,
            what: None,
            target: Some(open.with.clone()),
            quantity: None,
        };
        self.make(asked, request, searches_end, out)?;
        if let Some(player) = self.players.get_mut(asked.who) {
            visit::tick::close(player, out);
        }
        Ok(())
    }

    /// Lets the NPC in the talk give something, all of it; coins go into the pouch. If the content
    /// does not know the item, there is none to give.
    fn give(
        &mut self,
        who: &CharacterId,
        item: &Arc<str>,
        quantity: u32,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let who = who.clone();
        let leg = if **item == *COINS {
            Leg::ToPouch {
                who,
                amount: quantity,
            }
        } else if self.content.item(item).is_some() {
            let stack = Stack::new(Arc::clone(item), quantity);
            Leg::ToPack { who, stack }
        } else {
            return Ok(());
        };
        self.transfer(Some(Cause::Gift), &[leg], out)
    }

    fn heal(&mut self, who: &CharacterId, out: &mut Outcome) {
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        let well = player.record.max_health();
        if player.record.health < well {
            player.record.health = well;
            out.changes.altered.insert(who.clone());
            out.touched.insert(who.entity());
            out.emit(vitals::Event::Changed { who: who.clone() });
        }
    }
}
