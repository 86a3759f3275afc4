//! Which rows go to the store, when, and what their answer means. Pure.
//!
//! Always: one batch is in flight; its sequence is one more than that of the last answered one; it
//! is sent again unchanged until it is answered, but for transfers that the store calls stale. A
//! character whose transfer or logout is in flight gives no further rows.

use std::{collections::BTreeMap, sync::Arc};

use proto::rpc::{
    common::v1 as common,
    persistence::v1::{CharacterRecord, CharacterRow, Logout, Transfer},
};
use world::{CharacterId, Region};

/// When rows are due.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Ticks after which the row of somebody who moved goes out.
    pub(crate) moved_ticks: u64,
    /// Ticks after which every row goes out.
    pub(crate) save_ticks: u64,
    /// Rows of one batch, those that cannot wait aside.
    pub(crate) rows_max: usize,
}

/// What ends the run's hold on a character.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Going {
    /// To another run's region, at the epoch at which that run owns it.
    Transfer { region: Region, epoch: u64 },
    /// Out of the world; the record is its last.
    Logout {
        reason: &'static str,
        record: Box<CharacterRecord>,
    },
}

/// What the batch knows of one character.
#[derive(Debug)]
struct Row {
    /// As the store has it once the batch in flight is done.
    stored_region: Region,
    sequence: u64,
    /// As the world has it.
    region: Region,
    moved_since: Option<u64>,
    saved_at: u64,
    /// Something of value changed: due at once.
    urgent: bool,
    going: Option<Going>,
    /// Its transfer or logout is in flight.
    away: bool,
}

/// A batch as it is sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sending {
    pub(crate) sequence: u64,
    pub(crate) tick: u64,
    pub(crate) rows: Arc<Vec<CharacterRow>>,
    pub(crate) traceparent: String,
}

#[derive(Debug)]
struct Flight {
    sending: Sending,
    /// Where the store has characters whose region changes inside this run.
    regions_before: BTreeMap<CharacterId, Region>,
}

/// The store's answer to a batch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// Applied.
    Done,
    /// Nothing was changed; the transfers of these characters (all, when empty) must go.
    TransferStale(Vec<CharacterId>),
}

/// What an answer brought about.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Settled {
    /// These now belong to another run.
    pub(crate) transferred: Vec<CharacterId>,
    /// These are out of the world, durably.
    pub(crate) logged_out: Vec<(CharacterId, &'static str)>,
    /// The transfers of these were dropped; they stay.
    pub(crate) stale: Vec<CharacterId>,
    /// To be sent now, under the same sequence.
    pub(crate) again: Option<Sending>,
    /// The store asked for what makes no sense: the run must end.
    pub(crate) broken: bool,
}

/// The rows of one run.
#[derive(Debug)]
pub(crate) struct Batch {
    pace: Pace,
    sequence: u64,
    rows: BTreeMap<CharacterId, Row>,
    flight: Option<Flight>,
}

impl Batch {
    /// Nothing to say yet.
    pub(crate) fn new(pace: Pace) -> Self {
        Self {
            pace,
            sequence: 0,
            rows: BTreeMap::new(),
            flight: None,
        }
    }

    /// A character is the run's now; the store has it at `region` with `sequence`.
    pub(crate) fn enter(&mut self, who: &CharacterId, region: Region, sequence: u64, now: u64) {
        let row = Row {
            stored_region: region,
            sequence,
            region,
            moved_since: None,
            saved_at: now,
            urgent: false,
            going: None,
            away: false,
        };
        self.rows.insert(who.clone(), row);
    }

    /// A character is no longer the run's, without anything to say about it.
    pub(crate) fn forget(&mut self, who: &CharacterId) {
        self.rows.remove(who);
    }

    /// A character moved in tick `now`.
    pub(crate) fn moved(&mut self, who: &CharacterId, now: u64) {
        if let Some(row) = self.rows.get_mut(who) {
            row.moved_since.get_or_insert(now);
        }
    }

    /// Something of value changed for a character.
    pub(crate) fn valued(&mut self, who: &CharacterId) {
        if let Some(row) = self.rows.get_mut(who) {
            row.urgent = true;
        }
    }

    /// A character belongs to another region of this run.
    pub(crate) fn region(&mut self, who: &CharacterId, region: Region, now: u64) {
        if let Some(row) = self.rows.get_mut(who) {
            row.region = region;
            row.moved_since.get_or_insert(now);
        }
    }

    /// A character goes, with the next batch. False when it is not there or goes already.
    pub(crate) fn going(&mut self, who: &CharacterId, going: Going) -> bool {
        match self.rows.get_mut(who) {
            Some(row) if row.going.is_none() && !row.away => {
                row.going = Some(going);
                true
            }
            _ => false,
        }
    }

    /// Whether nothing is in flight and nobody waits to go.
    pub(crate) fn idle(&self) -> bool {
        self.flight.is_none() && self.rows.values().all(|row| row.going.is_none())
    }

    /// The next batch, when none is in flight and something is due. `record` gives a character as
    /// it is at the boundary of tick `now`.
    pub(crate) fn cut(
        &mut self,
        now: u64,
        mut record: impl FnMut(&CharacterId) -> Option<CharacterRecord>,
    ) -> Option<Sending> {
        if self.flight.is_some() {
            return None;
        }
        let pace = self.pace;
        let mut out = Vec::new();
        let mut regions_before = BTreeMap::new();
        for must in [true, false] {
            for (who, row) in &mut self.rows {
                if row.away || row.must() != must || !(must || row.due(pace, now)) {
                    continue;
                }
                if !must && out.len() >= pace.rows_max {
                    break;
                }
                let Some(written) = row.write(who, now, &mut record) else {
                    continue;
                };
                if let Some(before) = written.region_before {
                    regions_before.insert(who.clone(), before);
                }
                out.push(written.row);
            }
        }
        if out.is_empty() {
            return None;
        }
        self.sequence += 1;
        let sending = Sending {
            sequence: self.sequence,
            tick: now,
            rows: Arc::new(out),
            traceparent: String::new(),
        };
        self.flight = Some(Flight {
            sending: sending.clone(),
            regions_before,
        });
        Some(sending)
    }

    /// Takes the answer to the batch `sequence`; a repeated or late answer changes nothing.
    pub(crate) fn answered(&mut self, sequence: u64, answer: Answer) -> Settled {
        match self.flight.take() {
            Some(flight) if flight.sending.sequence == sequence => match answer {
                Answer::Done => self.done(flight),
                Answer::TransferStale(ids) => self.stale(flight, &ids),
            },
            other => {
                self.flight = other;
                Settled::default()
            }
        }
    }

    fn done(&mut self, flight: Flight) -> Settled {
        let mut settled = Settled::default();
        for sent in flight.sending.rows.iter() {
            let Some(who) = sent.record.as_ref().map(|r| CharacterId::from(&*r.id)) else {
                continue;
            };
            let away = self.rows.get(&who).is_some_and(|row| row.away);
            if !away {
                continue;
            }
            let row = self.rows.remove(&who);
            match row.and_then(|row| row.going) {
                Some(Going::Logout { reason, .. }) => settled.logged_out.push((who, reason)),
                _ => settled.transferred.push(who),
            }
        }
        settled
    }

    fn stale(&mut self, mut flight: Flight, ids: &[CharacterId]) -> Settled {
        let mut settled = Settled::default();
        let mut rows = (*flight.sending.rows).clone();
        for sent in &mut rows {
            let Some(who) = sent.record.as_ref().map(|r| CharacterId::from(&*r.id)) else {
                continue;
            };
            if sent.transfer.is_none() || !(ids.is_empty() || ids.contains(&who)) {
                continue;
            }
            sent.transfer = None;
            if let Some(row) = self.rows.get_mut(&who) {
                if row.away {
                    row.away = false;
                    row.going = None;
                } else if let Some(before) = flight.regions_before.remove(&who) {
                    row.stored_region = before;
                }
                row.urgent = true;
            }
            settled.stale.push(who);
        }
        settled.broken = settled.stale.is_empty();
        flight.sending.rows = Arc::new(rows);
        settled.again = Some(flight.sending.clone());
        self.flight = Some(flight);
        settled
    }
}

struct Written {
    row: CharacterRow,
    region_before: Option<Region>,
}

impl Row {
    fn must(&self) -> bool {
        self.urgent || self.going.is_some()
    }

    fn due(&self, pace: Pace, now: u64) -> bool {
        let moved = self
            .moved_since
            .is_some_and(|since| now.saturating_sub(since) >= pace.moved_ticks);
        moved || now.saturating_sub(self.saved_at) >= pace.save_ticks
    }

    /// The row as it is sent; from then on it counts as stored.
    fn write(
        &mut self,
        who: &CharacterId,
        now: u64,
        record: &mut impl FnMut(&CharacterId) -> Option<CharacterRecord>,
    ) -> Option<Written> {
        let mut state = match &self.going {
            Some(Going::Logout { record, .. }) => (**record).clone(),
            _ => record(who)?,
        };
        state.region = Some(rpc_region(self.stored_region));
        state.ownership_sequence = self.sequence;
        let mut row = CharacterRow {
            record: Some(state),
            transfer: None,
            logout: None,
            holdings: false,
        };
        let mut region_before = None;
        let local = (self.region != self.stored_region).then_some(self.region);
        match &self.going {
            Some(Going::Transfer { region, epoch }) => {
                row.transfer = Some(transfer(*region, *epoch, self.sequence + 1));
            }
            Some(Going::Logout { reason, .. }) => {
                row.logout = Some(Logout {
                    reason: (*reason).to_owned(),
                });
            }
            None => {
                if let Some(region) = local {
                    row.transfer = Some(transfer(region, 0, self.sequence));
                    region_before = Some(self.stored_region);
                    self.stored_region = region;
                }
            }
        }
        self.away = self.going.is_some();
        self.urgent = false;
        self.moved_since = None;
        self.saved_at = now;
        Some(Written { row, region_before })
    }
}

fn transfer(region: Region, epoch: u64, ownership_sequence: u64) -> Transfer {
    Transfer {
        region: Some(rpc_region(region)),
        epoch,
        ownership_sequence,
    }
}

fn rpc_region(region: Region) -> common::Region {
    common::Region {
        x: region.x,
        z: region.z,
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
