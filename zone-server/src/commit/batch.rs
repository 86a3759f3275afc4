//! Decides which rows go to the store and when, and interprets the store's answer. Pure.
//!
//! Always: one batch is in flight; its sequence is one more than that of the last answered one; it
//! is sent again unchanged until it is answered, but for transfers and gives that the store calls
//! stale. A batch has all changes of value in the run up to the tick in which it is cut. A
//! character whose transfer, logout or give is in flight gives no further rows. The state of a region
//! with a deal of the batch is in the batch.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bytes::Bytes;
use proto::rpc::persistence::v1::{
    CharacterRecord, CharacterRow, CommitRows, RegionGive, RegionState,
};
use world::{CharacterId, Region, Skill};

pub(crate) use super::row::{Going, Items, Wanted};
use super::{
    row::{Row, Says},
    rows,
    traces::Traces,
    value::Value,
};
use crate::{
    mutants::Mutants,
    translate::record::{region, rpc_region},
};

/// The moments at which rows are due.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Ticks by which the store may have the place of a player too late who only walked.
    pub(crate) walked_ticks: u64,
    /// Ticks after which the row of a player goes out that something else put elsewhere, or about
    /// whom something changed that is of no value.
    pub(crate) altered_ticks: u64,
    /// Ticks after which every row goes out.
    pub(crate) save_ticks: u64,
    /// Rows of characters in one batch, those that cannot wait aside.
    pub(crate) rows_max: usize,
}

/// A batch as it is sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sending {
    pub(crate) sequence: u64,
    pub(crate) tick: u64,
    pub(crate) rows: Arc<CommitRows>,
    /// Combat level of the character of each row of a position, as the store has it.
    pub(crate) combat_levels: Arc<[u32]>,
    pub(crate) traces: Traces,
}

#[derive(Debug)]
struct Flight {
    sending: Sending,
    /// Whether the batch holds something of value.
    value: bool,
    /// Region in which the store has each character whose region changes inside this run.
    regions_before: BTreeMap<CharacterId, Region>,
}

/// The store's answer to a batch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// The store applied the batch.
    Done,
    /// The store changed nothing; the batch must drop the transfers of these characters and the
    /// gives of these regions (all of both, when both are empty).
    Stale(Vec<CharacterId>, Vec<Region>),
}

/// The outcome of an answer.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Settled {
    /// Batch that the store now has, with its rows. The run may tell its sessions the messages that
    /// it held for this batch.
    pub(crate) applied: Option<(u64, Arc<CommitRows>)>,
    /// Characters that now belong to another run.
    pub(crate) transferred: Vec<CharacterId>,
    /// Characters whose departure from the world is durable, with the reasons.
    pub(crate) logged_out: Vec<(CharacterId, &'static str)>,
    /// Regions that now belong to another run, with everybody in them; the batch holds none of them
    /// any more.
    pub(crate) given: Vec<Region>,
    /// Characters whose transfers the batch dropped; they stay.
    pub(crate) stale: Vec<CharacterId>,
    /// Regions whose gives the batch dropped: the run goes on with them and everybody in them, and
    /// may give them again.
    pub(crate) stale_gives: Vec<Region>,
    /// Regions that a character entered inside the run but that by the store's word are not the
    /// run's.
    pub(crate) not_mine: BTreeSet<Region>,
    /// Batch to send now, under the same sequence.
    pub(crate) again: Option<Sending>,
    /// Whether the store's demand makes no sense, so that the run must end.
    pub(crate) broken: bool,
}

/// The loss of a region that went without a batch that says so.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Lost {
    /// Characters that are no longer the run's and no longer in the batch.
    pub(crate) characters: Vec<CharacterId>,
    /// Whether something of value that touches these characters or the region can never be written.
    /// The store must not hold the rest of an exchange without it, so the run must end.
    pub(crate) value: bool,
}

/// The rows of one run.
#[derive(Debug)]
pub(crate) struct Batch {
    pace: Pace,
    mutants: Mutants,
    sequence: u64,
    rows: BTreeMap<CharacterId, Row>,
    value: Value,
    /// Regions that the run gives away with the next batch.
    gives: BTreeMap<Region, RegionGive>,
    /// States of regions that go with the next batch.
    states: BTreeMap<Region, RegionState>,
    flight: Option<Flight>,
    /// Whether the last attempt at the batch in flight has failed.
    failing: bool,
}

impl Batch {
    /// Returns an empty batch.
    pub(crate) fn new(pace: Pace, mutants: Mutants) -> Self {
        Self {
            pace,
            mutants,
            sequence: 0,
            rows: BTreeMap::new(),
            value: Value::default(),
            gives: BTreeMap::new(),
            states: BTreeMap::new(),
            flight: None,
            failing: false,
        }
    }

    /// Notes that an attempt at the batch in flight has failed; the committer tries again.
    pub(crate) fn attempt_failed(&mut self) {
        self.failing = true;
    }

    /// Returns whether the last attempt at the batch in flight has failed.
    pub(crate) fn failing(&self) -> bool {
        self.failing
    }

    /// Notes that a character is the run's now; the store has it at `region` with `sequence`.
    pub(crate) fn enter(&mut self, who: &CharacterId, region: Region, sequence: u64, now: u64) {
        self.rows
            .insert(who.clone(), Row::new(region, sequence, now));
    }

    /// Forgets a character that is no longer the run's, and writes nothing about it.
    pub(crate) fn forget(&mut self, who: &CharacterId) {
        self.rows.remove(who);
    }

    /// Notes that a character went a step on foot in tick `now`.
    pub(crate) fn walked(&mut self, who: &CharacterId, now: u64) {
        if let Some(row) = self.rows.get_mut(who) {
            row.walked(now);
        }
    }

    /// Notes that something about a character changed in tick `now` that is of no value, but should
    /// not wait for long.
    pub(crate) fn altered(&mut self, who: &CharacterId, now: u64) {
        if let Some(row) = self.rows.get_mut(who) {
            row.altered(now);
        }
    }

    /// Notes that the pack or the coins of a character changed.
    pub(crate) fn valued(&mut self, who: &CharacterId) {
        if let Some(row) = self.rows.get_mut(who) {
            row.changed.pack = true;
        }
    }

    /// Notes that a character wears something else.
    pub(crate) fn worn(&mut self, who: &CharacterId) {
        if let Some(row) = self.rows.get_mut(who) {
            row.changed.worn = true;
        }
    }

    /// Notes that the stakes of a character changed.
    pub(crate) fn staked(&mut self, who: &CharacterId) {
        if let Some(row) = self.rows.get_mut(who) {
            row.changed.staked = true;
        }
    }

    /// Notes that these items in a character's bank changed. If none is named, only its
    /// placeholders did.
    pub(crate) fn banked(&mut self, who: &CharacterId, items: Items) {
        if let Some(row) = self.rows.get_mut(who) {
            row.changed.bank.extend(items);
            row.changed.state = true;
        }
    }

    /// Notes that a character gained experience in these skills.
    pub(crate) fn trained(&mut self, who: &CharacterId, skills: BTreeSet<Skill>) {
        if let Some(row) = self.rows.get_mut(who) {
            row.changed.skills.extend(skills);
        }
    }

    /// Notes that a character's progress in a quest changed.
    pub(crate) fn quests(&mut self, who: &CharacterId) {
        if let Some(row) = self.rows.get_mut(who) {
            row.changed.state = true;
        }
    }

    /// Notes that a character killed these numbers of NPCs, by kind.
    pub(crate) fn killed(&mut self, who: &CharacterId, kills: BTreeMap<Arc<str>, u32>) {
        if let Some(row) = self.rows.get_mut(who) {
            for (kind, count) in kills {
                let sum = row.changed.kills.entry(kind).or_default();
                *sum = sum.saturating_add(count);
            }
        }
    }

    /// Returns the ground items and the ledger.
    pub(crate) fn value(&mut self) -> &mut Value {
        &mut self.value
    }

    /// Sends the state of `region`, which the run owns at `epoch`, along with the next batch.
    pub(crate) fn region_state(&mut self, region: Region, epoch: u64, state: Bytes) {
        let row = RegionState {
            region: Some(rpc_region(region)),
            epoch,
            state,
        };
        self.states.insert(region, row);
    }

    /// Notes that a character belongs to another region of this run.
    pub(crate) fn region(&mut self, who: &CharacterId, region: Region, now: u64) {
        if let Some(row) = self.rows.get_mut(who) {
            row.crossed(region, now);
        }
    }

    /// Marks a character to leave the run with the next batch. Returns false when the character is
    /// not there or leaves already.
    pub(crate) fn going(&mut self, who: &CharacterId, going: Going) -> bool {
        match self.rows.get_mut(who) {
            Some(row) if row.going.is_none() && !row.away => {
                row.going = Some(going);
                true
            }
            _ => false,
        }
    }

    /// Gives `region`, which the run owns at `epoch`, to the run `to_run_id` with the next batch. A
    /// whole row of everybody who belongs to it goes along, and everything of value that waits.
    /// `players` are their records at the moment when the run took the region out of the world.
    /// From here on they give no other row.
    ///
    /// Returns false and changes nothing if the region is given already, or if the transfer of one
    /// of them waits or is in flight. It does so, too, if one of them who does not log out has no
    /// record here. A player on its way in must have joined before.
    ///
    /// When the store answers the batch, [`Settled::given`] may name the region: all of them are
    /// gone from the batch. Else [`Settled::stale_gives`] names it: they are all still here, and
    /// the run may report later changes of them as before.
    pub(crate) fn give(
        &mut self,
        region: Region,
        epoch: u64,
        to_run_id: u64,
        players: Vec<(CharacterId, CharacterRecord)>,
    ) -> bool {
        let mut players: BTreeMap<_, _> = players.into_iter().collect();
        let going = self.flight_gives().any(|given| given == region);
        let ready = |(who, row): (&CharacterId, &Row)| match &row.going {
            _ if row.region != region && row.stored_region != region => true,
            Some(Going::Logout { .. }) => true,
            Some(_) => false,
            None => row.region != region || players.contains_key(who),
        };
        if going || self.gives.contains_key(&region) || !self.rows.iter().all(ready) {
            return false;
        }
        for (who, row) in &mut self.rows {
            if row.region != region {
                // The store must hear of each player who left the region before it is given.
                row.urgent |= row.stored_region == region;
            } else if row.going.is_none()
                && let Some(record) = players.remove(who).map(Box::new)
            {
                row.going = Some(Going::Give { record });
            }
        }
        let give = RegionGive {
            region: Some(rpc_region(region)),
            epoch,
            to_run_id,
        };
        self.gives.insert(region, give);
        true
    }

    fn flight_gives(&self) -> impl Iterator<Item = Region> + '_ {
        let gives = self.flight.iter().flat_map(|f| &f.sending.rows.gives);
        gives.filter_map(|give| region(give.region))
    }

    /// Forgets the characters of a region that went to another run without a batch of this run.
    pub(crate) fn lost(&mut self, region: Region) -> Lost {
        let mut characters = BTreeSet::new();
        let mut valued = false;
        self.rows.retain(|who, row| {
            let lost = row.region == region || row.stored_region == region;
            if lost {
                valued |= row.changed.items();
                characters.insert(who.clone());
            }
            !lost
        });
        self.gives.remove(&region);
        self.states.remove(&region);
        let value = self.value.lost(region, &characters);
        Lost {
            characters: characters.into_iter().collect(),
            value: value || valued,
        }
    }

    /// Returns whether nothing is in flight and nothing waits that must go.
    pub(crate) fn idle(&self) -> bool {
        let waits = self.rows.values().any(|row| row.going.is_some());
        self.flight.is_none() && !waits && self.gives.is_empty() && !self.value_waits()
    }

    /// Returns whether a batch is in flight.
    pub(crate) fn flying(&self) -> bool {
        self.flight.is_some()
    }

    /// Makes everybody's row due at once.
    pub(crate) fn hurry(&mut self) {
        self.rows.values_mut().for_each(|row| row.urgent = true);
    }

    /// Returns whether the store has everything that was due at once.
    pub(crate) fn clean(&self) -> bool {
        self.idle() && !self.rows.values().any(Row::must)
    }

    /// Returns whether something of value waits for the next batch.
    pub(crate) fn value_waits(&self) -> bool {
        !self.value.is_empty() || self.rows.values().any(|row| !row.changed.is_empty())
    }

    /// Returns the batch whose acknowledgement releases the events of this moment. It is the next
    /// one when something of value waits for it, else the one in flight if that holds any. Returns
    /// `None` when the store has acknowledged everything of value.
    pub(crate) fn value_sequence(&self) -> Option<u64> {
        if self.value_waits() {
            return Some(self.sequence + 1);
        }
        let flight = self.flight.as_ref().filter(|flight| flight.value);
        flight.map(|flight| flight.sending.sequence)
    }

    /// Returns the number of ledger entries that the store has not acknowledged.
    pub(crate) fn ledger_entries(&self) -> usize {
        let flight = self.flight.as_ref();
        let sent = flight.map_or(0, |flight| flight.sending.rows.ledger.len());
        self.value.entries() + sent
    }

    /// Returns the number of ticks since the batch in flight was cut, or 0 if none is in flight.
    pub(crate) fn waiting_ticks(&self, now: u64) -> u64 {
        let flight = self.flight.as_ref();
        flight.map_or(0, |flight| now.saturating_sub(flight.sending.tick))
    }

    /// Cuts the next batch when none is in flight and something is due. `record` gives a character
    /// as it is at the boundary of tick `now`.
    pub(crate) fn cut(
        &mut self,
        now: u64,
        mut record: impl FnMut(&CharacterId, Wanted<'_>) -> Option<CharacterRecord>,
    ) -> Option<Sending> {
        if self.flight.is_some() {
            return None;
        }
        let (pace, apart) = (self.pace, self.mutants.separate_saves);
        let mut saved = None;
        let mut out = CommitRows::default();
        let mut combat_levels = Vec::new();
        let mut regions_before = BTreeMap::new();
        let mut value = false;
        for must in [true, false] {
            for (who, row) in &mut self.rows {
                let later = apart && row.changed.items() && saved.is_some();
                if row.away || later || row.must() != must || !(must || row.due(pace, now)) {
                    continue;
                }
                if !must && out.characters.len() + out.positions.len() >= pace.rows_max {
                    break;
                }
                if row.changed.items() {
                    saved = Some(who.clone());
                }
                let Some(written) = row.write(who, pace, now, &mut record) else {
                    continue;
                };
                if let Some(before) = written.region_before {
                    regions_before.insert(who.clone(), before);
                }
                value |= written.of_value;
                match written.says {
                    Says::All(row) => out.characters.push(*row),
                    Says::Place { row, combat_level } => {
                        out.positions.push(row);
                        combat_levels.push(combat_level);
                    }
                }
            }
        }
        match saved.filter(|_| apart) {
            Some(who) => self.value.take_of(&who, &mut out),
            None => self.value.take(&mut out),
        }
        out.gives = std::mem::take(&mut self.gives).into_values().collect();
        out.states = std::mem::take(&mut self.states).into_values().collect();
        self.fly(now, value, (out, combat_levels), regions_before)
    }

    fn fly(
        &mut self,
        now: u64,
        valued: bool,
        (out, combat_levels): (CommitRows, Vec<u32>),
        regions_before: BTreeMap<CharacterId, Region>,
    ) -> Option<Sending> {
        if rows::count(&out) == 0 {
            return None;
        }
        self.sequence += 1;
        let held = out.ground.len() + out.gone.len() + out.ledger.len();
        let value = held > 0 || valued;
        let sending = Sending {
            sequence: self.sequence,
            tick: now,
            rows: Arc::new(out),
            combat_levels: combat_levels.into(),
            traces: Traces::default(),
        };
        self.flight = Some(Flight {
            sending: sending.clone(),
            value,
            regions_before,
        });
        Some(sending)
    }

    /// Takes the answer to the batch `sequence`; a repeated or late answer changes nothing.
    pub(crate) fn answered(&mut self, sequence: u64, answer: Answer) -> Settled {
        self.failing = false;
        match self.flight.take() {
            Some(flight) if flight.sending.sequence == sequence => match answer {
                Answer::Done => self.done(flight),
                Answer::Stale(ids, regions) => self.stale(flight, &ids, &regions),
            },
            other => {
                self.flight = other;
                Settled::default()
            }
        }
    }

    fn done(&mut self, flight: Flight) -> Settled {
        let mut settled = Settled::default();
        let Sending { sequence, rows, .. } = flight.sending;
        for who in rows.characters.iter().filter_map(whose) {
            let away = self.rows.get(&who).is_some_and(|row| row.away);
            if !away {
                continue;
            }
            let row = self.rows.remove(&who);
            match row.and_then(|row| row.going) {
                Some(Going::Logout { reason, .. }) => settled.logged_out.push((who, reason)),
                Some(Going::Give { .. }) => {}
                Some(Going::Transfer { .. }) | None => settled.transferred.push(who),
            }
        }
        for region in rows.gives.iter().filter_map(|give| region(give.region)) {
            self.value.forget(region);
            settled.given.push(region);
        }
        settled.applied = Some((sequence, rows));
        settled
    }

    fn stale(&mut self, mut flight: Flight, ids: &[CharacterId], regions: &[Region]) -> Settled {
        let mut settled = Settled::default();
        let all = ids.is_empty() && regions.is_empty();
        let mut rows = (*flight.sending.rows).clone();
        for give in rows
            .gives
            .extract_if(.., |give| all || named(regions, give))
        {
            settled.stale_gives.extend(region(give.region));
        }
        self.keep(&settled.stale_gives);
        for sent in &mut rows.positions {
            let who = CharacterId::from(sent.id.as_str());
            if sent.to_region.is_none() || !(all || ids.contains(&who)) {
                continue;
            }
            sent.to_region = None;
            if let Some(before) = flight.regions_before.remove(&who) {
                let stuck = self.stuck(&who, before);
                settled.not_mine.extend(stuck.filter(|_| !all));
            }
            settled.stale.push(who);
        }
        for sent in &mut rows.characters {
            let Some(who) = whose(sent) else {
                continue;
            };
            if sent.transfer.is_none() || !(all || ids.contains(&who)) {
                continue;
            }
            sent.transfer = None;
            if let Some(before) = flight.regions_before.remove(&who) {
                let stuck = self.stuck(&who, before);
                settled.not_mine.extend(stuck.filter(|_| !all));
            } else if let Some(row) = self.rows.get_mut(&who).filter(|row| row.away) {
                row.away = false;
                row.going = None;
                row.urgent = true;
            }
            settled.stale.push(who);
        }
        settled.broken = settled.stale.is_empty() && settled.stale_gives.is_empty();
        flight.sending.rows = Arc::new(rows);
        settled.again = Some(flight.sending.clone());
        self.flight = Some(flight);
        settled
    }

    /// Keeps everybody who was to go with these regions.
    fn keep(&mut self, regions: &[Region]) {
        for row in self.rows.values_mut() {
            let given = matches!(row.going, Some(Going::Give { .. }));
            if given && regions.contains(&row.region) {
                row.away = false;
                row.going = None;
            }
        }
    }

    /// Notes that the store still has a character in the region `before`. Returns the region in
    /// which the run believed it.
    fn stuck(&mut self, who: &CharacterId, before: Region) -> Option<Region> {
        let row = self.rows.get_mut(who)?;
        let to = std::mem::replace(&mut row.stored_region, before);
        row.urgent = true;
        Some(to)
    }
}

/// Returns whether a give is of one of these regions.
fn named(regions: &[Region], give: &RegionGive) -> bool {
    region(give.region).is_some_and(|region| regions.contains(&region))
}

fn whose(row: &CharacterRow) -> Option<CharacterId> {
    let record = row.record.as_ref()?;
    Some(CharacterId::from(record.id.as_str()))
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "law_tests.rs"]
mod law;
