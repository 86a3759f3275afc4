//! Slots for worn things, and sorts of weapons.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::content::words::words;

/// Slot for a worn thing.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum EquipSlot {
    #[strum(to_string = "weapon", serialize = "2h")]
    Weapon,
    #[strum(to_string = "shield", serialize = "offhand")]
    Shield,
    #[strum(to_string = "helmet", serialize = "head")]
    Helmet,
    #[strum(to_string = "body", serialize = "chest")]
    Body,
    Legs,
    #[strum(to_string = "boots", serialize = "feet")]
    Boots,
    #[strum(to_string = "gloves", serialize = "hands")]
    Gloves,
    Cape,
    #[strum(to_string = "amulet", serialize = "neck")]
    Amulet,
    Ring,
    #[strum(to_string = "arrows", serialize = "ammo", serialize = "ammunition")]
    Arrows,
}

impl EquipSlot {
    /// All slots, in order.
    pub const ALL: &[EquipSlot] = EquipSlot::VARIANTS;

    /// Returns the slot's name, as the store keeps it and the wire carries it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the slot called `name`, in any case. Older names count too, and `2h`, which is the
    /// weapon's.
    pub fn named(name: &str) -> Option<EquipSlot> {
        name.parse().ok()
    }
}

words! {
    /// Sort of weapon.
    WeaponType {
        None = "none",
        Sword = "sword",
        Shortsword = "shortsword",
        Dagger = "dagger",
        Longsword = "longsword",
        Scimitar = "scimitar",
        TwoHandSword = "two_hand_sword" | "2h_sword" | "two_handed_sword",
        Axe = "axe",
        Pickaxe = "pickaxe",
        Mace = "mace",
        Spear = "spear",
        Halberd = "halberd",
        Bow = "bow",
        Crossbow = "crossbow",
        Staff = "staff",
        Wand = "wand",
        Shield = "shield",
    }
}

words! {
    /// Sort of attack.
    AttackType {
        Melee = "melee",
        Ranged = "ranged",
        Magic = "magic",
    }
}
