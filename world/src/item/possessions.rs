//! Possessions of one character during a transfer.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::bank::Bank;
use super::inventory::Pack;
use super::worn::Worn;
use crate::changes::Changes;
use crate::content::EquipSlot;
use crate::entity::ids::CharacterId;
use crate::entity::player::record::PlayerRecord;

/// Drafts of somebody's possessions; that of the bank only once a leg needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Possessions {
    pub(super) pack: Pack,
    pub(super) coins: u64,
    pub(super) worn: Worn,
    pub(super) stakes: Pack,
    bank: Option<Bank>,
}

/// Changed parts of somebody's possessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Slots of the pack, in order.
    pub(crate) slots: Vec<u8>,
    /// The pouch.
    pub(crate) coins: bool,
    /// Changed places of worn things, in order.
    pub(crate) worn: Vec<EquipSlot>,
    /// Changed items in the bank; an empty set: only its switch for placeholders changed.
    pub(crate) bank: Option<BTreeSet<Arc<str>>>,
}

impl Possessions {
    pub(super) fn of(record: &PlayerRecord) -> Possessions {
        Possessions {
            pack: record.inventory.clone(),
            coins: record.coins,
            worn: record.equipment.clone(),
            stakes: record.stakes.clone(),
            bank: None,
        }
    }

    /// Returns the draft of the bank, which begins as that of `record`.
    pub(super) fn bank(&mut self, record: &PlayerRecord) -> &mut Bank {
        self.bank.get_or_insert_with(|| record.bank.clone())
    }

    /// Makes the draft real, and notes the changes.
    pub(super) fn settle(
        self,
        who: &CharacterId,
        record: &mut PlayerRecord,
        changes: &mut Changes,
    ) -> Touched {
        let mut touched = Touched {
            slots: differing(&record.inventory, &self.pack),
            coins: record.coins != self.coins,
            worn: differing(&record.equipment, &self.worn),
            bank: None,
        };
        if touched.coins || !touched.slots.is_empty() {
            changes.valued.insert(who.clone());
        }
        if !touched.worn.is_empty() {
            changes.worn.insert(who.clone());
        }
        if record.stakes != self.stakes {
            changes.staked.insert(who.clone());
        }
        record.inventory = self.pack;
        record.coins = self.coins;
        record.equipment = self.worn;
        record.stakes = self.stakes;
        if let Some(bank) = self.bank.filter(|bank| *bank != record.bank) {
            let items: BTreeSet<_> = differing(&record.bank.items, &bank.items)
                .into_iter()
                .collect();
            let banked = changes.banked.entry(who.clone()).or_default();
            banked.extend(items.iter().cloned());
            touched.bank = Some(items);
            record.bank = bank;
        }
        touched
    }
}

/// Returns the keys under which two maps hold different things, in order.
fn differing<K: Ord + Clone, V: PartialEq>(
    before: &std::collections::BTreeMap<K, V>,
    after: &std::collections::BTreeMap<K, V>,
) -> Vec<K> {
    let keys: BTreeSet<&K> = before.keys().chain(after.keys()).collect();
    let keys = keys.into_iter();
    let keys = keys.filter(|key| before.get(key) != after.get(key));
    keys.cloned().collect()
}
