//! Holds messages of value, and the coming and going of ground items, until the store acknowledges
//! them. Pure.
//!
//! Always: nothing is released before the batch that holds it is acknowledged; messages of a
//! session keep their order; more than [`HELD_MAX`] of them shrink to their answers and one
//! synchronisation. Answers are bounded by the inputs of the few ticks until value is refused.

use std::collections::{BTreeMap, VecDeque};

use proto::{
    client::{ServerEvent, sync::PlayerSync},
    rpc::zone::v1::Private,
};
use world::bank::told::BankState;
use world::equipment::told::EquipmentUpdate;
use world::pack::told::{CoinsUpdate, InventoryUpdate};
use world::training::told::SkillGain;
use world::{Bank, EntityId, PlayerRecord, Quests, Skill, SkillXp, Stack, Worn};

/// Messages held for a session before its state updates shrink to one synchronisation.
pub(crate) const HELD_MAX: usize = 256;

/// All that a character has of value, as the store has acknowledged it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Holdings {
    /// Stacks by slot.
    pub(crate) inventory: BTreeMap<u8, Stack>,
    /// Coins in the pouch.
    pub(crate) coins: u64,
    /// Equipment.
    pub(crate) equipment: Worn,
    /// Items in the bank.
    pub(crate) bank: Bank,
    /// Skills that the character ever trained.
    pub(crate) skills: BTreeMap<Skill, SkillXp>,
    /// Progress in quests.
    pub(crate) quests: Quests,
}

impl Holdings {
    /// Returns the holdings of a record.
    pub(crate) fn of(record: &PlayerRecord) -> Self {
        Self {
            inventory: record.inventory.clone(),
            coins: record.coins,
            equipment: record.equipment.clone(),
            bank: record.bank.clone(),
            skills: record.skills.clone(),
            quests: record.quests.clone(),
        }
    }

    /// Returns the level and experience in `skill`.
    pub(crate) fn skill(&self, skill: Skill) -> SkillXp {
        let trained = self.skills.get(&skill).copied();
        trained.unwrap_or_else(|| SkillXp::fresh(skill))
    }
}

/// Messages of one session that wait.
#[derive(Debug, Default)]
pub(crate) struct HeldMessages {
    /// Messages, each with the batch whose acknowledgement releases it; the batches never fall.
    waiting: VecDeque<(u64, Private)>,
    /// Batch whose acknowledgement obliges the run to show the session everything.
    sync: Option<u64>,
}

/// The messages that an acknowledgement releases for a session.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Released {
    pub(crate) messages: Vec<Private>,
    /// Whether the run must show the session its acknowledged holdings after the messages.
    pub(crate) sync: bool,
}

impl HeldMessages {
    /// Holds `message` until the batch `sequence` is acknowledged.
    pub(crate) fn hold(&mut self, sequence: u64, message: Private) {
        if self.waiting.len() >= HELD_MAX {
            self.waiting.retain(|(_, held)| !is_state(held));
            self.owe_sync(sequence);
            if is_state(&message) {
                return;
            }
        }
        self.waiting.push_back((sequence, message));
    }

    /// Makes the run show the session everything once the store acknowledges the batch `sequence`.
    pub(crate) fn owe_sync(&mut self, sequence: u64) {
        self.sync = self.sync.max(Some(sequence));
    }

    /// Releases the messages of the batch `sequence`, which the store has acknowledged, and of all
    /// before it.
    pub(crate) fn release(&mut self, sequence: u64) -> Released {
        let ready = self.waiting.iter().take_while(|(of, _)| *of <= sequence);
        let ready = ready.count();
        let messages = self.waiting.drain(..ready).map(|(_, message)| message);
        let messages = messages.collect();
        // The run may show acknowledged holdings at any time.
        let sync = self.sync.is_some();
        self.sync.take_if(|owed| *owed <= sequence);
        Released { messages, sync }
    }

    /// Returns the batches for which the oldest and the newest message wait.
    pub(crate) fn batches(&self) -> impl Iterator<Item = u64> {
        let ends = [self.waiting.front(), self.waiting.back()];
        ends.into_iter().flatten().map(|(sequence, _)| *sequence)
    }

    /// Returns the waiting messages that answer a request.
    pub(crate) fn answers(&self) -> impl Iterator<Item = &Private> {
        let held = self.waiting.iter().map(|(_, held)| held);
        held.filter(|held| !held.re.is_empty())
    }

    /// Drops everything, because nobody is there to read it any more.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.sync = None;
    }

    /// Returns the number of messages that wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Returns whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.sync.is_none()
    }
}

/// Ticks since which messages wait for each batch.
#[derive(Debug, Default)]
pub(crate) struct HeldSince(BTreeMap<u64, u64>);

impl HeldSince {
    /// Notes for which batches messages wait after tick `now`. Returns for how many ticks the oldest
    /// of them have waited; 0 if there are none.
    pub(crate) fn note(&mut self, batches: impl Iterator<Item = u64>, now: u64) -> u64 {
        let before = std::mem::take(&mut self.0);
        for sequence in batches {
            let since = before.get(&sequence).copied().unwrap_or(now);
            self.0.insert(sequence, since);
        }
        let oldest = self.0.values().min();
        oldest.map_or(0, |since| now.saturating_sub(*since))
    }
}

/// Returns whether the message shows the holdings that its player had when the run wrote it.
pub(crate) fn shows_holdings(message: &Private) -> bool {
    is_state(message) || message.event == PlayerSync::NAME
}

/// Returns whether a synchronisation repeats the contents of the message.
fn is_state(message: &Private) -> bool {
    let state = [
        InventoryUpdate::NAME,
        CoinsUpdate::NAME,
        EquipmentUpdate::NAME,
        BankState::NAME,
        SkillGain::NAME,
    ];
    message.re.is_empty() && state.contains(&&*message.event)
}

/// Ground items whose coming, change or going the store has not acknowledged. They look as they did
/// before; the run never shows one that comes and goes unacknowledged.
#[derive(Debug, Default)]
pub(crate) struct HeldGround(BTreeMap<EntityId, u64>);

impl HeldGround {
    /// Holds the look of `id` until the batch `sequence` is acknowledged.
    pub(crate) fn hold(&mut self, id: &EntityId, sequence: u64) {
        self.0.insert(id.clone(), sequence);
    }

    /// Returns whether `id` must keep its earlier look.
    pub(crate) fn holds(&self, id: &EntityId) -> bool {
        self.0.contains_key(id)
    }

    /// Releases and returns the ground items that may look as they are now, because the store has
    /// acknowledged the batch `sequence`.
    pub(crate) fn release(&mut self, sequence: u64) -> Vec<EntityId> {
        let mut ready = Vec::new();
        self.0.retain(|id, of| {
            let held = *of > sequence;
            if !held {
                ready.push(id.clone());
            }
            held
        });
        ready
    }

    /// Returns the number of held ground items.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(event: &str, re: &'static str, data: usize) -> Private {
        Private {
            event: event.to_owned(),
            data: data.to_string().into(),
            re: re.into(),
            ..Private::default()
        }
    }

    fn update(data: usize) -> Private {
        message(InventoryUpdate::NAME, "", data)
    }

    #[test]
    fn messages_come_in_order_when_their_batch_is_acknowledged_and_not_before() {
        let mut held = HeldMessages::default();
        held.hold(3, update(1));
        held.hold(3, message("ack", "7", 2));
        held.hold(4, update(3));
        assert_eq!(held.release(2), Released::default());
        let first = held.release(3);
        assert_eq!(first.messages, [update(1), message("ack", "7", 2)]);
        assert!(!first.sync);
        // An acknowledgement stands for all before it.
        assert_eq!(held.release(9).messages, [update(3)]);
        assert!(held.is_empty());
    }

    #[test]
    fn too_many_shrink_to_their_answers_and_one_synchronisation() {
        let mut held = HeldMessages::default();
        held.hold(3, message("ack", "1", 0));
        held.hold(3, message("error", "", 0));
        for n in 0..2 * HELD_MAX {
            held.hold(4, update(n));
            assert!(held.len() <= HELD_MAX);
        }
        held.hold(4, message("ack", "2", 0));
        let early = held.release(3);
        assert!(early.sync, "what is acknowledged may be shown");
        let kept = [message("ack", "1", 0), message("error", "", 0)];
        assert_eq!(early.messages, kept);
        let late = held.release(4);
        assert!(late.sync);
        assert_eq!(late.messages.last(), Some(&message("ack", "2", 0)));
        assert!(held.is_empty());
        assert_eq!(held.release(5), Released::default());
    }

    #[test]
    fn a_synchronisation_is_owed_until_the_last_batch_that_asked_for_it() {
        let mut held = HeldMessages::default();
        held.owe_sync(5);
        held.owe_sync(4);
        assert!(held.release(4).sync && !held.is_empty());
        assert!(held.release(5).sync && held.is_empty());
    }

    #[test]
    fn the_oldest_message_is_as_old_as_its_batch_has_been_waited_for() {
        let mut since = HeldSince::default();
        let mut held = HeldMessages::default();
        assert_eq!(since.note(held.batches(), 10), 0);
        held.hold(3, update(1));
        assert_eq!(since.note(held.batches(), 11), 0);
        held.hold(3, update(2));
        held.hold(4, update(3));
        assert_eq!(since.note(held.batches(), 14), 3);
        held.release(3);
        assert_eq!(since.note(held.batches(), 15), 1, "the next batch's");
        held.release(4);
        assert_eq!(since.note(held.batches(), 16), 0);
        held.hold(5, update(4));
        assert_eq!(since.note(held.batches(), 20), 0);
    }

    #[test]
    fn an_item_waits_for_the_last_batch_that_speaks_of_it() {
        let mut ground = HeldGround::default();
        let (a, b) = (EntityId::from("item:1-1"), EntityId::from("item:1-2"));
        ground.hold(&a, 3);
        ground.hold(&b, 3);
        ground.hold(&a, 4);
        assert!(ground.release(2).is_empty());
        assert_eq!(ground.release(3), [b]);
        assert!(ground.holds(&a));
        assert_eq!(ground.release(4), std::slice::from_ref(&a));
        assert!(!ground.holds(&a));
    }
}
