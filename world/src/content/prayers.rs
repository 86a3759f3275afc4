//! `prayers.json`.

use std::sync::Arc;

use super::catalog::Catalog;
use super::fields::Fields;
use super::items::AttackType;
use super::reader::{Of, Reader};
use super::words::words;

/// The file.
const FILE: &str = "prayers.json";
/// A multiplier of 1.
const ONE: u32 = 1_000;

words! {
    /// What a prayer is for.
    PrayerKind {
        Offensive = "offensive",
        Defensive = "defensive",
        Utility = "utility",
    }
}

/// A prayer. Its multipliers are in thousandths: 1050 is 5 % more.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "multipliers are of what they are called")]
pub struct Prayer {
    /// Unique among prayers.
    pub id: Arc<str>,
    /// As players see it.
    pub name: Arc<str>,
    /// What it does, in words.
    pub description: Arc<str>,
    /// A picture or a sign.
    pub icon: Arc<str>,
    /// The level that it takes.
    pub level: u8,
    /// What it is for.
    pub kind: PrayerKind,
    /// What it adds to the drain counter each tick.
    pub drain: u32,
    pub attack_thousandths: u32,
    pub strength_thousandths: u32,
    pub defense_thousandths: u32,
    pub ranged_attack_thousandths: u32,
    pub ranged_strength_thousandths: u32,
    pub magic_attack_thousandths: u32,
    pub magic_defense_thousandths: u32,
    /// It spares one blows of that sort.
    pub protects_from: Option<AttackType>,
    /// The prayers that end when it begins; also such as there are not.
    pub conflicts: Vec<Arc<str>>,
}

pub(crate) fn load(reader: &Reader) -> Catalog<Prayer> {
    let mut prayers = Catalog::default();
    for fields in &reader.records(FILE) {
        if let Some(id) = fields.key("id") {
            prayers.add(fields, id, prayer(id, fields));
        }
    }
    prayers
}

fn prayer<'v>(id: &'v str, fields: &Fields<'v>) -> Prayer {
    let bonuses = fields.object("bonuses");
    let times = |american: &str, british: &str| {
        let of = |b: &Fields<'_>| b.parts_or(b.either(&[american, british]), ONE, ONE);
        bonuses.as_ref().map_or(ONE, of).clamp(0, 10 * ONE)
    };
    Prayer {
        id: id.into(),
        name: fields.name(id).into(),
        description: fields.text("description"),
        icon: fields.text("icon"),
        level: fields.level_or("level", 1),
        kind: fields.word("category").unwrap_or(PrayerKind::Utility),
        drain: fields.count_or("drainEffect", 0),
        attack_thousandths: times("attackMultiplier", ""),
        strength_thousandths: times("strengthMultiplier", ""),
        defense_thousandths: times("defenseMultiplier", "defenceMultiplier"),
        ranged_attack_thousandths: times("rangedAttackMultiplier", ""),
        ranged_strength_thousandths: times("rangedStrengthMultiplier", ""),
        magic_attack_thousandths: times("magicAttackMultiplier", ""),
        magic_defense_thousandths: times("magicDefenseMultiplier", "magicDefenceMultiplier"),
        protects_from: fields.word("protectsFrom"),
        conflicts: fields.refer_all("conflicts", Of::Prayer, "nothing ends"),
    }
}
