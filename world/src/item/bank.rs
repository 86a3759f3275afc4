//! The bank of a character: 480 places in nine tabs.
//!
//! Always: all of one item lies in one place. `place` gives the order in a tab and says nothing
//! else. An entry with a quantity of 0 keeps a place for the item's return.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::QUANTITY_MAX;
use crate::refusal::Refusal;

/// Places in all tabs together.
pub const BANK_SLOTS: usize = 480;
/// Tabs: 0, the main one, to 8.
pub const BANK_TABS: u8 = 9;
/// The last place in the order of a tab.
const PLACE_MAX: u32 = i32::MAX as u32;

/// Contents of a character's bank, and how it is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bank {
    /// Deposits, by item.
    pub items: BTreeMap<Arc<str>, Deposit>,
    /// Whether the bank keeps the place of an item after its owner takes the last of it out.
    pub placeholders: bool,
}

/// All of one item in the bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deposit {
    /// Number of the item; 0: the bank only keeps its place.
    pub quantity: u32,
    /// 0 to 8.
    pub tab: u8,
    /// Its place in the order of the tab; there may be gaps.
    pub place: u32,
}

/// A way to put the bank in order. It brings nothing in and takes nothing out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arrange {
    /// Two items change places.
    Swap {
        /// One.
        item: Arc<str>,
        /// The other.
        with: Arc<str>,
    },
    /// An item comes just before another.
    Before {
        /// Item that moves.
        item: Arc<str>,
        /// Item before which it goes.
        other: Arc<str>,
    },
    /// An item comes last in a tab.
    Tab {
        /// Item that moves.
        item: Arc<str>,
        /// 0 to 8.
        tab: u8,
    },
    /// Whether the bank keeps the place of an item after its owner takes the last of it out.
    Placeholders(bool),
    /// Free the place that the bank keeps for an item; `None`: all such places.
    Release(Option<Arc<str>>),
}

impl Bank {
    /// Returns how many of `item` there are.
    pub fn count(&self, item: &str) -> u32 {
        self.items.get(item).map_or(0, |there| there.quantity)
    }

    /// Puts `quantity` of `item` in: where it lies already, or last in `tab`.
    ///
    /// # Errors
    /// `BankFull`: no place is free, or there is too much of it.
    pub(crate) fn put(&mut self, item: &Arc<str>, quantity: u32, tab: u8) -> Result<(), Refusal> {
        if let Some(there) = self.items.get_mut(item) {
            let sum = there.quantity.checked_add(quantity);
            there.quantity = sum
                .filter(|sum| *sum <= QUANTITY_MAX)
                .ok_or(Refusal::BankFull)?;
            return Ok(());
        }
        if self.items.len() >= BANK_SLOTS || quantity > QUANTITY_MAX {
            return Err(Refusal::BankFull);
        }
        let tab = tab.min(BANK_TABS - 1);
        let place = self.end(tab);
        let deposit = Deposit {
            quantity,
            tab,
            place,
        };
        self.items.insert(Arc::clone(item), deposit);
        Ok(())
    }

    /// Takes `quantity` of `item` out.
    ///
    /// # Errors
    /// `NotEnough`: there are fewer, or the request is for none.
    pub(crate) fn take(&mut self, item: &str, quantity: u32) -> Result<(), Refusal> {
        let there = self.items.get_mut(item).ok_or(Refusal::NotEnough)?;
        let left = there.quantity.checked_sub(quantity);
        there.quantity = left.filter(|_| quantity > 0).ok_or(Refusal::NotEnough)?;
        if there.quantity == 0 && !self.placeholders {
            self.items.remove(item);
        }
        Ok(())
    }

    /// Puts the bank in order.
    ///
    /// # Errors
    /// `NotFound`: there is no such item, kept place or tab.
    pub(crate) fn arrange(&mut self, how: &Arrange) -> Result<(), Refusal> {
        match how {
            Arrange::Swap { item, with } => {
                let (one, other) = (self.at(item)?, self.at(with)?);
                self.set(item, other.0, other.1);
                self.set(with, one.0, one.1);
            }
            Arrange::Before { item, other } => {
                self.at(item)?;
                let (tab, place) = self.at(other)?;
                if item != other {
                    self.make_room(tab, place, item);
                    self.set(item, tab, place);
                }
            }
            Arrange::Tab { item, tab } => {
                self.at(item)?;
                if *tab >= BANK_TABS {
                    return Err(Refusal::NotFound);
                }
                let place = self.end(*tab);
                self.set(item, *tab, place);
            }
            Arrange::Placeholders(kept) => self.placeholders = *kept,
            Arrange::Release(Some(item)) => {
                let there = self.items.get(item).filter(|there| there.quantity == 0);
                there.ok_or(Refusal::NotFound)?;
                self.items.remove(item);
            }
            Arrange::Release(None) => self.items.retain(|_, there| there.quantity > 0),
        }
        Ok(())
    }

    fn at(&self, item: &str) -> Result<(u8, u32), Refusal> {
        let there = self.items.get(item).ok_or(Refusal::NotFound)?;
        Ok((there.tab, there.place))
    }

    fn set(&mut self, item: &str, tab: u8, place: u32) {
        if let Some(there) = self.items.get_mut(item) {
            (there.tab, there.place) = (tab, place);
        }
    }

    /// Returns the place behind all others in `tab`.
    fn end(&self, tab: u8) -> u32 {
        let in_tab = self.items.values().filter(|there| there.tab == tab);
        let last = in_tab.map(|there| there.place).max();
        last.map_or(0, |last| last.saturating_add(1).min(PLACE_MAX))
    }

    /// Moves the item at `place` and those right behind it, but for `but`, on by one.
    fn make_room(&mut self, tab: u8, place: u32, but: &str) {
        let in_tab = self.items.iter_mut();
        let in_tab = in_tab.filter(|(item, there)| there.tab == tab && ***item != *but);
        let mut behind: Vec<&mut Deposit> = in_tab.map(|(_, there)| there).collect();
        behind.retain(|there| there.place >= place);
        behind.sort_by_key(|there| there.place);
        let mut free = place;
        for there in behind {
            if there.place > free {
                break;
            }
            free = there.place.saturating_add(1).min(PLACE_MAX);
            there.place = free;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bank(items: &[(&str, u32, u8)]) -> Bank {
        let mut bank = Bank::default();
        for (item, quantity, tab) in items {
            bank.put(&(*item).into(), *quantity, *tab).unwrap();
        }
        bank
    }

    /// Returns the items in a tab, in order.
    fn order(bank: &Bank, tab: u8) -> Vec<String> {
        let in_tab = bank.items.iter().filter(|(_, there)| there.tab == tab);
        let mut in_tab: Vec<_> = in_tab.map(|(item, there)| (there.place, item)).collect();
        in_tab.sort();
        let shown = in_tab.iter();
        shown
            .map(|(_, item)| format!("{item} {}", bank.count(item)))
            .collect()
    }

    #[test]
    fn all_of_an_item_lies_in_one_place_whichever_tab_is_looked_at() {
        let bank = bank(&[
            ("logs", 3, 0),
            ("coal", 1, 2),
            ("logs", 4, 2),
            ("ore", 1, 200),
        ]);
        assert_eq!(order(&bank, 0), ["logs 7"]);
        assert_eq!(order(&bank, 2), ["coal 1"]);
        assert_eq!(order(&bank, 8), ["ore 1"]);
    }

    #[test]
    fn a_bank_has_480_places_and_an_item_an_end() {
        let mut bank = Bank::default();
        for n in 0..BANK_SLOTS {
            bank.put(&format!("i{n}").into(), 1, 0).unwrap();
        }
        assert_eq!(bank.put(&"more".into(), 1, 0), Err(Refusal::BankFull));
        assert_eq!(bank.put(&"i7".into(), QUANTITY_MAX - 1, 0), Ok(()));
        assert_eq!(bank.put(&"i7".into(), 1, 0), Err(Refusal::BankFull));
        assert_eq!(bank.put(&"i8".into(), u32::MAX, 0), Err(Refusal::BankFull));
        assert_eq!(bank.take("i7", QUANTITY_MAX), Ok(()));
        assert_eq!(bank.put(&"more".into(), 1, 0), Ok(()));
    }

    #[test]
    fn nobody_takes_more_than_there_is_and_a_place_may_be_kept() {
        let mut bank = bank(&[("logs", 3, 0), ("coal", 1, 0)]);
        assert_eq!(bank.take("logs", 4), Err(Refusal::NotEnough));
        assert_eq!(bank.take("logs", 0), Err(Refusal::NotEnough));
        assert_eq!(bank.take("tin", 1), Err(Refusal::NotEnough));
        bank.arrange(&Arrange::Placeholders(true)).unwrap();
        assert_eq!(bank.take("logs", 3), Ok(()));
        assert_eq!(order(&bank, 0), ["logs 0", "coal 1"]);
        assert_eq!(bank.take("logs", 1), Err(Refusal::NotEnough));
        let coal = bank.arrange(&Arrange::Release(Some("coal".into())));
        assert_eq!(coal, Err(Refusal::NotFound));
        bank.put(&"logs".into(), 2, 5).unwrap();
        assert_eq!(order(&bank, 0), ["logs 2", "coal 1"]);
        bank.take("logs", 2).unwrap();
        bank.arrange(&Arrange::Release(None)).unwrap();
        assert_eq!(order(&bank, 0), ["coal 1"]);
    }

    #[test]
    fn items_change_places_come_before_others_and_go_to_tabs() {
        let mut bank = bank(&[("a", 1, 0), ("b", 1, 0), ("c", 1, 0), ("d", 1, 1)]);
        let named = |item: &str, other: &str| (Arc::from(item), Arc::from(other));
        let before = |item, other| {
            let (item, other) = named(item, other);
            Arrange::Before { item, other }
        };
        bank.arrange(&before("c", "a")).unwrap();
        assert_eq!(order(&bank, 0), ["c 1", "a 1", "b 1"]);
        bank.arrange(&before("d", "b")).unwrap();
        assert_eq!(order(&bank, 0), ["c 1", "a 1", "d 1", "b 1"]);
        let (item, with) = named("c", "b");
        bank.arrange(&Arrange::Swap { item, with }).unwrap();
        assert_eq!(order(&bank, 0), ["b 1", "a 1", "d 1", "c 1"]);
        let tab = |tab| Arrange::Tab {
            item: "a".into(),
            tab,
        };
        bank.arrange(&tab(8)).unwrap();
        assert_eq!((order(&bank, 0).len(), order(&bank, 8).len()), (3, 1));
        assert_eq!(bank.arrange(&tab(9)), Err(Refusal::NotFound));
        assert_eq!(bank.arrange(&before("a", "x")), Err(Refusal::NotFound));
        assert_eq!(bank.arrange(&before("b", "b")), Ok(()));
        assert_eq!(order(&bank, 0), ["b 1", "d 1", "c 1"]);
    }
}
