//! `prayers.json`.

use std::sync::Arc;

use super::catalog::Catalog;
use super::fields::Fields;
use super::items::AttackType;
use super::reader::{Of, Reader};
use super::words::words;

/// File of the prayers.
const FILE: &str = "prayers.json";
/// Multiplier of 1.
const ONE: u32 = 1_000;

words! {
    /// Purpose of a prayer.
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
    /// Id, unique among prayers.
    pub id: Arc<str>,
    /// Name that players see.
    pub name: Arc<str>,
    /// Description of its effect.
    pub description: Arc<str>,
    /// Picture or sign.
    pub icon: Arc<str>,
    /// Level that it takes.
    pub level: u8,
    /// Purpose of the prayer.
    pub kind: PrayerKind,
    /// Amount that it adds to the drain counter each tick.
    pub drain: u32,
    pub attack_thousandths: u32,
    pub strength_thousandths: u32,
    pub defense_thousandths: u32,
    pub ranged_attack_thousandths: u32,
    pub ranged_strength_thousandths: u32,
    pub magic_attack_thousandths: u32,
    pub magic_defense_thousandths: u32,
    /// Sort of attack from which it protects.
    pub protects_from: Option<AttackType>,
    /// Prayers that end when it begins; some may be unknown.
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
