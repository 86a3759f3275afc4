//! Shops: their stock, their prices, and the coins that they pay.
//!
//! Always: nobody pays less for a thing than the same shop pays for it at that moment, unless the
//! content says so. If a shop has any number of a thing, its price never changes.

use std::sync::Arc;

use super::told::ShopItem;
use super::{Shelf, Shelves};
use crate::content::{Content, Good, Note, Store};
use crate::entity::ids::CharacterId;
use crate::entity::player::record::PlayerRecord;
use crate::item::leg::Leg;
use crate::item::{COINS, QUANTITY_MAX, Stack, inventory};
use crate::refusal::Refusal;
use crate::time::Tick;

/// Hundredths by which each unit above the usual stock makes a thing cheaper, and each missing one
/// dearer.
const STEP_HUNDREDTHS: i64 = 3;
/// Least price at which a shop sells, in hundredths of the usual price.
const LEAST_HUNDREDTHS: i64 = 30;
/// Least price that the shop pays, in thousandths of the worth of an item.
const LEAST_PAID_THOUSANDTHS: i64 = 100;
/// Ticks after which one of an item that the shop does not usually sell goes: every minute.
const FADE_TICKS: u64 = 100;
/// Kinds of things that a shop takes in stock besides its usual goods.
const STRANGE_MAX: usize = 40;

/// A deal: the legs to play, and the stock of the shop afterwards.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Deal {
    pub(crate) legs: Vec<Leg>,
    /// Item with a new stock, and that stock; `None`: no stock changes.
    pub(crate) stock: Option<(Arc<str>, u32)>,
}

/// Returns all goods that the shop sells now: the usual ones first.
pub(crate) fn for_sale(store: &Store, shelves: &Shelves, content: &Content) -> Vec<ShopItem> {
    let usual = store.goods.iter().map(|good| {
        let stock = stock(good, shelves);
        ShopItem {
            item_id: Arc::clone(&good.item),
            price: price(good.price, good.stock, stock, 1).unwrap_or(u32::MAX),
            stock,
            category: Arc::clone(&good.category),
        }
    });
    let strange = shelves
        .iter()
        .filter(|(item, _)| good(store, item).is_none());
    let strange = strange.map(|(item, shelf)| ShopItem {
        item_id: Arc::clone(item),
        price: price(worth(content, item), Some(0), Some(shelf.count), 1).unwrap_or(u32::MAX),
        stock: Some(shelf.count),
        category: "".into(),
    });
    usual.chain(strange).collect()
}

fn good<'s>(store: &'s Store, item: &str) -> Option<&'s Good> {
    store.goods.iter().find(|good| *good.item == *item)
}

fn stock(good: &Good, shelves: &Shelves) -> Option<u32> {
    let usual = good.stock?;
    Some(shelves.get(&good.item).map_or(usual, |shelf| shelf.count))
}

/// Returns the worth of an item in coins.
fn worth(content: &Content, item: &str) -> u32 {
    let value = content.item(item).map_or(0, |kind| kind.value);
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// A shop and its stock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shop<'a> {
    pub(crate) store: &'a Store,
    pub(crate) shelves: &'a Shelves,
}

/// Returns the deal by which a player buys `quantity` of `item`, and pays from the pouch.
///
/// # Errors
/// `NotFound`: the shop does not sell it. `InvalidQuantity`: none. `OutOfStock`, `NoCoins`.
pub(crate) fn buy(
    record: &PlayerRecord,
    content: &Content,
    Shop { store, shelves }: Shop<'_>,
    item: &Arc<str>,
    quantity: u32,
) -> Result<Deal, Refusal> {
    if quantity == 0 || quantity > QUANTITY_MAX {
        return Err(Refusal::InvalidQuantity);
    }
    let (each, usual, there) = match (good(store, item), shelves.get(item)) {
        (Some(good), _) => (good.price, good.stock, stock(good, shelves)),
        (None, Some(shelf)) => (worth(content, item), Some(0), Some(shelf.count)),
        (None, None) => return Err(Refusal::NotFound),
    };
    if there.is_some_and(|there| there < quantity) {
        return Err(Refusal::OutOfStock);
    }
    let slots = inventory::free_slots(&record.inventory);
    if !content.stackable(item) && quantity > slots {
        return Err(Refusal::InventoryFull);
    }
    let cost = price(each, usual, there, quantity).ok_or(Refusal::NoCoins)?;
    if record.coins < u64::from(cost) {
        return Err(Refusal::NoCoins);
    }
    let who = || record.id.clone();
    let mut legs = Vec::new();
    if cost > 0 {
        let amount = cost;
        legs.push(Leg::FromPouch { who: who(), amount });
    }
    let stack = Stack::new(Arc::clone(item), quantity);
    legs.push(Leg::ToPack { who: who(), stack });
    let stock = there.map(|there| (Arc::clone(item), there - quantity));
    Ok(Deal { legs, stock })
}

/// Returns how many items the legs of a deal take out of the pack.
pub(crate) fn sold(legs: &[Leg]) -> u32 {
    let taken = legs.iter().map(|leg| match leg {
        Leg::FromSlot { quantity, .. } => *quantity,
        Leg::FromPack { stack, .. } => stack.quantity,
        _ => 0,
    });
    taken.sum()
}

/// Returns the deal by which a player sells `quantity` of the item in `slot`, as far as there are
/// so many. It takes from the slot first, and pays into the pouch. A note sells as its item.
///
/// # Errors
/// `EmptySlot`; `InvalidQuantity`: none. `NotBought`: not here, or not by anybody.
pub(crate) fn sell(
    record: &PlayerRecord,
    content: &Content,
    Shop { store, shelves }: Shop<'_>,
    slot: u8,
    quantity: u32,
) -> Result<Deal, Refusal> {
    let stack = record.inventory.get(&slot).ok_or(Refusal::EmptySlot)?;
    let there = inventory::count(&record.inventory, &stack.item);
    let many = quantity.min(u32::try_from(there).unwrap_or(u32::MAX));
    if many == 0 {
        return Err(Refusal::InvalidQuantity);
    }
    let kind = content.item(&stack.item).ok_or(Refusal::NotBought)?;
    let item = match &kind.note {
        Note::Of(base) => Arc::clone(base),
        Note::Has(_) | Note::None => Arc::clone(&kind.id),
    };
    let worth = worth(content, &item);
    if !store.buys || !kind.tradeable || worth == 0 || *stack.item == *COINS {
        return Err(Refusal::NotBought);
    }
    let usual = good(store, &item).map_or(Some(0), |good| good.stock);
    let lies = shelves.get(&item).map(|shelf| shelf.count).or(usual);
    let pays = paid(worth, store.buyback_thousandths, usual, lies, many);
    let pays = pays.ok_or(Refusal::InventoryFull)?;
    let mut legs = taken(&record.id, slot, stack, many);
    if pays > 0 {
        let who = record.id.clone();
        legs.push(Leg::ToPouch { who, amount: pays });
    }
    let strange = shelves.keys().filter(|item| good(store, item).is_none());
    let known = good(store, &item).is_some() || shelves.contains_key(&item);
    let stocked = known || strange.count() < STRANGE_MAX;
    let stock = lies.filter(|_| stocked).map(|lies| {
        let lies = lies.saturating_add(many).min(QUANTITY_MAX);
        (item, lies)
    });
    Ok(Deal { legs, stock })
}

/// Returns the legs that take `many` of the item in `slot`, from there first.
fn taken(who: &CharacterId, slot: u8, stack: &Stack, many: u32) -> Vec<Leg> {
    let from_slot = many.min(stack.quantity);
    let mut legs = vec![Leg::FromSlot {
        who: who.clone(),
        slot,
        quantity: from_slot,
    }];
    if many > from_slot {
        legs.push(Leg::FromPack {
            who: who.clone(),
            stack: Stack::new(Arc::clone(&stack.item), many - from_slot),
        });
    }
    legs
}

/// Returns the price of `many` items that usually cost `each`, while there are `there` instead of
/// the `usual` number; `None`: more than anybody has.
fn price(each: u32, usual: Option<u32>, there: Option<u32>, many: u32) -> Option<u32> {
    let many = i128::from(many);
    let hundredths = match (usual, there) {
        (Some(usual), Some(there)) => {
            // The buyer takes the first from all that are there, and the last from the rest.
            let above = i128::from(there) - i128::from(usual);
            falling(
                100,
                STEP_HUNDREDTHS,
                above - many + 1,
                many,
                LEAST_HUNDREDTHS,
            )
        }
        _ => 100 * many,
    };
    let cost = (i128::from(each) * hundredths + 99) / 100;
    u32::try_from(cost).ok()
}

/// Returns the price that a shop with the rate `rate`, in thousandths, pays for `many` items of the
/// worth `worth`.
fn paid(worth: u32, rate: u32, usual: Option<u32>, there: Option<u32>, many: u32) -> Option<u32> {
    let (many, rate) = (i128::from(many), i64::from(rate));
    let thousandths = match (usual, there) {
        (Some(usual), Some(there)) => {
            let above = i128::from(there) - i128::from(usual);
            let short = (-above).clamp(0, many);
            let least = LEAST_PAID_THOUSANDTHS.min(rate);
            let step = STEP_HUNDREDTHS * 10;
            let full = short * i128::from(rate);
            full + falling(rate, step, above.max(0), many - short, least)
        }
        _ => i128::from(rate) * many,
    };
    u32::try_from(i128::from(worth) * thousandths / 1_000).ok()
}

/// Returns the sum of `from - step * n` for `many` consecutive n beginning at `first`, none of them
/// less than `least`.
fn falling(from: i64, step: i64, first: i128, many: i128, least: i64) -> i128 {
    let (from, step, least) = (i128::from(from), i128::from(step), i128::from(least));
    // The last n for which it is not less.
    let last = (from - least).div_euclid(step);
    let above = (last - first + 1).clamp(0, many);
    let sum_of_n = above * first + above * (above - 1) / 2;
    above * from - step * sum_of_n + (many - above) * least
}

/// Sets the stock of `item` to `count` from `now` on.
pub(crate) fn put(store: &Store, shelves: &mut Shelves, item: Arc<str>, count: u32, now: Tick) {
    let usual = usual(store, &item);
    let next_at = now.after(ticks(store, &item, count));
    if count == usual {
        shelves.remove(&item);
        return;
    }
    let shelf = shelves.entry(item).or_insert(Shelf { count, next_at });
    shelf.count = count;
}

fn usual(store: &Store, item: &str) -> u32 {
    good(store, item).and_then(|good| good.stock).unwrap_or(0)
}

/// Returns the ticks until there is one more, or one less.
fn ticks(store: &Store, item: &str, count: u32) -> u64 {
    let good = good(store, item).filter(|good| count < good.stock.unwrap_or(0));
    let own = good.map(|good| u64::from(good.restock_ticks));
    own.filter(|ticks| *ticks > 0).unwrap_or(FADE_TICKS)
}

/// Brings the stock nearer to the usual. Returns whether it has changed.
pub(crate) fn restock(store: &Store, shelves: &mut Shelves, now: Tick) -> bool {
    let due = shelves.iter().filter(|(_, shelf)| shelf.next_at <= now);
    let due: Vec<Arc<str>> = due.map(|(item, _)| Arc::clone(item)).collect();
    for item in &due {
        let usual = usual(store, item);
        let Some(shelf) = shelves.get_mut(item) else {
            continue;
        };
        shelf.count = if shelf.count < usual {
            shelf.count + 1
        } else {
            shelf.count.saturating_sub(1)
        };
        shelf.next_at = now.after(ticks(store, item, shelf.count));
        if shelf.count == usual {
            shelves.remove(item);
        }
    }
    !due.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_costs_more_the_fewer_there_are() {
        let table = [
            (10, 10, 1, 100),
            (10, 9, 1, 103),
            (10, 1, 1, 127),
            (10, 11, 1, 97),
            (10, 33, 1, 31),
            (10, 34, 1, 30),
            (10, 500, 1, 30),
            (10, 10, 3, 100 + 103 + 106),
            (10, 35, 3, 30 + 30 + 31),
            (0, 2, 2, 94 + 97),
        ];
        for (usual, there, many, expected) in table {
            let got = price(100, Some(usual), Some(there), many);
            assert_eq!(got, Some(expected), "{there} of {usual}, {many} bought");
        }
        assert_eq!(price(100, None, None, 3), Some(300));
        assert_eq!(
            price(1, Some(10), Some(12), 1),
            Some(1),
            "never for nothing"
        );
        assert_eq!(price(u32::MAX, None, None, 2), None);
        assert_eq!(price(u32::MAX, None, None, QUANTITY_MAX), None);
    }

    #[test]
    fn a_shop_pays_less_the_more_it_has() {
        let table = [
            (0, 0, 1, 500),
            (0, 1, 1, 470),
            (0, 13, 1, 110),
            (0, 14, 1, 100),
            (0, 900, 1, 100),
            (0, 0, 3, 500 + 470 + 440),
            (10, 8, 3, 500 + 500 + 500),
            (10, 9, 3, 500 + 500 + 470),
        ];
        for (usual, there, many, expected) in table {
            let got = paid(1_000, 500, Some(usual), Some(there), many);
            assert_eq!(got, Some(expected), "{there} of {usual}, {many} sold");
        }
        assert_eq!(paid(1_000, 500, None, None, 4), Some(2_000));
        assert_eq!(paid(3, 500, None, None, 1), Some(1));
        assert_eq!(paid(u32::MAX, 500, None, None, 9), None);
    }

    #[test]
    fn nobody_gains_by_selling_what_was_just_bought() {
        for there in 1..80 {
            for many in 1..=there.min(12) {
                let cost = price(100, Some(10), Some(there), many).unwrap();
                let pays = paid(100, 500, Some(10), Some(there - many), many).unwrap();
                assert!(
                    pays <= cost,
                    "{there} there, {many} bought for {cost}, sold for {pays}"
                );
            }
        }
    }
}
