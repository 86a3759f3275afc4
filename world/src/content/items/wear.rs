//! Slots for worn things, and sorts of weapons.

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
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum EquipSlot {
    Weapon,
    Shield,
    Helmet,
    Body,
    Legs,
    Boots,
    Gloves,
    Cape,
    Amulet,
    Ring,
    Arrows,
}

impl EquipSlot {
    /// All slots, in order.
    pub const ALL: [EquipSlot; 11] = [
        EquipSlot::Weapon,
        EquipSlot::Shield,
        EquipSlot::Helmet,
        EquipSlot::Body,
        EquipSlot::Legs,
        EquipSlot::Boots,
        EquipSlot::Gloves,
        EquipSlot::Cape,
        EquipSlot::Amulet,
        EquipSlot::Ring,
        EquipSlot::Arrows,
    ];

    /// Returns the slot's name, as the store keeps it and the wire carries it.
    pub const fn name(self) -> &'static str {
        match self {
            EquipSlot::Weapon => "weapon",
            EquipSlot::Shield => "shield",
            EquipSlot::Helmet => "helmet",
            EquipSlot::Body => "body",
            EquipSlot::Legs => "legs",
            EquipSlot::Boots => "boots",
            EquipSlot::Gloves => "gloves",
            EquipSlot::Cape => "cape",
            EquipSlot::Amulet => "amulet",
            EquipSlot::Ring => "ring",
            EquipSlot::Arrows => "arrows",
        }
    }

    /// Returns the slot called `name`, in any case. Older names count too, and `2h`, which is the
    /// weapon's.
    pub fn named(name: &str) -> Option<EquipSlot> {
        let name = name.to_ascii_lowercase();
        let name = match name.as_str() {
            "2h" => "weapon",
            "head" => "helmet",
            "hands" => "gloves",
            "feet" => "boots",
            "chest" => "body",
            "neck" => "amulet",
            "ammo" | "ammunition" => "arrows",
            "offhand" => "shield",
            name => name,
        };
        EquipSlot::ALL.into_iter().find(|slot| slot.name() == name)
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
