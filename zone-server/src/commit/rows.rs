//! The rows of one batch, and the messages that carry them.
//!
//! Always: a message holds at most [`PART_ROWS`] rows and, but for a single larger row,
//! [`PART_BYTES`] bytes; the messages together hold each row once, in order.

use prost::Message as _;
use proto::rpc::persistence::v1::{
    CharacterRecord, CharacterRow, CommitRows, PositionRow, Skill, Trained, Transfer,
    commit_part::Part,
};

/// Rows in one message of the stream.
const PART_ROWS: usize = 500;
/// Bytes of rows in one message of the stream.
const PART_BYTES: usize = 256 * 1024;

/// Returns the number of rows of each kind.
pub(crate) fn kinds(rows: &CommitRows) -> [(&'static str, usize); 8] {
    [
        ("character", rows.characters.len()),
        ("position", rows.positions.len()),
        ("ground", rows.ground.len()),
        ("gone", rows.gone.len()),
        ("ledger", rows.ledger.len()),
        ("give", rows.gives.len()),
        ("chunk", rows.chunks.len()),
        ("state", rows.states.len()),
    ]
}

/// Returns the number of rows of all kinds together.
pub(crate) fn count(rows: &CommitRows) -> usize {
    kinds(rows).iter().map(|(_, count)| count).sum()
}

/// Returns the same batch for a service that knows no rows of positions: each of them becomes a row
/// of the character that writes the same values. `combat_levels` has that of each, in order.
pub(crate) fn without_positions(rows: &CommitRows, combat_levels: &[u32]) -> CommitRows {
    let mut out = rows.clone();
    let positions = std::mem::take(&mut out.positions).into_iter();
    let whole = positions.zip(combat_levels);
    out.characters
        .extend(whole.map(|(row, combat_level)| in_full(row, *combat_level)));
    out
}

fn in_full(row: PositionRow, combat_level: u32) -> CharacterRow {
    let transfer = row.to_region.map(|region| Transfer {
        region: Some(region),
        epoch: 0,
        ownership_sequence: row.ownership_sequence,
    });
    let record = CharacterRecord {
        id: row.id,
        region: row.region,
        ownership_sequence: row.ownership_sequence,
        session_epoch: row.session_epoch,
        x: row.x,
        y: row.y,
        z: row.z,
        health: row.health,
        combat_level,
        skills: row.agility.map(agility).into_iter().collect(),
        // Whoever walks stands in the world. A new character has a row with everything first.
        placed: true,
        ..CharacterRecord::default()
    };
    CharacterRow {
        record: Some(record),
        transfer,
        ..CharacterRow::default()
    }
}

fn agility(grown: Trained) -> Skill {
    Skill {
        name: world::Skill::Agility.name().to_owned(),
        level: grown.level,
        xp_tenths: grown.xp_tenths,
    }
}

/// Returns the messages that carry `rows`.
pub(crate) fn parts(rows: &CommitRows) -> Vec<Part> {
    let mut out = Parts::default();
    macro_rules! carry {
        ($($kind:ident)*) => {
            $(for row in &rows.$kind {
                out.room(row.encoded_len());
                out.open.$kind.push(row.clone());
            })*
        };
    }
    carry!(characters positions ground gone ledger gives chunks states);
    out.close();
    out.done
}

#[derive(Default)]
struct Parts {
    done: Vec<Part>,
    open: CommitRows,
    rows: usize,
    bytes: usize,
}

impl Parts {
    /// Makes room for one more row of `bytes` bytes: begins a new message if the open one is full.
    fn room(&mut self, bytes: usize) {
        let full = self.rows >= PART_ROWS || self.bytes + bytes > PART_BYTES;
        if full {
            self.close();
        }
        self.rows += 1;
        self.bytes += bytes;
    }

    fn close(&mut self) {
        if self.rows > 0 {
            self.done.push(Part::Rows(std::mem::take(&mut self.open)));
        }
        self.rows = 0;
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use proto::rpc::common::v1::Region;
    use proto::rpc::persistence::v1::{GroundGone, GroundItem, LedgerRow, RegionGive};

    use super::*;

    fn character(name_bytes: usize) -> CharacterRow {
        CharacterRow {
            record: Some(CharacterRecord {
                name: "x".repeat(name_bytes),
                ..CharacterRecord::default()
            }),
            ..CharacterRow::default()
        }
    }

    fn joined(parts: Vec<Part>) -> CommitRows {
        let mut all = CommitRows::default();
        for part in parts {
            let Part::Rows(mut rows) = part else {
                panic!("a header among the rows");
            };
            assert!(count(&rows) <= PART_ROWS);
            assert!(count(&rows) == 1 || rows.encoded_len() <= PART_BYTES + 8 * PART_ROWS);
            all.characters.append(&mut rows.characters);
            all.positions.append(&mut rows.positions);
            all.ground.append(&mut rows.ground);
            all.gone.append(&mut rows.gone);
            all.ledger.append(&mut rows.ledger);
            all.gives.append(&mut rows.gives);
            all.chunks.append(&mut rows.chunks);
            all.states.append(&mut rows.states);
        }
        all
    }

    #[test]
    fn parts_are_bounded_and_carry_each_row_once() {
        let ledger = |delta| LedgerRow {
            delta,
            ..LedgerRow::default()
        };
        let rows = CommitRows {
            characters: vec![character(100_000), character(200_000), character(2_000_000)],
            positions: vec![PositionRow::default(); 4],
            ground: vec![GroundItem::default(); 3],
            gone: vec![GroundGone::default(); 2],
            ledger: (1..=1_700).map(ledger).collect(),
            gives: vec![RegionGive::default()],
            chunks: vec![proto::rpc::persistence::v1::ChunkRow::default(); 2],
            states: vec![proto::rpc::persistence::v1::RegionState::default(); 2],
        };
        let parts = parts(&rows);
        assert!(parts.len() >= 7, "{}", parts.len());
        assert_eq!(joined(parts), rows);
        assert_eq!(count(&rows), 3 + 4 + 3 + 2 + 1_700 + 1 + 2 + 2);
    }

    #[test]
    fn a_service_that_knows_no_positions_gets_rows_that_write_the_same() {
        let place = |id: &str, to: Option<i32>| PositionRow {
            id: id.to_owned(),
            region: Some(Region { x: 1, z: 2 }),
            ownership_sequence: 7,
            session_epoch: 3,
            x: -5,
            y: 2.0,
            z: 9,
            health: 31,
            to_region: to.map(|x| Region { x, z: 2 }),
            agility: to.map(|_| Trained {
                level: 3,
                xp_tenths: 1_740,
            }),
        };
        let rows = CommitRows {
            characters: vec![character(3)],
            positions: vec![place("ann", None), place("bob", Some(2))],
            gone: vec![GroundGone::default()],
            ..CommitRows::default()
        };
        let said = without_positions(&rows, &[44, 55]);
        assert_eq!(count(&said), count(&rows));
        assert!(said.positions.is_empty());
        assert_eq!(
            (&said.characters[0], &said.gone),
            (&rows.characters[0], &rows.gone)
        );
        let ann = CharacterRow {
            record: Some(CharacterRecord {
                id: "ann".to_owned(),
                region: Some(Region { x: 1, z: 2 }),
                ownership_sequence: 7,
                session_epoch: 3,
                x: -5,
                y: 2.0,
                z: 9,
                combat_level: 44,
                health: 31,
                placed: true,
                ..CharacterRecord::default()
            }),
            ..CharacterRow::default()
        };
        assert_eq!(said.characters[1], ann);
        let bob = &said.characters[2];
        let record = bob.record.as_ref().unwrap();
        assert_eq!(record.combat_level, 55);
        let grown = Skill {
            name: "agility".to_owned(),
            level: 3,
            xp_tenths: 1_740,
        };
        assert_eq!(record.skills, [grown]);
        let within = Transfer {
            region: Some(Region { x: 2, z: 2 }),
            epoch: 0,
            ownership_sequence: 7,
        };
        assert_eq!(bob.transfer, Some(within));
    }

    #[test]
    fn nothing_is_carried_in_no_message() {
        assert!(parts(&CommitRows::default()).is_empty());
    }
}
