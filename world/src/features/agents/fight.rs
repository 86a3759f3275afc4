//! Fights of agents: targets, gear, and what agents do when they are hurt.
//!
//! Always: an agent begins no fight with a stronger beast, and none while it is hurt. If it is
//! badly hurt, it eats or runs. It drinks the potions that help it in the fight.

use std::sync::Arc;

use super::danger::Danger;
use super::rules::{Act, Sees};
use super::walk::straight_leg;
use super::work::{Around, store, to};
use super::{Pursuit, bank_at};
use crate::content::{
    Content, EquipSlot, ItemKind, NpcKind, NpcPlacement, PotionEffect, WeaponType,
};
use crate::entity::ids::EntityId;
use crate::entity::player::record::PlayerRecord;
use crate::features::combat::{HitKind, Style, fighter, style};
use crate::features::equipment;
use crate::features::training::skill::Skill;
use crate::geometry::tile::{Region, Tile};
use crate::item::inventory;

/// Furthest tiles at which an agent looks for beasts.
const SEARCH_TILES: u32 = 240;
/// Tiles that an agent goes further for a beast one level nearer to its own level.
const LEVEL_TILES: u32 = 4;
/// Health, in tenths of the most, at which an agent is hurt: it eats, and begins no fight.
const HURT_TENTHS: u32 = 5;
/// Health, in tenths of the most, at which an agent runs.
const FLEE_TENTHS: u32 = 3;
/// Levels that a foe may be stronger before an agent runs at once.
const STRONGER_LEVELS: u32 = 6;
/// Quantity of food that an agent fetches at a time.
const MEAL: u32 = 5;
/// Ticks between two looks at its health, while an agent waits to get better.
const MEND_TICKS: u64 = 20;

/// Beast that an agent may fight.
#[derive(Debug, Clone)]
pub(crate) struct Beast {
    pub(crate) id: EntityId,
    pub(crate) tile: Tile,
    pub(crate) level: u32,
}

/// Returns whether an agent of that combat level begins a fight with such a beast.
pub(crate) fn suits(kind: &NpcKind, combat_level: u32) -> bool {
    kind.attackable && kind.level <= combat_level && !kind.drops.entries.is_empty()
}

/// Returns whether so little health is left that the agent must react.
fn is_hurt(record: &PlayerRecord) -> bool {
    record.health * 10 <= record.max_health() * HURT_TENTHS
}

/// Returns whether an agent runs, after a foe of that level struck it.
pub(crate) fn flees(record: &PlayerRecord, level: u32) -> bool {
    let badly = record.health * 10 <= record.max_health() * FLEE_TENTHS;
    badly || level > record.combat_level + STRONGER_LEVELS
}

/// Returns the slot of the food that a hurt agent eats now: the weakest that is enough, or else the
/// strongest.
pub(crate) fn bite(record: &PlayerRecord, content: &Content) -> Option<u8> {
    if !is_hurt(record) {
        return None;
    }
    let missing = record.max_health().saturating_sub(record.health);
    let food = record.inventory.iter().filter_map(|(slot, stack)| {
        let heals = content.item(&stack.item)?.heals;
        (heals > 0).then_some((heals < missing, heals.abs_diff(missing), *slot))
    });
    food.min().map(|(.., slot)| slot)
}

/// Returns the slot of the food that a hurt agent eats now, or else of the cure that a poisoned one
/// drinks.
pub(crate) fn remedy(record: &PlayerRecord, content: &Content) -> Option<u8> {
    bite(record, content).or_else(|| cure(record, content))
}

/// Returns the slot of a potion that ends the agent's poison.
fn cure(record: &PlayerRecord, content: &Content) -> Option<u8> {
    record.potions.poison?;
    dose(record, content, |effect| {
        matches!(effect, PotionEffect::Cure { .. })
    })
}

/// Returns the slot of a potion that raises a level by which the agent fights now, and that no
/// potion raises yet.
fn draught(record: &PlayerRecord, content: &Content) -> Option<u8> {
    let skills: &[Skill] = match fighter::player(content, record).kind {
        HitKind::Melee => &[Skill::Attack, Skill::Strength, Skill::Defense],
        HitKind::Ranged => &[Skill::Ranged, Skill::Defense],
        HitKind::Magic => &[Skill::Magic, Skill::Defense],
    };
    dose(record, content, |effect| match effect {
        PotionEffect::Boost { skill, .. } => {
            skills.contains(skill) && record.potions.boost(*skill) == 0
        }
        PotionEffect::Prayer { .. } | PotionEffect::Energy { .. } | PotionEffect::Cure { .. } => {
            false
        }
    })
}

/// Returns the first slot of a potion with such an effect.
fn dose(
    record: &PlayerRecord,
    content: &Content,
    fits: impl Fn(&PotionEffect) -> bool,
) -> Option<u8> {
    let mut pack = record.inventory.iter();
    let found = pack.find(|(_, stack)| {
        let potion = content.items().drinkable(&stack.item);
        potion.is_some_and(|potion| potion.effects.iter().any(&fits))
    });
    found.map(|(slot, _)| *slot)
}

/// Returns the next step of an agent that looks for a fight.
pub(crate) fn step(pursuit: &mut Pursuit, around: &Around<'_>, sees: &Sees<'_>) -> Act {
    if pursuit.progress >= pursuit.goal.target() {
        return Act::Done;
    }
    let (record, content) = (around.record, sees.content);
    if let Some(slot) = remedy(record, content) {
        return Act::Use(slot);
    }
    if let Some(slot) = better(record, content) {
        pursuit.tries += 1;
        return Act::Wear(slot);
    }
    let full = inventory::free_slots(&record.inventory) == 0;
    if let Some(item) = sees.items.first().filter(|_| !full) {
        pursuit.tries += 1;
        return Act::Take(item.clone());
    }
    if let Some(slot) = bones(record, content) {
        return Act::Use(slot);
    }
    if full {
        return store(pursuit, around, sees);
    }
    if is_hurt(record) {
        return mend(pursuit, around, sees);
    }
    if let Some(style) = lesson(record, content) {
        return Act::FightAs(style);
    }
    hunt(pursuit, around, sees)
}

/// Returns the next step of an agent that is hurt and has no food: to fetch food from the bank, or
/// to rest.
fn mend(pursuit: &mut Pursuit, around: &Around<'_>, sees: &Sees<'_>) -> Act {
    let mut banked = around.record.bank.items.iter();
    let feeds = |item: &str| sees.content.item(item).is_some_and(|kind| kind.heals > 0);
    let food = banked.find(|(item, there)| there.quantity > 0 && feeds(item));
    match (food, bank_at(sees.content, sees.tile)) {
        (Some((item, _)), Some(_)) if around.at_bank => {
            pursuit.tries += 1;
            Act::Withdraw(Arc::clone(item), MEAL)
        }
        (Some(_), Some((id, tile))) => to(pursuit, tile, Act::Open(id), around, sees),
        _ => Act::Wait(MEND_TICKS),
    }
}

/// Returns the next step towards the best beast: near, and as strong as the agent dares.
fn hunt(pursuit: &mut Pursuit, around: &Around<'_>, sees: &Sees<'_>) -> Act {
    let level = around.record.combat_level;
    let worth = |tile: Tile, beast: u32| {
        sees.tile.steps_to(tile) + level.saturating_sub(beast) * LEVEL_TILES
    };
    let skip = pursuit.tries as usize;
    let mut near: Vec<_> = sees.beasts.iter().collect();
    near.sort_by_key(|beast| (worth(beast.tile, beast.level), &beast.id));
    let many = near.len().max(1);
    if let Some(beast) = near.get(skip % many) {
        if let Some(slot) = draught(around.record, sees.content) {
            return Act::Use(slot);
        }
        pursuit.tries += 1;
        return Act::Attack(beast.id.clone());
    }
    let regions = sees.content.regions();
    let about = |region: &&Region| region.tiles_past(sees.tile) <= SEARCH_TILES;
    let npcs = regions.iter().filter(about);
    let npcs = npcs.flat_map(|region| sees.content.npcs_in(*region));
    let danger = Danger::near(sees.content, around.record, SEARCH_TILES);
    let fit = |npc: &&NpcPlacement| {
        suits(&npc.kind, level) && danger.at(npc.tile) == 0 && sees.tile.steps_to(npc.tile) > 8
    };
    let best = npcs
        .filter(fit)
        .min_by_key(|npc| (worth(npc.tile, npc.kind.level), &npc.id));
    match best {
        Some(npc) => to(pursuit, npc.tile, Act::Wait(MEND_TICKS / 2), around, sees),
        None => Act::Failed("there is no beast that it dares to fight"),
    }
}

/// Returns the slot of an item in the pack that is better than the worn one in its place.
fn better(record: &PlayerRecord, content: &Content) -> Option<u8> {
    let mut pack = record.inventory.iter();
    let found = pack.find(|(_, stack)| {
        let Some(kind) = content.item(&stack.item) else {
            return false;
        };
        let Some(place) = kind.equip_slot else {
            return false;
        };
        let worn = record.equipment.get(&place);
        let worn = worn.and_then(|worn| content.item(&worn.item));
        equipment::may_use(record, kind).is_ok()
            && is_plain(kind)
            && worth(kind, place) > worn.map_or(0, |worn| worth(worn, place))
    });
    found.map(|(slot, _)| *slot)
}

/// Returns whether an agent can wear or wield it without arrows or spells, and with a shield.
fn is_plain(kind: &ItemKind) -> bool {
    let shoots = kind.weapon.as_ref().is_some_and(|weapon| {
        matches!(
            weapon.sort,
            WeaponType::Bow | WeaponType::Crossbow | WeaponType::Staff | WeaponType::Wand
        )
    });
    !shoots && !kind.two_handed && kind.equip_slot != Some(EquipSlot::Arrows)
}

fn worth(kind: &ItemKind, place: EquipSlot) -> i32 {
    let by = &kind.bonuses;
    if place == EquipSlot::Weapon {
        let hits = by.attack_stab.max(by.attack_slash).max(by.attack_crush);
        return hits + by.melee_strength;
    }
    by.defense_stab + by.defense_slash + by.defense_crush + by.melee_strength
}

/// Returns the slot of bones that the agent may bury.
fn bones(record: &PlayerRecord, content: &Content) -> Option<u8> {
    let prayer = record.level(Skill::Prayer);
    let mut pack = record.inventory.iter();
    let found = pack.find(|(_, stack)| {
        let kind = content.item(&stack.item);
        kind.is_some_and(|kind| kind.bury_xp_tenths > 0 && u32::from(kind.bury_level) <= prayer)
    });
    found.map(|(slot, _)| *slot)
}

/// Returns the style that trains the agent's lowest combat skill, if the weapon allows it and the
/// agent uses another style now.
fn lesson(record: &PlayerRecord, content: &Content) -> Option<Style> {
    let weapon = fighter::weapon_sort(content, record);
    let known = [
        (Skill::Attack, Style::Accurate),
        (Skill::Strength, Style::Aggressive),
        (Skill::Defense, Style::Defensive),
    ];
    let known = known.into_iter().enumerate();
    let (_, _, least) = known
        .map(|(n, (skill, style))| (record.level(skill), n, style))
        .min_by_key(|(level, n, _)| (*level, *n))?;
    let allowed = style::allowed(weapon).contains(&least);
    let now = style::in_use(&record.combat_settings, weapon);
    (allowed && now != least && record.combat_settings.spell.is_none()).then_some(least)
}

/// Returns why an agent could fight just now, in words. `None`: it could not.
pub(crate) fn reason(around: &Around<'_>, sees: &Sees<'_>) -> Option<String> {
    let record = around.record;
    let regions = sees.content.regions();
    let near = regions
        .iter()
        .filter(|region| region.tiles_past(sees.tile) <= SEARCH_TILES);
    let mut npcs = near.flat_map(|region| sees.content.npcs_in(*region));
    let level = record.combat_level;
    let some = npcs.any(|npc| suits(&npc.kind, level));
    let food = bite(record, sees.content).is_some();
    (some && (food || !is_hurt(record)))
        .then(|| format!("It is of combat level {level}, and there are weaker beasts"))
}

/// Returns the tile to which a fleeing agent runs: towards the nearest bank.
pub(crate) fn refuge(content: &Content, from: Tile) -> Tile {
    let bank = bank_at(content, from).map(|(_, tile)| tile);
    straight_leg(from, bank.unwrap_or_else(|| content.spawn()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fights_the_weaker_and_what_leaves_something() {
        let content = Content::embedded();
        let suited = |id: &str, level| suits(content.npc_kinds().get(id).unwrap(), level);
        for (id, level, is) in [
            ("opinionated_hen", 3, true),
            ("furious_goose", 3, false),
            ("furious_goose", 5, true),
            ("ada_vault", 99, false),
        ] {
            assert_eq!(suited(id, level), is, "{id} at {level}");
        }
    }
}
