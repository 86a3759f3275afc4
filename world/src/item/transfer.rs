//! The one way to make, move and destroy items and coins: all or nothing.
//!
//! First a transfer plays everything on drafts of the holders. If it refuses a part, or the sum
//! does not suit the cause, nothing has happened. Then the drafts become real, and it writes a
//! ledger entry for every gain and loss.
//!
//! Always: the ledger entries of a holder are the changes of its holdings.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::bank::Bank;
use super::ledger::{Balance, Cause, Holder, LedgerEntry};
use super::possessions::{Possessions, Touched};
use super::{COINS, QUANTITY_MAX, inventory, worn};
use crate::changes::Changes;
use crate::content::Content;
use crate::entity::ground_item::{Ground, GroundChange, GroundItem};
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::player::Players;
use crate::features::duel::STAKES_MAX;
use crate::geometry::tile::Tile;
use crate::item::leg::Leg;
use crate::refusal::Refusal;

/// All places of value.
pub(crate) struct Holdings<'a> {
    pub(crate) content: &'a Content,
    pub(crate) players: &'a mut Players,
    pub(crate) ground: &'a mut Ground,
}

/// Changes that a transfer made.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Receipt {
    /// Changed possessions, by character.
    pub(crate) people: BTreeMap<CharacterId, Touched>,
    /// Changes on the ground: items or their graves, the tile, and whether it lies there now.
    pub(crate) ground: Vec<(EntityId, Tile, bool)>,
}

/// Plays all of `legs` for `cause`, or nothing. `None`: everything stays with its holder.
///
/// # Errors
/// The refusal of a leg; `Unsupported`: the sum is not one that the cause allows.
pub(crate) fn transfer(
    holdings: &mut Holdings<'_>,
    cause: Option<Cause>,
    legs: &[Leg],
    changes: &mut Changes,
) -> Result<Receipt, Refusal> {
    let mut draft = Draft::new(holdings);
    for leg in legs {
        draft.play(leg)?;
    }
    let deltas = draft.deltas;
    if !allowed(&deltas, cause) {
        return Err(Refusal::Unsupported);
    }
    let (people, ground) = (draft.people, draft.ground);
    let receipt = Receipt {
        people: put_people(people, holdings.players, changes),
        ground: put_ground(ground, holdings.ground, changes),
    };
    if let Some(cause) = cause {
        let moved = deltas.into_iter().filter(|(_, delta)| *delta != 0);
        let entries = moved.map(|((holder, item), delta)| LedgerEntry {
            holder,
            item,
            cause,
            delta,
        });
        changes.ledger.extend(entries);
    }
    Ok(receipt)
}

/// Checks whether [`transfer`] could play all of `legs` for `cause`. Changes nothing.
///
/// # Errors
/// The errors of [`transfer`].
pub(crate) fn check(
    holdings: &Holdings<'_>,
    cause: Option<Cause>,
    legs: &[Leg],
) -> Result<(), Refusal> {
    let mut draft = Draft::new(holdings);
    for leg in legs {
        draft.play(leg)?;
    }
    let suits = allowed(&draft.deltas, cause);
    suits.then_some(()).ok_or(Refusal::Unsupported)
}

type Deltas = BTreeMap<(Holder, Arc<str>), i64>;

/// Returns whether a cause may change holdings so.
fn allowed(deltas: &Deltas, cause: Option<Cause>) -> bool {
    let Some(cause) = cause else {
        return deltas.values().all(|delta| *delta == 0);
    };
    let mut sums: BTreeMap<&Arc<str>, i64> = BTreeMap::new();
    for ((_, item), delta) in deltas {
        *sums.entry(item).or_default() += delta;
    }
    let grows = |delta: &i64| *delta >= 0;
    let shrinks = |delta: &i64| *delta <= 0;
    let customers = |pays_coins: bool| {
        people(deltas)
            && deltas.iter().all(|((_, item), delta)| {
                let made = *delta >= 0;
                *delta == 0 || made == ((**item == *COINS) != pays_coins)
            })
    };
    match cause.balance() {
        Balance::Makes => deltas.values().all(grows),
        Balance::Grants => people(deltas) && deltas.values().all(grows),
        Balance::Leaves => {
            let lies = |((holder, _), delta): (&(Holder, Arc<str>), &i64)| {
                *delta == 0 || (*delta > 0 && *holder == Holder::Ground)
            };
            deltas.iter().all(lies)
        }
        Balance::Moves => sums.values().all(|sum| *sum == 0),
        Balance::Exchanges => people(deltas) && sums.values().all(|sum| *sum == 0),
        Balance::Destroys => deltas.values().all(shrinks),
        Balance::Consumes => people(deltas) && deltas.values().all(shrinks),
        Balance::Buys => customers(true),
        Balance::Sells => customers(false),
        Balance::Changes => {
            let mut sums: BTreeMap<&Holder, i64> = BTreeMap::new();
            for ((holder, _), delta) in deltas {
                *sums.entry(holder).or_default() += delta;
            }
            people(deltas) && sums.values().all(|sum| *sum == 0)
        }
        Balance::Gathers => of_people(deltas, |gained, lost| lost <= gained),
        Balance::Works => of_people(deltas, |gained, lost| gained == 0 || lost > 0),
    }
}

/// Returns whether the ground neither gains nor loses.
fn people(deltas: &Deltas) -> bool {
    let mut ground = deltas.iter();
    ground.all(|((holder, _), delta)| *delta == 0 || *holder != Holder::Ground)
}

/// Returns whether only characters gain and lose, and the total gain and loss of each is `fair`.
fn of_people(deltas: &Deltas, fair: impl Fn(i64, i64) -> bool) -> bool {
    let mut sums: BTreeMap<&Holder, (i64, i64)> = BTreeMap::new();
    for ((holder, _), delta) in deltas {
        let (gained, lost) = sums.entry(holder).or_default();
        *gained = gained.saturating_add((*delta).max(0));
        *lost = lost.saturating_sub((*delta).min(0));
    }
    let mut sums = sums.into_iter();
    sums.all(|(holder, (gained, lost))| *holder != Holder::Ground && fair(gained, lost))
}

/// Holdings as they will be.
struct Draft<'a> {
    content: &'a Content,
    players: &'a Players,
    lying: &'a Ground,
    people: BTreeMap<CharacterId, Possessions>,
    ground: BTreeMap<EntityId, Option<GroundItem>>,
    deltas: Deltas,
}

impl<'a> Draft<'a> {
    fn new(holdings: &'a Holdings<'_>) -> Draft<'a> {
        Draft {
            content: holdings.content,
            players: holdings.players,
            lying: holdings.ground,
            people: BTreeMap::new(),
            ground: BTreeMap::new(),
            deltas: BTreeMap::new(),
        }
    }

    fn play(&mut self, leg: &Leg) -> Result<(), Refusal> {
        match leg {
            Leg::FromSlot {
                who,
                slot,
                quantity,
            } => {
                let item = inventory::take(&mut self.person(who)?.pack, *slot, *quantity)?;
                self.lost(who, item, *quantity)
            }
            Leg::FromPack { who, stack } => {
                inventory::take_item(&mut self.person(who)?.pack, &stack.item, stack.quantity)?;
                self.lost(who, Arc::clone(&stack.item), stack.quantity)
            }
            Leg::FromPouch { who, amount } => {
                let person = self.person(who)?;
                let left = person.coins.checked_sub(u64::from(*amount));
                let left = left.filter(|_| *amount > 0);
                person.coins = left.ok_or(Refusal::NotEnough)?;
                self.lost(who, COINS.into(), *amount)
            }
            Leg::FromGround { id } => self.lift(id),
            Leg::ToPack { who, stack } => {
                let content = self.content;
                inventory::put(&mut self.person(who)?.pack, content, stack)?;
                self.gained(who, Arc::clone(&stack.item), stack.quantity)
            }
            Leg::ToPouch { who, amount } => {
                let person = self.person(who)?;
                let sum = person.coins.checked_add(u64::from(*amount));
                let sum = sum.filter(|sum| *sum <= u64::from(QUANTITY_MAX));
                person.coins = sum.ok_or(Refusal::InventoryFull)?;
                self.gained(who, COINS.into(), *amount)
            }
            Leg::ToGround { item, merges_with } => self.lay(item, merges_with.as_ref()),
            Leg::Swap { who, from, to } => inventory::swap(&mut self.person(who)?.pack, *from, *to),
            Leg::ToSlot { who, slot, stack } => {
                inventory::put_at(&mut self.person(who)?.pack, *slot, stack)?;
                self.gained(who, Arc::clone(&stack.item), stack.quantity)
            }
            Leg::FromWorn { .. }
            | Leg::ToWorn { .. }
            | Leg::FromBank { .. }
            | Leg::ToBank { .. }
            | Leg::ToStakes { .. }
            | Leg::FromStakes { .. }
            | Leg::Arrange { .. } => self.play_stored(leg),
        }
    }

    /// Plays a leg that moves something worn, in a bank or at stake.
    fn play_stored(&mut self, leg: &Leg) -> Result<(), Refusal> {
        match leg {
            Leg::FromWorn {
                who,
                slot,
                quantity,
            } => {
                let stack = worn::take(&mut self.person(who)?.worn, *slot, *quantity)?;
                self.lost(who, stack.item, *quantity)
            }
            Leg::ToWorn { who, slot, stack } => {
                worn::put(&mut self.person(who)?.worn, *slot, stack)?;
                self.gained(who, Arc::clone(&stack.item), stack.quantity)
            }
            Leg::FromBank { who, stack } => {
                self.bank(who)?.take(&stack.item, stack.quantity)?;
                self.lost(who, Arc::clone(&stack.item), stack.quantity)
            }
            Leg::ToBank { who, stack, tab } => {
                self.bank(who)?.put(&stack.item, stack.quantity, *tab)?;
                self.gained(who, Arc::clone(&stack.item), stack.quantity)
            }
            Leg::ToStakes { who, stack } => {
                inventory::put_apart(&mut self.person(who)?.stakes, STAKES_MAX, stack)?;
                self.gained(who, Arc::clone(&stack.item), stack.quantity)
            }
            Leg::FromStakes {
                who,
                place,
                quantity,
            } => {
                let item = inventory::take(&mut self.person(who)?.stakes, *place, *quantity)?;
                self.lost(who, item, *quantity)
            }
            Leg::Arrange { who, how } => self.bank(who)?.arrange(how),
            _ => Err(Refusal::Unsupported),
        }
    }

    fn person(&mut self, who: &CharacterId) -> Result<&mut Possessions, Refusal> {
        match self.people.entry(who.clone()) {
            Entry::Occupied(person) => Ok(person.into_mut()),
            Entry::Vacant(place) => {
                let player = self.players.get(who).ok_or(Refusal::NotFound)?;
                Ok(place.insert(Possessions::of(player.record())))
            }
        }
    }

    fn bank(&mut self, who: &CharacterId) -> Result<&mut Bank, Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        Ok(self.person(who)?.bank(player.record()))
    }

    /// Returns the item that lies there after the legs played so far.
    fn lying(&self, id: &EntityId) -> Result<&GroundItem, Refusal> {
        let drafted = self.ground.get(id).map(Option::as_ref);
        let there = drafted.unwrap_or_else(|| self.lying.get(id));
        there.ok_or(Refusal::NotFound)
    }

    fn lift(&mut self, id: &EntityId) -> Result<(), Refusal> {
        let there = self.lying(id)?;
        let (item, quantity) = (Arc::clone(&there.item), there.quantity);
        self.ground.insert(id.clone(), None);
        self.count(Holder::Ground, item, -i64::from(quantity))
    }

    fn lay(&mut self, item: &GroundItem, merges_with: Option<&EntityId>) -> Result<(), Refusal> {
        if item.quantity == 0 || item.quantity > QUANTITY_MAX {
            return Err(Refusal::NotEnough);
        }
        let mut lies = item.clone();
        if let Some(id) = merges_with {
            let there = self.lying(id)?;
            let sum = there.quantity.checked_add(item.quantity);
            let sum = sum.filter(|sum| *sum <= QUANTITY_MAX && there.item == item.item);
            lies.quantity = sum.ok_or(Refusal::Busy)?;
            (lies.id, lies.region) = (there.id.clone(), there.region);
        } else if self.lying(&item.id).is_ok() {
            return Err(Refusal::Busy);
        }
        self.ground.insert(lies.id.clone(), Some(lies));
        let (item, quantity) = (Arc::clone(&item.item), item.quantity);
        self.count(Holder::Ground, item, i64::from(quantity))
    }

    fn gained(&mut self, who: &CharacterId, item: Arc<str>, many: u32) -> Result<(), Refusal> {
        self.count(Holder::Character(who.clone()), item, i64::from(many))
    }

    fn lost(&mut self, who: &CharacterId, item: Arc<str>, many: u32) -> Result<(), Refusal> {
        self.count(Holder::Character(who.clone()), item, -i64::from(many))
    }

    fn count(&mut self, holder: Holder, item: Arc<str>, by: i64) -> Result<(), Refusal> {
        let delta = self.deltas.entry((holder, item)).or_default();
        *delta = delta.checked_add(by).ok_or(Refusal::NotEnough)?;
        Ok(())
    }
}

/// Makes the drafts of people's possessions real.
fn put_people(
    people: BTreeMap<CharacterId, Possessions>,
    players: &mut Players,
    changes: &mut Changes,
) -> BTreeMap<CharacterId, Touched> {
    let mut touched = BTreeMap::new();
    for (who, person) in people {
        if let Some(player) = players.get_mut(&who) {
            let of = person.settle(&who, &mut player.record, changes);
            if of != Touched::default() {
                touched.insert(who, of);
            }
        }
    }
    touched
}

/// Makes the drafted ground real: items that came and items that went.
fn put_ground(
    drafted: BTreeMap<EntityId, Option<GroundItem>>,
    ground: &mut Ground,
    changes: &mut Changes,
) -> Vec<(EntityId, Tile, bool)> {
    let mut changed = Vec::new();
    for (id, lies) in drafted {
        let before = ground.take(&id);
        let change = match lies {
            Some(item) => {
                changed.push((item.seen().clone(), item.tile, true));
                ground.put(item.clone());
                GroundChange::Put(item)
            }
            None => {
                let Some(item) = before else { continue };
                // A grave is there as long as something is in it.
                let left = ground.seen(item.seen()).is_some();
                changed.push((item.seen().clone(), item.tile, left));
                GroundChange::Gone {
                    region: item.region,
                    grave: item.grave,
                }
            }
        };
        changes.ground.insert(id, change);
    }
    changed
}
