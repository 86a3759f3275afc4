//! Bonuses that an item adds to its wearer's rolls.

use serde::Serialize;

use crate::content::fields::Fields;

/// Bonuses of a worn item. If a manifest gives one value for all sorts of attack, each of them has
/// it here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "they are what they are called")]
pub struct Bonuses {
    pub attack_stab: i32,
    pub attack_slash: i32,
    pub attack_crush: i32,
    pub attack_ranged: i32,
    pub attack_magic: i32,
    pub defense_stab: i32,
    pub defense_slash: i32,
    pub defense_crush: i32,
    pub defense_ranged: i32,
    pub defense_magic: i32,
    pub melee_strength: i32,
    pub ranged_strength: i32,
    /// Bonus in percent.
    pub magic_damage: i32,
    pub prayer: i32,
}

impl Bonuses {
    /// Returns whether a wearer strikes better, or harder, with it.
    pub(crate) fn helps_to_attack(self) -> bool {
        let attack = [
            self.attack_stab,
            self.attack_slash,
            self.attack_crush,
            self.attack_ranged,
            self.attack_magic,
        ];
        let strength = [self.melee_strength, self.ranged_strength, self.magic_damage];
        attack.iter().chain(&strength).any(|bonus| *bonus > 0)
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(self, more: Bonuses) -> Bonuses {
        Bonuses {
            attack_stab: self.attack_stab + more.attack_stab,
            attack_slash: self.attack_slash + more.attack_slash,
            attack_crush: self.attack_crush + more.attack_crush,
            attack_ranged: self.attack_ranged + more.attack_ranged,
            attack_magic: self.attack_magic + more.attack_magic,
            defense_stab: self.defense_stab + more.defense_stab,
            defense_slash: self.defense_slash + more.defense_slash,
            defense_crush: self.defense_crush + more.defense_crush,
            defense_ranged: self.defense_ranged + more.defense_ranged,
            defense_magic: self.defense_magic + more.defense_magic,
            melee_strength: self.melee_strength + more.melee_strength,
            ranged_strength: self.ranged_strength + more.ranged_strength,
            magic_damage: self.magic_damage + more.magic_damage,
            prayer: self.prayer + more.prayer,
        }
    }
}

/// Greatest bonus, either way.
const MOST: i32 = 10_000;

/// Reads the bonuses of an item: `bonuses`, or `stats` in the oldest generation.
pub(super) fn read(item: &Fields<'_>) -> Bonuses {
    let Some(fields) = item.object(item.either(&["bonuses", "stats"])) else {
        return Bonuses::default();
    };
    let of = |name: &str, default| fields.signed_or(name, 1, default).clamp(-MOST, MOST);
    let (attack, ranged) = (of("attack", 0), of("ranged", 0));
    let defense = of(fields.either(&["defense", "defence"]), 0);
    let against = |american: &str, british: &str| of(fields.either(&[american, british]), defense);
    Bonuses {
        attack_stab: of("attackStab", attack),
        attack_slash: of("attackSlash", attack),
        attack_crush: of("attackCrush", attack),
        attack_ranged: of("attackRanged", ranged),
        attack_magic: of("attackMagic", 0),
        defense_stab: against("defenseStab", "defenceStab"),
        defense_slash: against("defenseSlash", "defenceSlash"),
        defense_crush: against("defenseCrush", "defenceCrush"),
        defense_ranged: against("defenseRanged", "defenceRanged"),
        defense_magic: against("defenseMagic", "defenceMagic"),
        melee_strength: of("strength", 0) + of("meleeStrength", 0),
        ranged_strength: of("rangedStrength", 0),
        magic_damage: of("magicDamage", 0),
        prayer: of("prayer", 0) + of("prayerBonus", 0),
    }
}
