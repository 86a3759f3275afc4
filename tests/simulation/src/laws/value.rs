//! The store never contradicts a message about value.

use std::collections::BTreeMap;

use persistence_svc::simulation::StoreContents;
use proto::{
    client::sync::PlayerSync,
    rpc::zone::v1::{Frame, Private},
};

use world::pack::told::{CoinsUpdate, InventoryUpdate};

use super::super::Sim;

/// Pack and pouch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Holdings {
    pub(crate) pack: BTreeMap<u8, (String, u64)>,
    pub(crate) coins: u64,
}

/// Possessions that a player heard of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) pack: BTreeMap<u8, (String, u64)>,
    /// Slots and coins of which the present frame tells.
    slots: BTreeMap<u8, Option<(String, u64)>>,
    coins: Option<u64>,
    whole: bool,
    /// Oldest version of the store's state that its next message may show.
    from: usize,
}

impl Sim {
    /// Checks the possessions that a frame shows: the store has them, or had them no earlier than
    /// those of the frame before.
    pub(crate) fn reported_all(&mut self, player: usize, session: &str) {
        let who = self.players[player].character.clone();
        let Some(seen) = self.laws.seen.get_mut(session) else {
            return;
        };
        if seen.slots.is_empty() && seen.coins.is_none() && !seen.whole {
            return;
        }
        let had = self
            .laws
            .had
            .get(&who)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let fits = |had: &Holdings| {
            let slots = seen
                .slots
                .iter()
                .all(|(slot, item)| had.pack.get(slot) == item.as_ref());
            let whole = !seen.whole || had.pack.len() == seen.slots.len();
            slots && whole && seen.coins.is_none_or(|coins| coins == had.coins)
        };
        let version = (seen.from..had.len()).find(|version| fits(&had[*version]));
        let told = format!("slots {:?}, coins {:?}", seen.slots, seen.coins);
        if std::mem::take(&mut seen.whole) {
            seen.pack.clear();
        }
        for (slot, item) in std::mem::take(&mut seen.slots) {
            match item {
                Some(item) => seen.pack.insert(slot, item),
                None => seen.pack.remove(&slot),
            };
        }
        seen.coins = None;
        self.coverage.count("value: told");
        let last = had.last().cloned();
        seen.from = version.unwrap_or(seen.from);
        let latest = self.laws.latest.entry(player).or_default();
        *latest = seen.from.max(*latest);
        self.tell(|| format!("player {player} is told of {told} (version {version:?})"));
        match version {
            Some(_) => {}
            None => {
                self.breaks(format!("{who} was told of {told}, the store has {last:?}"));
            }
        }
    }

    fn seen_mut(&mut self, session: &str) -> &mut Seen {
        self.laws.seen.entry(session.to_owned()).or_default()
    }

    /// Takes a `player:sync`, by itself or in a frame.
    pub(crate) fn synchronised(&mut self, player: usize, session: &str, sync: &[u8]) {
        self.reads_sync(session, sync);
        self.reported_all(player, session);
    }

    fn reads_sync(&mut self, session: &str, sync: &[u8]) {
        let Ok(sync) = serde_json::from_slice::<PlayerSync>(sync) else {
            return self.breaks("a player:sync cannot be read".to_owned());
        };
        let seen = self.seen_mut(session);
        seen.whole = true;
        seen.slots.clear();
        for (slot, stack) in (0..).zip(sync.inventory) {
            if let Some(stack) = stack {
                let stack = (stack.item_id.to_string(), u64::from(stack.quantity));
                seen.slots.insert(slot, Some(stack));
            }
        }
        seen.coins = Some(sync.coins);
    }

    /// Takes a message that may show value.
    pub(super) fn reads_value(&mut self, session: &str, message: &Private) {
        match message.event.as_str() {
            "player:sync" => self.reads_sync(session, &message.data),
            "inventory:update" => {
                let Ok(update) = serde_json::from_slice::<InventoryUpdate>(&message.data) else {
                    return self.breaks("an inventory:update cannot be read".to_owned());
                };
                let seen = self.seen_mut(session);
                for slot in update.slots {
                    let item = slot
                        .item
                        .map(|s| (s.item_id.to_string(), u64::from(s.quantity)));
                    seen.slots.insert(slot.slot, item);
                }
            }
            "coins:update" => {
                let Ok(update) = serde_json::from_slice::<CoinsUpdate>(&message.data) else {
                    return self.breaks("a coins:update cannot be read".to_owned());
                };
                self.seen_mut(session).coins = Some(update.coins);
            }
            _ => {}
        }
    }

    /// Begins a session with an empty mind; the store does not go back.
    pub(crate) fn begins(&mut self, player: usize, session: &str) {
        let seen = Seen {
            from: self.laws.latest.get(&player).copied().unwrap_or_default(),
            ..Seen::default()
        };
        self.laws.seen.insert(session.to_owned(), seen);
    }

    /// Checks the ground items that a frame shows: the store has them, or had them.
    pub(crate) fn frame_shows(&mut self, frame: &Frame) {
        let entered = frame.chunks.iter().flat_map(|chunk| &chunk.enter);
        for item in entered.filter(|entity| entity.kind == "item") {
            if !self.laws.lay.contains(&item.id) {
                return self.breaks(format!("{} is shown, which the store never had", item.id));
            }
        }
    }

    /// Remembers the state of the store.
    pub(super) fn remember(&mut self, contents: &StoreContents) {
        for (who, now) in &contents.characters {
            let had = self.laws.had.entry(who.clone()).or_default();
            let same = |last: &Holdings| last.pack == now.pack && last.coins == now.coins;
            if !had.last().is_some_and(same) {
                had.push(Holdings {
                    pack: now.pack.clone(),
                    coins: now.coins,
                });
            }
        }
        for id in contents.ground.keys() {
            if !self.laws.lay.contains(id) {
                self.laws.lay.insert(id.clone());
            }
        }
    }
}
