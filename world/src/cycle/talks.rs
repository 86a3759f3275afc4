//! Who talks with an NPC: what it says, what is answered, and what comes of it.

use std::sync::Arc;

use super::making::Wish;
use super::{Outcome, visits};
use crate::content::{Dialogue, Effect};
use crate::event::Event;
use crate::ids::CharacterId;
use crate::interface::{Interface, Said};
use crate::item::ledger::Cause;
use crate::item::transfer::Leg;
use crate::item::{COINS, Stack, Value};
use crate::labour::Trade;
use crate::refusal::Refusal;
use crate::rules::dialogue;
use crate::rules::quest::Deed;
use crate::world::World;

/// Where a talk is.
struct Talk {
    dialogue: Arc<Dialogue>,
    node: Arc<str>,
    /// The kind of NPC that speaks.
    kind: Arc<str>,
}

impl World {
    /// The talk that somebody has.
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

    /// Somebody has come to whom it wants to talk with.
    pub(super) fn begin_talk(&mut self, who: &CharacterId, out: &mut Outcome) {
        let Ok(talk) = self.talk(who) else { return };
        self.did(who, Deed::Talked(&talk.kind), out);
        let player = self.players.get(who);
        let entry = player.and_then(|p| dialogue::entry(&talk.dialogue, &p.record));
        self.go_to(who, entry, out);
    }

    /// The talk goes on with a node, or ends.
    fn go_to(&mut self, who: &CharacterId, node: Option<Arc<str>>, out: &mut Outcome) {
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        let Some(node) = node else {
            return visits::close(player, out);
        };
        if let Some(open) = &mut player.open {
            open.what = Interface::Dialogue { node };
        }
        if let Some(said) = self.said(who) {
            let who = who.clone();
            out.events.push(Event::Said { who, said });
        }
    }

    /// What is being said to somebody.
    pub fn said(&self, who: &CharacterId) -> Option<Said> {
        let talk = self.talk(who).ok()?;
        let player = self.players.get(who)?;
        let node = talk.dialogue.nodes.get(&talk.node)?;
        let with = &player.open.as_ref()?.with;
        Some(Said {
            target: with.clone(),
            name: Arc::clone(&self.npcs.get(with)?.placement.name),
            node: talk.node,
            text: Arc::clone(&node.text),
            answers: dialogue::answers(node, &player.record),
        })
    }

    /// Gives an answer.
    pub(super) fn respond(
        &mut self,
        by: (&CharacterId, u64),
        index: u8,
        bounds: (Value, u64),
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let who = by.0;
        let talk = self.talk(who)?;
        let node = talk.dialogue.nodes.get(&talk.node);
        let answer = node.and_then(|node| node.answers.get(usize::from(index)));
        let answer = answer.ok_or(Refusal::NotFound)?;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        if !dialogue::holds(answer.condition.as_ref(), &player.record) {
            return Err(Refusal::NotFound);
        }
        if let Some(effect) = &answer.effect
            && self.effect(by, effect, bounds, out)?
        {
            return Ok(());
        }
        self.go_to(who, answer.next.clone(), out);
        Ok(())
    }

    /// Ends a talk that has come to its end, with what comes of that.
    pub(super) fn continue_talk(
        &mut self,
        by: (&CharacterId, u64),
        bounds: (Value, u64),
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let who = by.0;
        let talk = self.talk(who)?;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let node = talk.dialogue.nodes.get(&talk.node);
        if node.is_some_and(|node| !dialogue::answers(node, &player.record).is_empty()) {
            return Err(Refusal::Unsupported);
        }
        if let Some(effect) = node.and_then(|node| node.effect.as_ref())
            && self.effect(by, effect, bounds, out)?
        {
            return Ok(());
        }
        self.go_to(who, None, out);
        Ok(())
    }

    /// Ends a talk, or turns an offer down, and nothing comes of it.
    pub(super) fn end_talk(&mut self, who: &CharacterId, out: &mut Outcome) -> Result<(), Refusal> {
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        match player.open() {
            Some(Interface::Dialogue { .. } | Interface::Offer { .. }) => {}
            _ => return Err(Refusal::NotOpen),
        }
        visits::close(player, out);
        Ok(())
    }

    /// What comes of something said. True: something else is open or under way now.
    fn effect(
        &mut self,
        by: (&CharacterId, u64),
        effect: &Effect,
        (value, searches_end): (Value, u64),
        out: &mut Outcome,
    ) -> Result<bool, Refusal> {
        let who = by.0;
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
                self.begin_to_tan(by, searches_end, out)?;
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
                value.open()?;
                self.complete_quest(who, quest, out)?;
                Ok(false)
            }
            Effect::GiveItem(item, quantity) => {
                value.open()?;
                self.give(who, item, *quantity, out)?;
                Ok(false)
            }
            Effect::Other(_) => Ok(false),
        }
    }

    /// Something else opens with whoever is talked with.
    fn open_instead(&mut self, who: &CharacterId, what: Interface, out: &mut Outcome) {
        let now = self.now;
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        let Some(mut open) = player.open.clone() else {
            return;
        };
        visits::close(player, out);
        open.what = what.clone();
        open.since = now;
        player.open = Some(open);
        let who = who.clone();
        out.events.push(Event::Opened { who, what });
    }

    /// The shop of whoever is talked with opens.
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

    /// Whoever is talked with tans what one has, if it can only be one thing.
    fn begin_to_tan(
        &mut self,
        by: (&CharacterId, u64),
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get(by.0).ok_or(Refusal::NotFound)?;
        let open = player.open.as_ref().ok_or(Refusal::NotOpen)?;
        let wish = Wish {
            trade: Trade::Tan,
            what: None,
            target: Some(open.with.clone()),
            quantity: None,
        };
        self.make(by, wish, searches_end, out)?;
        if let Some(player) = self.players.get_mut(by.0) {
            visits::close(player, out);
        }
        Ok(())
    }

    /// Whoever is talked with gives something, all of it; coins go into the pouch. Of what the
    /// content does not know there is none to give.
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
            out.changes.moved.insert(who.clone());
            out.touched.insert(who.entity());
            out.events.push(Event::Vitals { who: who.clone() });
        }
    }
}
