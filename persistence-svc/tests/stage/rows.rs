//! Rows of a batch, in few words.

use proto::rpc::persistence::v1 as wire;

use super::Zone;

/// Returns a row that changes nothing else.
pub(crate) fn stay(record: wire::CharacterRecord) -> wire::CharacterRow {
    wire::CharacterRow {
        record: Some(record),
        ..wire::CharacterRow::default()
    }
}

/// Returns a row that gives the character to another owner's region.
pub(crate) fn transfer(record: wire::CharacterRecord, to: &Zone) -> wire::CharacterRow {
    let ownership_sequence = record.ownership_sequence + 1;
    wire::CharacterRow {
        record: Some(record),
        transfer: Some(wire::Transfer {
            region: Some(to.place),
            epoch: to.epoch,
            ownership_sequence,
        }),
        ..wire::CharacterRow::default()
    }
}

pub(crate) fn logout(record: wire::CharacterRecord, reason: &str) -> wire::CharacterRow {
    wire::CharacterRow {
        record: Some(record),
        logout: Some(wire::Logout {
            reason: reason.to_owned(),
        }),
        ..wire::CharacterRow::default()
    }
}

/// Returns the record at another place.
pub(crate) fn at(record: &wire::CharacterRecord, x: i32, z: i32) -> wire::CharacterRecord {
    wire::CharacterRecord {
        x,
        z,
        placed: true,
        ..record.clone()
    }
}

/// Returns the row of a position.
pub(crate) fn walked(record: &wire::CharacterRecord, x: i32, z: i32) -> wire::PositionRow {
    wire::PositionRow {
        id: record.id.clone(),
        region: record.region,
        ownership_sequence: record.ownership_sequence,
        session_epoch: record.session_epoch,
        x,
        y: 3.5,
        z,
        health: 41,
        to_region: None,
        agility: None,
    }
}

/// Returns a batch with one row of a position.
pub(crate) fn only(row: wire::PositionRow) -> wire::CommitRows {
    wire::CommitRows {
        positions: vec![row],
        ..wire::CommitRows::default()
    }
}
