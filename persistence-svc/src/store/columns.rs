//! The columns of a character, written once for both stores.

use std::sync::LazyLock;

use super::model::SKILLS;

/// Columns of a character that lists show, as `c`.
pub(crate) const SUMMARY: &str = r#"c.id, c."accountId", c.name, c."combatLevel", c."lastLogin",
 c.online, c."regionX", c."regionZ""#;

/// The columns of a record before its skills.
pub(crate) const PLAIN: usize = 16;

/// A whole record, as `c`: [`PLAIN`] columns, then level and experience of each skill.
pub(crate) static RECORD: LazyLock<String> = LazyLock::new(|| {
    let plain = r#"c.id, c."accountId", c.name, c."regionX", c."regionZ", c."ownershipSequence",
 c."sessionEpoch", c."sessionId", c."positionX", c."positionY", c."positionZ", c."combatLevel",
 c.health, c.coins, c.placed, c.state"#;
    let skills: String = SKILLS
        .iter()
        .map(|skill| format!(r#", c."{skill}Level", c."{skill}Xp""#))
        .collect();
    format!("{plain}{skills}")
});
