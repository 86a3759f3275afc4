//! Strength in a fight: turns level, gear, style and prayers into the weights of attacks and
//! defences.

use std::sync::Arc;

use super::reach::{RANGE_MAX, Range};
use super::style::{self, Plus};
use super::{HitKind, Style, roll};
use crate::content::{
    Arrow, AttackType, Bonuses, Content, EquipSlot, ItemKind, NpcKind, Spell, Weapon, WeaponType,
};
use crate::entity::player::record::PlayerRecord;
use crate::features::prayer::Multipliers;
use crate::features::training::skill::Skill;
use crate::item::worn;

/// Ticks between attacks with bare hands.
const HANDS_TICKS: u32 = 4;

/// Defence that counts against a blow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Against {
    Stab,
    Slash,
    Crush,
    /// Claws and the like: the best of the three defences above counts.
    Claws,
    Ranged,
    Magic,
}

/// Attack that somebody can make now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attack {
    pub(crate) kind: HitKind,
    pub(crate) style: Style,
    pub(crate) against: Against,
    /// Weight against a defence.
    pub(crate) weight: i64,
    pub(crate) max_hit: u32,
    pub(crate) range_tiles: u32,
    /// Ticks to the next attack, at least 1.
    pub(crate) speed_ticks: u32,
    /// Experience for the spell itself, in tenths.
    pub(crate) cast_xp_tenths: u32,
}

impl Attack {
    /// Returns the sort of its blow, and how far it goes.
    pub(crate) fn blow(&self) -> Range {
        Range {
            kind: self.kind,
            tiles: self.range_tiles,
        }
    }
}

/// Means with which a player attacks.
pub(crate) enum Means<'a> {
    /// The wielded weapon, or bare hands.
    Hand,
    /// The wielded shooting weapon, and the arrow, if it has one that it can shoot.
    Shot(Option<&'a Arc<Arrow>>),
    /// A spell.
    Cast(&'a Arc<Spell>),
}

/// Returns the weapon that a player wields.
fn held<'a>(content: &'a Content, record: &PlayerRecord) -> Option<&'a Arc<ItemKind>> {
    content.item(&record.equipment.get(&EquipSlot::Weapon)?.item)
}

/// Returns the sort of weapon that a player holds.
pub(crate) fn weapon_sort<'a>(
    content: &'a Content,
    record: &PlayerRecord,
) -> Option<&'a WeaponType> {
    let weapon = held(content, record)?.weapon.as_ref()?;
    Some(&weapon.sort)
}

/// Returns the style in which a player fights.
pub(crate) fn style_of(content: &Content, record: &PlayerRecord) -> Style {
    style::in_use(&record.combat_settings, weapon_sort(content, record))
}

/// Returns the means with which a player attacks.
pub(crate) fn means<'a>(content: &'a Content, record: &PlayerRecord) -> Means<'a> {
    let spell = record.combat_settings.spell.as_ref();
    let spell = spell.and_then(|id| content.spells().get(id));
    // A boost may have faded since the player chose the spell.
    let able = |spell: &&Arc<Spell>| record.boosted(Skill::Magic) >= u32::from(spell.level);
    if let Some(spell) = spell.filter(able) {
        return Means::Cast(spell);
    }
    let Some(kind) = held(content, record) else {
        return Means::Hand;
    };
    let shoots = kind.weapon.as_ref().is_some_and(|weapon| {
        weapon.attack == AttackType::Ranged
            || matches!(weapon.sort, WeaponType::Bow | WeaponType::Crossbow)
    });
    if !shoots {
        return Means::Hand;
    }
    let arrows = record.equipment.get(&EquipSlot::Arrows);
    let arrow = arrows.and_then(|arrows| content.arrows().get(&arrows.item));
    let tier = kind.requires.get(&Skill::Ranged).copied().unwrap_or(1);
    Means::Shot(arrow.filter(|arrow| {
        arrow.bow_tier <= u32::from(tier)
            && u32::from(arrow.ranged_level) <= record.level(Skill::Ranged)
    }))
}

/// Returns the attack that a player makes now.
pub(crate) fn player(content: &Content, record: &PlayerRecord) -> Attack {
    let prayers = record.prayer.multipliers(content);
    let bonuses = worn::bonuses(content, &record.equipment);
    match means(content, record) {
        Means::Cast(spell) => cast(record, spell, &bonuses, prayers),
        Means::Shot(arrow) => shot(content, record, arrow, &bonuses, prayers),
        Means::Hand => stroke(content, record, &bonuses, prayers),
    }
}

fn cast(record: &PlayerRecord, spell: &Spell, bonuses: &Bonuses, by: Multipliers) -> Attack {
    let magic = roll::effective(record.boosted(Skill::Magic), by.magic_attack, 0);
    Attack {
        kind: HitKind::Magic,
        style: Style::Autocast,
        against: Against::Magic,
        weight: roll::roll(magic, bonuses.attack_magic),
        max_hit: roll::max_cast(spell.max_hit, bonuses.magic_damage),
        range_tiles: RANGE_MAX,
        speed_ticks: spell.speed_ticks.max(1),
        cast_xp_tenths: spell.xp_tenths,
    }
}

fn shot(
    content: &Content,
    record: &PlayerRecord,
    arrow: Option<&Arc<Arrow>>,
    bonuses: &Bonuses,
    by: Multipliers,
) -> Attack {
    let style = style_of(content, record);
    let weapon = held(content, record).and_then(|kind| kind.weapon.as_ref());
    let level = record.boosted(Skill::Ranged);
    let plus = style::ranged_plus(style);
    let hits = roll::effective(level, by.ranged_attack, plus);
    let hurts = roll::effective(level, by.ranged_strength, plus);
    // The list of arrows gives the strength of an arrow. The item may give it, too: count it once.
    let own = arrow.and_then(|arrow| content.item(&arrow.id));
    let own = own.map_or(0, |kind| kind.bonuses.ranged_strength);
    let strength = bonuses.ranged_strength - own + arrow.map_or(0, |arrow| arrow.ranged_strength);
    let speed = weapon.map_or(HANDS_TICKS, |weapon| weapon.speed_ticks);
    let range = weapon.map_or(1, |weapon| weapon.range_tiles);
    Attack {
        kind: HitKind::Ranged,
        style,
        against: Against::Ranged,
        weight: roll::roll(hits, bonuses.attack_ranged),
        max_hit: roll::max_hit(hurts, strength),
        range_tiles: if style == Style::Longrange {
            (range + 2).min(RANGE_MAX.max(range))
        } else {
            range
        },
        speed_ticks: if style == Style::Rapid {
            speed.saturating_sub(1).max(1)
        } else {
            speed.max(1)
        },
        cast_xp_tenths: 0,
    }
}

fn stroke(content: &Content, record: &PlayerRecord, bonuses: &Bonuses, by: Multipliers) -> Attack {
    let style = style_of(content, record);
    let weapon = held(content, record).and_then(|kind| kind.weapon.as_ref());
    let Plus {
        attack, strength, ..
    } = style::plus(style);
    let (against, bonus) = match weapon.map(|weapon| &weapon.sort) {
        Some(
            WeaponType::Sword
            | WeaponType::Shortsword
            | WeaponType::Longsword
            | WeaponType::TwoHandSword
            | WeaponType::Scimitar
            | WeaponType::Axe
            | WeaponType::Halberd,
        ) => (Against::Slash, bonuses.attack_slash),
        Some(WeaponType::Dagger | WeaponType::Spear | WeaponType::Pickaxe) => {
            (Against::Stab, bonuses.attack_stab)
        }
        _ => (Against::Crush, bonuses.attack_crush),
    };
    let hits = roll::effective(record.boosted(Skill::Attack), by.attack, attack);
    let hurts = roll::effective(record.boosted(Skill::Strength), by.strength, strength);
    let melee = |weapon: &&Weapon| weapon.attack == AttackType::Melee;
    Attack {
        kind: HitKind::Melee,
        style,
        against,
        weight: roll::roll(hits, bonus),
        max_hit: roll::max_hit(hurts, bonuses.melee_strength),
        range_tiles: weapon.filter(melee).map_or(1, |w| w.range_tiles.max(1)),
        speed_ticks: weapon.map_or(HANDS_TICKS, |w| w.speed_ticks.max(1)),
        cast_xp_tenths: 0,
    }
}

/// Returns the attack that an NPC makes.
pub(crate) fn npc(content: &Content, kind: &NpcKind) -> Attack {
    let stats = &kind.stats;
    let (hit_kind, against, level, max_hit) = match kind.fight.attack {
        AttackType::Melee | AttackType::Other(_) => {
            let hurts = roll::effective_npc(stats.strength);
            (
                HitKind::Melee,
                Against::Claws,
                stats.attack,
                roll::max_hit(hurts, 0),
            )
        }
        AttackType::Ranged => {
            let arrow = kind.fight.arrow.as_ref();
            let arrow = arrow.and_then(|id| content.arrows().get(id));
            let bonus = arrow.map_or(0, |arrow| arrow.ranged_strength);
            let hurts = roll::effective_npc(stats.ranged);
            let max_hit = roll::max_hit(hurts, bonus);
            (HitKind::Ranged, Against::Ranged, stats.ranged, max_hit)
        }
        AttackType::Magic => {
            let spell = kind.fight.spell.as_ref();
            let spell = spell.and_then(|id| content.spells().get(id));
            let hurts = roll::effective_npc(stats.magic);
            let max_hit = spell.map_or_else(
                || roll::max_hit(hurts, 0),
                |spell| roll::max_cast(spell.max_hit, 0),
            );
            (HitKind::Magic, Against::Magic, stats.magic, max_hit)
        }
    };
    Attack {
        kind: hit_kind,
        style: Style::Accurate,
        against,
        weight: roll::roll(roll::effective_npc(level), 0),
        max_hit: if kind.fight.harmless { 0 } else { max_hit },
        range_tiles: kind.fight.range_tiles,
        speed_ticks: kind.fight.speed_ticks.max(1),
        cast_xp_tenths: 0,
    }
}

/// Returns the weight of a player's defence.
pub(crate) fn player_guard(content: &Content, record: &PlayerRecord, against: Against) -> i64 {
    let by = record.prayer.multipliers(content);
    let bonuses = worn::bonuses(content, &record.equipment);
    let defense = record.boosted(Skill::Defense);
    if against == Against::Magic {
        let magic = roll::prayed(record.boosted(Skill::Magic), by.magic_defense);
        let defense = roll::prayed(defense, by.defense);
        let worth = roll::effective_against_magic(magic, defense);
        return roll::roll(worth, bonuses.defense_magic);
    }
    let (stab, slash, crush) = (
        bonuses.defense_stab,
        bonuses.defense_slash,
        bonuses.defense_crush,
    );
    let bonus = match against {
        Against::Stab => stab,
        Against::Slash => slash,
        Against::Crush => crush,
        Against::Claws => stab.max(slash).max(crush),
        Against::Ranged => bonuses.defense_ranged,
        Against::Magic => bonuses.defense_magic,
    };
    let plus = style::plus(style_of(content, record)).defense;
    roll::roll(roll::effective(defense, by.defense, plus), bonus)
}

/// Returns the weight of an NPC's defence.
pub(crate) fn npc_guard(kind: &NpcKind, against: Against) -> i64 {
    let stats = &kind.stats;
    let level = match against {
        Against::Magic => stats.magic,
        _ => stats.defense,
    };
    roll::roll(roll::effective_npc(level), stats.defense_bonus)
}

#[cfg(test)]
#[path = "fighter_tests.rs"]
mod tests;
