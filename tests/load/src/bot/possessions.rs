//! The possessions that a client's messages gave its character, and whether a message ever took
//! them back. Pure.
//!
//! The server tells only saved value: in `player:sync`, `inventory:update`, `coins:update` and the
//! `ack` of a request that moves value. So every later message must agree with every earlier one,
//! except for the effects of requests. Of a request with an unknown answer both outcomes are
//! possible, until the effect of a later one is known: zones follow requests in their order. A
//! death takes what it takes; the store accounts for the grave.

use std::collections::BTreeMap;

use proto::client::{
    ErrorCode,
    sync::{PlayerSync, Stack},
};
use world::pack::told::{CoinsUpdate, InventoryUpdate};

use super::action::{Action, Effect};

/// Requests without a certain outcome that are remembered.
const OPEN_MAX: usize = 10;
/// Faults that are remembered in words.
const FAULTS_MAX: usize = 20;
/// Messages between a loss and the word of the death that caused it.
const DEATH_WITHIN: u32 = 16;

/// State of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its answer may still come.
    Waiting,
    /// The zone acknowledged it; no message has shown its effect yet.
    Acknowledged,
    /// No message may ever show its outcome.
    Unknown,
}

/// A request that may change the possessions, or may have changed them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// Its id.
    pub id: u64,
    /// The request.
    pub action: Action,
    /// State of the request.
    pub standing: Standing,
    /// Effects that it may still have, of which it has one. After a part of an effect was shown,
    /// only the rest of it remains, and a message must show that too.
    effects: Vec<Effect>,
    reported_in_part: bool,
    told: bool,
}

impl Open {
    /// Returns whether a message has shown its effect, or it is acknowledged and has none to show.
    fn is_over(&self) -> bool {
        let silent = self.effects.is_empty() && self.standing == Standing::Acknowledged;
        self.told || silent
    }
}

/// Faults of messages about value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// Less than an earlier message showed, or an acknowledged request without its effect.
    TakenBack,
    /// More than an earlier message showed, or in other places, unasked.
    Unasked,
}

/// Possessions: coins in the pouch and items by id, in any slot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    /// In the pouch.
    pub coins: u64,
    /// By item id; coins in the pack are the item `coins`.
    pub items: BTreeMap<String, u64>,
}

/// Possessions of one character, as far as messages showed them.
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

/// Possessions that a message shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Telling {
    Pack,
    Pouch,
    All,
}

impl Possessions {
    /// Returns whether any message has shown its possessions.
    pub const fn known(&self) -> bool {
        self.known
    }

    /// Returns the slots of the pack.
    pub fn slots(&self) -> &[Option<Stack>] {
        &self.slots
    }

    /// Coins in the pouch.
    pub const fn pouch(&self) -> u64 {
        self.pouch
    }

    /// Returns all its possessions.
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

    /// Returns whether no request is under way; the outcome of some may be unknown.
    pub fn is_settled(&self) -> bool {
        self.open.iter().all(|o| o.standing == Standing::Unknown)
    }

    /// Returns the number of requests whose effect a message showed, by [`Action::name`].
    pub const fn done(&self) -> &BTreeMap<&'static str, u64> {
        &self.done
    }

    /// Returns the number of faults of a kind.
    pub fn count(&self, kind: FaultKind) -> u64 {
        let open = u64::from(kind == FaultKind::TakenBack && self.loss.is_some());
        self.counts.get(&kind).copied().unwrap_or(0) + open
    }

    /// Returns the first faults in words.
    pub fn faults(&self) -> impl Iterator<Item = &String> {
        let open = self.loss.iter().map(|(words, _)| words);
        self.faults.iter().chain(open)
    }

    /// Forgets what messages showed, because the world goes back to an earlier moment. The next
    /// `player:sync` shows the possessions of that moment.
    pub fn begin_anew(&mut self) {
        self.known = false;
        self.open.clear();
        (self.dead, self.loss) = (false, None);
    }

    /// Counts a message. Its caller calls this for each message before it passes on the content.
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

    /// Takes `player:died`: the loss that came with it was no fault.
    pub fn died(&mut self) {
        self.dead = true;
        self.loss = None;
    }

    /// Takes `player:respawned`.
    pub fn respawned(&mut self) {
        self.dead = false;
    }

    /// Notes a request.
    pub fn asked(&mut self, id: u64, action: Action) {
        self.asked_ever = true;
        self.open.push(Open {
            id,
            effects: action.effects(),
            action,
            standing: Standing::Waiting,
            reported_in_part: false,
            told: false,
        });
        if self.open.len() > OPEN_MAX {
            self.open.remove(0);
        }
    }

    /// Takes the answer `ack` to a request.
    pub fn acknowledged(&mut self, id: u64) {
        let Some(open) = self.open.iter_mut().find(|o| o.id == id) else {
            return;
        };
        open.standing = Standing::Acknowledged;
        self.close();
    }

    /// Takes the answer `error` to a request.
    pub fn refused(&mut self, id: u64, code: ErrorCode) {
        let Some(at) = self.open.iter().position(|o| o.id == id) else {
            return;
        };
        if code == ErrorCode::OutcomeUnknown {
            self.open[at].standing = Standing::Unknown;
            return;
        }
        let open = self.open.remove(at);
        if open.reported_in_part {
            let words = format!(
                "{:?} changed something and was refused {code:?}",
                open.action
            );
            self.fault(FaultKind::Unasked, words);
        }
    }

    /// Takes the failure of an acknowledged request that takes its time.
    pub fn failed(&mut self, event: Option<&str>) {
        if event == Some("player:action") {
            self.open
                .retain(|o| !(o.action.takes_its_time() && o.standing == Standing::Acknowledged));
        }
    }

    /// Marks the outcome of all open requests as unknown: the connection was lost, the session
    /// ended, or an answer is long overdue. No message may ever show their outcome.
    pub fn unanswered(&mut self) {
        for open in &mut self.open {
            if open.standing == Standing::Waiting || open.action.takes_its_time() {
                open.standing = Standing::Unknown;
            }
        }
    }

    /// Ends open requests whose answer, or whose promised effect, is long overdue. If an
    /// acknowledged effect was never shown, a message showed it together with another effect that
    /// hid it. A pickup of coins may hide coins withdrawn in the same tick, and a drop of the same
    /// thing may hide a pickup. If the store then differs from the messages, that is a fault.
    pub fn overdue(&mut self) {
        self.unanswered();
        let cancelled = self.explain(Telling::All, &Delta::default());
        for (at, _) in cancelled.unwrap_or_default() {
            self.open[at].told = true;
        }
        for open in &mut self.open {
            let acknowledged = open.standing == Standing::Acknowledged;
            open.told |= acknowledged || open.reported_in_part;
        }
        self.close();
    }

    /// Takes `player:sync`.
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

    /// Takes `inventory:update`.
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

    /// Takes `coins:update`.
    pub fn pouch_changed(&mut self, update: &CoinsUpdate) {
        let before = self.held();
        self.pouch = update.coins;
        let changed = self.change_from(&before);
        self.judge(Telling::Pouch, &changed);
    }

    /// Checks that the store's possessions are those of the messages, except for requests of
    /// unknown outcome.
    ///
    /// # Errors
    /// The difference, in words.
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
        // A character that has never asked for anything may get the things with which it starts.
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
            open.reported_in_part = !open.told;
            open.effects = vec![rest];
        }
        self.close();
    }

    /// Forgets requests with a known outcome, and the requests before them. It keeps a request
    /// whose effect was shown in part: a message must show the rest. A pickup may be on its way
    /// while others are done; only another pickup ends it.
    fn close(&mut self) {
        let place = |pickup: bool| {
            let over = |open: &Open| open.is_over() && (open.action.takes_its_time() || !pickup);
            self.open.iter().rposition(over)
        };
        let (any, pickup) = (place(false), place(true));
        for open in self.open.iter().filter(|open| open.is_over()) {
            *self.done.entry(open.action.name()).or_default() += 1;
        }
        let mut at = 0;
        self.open.retain(|open| {
            let last = if open.action.takes_its_time() {
                pickup
            } else {
                any
            };
            let earlier = last.is_some_and(|last| at < last) && !open.reported_in_part;
            at += 1;
            !earlier && !open.is_over()
        });
    }

    /// Returns the open requests that made this change, each with its effect; as few as possible.
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

/// Returns whether the message must show an effect of this request. A message that shows everything
/// must show every acknowledged effect that takes no time, and the rest of an effect shown in part.
fn must(open: &Open, telling: Telling) -> bool {
    let acknowledged = open.standing == Standing::Acknowledged && !open.action.takes_its_time();
    telling == Telling::All && !open.effects.is_empty() && (acknowledged || open.reported_in_part)
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
