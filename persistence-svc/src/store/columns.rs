//! The columns of a character, written once for both stores.

use std::sync::LazyLock;

use super::model::{Account, Character, Record, SKILLS, SkillValue, whole};
use super::roles;
use super::row::{FromRow, Read, Row};
use super::value::Holdings;

/// Columns of a character that lists show, as `c`.
pub(crate) const SUMMARY: &str = r#"c.id, c."accountId", c.name, c."combatLevel", c."lastLogin",
 c.online, c."regionX", c."regionZ", c.look"#;

/// The columns of a record before its skills.
pub(crate) const PLAIN: usize = 17;

/// A whole record, as `c`: [`PLAIN`] columns, then level and experience of each skill.
pub(crate) static RECORD: LazyLock<String> = LazyLock::new(|| {
    let plain = r#"c.id, c."accountId", c.name, c."regionX", c."regionZ", c."ownershipSequence",
 c."sessionEpoch", c."sessionId", c."positionX", c."positionY", c."positionZ", c."combatLevel",
 c.health, c.coins, c.placed, c.state, c.look"#;
    let skills: String = SKILLS
        .iter()
        .map(|skill| format!(r#", c."{skill}Level", c."{skill}Xp""#))
        .collect();
    format!("{plain}{skills}")
});

/// Reads the columns `id, name, anonymous, roles, "createdAt"` of a user, from the first on.
impl FromRow for Account {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Account {
            id: row.column(0)?,
            name: row.column(1)?,
            anonymous: row.column(2)?,
            roles: roles(&row.column::<String>(3)?),
            created_at_ms: row.column(4)?,
        })
    }
}

/// Reads a row of [`SUMMARY`].
impl FromRow for Character {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Character {
            id: row.column(0)?,
            account_id: row.column(1)?,
            name: row.column(2)?,
            combat_level: row.column(3)?,
            last_login_ms: row.column(4)?,
            online: row.column(5)?,
            region: row.region(6)?,
            look: row.column(8)?,
        })
    }
}

/// Reads a row of [`RECORD`].
impl FromRow for Record {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        let mut skills = [None; SKILLS.len()];
        for (number, skill) in skills.iter_mut().enumerate() {
            *skill = Some(SkillValue {
                level: row.column(PLAIN + 2 * number)?,
                xp_tenths: row.column(PLAIN + 2 * number + 1)?,
            });
        }
        Ok(Record {
            id: row.column(0)?,
            account_id: row.column(1)?,
            name: row.column(2)?,
            region: row.region(3)?,
            ownership_sequence: row.column(5)?,
            session_epoch: row.column(6)?,
            session_id: row.column(7)?,
            x: whole(row.real(8)?),
            y: row.column(9)?,
            z: whole(row.real(10)?),
            combat_level: row.column(11)?,
            health: row.column(12)?,
            // All other items of value have tables of their own.
            holdings: Holdings {
                coins: row.column(13)?,
                ..Holdings::default()
            },
            placed: row.column(14)?,
            state: row.column::<Vec<u8>>(15)?.into(),
            look: row.column(16)?,
            skills,
        })
    }
}
