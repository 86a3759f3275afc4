//! The rows of one batch, and the messages that carry them.
//!
//! Always: a message holds at most [`PART_ROWS`] rows and, but for a single larger row,
//! [`PART_BYTES`] bytes; the messages together hold each row once, in order.

use prost::Message as _;
use proto::rpc::persistence::v1::{CommitRows, commit_part::Part};

/// Rows in one message of the stream.
const PART_ROWS: usize = 500;
/// Bytes of rows in one message of the stream.
const PART_BYTES: usize = 256 * 1024;

/// Returns the number of rows of each kind.
pub(crate) fn kinds(rows: &CommitRows) -> [(&'static str, usize); 7] {
    [
        ("character", rows.characters.len()),
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
    carry!(characters ground gone ledger gives chunks states);
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
    use proto::rpc::persistence::v1::{
        CharacterRecord, CharacterRow, GroundGone, GroundItem, LedgerRow, RegionGive,
    };

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
        assert_eq!(count(&rows), 3 + 3 + 2 + 1_700 + 1 + 2 + 2);
    }

    #[test]
    fn nothing_is_carried_in_no_message() {
        assert!(parts(&CommitRows::default()).is_empty());
    }
}
