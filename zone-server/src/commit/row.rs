//! What a batch knows of one character, and the row that it makes of it. Pure.

use proto::rpc::persistence::v1::{CharacterRecord, CharacterRow, Logout, Transfer};
use world::{CharacterId, Region};

use super::batch::Pace;
use crate::translate::record::rpc_region;

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
    /// With its region; the record is the last that this run writes.
    Give { record: Box<CharacterRecord> },
}

/// What the batch knows of one character.
#[derive(Debug)]
pub(super) struct Row {
    /// As the store has it once the batch in flight is done.
    pub(super) stored_region: Region,
    pub(super) sequence: u64,
    /// As the world has it.
    pub(super) region: Region,
    pub(super) moved_since: Option<u64>,
    saved_at: u64,
    /// Due at once.
    pub(super) urgent: bool,
    /// Pack or coins changed since the last row.
    pub(super) valued: bool,
    pub(super) going: Option<Going>,
    /// Its last row is in flight.
    pub(super) away: bool,
}

/// A row, and what it changes inside the run.
pub(super) struct Written {
    pub(super) row: CharacterRow,
    /// Where the store has it, when its region changes inside this run.
    pub(super) region_before: Option<Region>,
}

impl Row {
    pub(super) fn new(region: Region, sequence: u64, now: u64) -> Self {
        Self {
            stored_region: region,
            sequence,
            region,
            moved_since: None,
            saved_at: now,
            urgent: false,
            valued: false,
            going: None,
            away: false,
        }
    }

    /// Whether its row cannot wait.
    pub(super) fn must(&self) -> bool {
        self.urgent || self.valued || self.going.is_some()
    }

    /// Whether its row goes out now, if there is room.
    pub(super) fn due(&self, pace: Pace, now: u64) -> bool {
        let moved = self
            .moved_since
            .is_some_and(|since| now.saturating_sub(since) >= pace.moved_ticks);
        moved || now.saturating_sub(self.saved_at) >= pace.save_ticks
    }

    /// The row as it is sent; from then on it counts as stored.
    pub(super) fn write(
        &mut self,
        who: &CharacterId,
        now: u64,
        record: &mut impl FnMut(&CharacterId) -> Option<CharacterRecord>,
    ) -> Option<Written> {
        let mut state = match &self.going {
            Some(Going::Logout { record, .. } | Going::Give { record }) => (**record).clone(),
            Some(Going::Transfer { .. }) | None => record(who)?,
        };
        state.region = Some(rpc_region(self.stored_region));
        state.ownership_sequence = self.sequence;
        let mut row = CharacterRow {
            record: Some(state),
            transfer: None,
            logout: None,
            holdings: self.valued,
        };
        let mut region_before = None;
        match &self.going {
            Some(Going::Transfer { region, epoch }) => {
                row.transfer = Some(transfer(*region, *epoch, self.sequence + 1));
            }
            Some(Going::Logout { reason, .. }) => {
                row.logout = Some(Logout {
                    reason: (*reason).to_owned(),
                });
            }
            Some(Going::Give { .. }) | None => {
                if self.region != self.stored_region {
                    row.transfer = Some(transfer(self.region, 0, self.sequence));
                    region_before = Some(self.stored_region);
                    self.stored_region = self.region;
                }
            }
        }
        self.away = self.going.is_some();
        self.urgent = false;
        self.valued = false;
        self.moved_since = None;
        self.saved_at = now;
        Some(Written { row, region_before })
    }
}

pub(super) fn transfer(region: Region, epoch: u64, ownership_sequence: u64) -> Transfer {
    Transfer {
        region: Some(rpc_region(region)),
        epoch,
        ownership_sequence,
    }
}
