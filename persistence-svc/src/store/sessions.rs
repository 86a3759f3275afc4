//! The rows of `"playerSessions"`.
//!
//! Always: one row is one stay in the world. A session that takes over from another continues its
//! row, so reconnecting adds none. The store keeps the newest [`SESSIONS_KEPT`] rows of each
//! character. The character's own row holds the number and length of the removed ones.

use super::model::Ownership;
use super::row::{FromRow, Read, Row};

/// Rows that the store keeps of a character.
pub(crate) const SESSIONS_KEPT: i64 = 100;
/// Time after which all who look for sessions that ended have seen one, in milliseconds: the
/// hiscores are refreshed far more often.
pub(crate) const SEEN_AFTER_MS: i64 = super::DAY_MS;

/// Characters with the owner of their region; conditions on `c` and `r` follow.
pub(crate) const OWNERSHIP: &str = r#"SELECT c.id, c."regionX", c."regionZ", c."ownershipSequence",
 c."sessionEpoch", c.online, coalesce(r.run_id, 0), coalesce(r.epoch, 0)
 FROM characters c LEFT JOIN regions r ON r.region_x = c."regionX" AND r.region_z = c."regionZ""#;

/// Reads a row of [`OWNERSHIP`].
impl FromRow for Ownership {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Ownership {
            character_id: row.column(0)?,
            region: row.region(1)?,
            ownership_sequence: row.column(3)?,
            session_epoch: row.column(4)?,
            online: row.column(5)?,
            run: row.column(6)?,
            region_epoch: row.column(7)?,
        })
    }
}

/// Sums over sessions with removed rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Forgotten {
    pub(crate) logins: i64,
    pub(crate) played_ms: i64,
}

impl FromIterator<(i64, i64)> for Forgotten {
    /// Adds up sessions from the begin and end of each.
    fn from_iter<T: IntoIterator<Item = (i64, i64)>>(rows: T) -> Forgotten {
        let add = |sum: Forgotten, (login, logout): (i64, i64)| Forgotten {
            logins: sum.logins + 1,
            // The clock may have been set back in between.
            played_ms: sum.played_ms + (logout - login).max(0),
        };
        rows.into_iter().fold(Forgotten::default(), add)
    }
}
