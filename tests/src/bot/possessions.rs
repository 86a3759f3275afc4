//! What a client was told that its character has, and whether it was ever taken back. Pure.
//!
//! The server tells of value only what is saved: `player:sync`, `inventory:update`,
//! `coins:update` and the `ack` of a request that moves value. So whatever was told must still be
//! so in everything that is told later, but for what was asked for. Of a request whose answer is
//! not known, both outcomes are allowed, until the effect of a later one is known: requests are
//! followed in their order. A death takes what it takes: the grave is the store's to account for.

use std::collections::BTreeMap;

use proto::client::{
    ErrorCode,
    sync::{PlayerSync, Stack},
};
use world::pack::told::{CoinsUpdate, InventoryUpdate};

use super::deed::{Deed, Effect};

/// Requests without a certain outcome that are remembered.
const OPEN_MAX: usize = 10;
/// Faults that are remembered in words.
const FAULTS_MAX: usize = 20;
/// Messages between a loss and the word of the death that it came from.
const DEATH_WITHIN: u32 = 16;

/// How far a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its answer may still come.
    Waiting,
    /// It was acknowledged; what it changed is not told yet.
    Acknowledged,
    /// Whether it was followed may never be told.
    Unknown,
}

/// A request that may change, or may have changed, what is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// Its id.
    pub id: u64,
    /// What was asked.
    pub deed: Deed,
    /// How far it is.
    pub standing: Standing,
    /// What it may change that was not told yet, one of these. When part of an effect has been
    /// told, the rest of it is the only one and must be told too.
    effects: Vec<Effect>,
    told_in_part: bool,
    told: bool,
}

impl Open {
    /// Its effect was told; or it has none that could be, and is acknowledged.
    fn is_over(&self) -> bool {
        let silent = self.effects.is_empty() && self.standing == Standing::Acknowledged;
        self.told || silent
    }
}

/// Something that must never be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// Less than was told before, or what was acknowledged did not happen.
    TakenBack,
    /// More than was told before, or in other places, unasked.
    Unasked,
}

/// What is held: coins in the pouch and items by id, whatever the slot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    /// In the pouch.
    pub coins: u64,
    /// By item id; coins in the pack are the item `coins`.
    pub items: BTreeMap<String, u64>,
}

/// What one character has, as far as it was told.
#[derive(Debug, Clone, Default)]
pub struct Possessions {
    known: bool,
    asked_ever: bool,
    slots: Vec<Option<Stack>>,
    pouch: u64,
    open: Vec<Open>,
    done: BTreeMap<&'static str, u64>,
    counts: BTreeMap<FaultKind, u64>,
    faults: Vec<String>,
    /// It is dead: things go.
    dead: bool,
    /// A loss that a death may explain yet, and for how many more messages.
    loss: Option<(String, u32)>,
}

#[derive(Clone, Default)]
struct Delta {
    pouch: i64,
    items: BTreeMap<String, i64>,
}

/// What a message tells of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Telling {
    Pack,
    Pouch,
    All,
}

impl Possessions {
    /// It has been told at all.
    pub const fn known(&self) -> bool {
        self.known
    }

    /// The slots of the pack.
    pub fn slots(&self) -> &[Option<Stack>] {
        &self.slots
    }

    /// Coins in the pouch.
    pub const fn pouch(&self) -> u64 {
        self.pouch
    }

    /// All that is held.
    pub fn held(&self) -> Held {
        Held {
            coins: self.pouch,
            items: sums(&self.slots),
        }
    }

    /// Requests whose effect is not certain.
    pub fn open(&self) -> &[Open] {
        &self.open
    }

    /// No request is under way; the outcome of some may be unknown.
    pub fn is_settled(&self) -> bool {
        self.open.iter().all(|o| o.standing == Standing::Unknown)
    }

    /// Requests whose effect was told, by [`Deed::name`].
    pub const fn done(&self) -> &BTreeMap<&'static str, u64> {
        &self.done
    }

    /// How often something of a kind was told that must never be.
    pub fn count(&self, kind: FaultKind) -> u64 {
        let open = u64::from(kind == FaultKind::TakenBack && self.loss.is_some());
        self.counts.get(&kind).copied().unwrap_or(0) + open
    }

    /// The first of these in words.
    pub fn faults(&self) -> impl Iterator<Item = &String> {
        let open = self.loss.iter().map(|(words, _)| words);
        self.faults.iter().chain(open)
    }

    /// A message came; of each it is said before what it tells.
    pub fn heard(&mut self) {
        match &mut self.loss {
            Some((_, 0)) => self.confirm_loss(),
            Some((_, left)) => *left -= 1,
            None => {}
        }
    }

    fn confirm_loss(&mut self) {
        if let Some((words, _)) = self.loss.take() {
            self.fault(FaultKind::TakenBack, words);
        }
    }

    /// `player:died`: what it lost with it was no fault.
    pub fn died(&mut self) {
        self.dead = true;
        self.loss = None;
    }

    /// `player:respawned`.
    pub fn respawned(&mut self) {
        self.dead = false;
    }

    /// A request is sent.
    pub fn asked(&mut self, id: u64, deed: Deed) {
        self.asked_ever = true;
        self.open.push(Open {
            id,
            effects: deed.effects(),
            deed,
            standing: Standing::Waiting,
            told_in_part: false,
            told: false,
        });
        if self.open.len() > OPEN_MAX {
            self.open.remove(0);
        }
    }

    /// The answer `ack` to a request came.
    pub fn acknowledged(&mut self, id: u64) {
        let Some(open) = self.open.iter_mut().find(|o| o.id == id) else {
            return;
        };
        open.standing = Standing::Acknowledged;
        self.close();
    }

    /// The answer `error` to a request came.
    pub fn refused(&mut self, id: u64, code: ErrorCode) {
        let Some(at) = self.open.iter().position(|o| o.id == id) else {
            return;
        };
        if code == ErrorCode::OutcomeUnknown {
            self.open[at].standing = Standing::Unknown;
            return;
        }
        let open = self.open.remove(at);
        if open.told_in_part {
            let words = format!("{:?} changed something and was refused {code:?}", open.deed);
            self.fault(FaultKind::Unasked, words);
        }
    }

    /// What was acknowledged and took its time has come to nothing.
    pub fn failed(&mut self, event: Option<&str>) {
        if event == Some("player:action") {
            self.open
                .retain(|o| !(o.deed.takes_its_time() && o.standing == Standing::Acknowledged));
        }
    }

    /// The connection was lost, the session ended, or an answer is long overdue: of nothing that
    /// is under way the outcome is sure to be told.
    pub fn unanswered(&mut self) {
        for open in &mut self.open {
            if open.standing == Standing::Waiting || open.deed.takes_its_time() {
                open.standing = Standing::Unknown;
            }
        }
    }

    /// An answer, or what an answer promised, is long overdue. What was acknowledged and is still
    /// not told was told together with something else, or made up for by it: a pickup of coins may
    /// hide those that were withdrawn in the same tick, or a drop of the same thing all of it. It is
    /// over; whatever the store then holds otherwise than was told is a fault.
    pub fn overdue(&mut self) {
        self.unanswered();
        let cancelled = self.explain(Telling::All, &Delta::default());
        for (at, _) in cancelled.unwrap_or_default() {
            self.open[at].told = true;
        }
        for open in &mut self.open {
            let acknowledged = open.standing == Standing::Acknowledged;
            open.told |= acknowledged || open.told_in_part;
        }
        self.close();
    }

    /// `player:sync`.
    pub fn synchronised(&mut self, sync: &PlayerSync) {
        let before = self.held();
        let was = std::mem::replace(&mut self.slots, sync.inventory.clone());
        self.pouch = sync.coins;
        if !std::mem::replace(&mut self.known, true) {
            return;
        }
        let changed = self.change_from(&before);
        self.judge(Telling::All, &changed);
        let quiet = self.open.is_empty() && changed.pouch == 0 && changed.items.is_empty();
        if quiet && was != self.slots {
            let words = format!("slots {was:?} became {:?}", self.slots);
            self.fault(FaultKind::Unasked, words);
        }
    }

    /// `inventory:update`.
    pub fn pack_changed(&mut self, update: &InventoryUpdate) {
        let before = self.held();
        for told in &update.slots {
            let at = usize::from(told.slot);
            if at >= self.slots.len() {
                self.slots.resize(at + 1, None);
            }
            self.slots[at].clone_from(&told.item);
        }
        let changed = self.change_from(&before);
        self.judge(Telling::Pack, &changed);
    }

    /// `coins:update`.
    pub fn pouch_changed(&mut self, update: &CoinsUpdate) {
        let before = self.held();
        self.pouch = update.coins;
        let changed = self.change_from(&before);
        self.judge(Telling::Pouch, &changed);
    }

    /// Whether what the store holds is what was told, but for requests of unknown outcome.
    ///
    /// # Errors
    /// What differs, in words.
    pub fn agree_with(&self, stored: &Held) -> Result<(), String> {
        if !self.known {
            return Ok(());
        }
        let told = self.held();
        let changed = difference(&told, stored);
        match self.explain(Telling::All, &changed) {
            Some(_) => Ok(()),
            None => Err(format!(
                "was told {told:?}, the store holds {stored:?}; open: {:?}",
                self.open
            )),
        }
    }

    fn change_from(&self, before: &Held) -> Delta {
        difference(before, &self.held())
    }

    fn judge(&mut self, telling: Telling, changed: &Delta) {
        // Whoever has never asked for anything may be given what it starts with.
        let gift = changed.pouch >= 0 && changed.items.values().all(|n| *n >= 0);
        if gift && !self.asked_ever {
            return;
        }
        let Some(chosen) = self.explain(telling, changed) else {
            let words = format!(
                "pouch {:+}, items {:?}; open: {:?}",
                changed.pouch, changed.items, self.open
            );
            let lost = !gift || (changed.pouch == 0 && changed.items.is_empty());
            if !lost {
                self.fault(FaultKind::Unasked, words);
            } else if !self.dead {
                self.confirm_loss();
                self.loss = Some((words, DEATH_WITHIN));
            }
            self.open.clear();
            return;
        };
        for (at, effect) in chosen {
            let open = &mut self.open[at];
            let mut rest = open.effects[effect].clone();
            match telling {
                Telling::Pack => rest.items = None,
                Telling::Pouch => rest.pouch = None,
                Telling::All => (rest.pouch, rest.items) = (None, None),
            }
            open.told = rest.is_nothing();
            open.told_in_part = !open.told;
            open.effects = vec![rest];
        }
        self.close();
    }

    /// Forgets requests of which all is known, and those before them, but for what has been told
    /// in part: the rest is told too. A pickup may be on its way
    /// while others are done; only another pickup ends it.
    fn close(&mut self) {
        let place = |pickup: bool| {
            let over = |open: &Open| open.is_over() && (open.deed.takes_its_time() || !pickup);
            self.open.iter().rposition(over)
        };
        let (any, pickup) = (place(false), place(true));
        for open in self.open.iter().filter(|open| open.is_over()) {
            *self.done.entry(open.deed.name()).or_default() += 1;
        }
        let mut at = 0;
        self.open.retain(|open| {
            let last = if open.deed.takes_its_time() {
                pickup
            } else {
                any
            };
            let earlier = last.is_some_and(|last| at < last) && !open.told_in_part;
            at += 1;
            !earlier && !open.is_over()
        });
    }

    /// Which open requests, each by which effect, made this change; as few as can be.
    fn explain(&self, telling: Telling, changed: &Delta) -> Option<Vec<(usize, usize)>> {
        (0..=self.open.len()).find_map(|most| {
            let mut chosen = Vec::new();
            let goal = Goal {
                telling,
                changed,
                most,
            };
            self.search(&goal, 0, &mut chosen).then_some(chosen)
        })
    }

    fn search(&self, goal: &Goal, from: usize, chosen: &mut Vec<(usize, usize)>) -> bool {
        let Some(open) = self.open.get(from) else {
            return chosen.len() == goal.most && self.fits(goal, chosen);
        };
        if !must(open, goal.telling) && self.search(goal, from + 1, chosen) {
            return true;
        }
        if chosen.len() < goal.most {
            for (number, effect) in open.effects.iter().enumerate() {
                if open.told || !touches(effect, goal.telling) {
                    continue;
                }
                chosen.push((from, number));
                if self.search(goal, from + 1, chosen) {
                    return true;
                }
                chosen.pop();
            }
        }
        false
    }

    fn fits(&self, goal: &Goal, chosen: &[(usize, usize)]) -> bool {
        let mut pouch = (0, 0);
        let mut items: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
        let add = |sum: &mut (i64, i64), (low, high): (i64, i64)| {
            *sum = (sum.0 + low, sum.1 + high);
        };
        for (at, number) in chosen {
            let effect = &self.open[*at].effects[*number];
            if let (Some(range), true) = (effect.pouch, goal.telling != Telling::Pack) {
                add(&mut pouch, range);
            }
            if let (Some((item, range)), true) = (&effect.items, goal.telling != Telling::Pouch) {
                add(items.entry(item).or_default(), *range);
            }
        }
        let within = |n: i64, (low, high): (i64, i64)| (low..=high).contains(&n);
        let changed = &goal.changed.items;
        within(goal.changed.pouch, pouch)
            && changed
                .iter()
                .all(|(id, n)| within(*n, items.get(&**id).copied().unwrap_or_default()))
            && items
                .iter()
                .all(|(id, range)| within(changed.get(*id).copied().unwrap_or(0), *range))
    }

    fn fault(&mut self, kind: FaultKind, words: String) {
        *self.counts.entry(kind).or_default() += 1;
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(format!("{kind:?}: {words}"));
        }
    }
}

struct Goal<'a> {
    telling: Telling,
    changed: &'a Delta,
    most: usize,
}

/// What shows everything shows what was acknowledged, and the rest of what was told in part.
fn must(open: &Open, telling: Telling) -> bool {
    let acknowledged = open.standing == Standing::Acknowledged && !open.deed.takes_its_time();
    telling == Telling::All && !open.effects.is_empty() && (acknowledged || open.told_in_part)
}

fn touches(effect: &Effect, telling: Telling) -> bool {
    match telling {
        Telling::Pack => effect.items.is_some(),
        Telling::Pouch => effect.pouch.is_some(),
        Telling::All => true,
    }
}

fn sums(slots: &[Option<Stack>]) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for stack in slots.iter().flatten() {
        *sums.entry(stack.item_id.to_string()).or_default() += u64::from(stack.quantity);
    }
    sums
}

fn difference(before: &Held, after: &Held) -> Delta {
    let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX / 2);
    let mut items: BTreeMap<String, i64> = BTreeMap::new();
    for (id, n) in &after.items {
        *items.entry(id.clone()).or_default() += signed(*n);
    }
    for (id, n) in &before.items {
        *items.entry(id.clone()).or_default() -= signed(*n);
    }
    items.retain(|_, n| *n != 0);
    Delta {
        pouch: signed(after.coins) - signed(before.coins),
        items,
    }
}

#[cfg(test)]
mod tests;
