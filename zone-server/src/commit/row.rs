//! A batch's knowledge of one character, and the row that it makes of it. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use proto::rpc::persistence::v1::{
    BankItem, CharacterRecord, CharacterRow, Kills, Logout, PositionRow, Trained, Transfer,
};
use world::{CharacterId, Region, Skill};

use super::batch::Pace;
use crate::translate::record::rpc_region;

/// The way in which the run's hold on a character ends.
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

/// Items, by id.
pub(crate) type Items = BTreeSet<Arc<str>>;

/// The part of a character that a row needs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// Its id, session epoch, place, health, combat level and agility.
    Place,
    /// Everything, and of its bank at least these items.
    Whole(&'a Items),
}

/// The changes of value of a character since its last row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Changed {
    /// Pack or coins.
    pub(super) pack: bool,
    /// Equipment.
    pub(super) worn: bool,
    /// Stakes.
    pub(super) staked: bool,
    /// Items in the bank.
    pub(super) bank: Items,
    /// Whether a part of the document changed that the run tells only when it is durable.
    pub(super) state: bool,
    /// Skills whose experience grew.
    pub(super) skills: BTreeSet<Skill>,
    /// Number of NPCs that it killed, by kind.
    pub(super) kills: BTreeMap<Arc<str>, u32>,
}

impl Changed {
    /// Returns whether the character's items changed: another row may hold the other half of that
    /// change.
    pub(super) fn items(&self) -> bool {
        self.pack || self.worn || self.staked || !self.bank.is_empty()
    }

    /// Returns whether nothing changed but what walking trains.
    fn of_walking(&self) -> bool {
        let others = self.skills.iter().any(|skill| *skill != Skill::Agility);
        !self.items() && !self.state && self.kills.is_empty() && !others
    }

    pub(super) fn is_empty(&self) -> bool {
        let counted = !self.skills.is_empty() || !self.kills.is_empty();
        !self.items() && !self.state && !counted
    }

    /// Removes from a record everything of value that did not change.
    fn keep_in(&self, record: &mut CharacterRecord) {
        if !self.pack {
            record.inventory.clear();
        }
        if !self.worn {
            record.equipment.clear();
        }
        if !self.staked {
            record.stakes.clear();
        }
        record
            .bank
            .retain(|item| self.bank.contains(&*item.item_id));
        let there: BTreeSet<String> = record.bank.iter().map(|i| i.item_id.clone()).collect();
        let gone = self.bank.iter().filter(|item| !there.contains(&***item));
        record.bank.extend(gone.map(|item| BankItem {
            item_id: item.to_string(),
            gone: true,
            ..BankItem::default()
        }));
        let grew = |name: &str| Skill::named(name).is_some_and(|s| self.skills.contains(&s));
        record.skills.retain(|skill| grew(&skill.name));
    }
}

/// The batch's knowledge of one character.
#[derive(Debug)]
pub(super) struct Row {
    /// Region that the store has once the batch in flight is done.
    pub(super) stored_region: Region,
    pub(super) sequence: u64,
    /// Region that the world has.
    pub(super) region: Region,
    /// Last tick in which it stood where the store has it; `None`: it stands there still.
    stood_until: Option<u64>,
    /// Tick in which something about it changed that should not wait for long.
    altered_since: Option<u64>,
    /// Tick in which it came to belong to another region of the run.
    crossed_since: Option<u64>,
    /// Tick of the last row with everything.
    saved_at: u64,
    /// Whether the row is due at once.
    pub(super) urgent: bool,
    /// Changes of value since the last row.
    pub(super) changed: Changed,
    /// The document of the last row that had one.
    document: Bytes,
    pub(super) going: Option<Going>,
    /// Whether its last row is in flight.
    pub(super) away: bool,
}

/// Content of a row.
pub(super) enum Says {
    /// Everything that the store does not have, with the document.
    All(Box<CharacterRow>),
    /// Only what walking changes. `combat_level` is as the store has it.
    Place { row: PositionRow, combat_level: u32 },
}

/// A row with the changes that it makes inside the run.
pub(super) struct Written {
    pub(super) says: Says,
    /// Region in which the store has the character, when its region changes inside this run.
    pub(super) region_before: Option<Region>,
    /// Whether the row writes something of value.
    pub(super) of_value: bool,
}

impl Row {
    pub(super) fn new(region: Region, sequence: u64, now: u64) -> Self {
        Self {
            stored_region: region,
            sequence,
            region,
            stood_until: None,
            altered_since: None,
            crossed_since: None,
            saved_at: now,
            urgent: false,
            changed: Changed::default(),
            document: Bytes::new(),
            going: None,
            away: false,
        }
    }

    /// Notes that the character went a step on foot in tick `now`.
    pub(super) fn walked(&mut self, now: u64) {
        self.stood_until.get_or_insert(now.saturating_sub(1));
    }

    /// Notes that something about the character changed in tick `now` that should not wait for long.
    pub(super) fn altered(&mut self, now: u64) {
        self.altered_since.get_or_insert(now);
    }

    /// Notes that the character belongs to `region` from tick `now` on, another one of the run.
    pub(super) fn crossed(&mut self, region: Region, now: u64) {
        self.region = region;
        self.crossed_since.get_or_insert(now);
    }

    /// Returns whether the row cannot wait.
    pub(super) fn must(&self) -> bool {
        self.urgent || !self.changed.is_empty() || self.going.is_some()
    }

    /// Returns whether the row goes out now, if the batch has room.
    pub(super) fn due(&self, pace: Pace, now: u64) -> bool {
        let passed =
            |since: Option<u64>, ticks| since.is_some_and(|t| now.saturating_sub(t) >= ticks);
        passed(self.stood_until, pace.walked_ticks)
            || passed(self.altered_since, pace.altered_ticks)
            || passed(self.crossed_since, pace.altered_ticks)
            || passed(Some(self.saved_at), pace.save_ticks)
    }

    /// Returns whether the character only walked since its last row, and the row with everything may
    /// wait until its next place is due.
    fn only_walked(&self, pace: Pace, now: u64) -> bool {
        let other = self.urgent || self.going.is_some() || self.altered_since.is_some();
        let next = now.saturating_add(pace.walked_ticks);
        !other && self.changed.of_walking() && next <= self.saved_at.saturating_add(pace.save_ticks)
    }

    /// Returns the row to send; from then on it counts as stored.
    pub(super) fn write(
        &mut self,
        who: &CharacterId,
        pace: Pace,
        now: u64,
        record: &mut impl FnMut(&CharacterId, Wanted<'_>) -> Option<CharacterRecord>,
    ) -> Option<Written> {
        let written = if self.only_walked(pace, now) {
            self.place(record(who, Wanted::Place)?)
        } else {
            let written = self.all(who, record)?;
            self.saved_at = now;
            written
        };
        self.urgent = false;
        self.stood_until = None;
        self.altered_since = None;
        self.crossed_since = None;
        Some(written)
    }

    /// Returns a row with only what walking changes.
    fn place(&mut self, at: CharacterRecord) -> Written {
        let grew = std::mem::take(&mut self.changed);
        let agility = at.skills.first().filter(|_| !grew.is_empty());
        let agility = agility.map(|skill| Trained {
            level: skill.level,
            xp_tenths: skill.xp_tenths,
        });
        let region = rpc_region(self.stored_region);
        let region_before = self.crosses();
        let row = PositionRow {
            id: at.id,
            region: Some(region),
            ownership_sequence: self.sequence,
            session_epoch: at.session_epoch,
            x: at.x,
            y: at.y,
            z: at.z,
            health: at.health,
            to_region: region_before.map(|_| rpc_region(self.region)),
            agility,
        };
        Written {
            says: Says::Place {
                row,
                combat_level: at.combat_level,
            },
            region_before,
            of_value: !grew.is_empty(),
        }
    }

    /// Returns a row with everything that the store does not have.
    fn all(
        &mut self,
        who: &CharacterId,
        record: &mut impl FnMut(&CharacterId, Wanted<'_>) -> Option<CharacterRecord>,
    ) -> Option<Written> {
        let mut state = match &self.going {
            Some(Going::Logout { record, .. } | Going::Give { record }) => (**record).clone(),
            Some(Going::Transfer { .. }) | None => record(who, Wanted::Whole(&self.changed.bank))?,
        };
        state.region = Some(rpc_region(self.stored_region));
        state.ownership_sequence = self.sequence;
        let changed = std::mem::take(&mut self.changed);
        changed.keep_in(&mut state);
        if state.state == self.document {
            state.state.clear();
        } else {
            self.document.clone_from(&state.state);
        }
        let mut row = CharacterRow {
            record: Some(state),
            transfer: None,
            logout: None,
            holdings: changed.pack,
            worn: changed.worn,
            staked: changed.staked,
            kills: changed.kills.iter().map(kills).collect(),
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
                region_before = self.crosses();
                row.transfer = region_before.map(|_| transfer(self.region, 0, self.sequence));
            }
        }
        self.away = self.going.is_some();
        Some(Written {
            says: Says::All(Box::new(row)),
            region_before,
            of_value: !changed.is_empty(),
        })
    }

    /// Takes the region that the world has for the one that the store has. Returns the one before,
    /// if it is another.
    fn crosses(&mut self) -> Option<Region> {
        let before = std::mem::replace(&mut self.stored_region, self.region);
        (before != self.region).then_some(before)
    }
}

fn kills((kind, count): (&Arc<str>, &u32)) -> Kills {
    Kills {
        npc_id: kind.to_string(),
        count: *count,
    }
}

pub(super) fn transfer(region: Region, epoch: u64, ownership_sequence: u64) -> Transfer {
    Transfer {
        region: Some(rpc_region(region)),
        epoch,
        ownership_sequence,
    }
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
