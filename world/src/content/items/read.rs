//! Reading one record of an item.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::wear::{AttackType, EquipSlot, WeaponType};
use super::{ItemKind, ItemSort, Lamp, Note, ToolUse, Weapon, bonuses, noted, potion};
use crate::content::fields::Fields;
use crate::content::reader::{Defect, Of};
use crate::content::tiers::{Tiers, Use};
use crate::features::training::skill::Skill;
use crate::item::COINS;

/// Weight in grams of an item that gives none.
const WEIGHT_GRAMS: i32 = 100;
/// Ticks between attacks of a weapon that gives none.
const SPEED_TICKS: u32 = 4;
/// Least speed in milliseconds, as older generations give it; a smaller one is in ticks.
const SPEED_MS_MIN: u32 = 100;

/// Reads the item that `fields` describe; returns `None`, with a warning, without an id.
pub(super) fn item(fields: &Fields<'_>, tiers: &Tiers) -> Option<ItemKind> {
    let id = fields.key("id")?;
    let sort = fields.word("type").unwrap_or(ItemSort::Misc);
    let slot_text = fields.text_or("equipSlot", "");
    let equip_slot = equip_slot(fields, slot_text);
    let weapon = weapon(fields, equip_slot);
    let tool = tool(fields);
    let tier = fields.text_or("tier", "").to_lowercase();
    let mut item = ItemKind {
        id: id.into(),
        name: fields.name(id).into(),
        examine: fields
            .text_or("examine", fields.text_or("description", ""))
            .into(),
        rarity: fields.text_or("rarity", "common").to_lowercase().into(),
        tradeable: fields.flag_or("tradeable", true),
        stackable: fields.flag_or("stackable", id == COINS),
        value: fields.int_or("value", 0).max(0).cast_unsigned(),
        weight_grams: fields.signed_or("weight", 1_000, WEIGHT_GRAMS),
        two_handed: equip_slot == Some(EquipSlot::Weapon)
            && (slot_text.eq_ignore_ascii_case("2h") || fields.flag_or("is2h", false)),
        bonuses: bonuses::read(fields),
        requires: own_levels(fields),
        heals: fields.count_or("healAmount", 0),
        bury_xp_tenths: fields.tenths("prayerXp"),
        bury_level: fields.level_or("buryLevelRequired", 1),
        endless_runes: fields.refer_all("providesInfiniteRunes", Of::Item, "it spares nothing"),
        lamp: lamp(fields),
        potion: potion::read(fields),
        actions: fields.texts("inventoryActions"),
        note: Note::None,
        icon: path(fields, "iconPath"),
        model: path(fields, "modelPath"),
        tier: tier.into(),
        sort,
        equip_slot,
        weapon,
        tool,
    };
    item.note = note(fields, &item);
    if item.requires.is_empty() {
        item.requires = levels_of_tier(&item, tiers);
    }
    if item.actions.is_empty() {
        item.actions = usual_actions(&item);
    }
    Some(item)
}

fn equip_slot(fields: &Fields<'_>, text: &str) -> Option<EquipSlot> {
    let slot = EquipSlot::named(text);
    if slot.is_none() && !text.is_empty() {
        let what = format!("there is no slot {text:?}, it cannot be worn");
        fields.defect(Defect::Unknown, "equipSlot", &what);
    }
    slot
}

fn weapon(fields: &Fields<'_>, slot: Option<EquipSlot>) -> Option<Weapon> {
    let sort = fields.word("weaponType");
    let attack = fields.word("attackType");
    if slot != Some(EquipSlot::Weapon) {
        return None;
    }
    let speed = fields.count_or("attackSpeed", SPEED_TICKS);
    let speed = if speed >= SPEED_MS_MIN {
        fields.ticks_or("", "attackSpeed", SPEED_TICKS)
    } else {
        speed
    };
    let sort = sort.unwrap_or(WeaponType::None);
    let usual = match sort {
        WeaponType::Bow | WeaponType::Crossbow => AttackType::Ranged,
        _ => AttackType::Melee,
    };
    Some(Weapon {
        sort,
        attack: attack.unwrap_or(usual),
        speed_ticks: speed.clamp(1, SPEED_MS_MIN),
        range_tiles: fields.count_or("attackRange", 1).clamp(1, 32),
    })
}

fn tool(fields: &Fields<'_>) -> Option<ToolUse> {
    let tool = fields.object("tool")?;
    Some(ToolUse {
        skill: tool.skill("skill")?,
        priority: tool.count_or("priority", 1),
        roll_ticks: tool
            .has("rollTicks")
            .then(|| tool.count_or("rollTicks", 4).max(1)),
        bonus_chance_millionths: tool.millionths_or("bonusTickChance", 0),
        bonus_roll_ticks: tool.count_or("bonusRollTicks", 0),
    })
}

fn lamp(fields: &Fields<'_>) -> Option<Lamp> {
    let effect = fields.object("useEffect")?;
    match effect.text_or("type", "").to_lowercase().as_str() {
        "xp_lamp" => Some(Lamp {
            xp_tenths: effect.tenths("xpAmount"),
            consumed: effect.flag_or("consumeOnUse", true),
        }),
        other => {
            let what = format!("the rules know no effect {other:?}, nothing happens");
            effect.defect(Defect::Unknown, "type", &what);
            None
        }
    }
}

fn path(fields: &Fields<'_>, name: &str) -> Option<Arc<str>> {
    match fields.text_or(name, "") {
        "" => None,
        path => Some(path.into()),
    }
}

fn note(fields: &Fields<'_>, item: &ItemKind) -> Note {
    let base = fields.text_or("baseItemId", "");
    if fields.flag_or("isNoted", !base.is_empty()) {
        return Note::Of(base.into());
    }
    let may = item.tradeable && !item.stackable && item.sort != ItemSort::Currency;
    if may && fields.flag_or("noteable", true) {
        Note::Has(noted(fields, &item.id))
    } else {
        Note::None
    }
}

/// Reads the levels that the record itself gives.
fn own_levels(fields: &Fields<'_>) -> BTreeMap<Skill, u8> {
    let skills = fields.object("requirements");
    let skills = skills.and_then(|requirements| requirements.object("skills"));
    skills.map_or_else(BTreeMap::new, |skills| skills.levels())
}

/// Returns the levels that the tier of `item` takes; none if the tier has no row.
fn levels_of_tier(item: &ItemKind, tiers: &Tiers) -> BTreeMap<Skill, u8> {
    let to = if let Some(tool) = &item.tool {
        Use::Tool(tool.skill)
    } else if let Some(weapon) = &item.weapon {
        Use::Weapon(weapon.attack.clone())
    } else if item
        .equip_slot
        .is_some_and(|slot| slot != EquipSlot::Arrows)
    {
        Use::Armor
    } else {
        return BTreeMap::new();
    };
    tiers.levels(&item.tier, &to)
}

/// Returns the actions on an item whose record gives none.
fn usual_actions(item: &ItemKind) -> Vec<Arc<str>> {
    let first = match item.equip_slot {
        Some(EquipSlot::Weapon | EquipSlot::Shield | EquipSlot::Arrows) => Some("Wield"),
        Some(_) => Some("Wear"),
        None if item.heals > 0 => Some("Eat"),
        None if item.bury_xp_tenths > 0 => Some("Bury"),
        None if item.lamp.is_some() => Some("Rub"),
        None if item.potion.is_some() => Some("Drink"),
        None => None,
    };
    let actions = first.into_iter().chain(["Use", "Drop", "Examine"]);
    actions.map(Into::into).collect()
}
