//! What must hold, at every moment and at the end.

use std::collections::{BTreeMap, BTreeSet};

use persistence_svc::simulation::Facts;
use proto::{
    client::{coins::CoinsUpdate, inventory::InventoryUpdate, sync::PlayerSync},
    rpc::zone::v1::{Frame, Private},
};

use super::{Sim, player::Stage, session::Place};

/// At the very end nobody moves for so long, and all that was under way arrives.
pub(crate) const QUIET_TICKS: u64 = 12;

/// What the laws remember.
#[derive(Debug, Default)]
pub(crate) struct Laws {
    /// Answers by player, session epoch and number of the input.
    answered: BTreeSet<(usize, u64, u64)>,
    /// Inputs that were played, by character, session epoch and number.
    played: BTreeSet<(String, u64, u64)>,
    /// What the store had for each character, one after the other.
    had: BTreeMap<String, Vec<Holdings>>,
    /// What players believe to have, by session.
    seen: BTreeMap<String, Seen>,
    /// The last of the store's versions of which each player was told.
    latest: BTreeMap<usize, usize>,
    /// What ever lay on the ground, by the store.
    lay: BTreeSet<String>,
    /// When runs were killed.
    pub(crate) killed: BTreeMap<u64, u64>,
    nobody: Seen,
}

/// Pack and pouch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Holdings {
    pub(crate) pack: BTreeMap<u8, (String, u64)>,
    pub(crate) coins: u64,
}

/// What a player was told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) pack: BTreeMap<u8, (String, u64)>,
    /// Slots and coins of which the present frame tells.
    slots: BTreeMap<u8, Option<(String, u64)>>,
    coins: Option<u64>,
    whole: bool,
    /// The first of the store's versions that it may be told of from now on.
    from: usize,
}

impl Laws {
    /// What a session shows.
    pub(crate) fn seen(&self, session: &str) -> &Seen {
        self.seen.get(session).unwrap_or(&self.nobody)
    }
}

impl Sim {
    /// Nothing at the store ever falls.
    pub(crate) fn laws_of_store(&mut self, facts: &Facts) {
        let mut broken = Vec::new();
        for (at, (run, epoch)) in &facts.regions {
            let Some((old_run, old)) = self.facts.regions.get(at) else {
                continue;
            };
            if epoch < old || (run != old_run && epoch == old) {
                broken.push(format!(
                    "the epoch of region {at:?} went from {old} to {epoch}"
                ));
            }
        }
        for (who, now) in &facts.characters {
            let Some(old) = self.facts.characters.get(who) else {
                continue;
            };
            if now.ownership_sequence < old.ownership_sequence {
                broken.push(format!("the ownership sequence of {who} fell"));
            }
            if now.session_epoch < old.session_epoch {
                broken.push(format!("the session epoch of {who} fell"));
            }
            let owner = |facts: &Facts, at| facts.regions.get(&at).map(|(run, _)| *run);
            let (was, is) = (owner(&self.facts, old.region), owner(facts, now.region));
            let same = now.ownership_sequence == old.ownership_sequence;
            let both = was.is_some_and(|run| run != 0) && is.is_some_and(|run| run != 0);
            if same && both && was != is && now.online && old.online {
                broken.push(format!(
                    "{who} changed from run {was:?} to {is:?} with the same sequence"
                ));
            }
        }
        for law in broken {
            self.breaks(law);
        }
        self.remember(facts);
        self.counts_owners(facts);
    }

    /// How regions and lives changed hands.
    fn counts_owners(&mut self, facts: &Facts) {
        let mut counts = Vec::new();
        for (run, state) in &self.facts.runs {
            match facts.runs.get(run) {
                Some(now) if now != state => counts.push("run: drains"),
                Some(_) => {}
                None => match self.laws.killed.get(run) {
                    Some(at) if self.now < at + 2_900 => counts.push("takeover: by witnesses"),
                    _ => counts.push("run: fenced"),
                },
            }
        }
        for (at, (run, _)) in &facts.regions {
            let before = self.facts.regions.get(at).map_or(0, |(run, _)| *run);
            if before == *run {
                continue;
            }
            counts.push(match (before, *run) {
                (0, _) => "region: assigned",
                (_, 0) => "region: nobody's",
                _ if facts.runs.contains_key(&before) => "region: given",
                _ => "region: taken over",
            });
        }
        for (who, now) in &facts.characters {
            let before = self.facts.characters.get(who);
            let crossed = before.is_some_and(|before| {
                before.region != now.region && before.ownership_sequence != now.ownership_sequence
            });
            if crossed {
                counts.push("character: handed over");
            }
        }
        for count in counts {
            self.coverage.count(count);
        }
    }

    /// At most one run that may write plays a character at the store's sequence.
    pub(crate) fn laws_of_runs(&mut self) {
        let mut players: BTreeMap<String, u64> = BTreeMap::new();
        let mut broken = Vec::new();
        for zone in &self.zones {
            let Some(run) = zone.run.as_ref() else {
                continue;
            };
            if !self.facts.runs.contains_key(&run.id()) {
                continue;
            }
            for played in run.played() {
                let Some(stored) = self.facts.characters.get(&played.who) else {
                    broken.push(format!(
                        "run {} plays {}, whom nobody knows",
                        run.id(),
                        played.who
                    ));
                    continue;
                };
                if played.sequence > stored.ownership_sequence {
                    broken.push(format!(
                        "run {} plays {} with sequence {}, the store has {}",
                        run.id(),
                        played.who,
                        played.sequence,
                        stored.ownership_sequence
                    ));
                }
                let current = played.stands && played.sequence == stored.ownership_sequence;
                if current && let Some(other) = players.insert(played.who.clone(), run.id()) {
                    broken.push(format!(
                        "{} is played by runs {other} and {}",
                        played.who,
                        run.id()
                    ));
                }
            }
        }
        for law in broken {
            self.breaks(law);
        }
    }

    /// A message for a player.
    pub(crate) fn told(&mut self, (player, session): (usize, &str), epoch: u64, message: &Private) {
        self.reads_value(session, message);
        let number = std::str::from_utf8(&message.re)
            .unwrap_or("")
            .parse::<u64>();
        let answers = matches!(message.event.as_str(), "ack" | "error");
        if let Ok(number) = number
            && answers
        {
            self.coverage.count_of("answer", &message.event);
            if !self.laws.answered.insert((player, epoch, number)) {
                self.breaks(format!(
                    "input {number} of player {player} (epoch {epoch}) is answered twice"
                ));
            }
        }
    }

    /// Whatever a frame tells of value the store has, or had after what was told before.
    pub(crate) fn told_all(&mut self, player: usize, session: &str) {
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

    /// A `player:sync`, by itself or in a frame.
    pub(crate) fn synchronised(&mut self, player: usize, session: &str, sync: &[u8]) {
        self.reads_sync(session, sync);
        self.told_all(player, session);
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
                let stack = (stack.item_id, u64::from(stack.quantity));
                seen.slots.insert(slot, Some(stack));
            }
        }
        seen.coins = Some(sync.coins);
    }

    /// A message that may tell of value.
    fn reads_value(&mut self, session: &str, message: &Private) {
        match message.event.as_str() {
            "player:sync" => self.reads_sync(session, &message.data),
            "inventory:update" => {
                let Ok(update) = serde_json::from_slice::<InventoryUpdate>(&message.data) else {
                    return self.breaks("an inventory:update cannot be read".to_owned());
                };
                let seen = self.seen_mut(session);
                for slot in update.slots {
                    let item = slot.item.map(|s| (s.item_id, u64::from(s.quantity)));
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

    /// A session begins with an empty mind, but the store does not go back.
    pub(crate) fn begins(&mut self, player: usize, session: &str) {
        let seen = Seen {
            from: self.laws.latest.get(&player).copied().unwrap_or_default(),
            ..Seen::default()
        };
        self.laws.seen.insert(session.to_owned(), seen);
    }

    /// What a frame shows on the ground the store has, or had.
    pub(crate) fn frame_shows(&mut self, frame: &Frame) {
        let entered = frame.chunks.iter().flat_map(|chunk| &chunk.enter);
        for item in entered.filter(|entity| entity.kind == "item") {
            if !self.laws.lay.contains(&item.id) {
                return self.breaks(format!("{} is shown, which the store never had", item.id));
            }
        }
    }

    /// What the store holds is what its ledger says, and everything has one owner.
    pub(crate) fn law_of_conservation(&mut self) {
        match self.store.check() {
            Ok(found) => {
                if let Some(first) = found.differences.first() {
                    self.breaks(format!("conservation: {first}"));
                }
            }
            Err(why) => self.breaks(format!("the check failed: {why}")),
        }
    }

    /// Inputs that a run has just played.
    pub(crate) fn law_of_inputs(&mut self, played: Vec<(String, u64, u64)>) {
        for input in played {
            self.coverage.count("input: played");
            if self.laws.played.contains(&input) {
                let (who, epoch, number) = &input;
                let law = format!("input {number} of {who} (epoch {epoch}) is played twice");
                self.breaks(law);
            }
            self.laws.played.insert(input);
        }
    }

    fn remember(&mut self, facts: &Facts) {
        for (who, now) in &facts.characters {
            let had = self.laws.had.entry(who.clone()).or_default();
            let same = |last: &Holdings| last.pack == now.pack && last.coins == now.coins;
            if !had.last().is_some_and(same) {
                had.push(Holdings {
                    pack: now.pack.clone(),
                    coins: now.coins,
                });
            }
        }
        for id in facts.ground.keys() {
            if !self.laws.lay.contains(id) {
                self.laws.lay.insert(id.clone());
            }
        }
    }

    /// After a while without faults everything is as it should be.
    pub(crate) fn all_is_well(&mut self) {
        let mut wrong = Vec::new();
        let mut held: BTreeMap<(i32, i32), Vec<(u64, u64)>> = BTreeMap::new();
        let mut played: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for zone in &self.zones {
            let Some(run) = zone.run.as_ref() else {
                continue;
            };
            for (region, epoch) in run.held() {
                held.entry((region.x, region.z))
                    .or_default()
                    .push((run.id(), epoch));
            }
            for one in run.played() {
                if one.stands {
                    played.entry(one.who).or_default().push(run.id());
                }
            }
        }
        for (at, owner) in &self.facts.regions {
            if held.get(at) != Some(&vec![*owner]) {
                wrong.push(format!(
                    "region {at:?} is {owner:?}'s, and held by {:?}",
                    held.get(at)
                ));
            }
        }
        for (who, character) in &self.facts.characters {
            let by = played.get(who).map_or(0, Vec::len);
            if by != usize::from(character.online) {
                wrong.push(format!(
                    "{who} (online: {}) is played by {:?}",
                    character.online,
                    played.get(who)
                ));
            }
        }
        self.sessions_play(&mut wrong);
        if let Some(first) = wrong.into_iter().next() {
            self.breaks(format!("after the faults: {first}"));
        }
    }
    /// Every session is played, and listened to in the last ticks.
    fn sessions_play(&self, wrong: &mut Vec<String>) {
        let patience = 4 * super::TICK_MS;
        let quiet = self.now - (QUIET_TICKS - 2) * super::TICK_MS;
        for gateway in &self.gateways {
            for session in gateway.sessions.values() {
                let stage = &self.players[session.player].stage;
                let here = matches!(stage, Stage::In { session: id, .. } if *id == session.id);
                if !here || session.place == Place::Paused {
                    continue;
                }
                let unheard = session
                    .open
                    .iter()
                    .find(|(_, sent)| (quiet..self.now.saturating_sub(patience)).contains(*sent));
                let fresh = self.now.saturating_sub(session.answered_ms) < patience;
                if !matches!(session.place, Place::At(_)) || !fresh || unheard.is_some() {
                    wrong.push(format!(
                        "session {} of player {} is {:?}, heard of {} ms ago, unanswered {unheard:?}",
                        session.id,
                        session.player,
                        session.place,
                        self.now - session.answered_ms,
                    ));
                }
            }
        }
    }
}
