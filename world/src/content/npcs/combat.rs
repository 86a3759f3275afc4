//! NPC combat: the way in which NPCs fight.

use std::sync::Arc;

use crate::content::fields::Fields;
use crate::content::items::AttackType;
use crate::content::reader::Of;

/// Ticks between attacks, if the record gives none.
const SPEED_TICKS: u32 = 4;
/// Ticks until it is back, if the record gives none.
const RESPAWN_TICKS: u32 = 25;

/// Levels of an NPC in fighting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub struct Stats {
    pub attack: u32,
    pub strength: u32,
    pub defense: u32,
    pub ranged: u32,
    pub magic: u32,
    /// Bonus to its defence against all sorts of attack.
    pub defense_bonus: i32,
}

impl Default for Stats {
    fn default() -> Stats {
        Stats {
            attack: 1,
            strength: 1,
            defense: 1,
            ranged: 1,
            magic: 1,
            defense_bonus: 0,
        }
    }
}

/// Way in which an NPC fights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fight {
    /// Whether it begins fights.
    pub aggressive: bool,
    /// Whether it hits back.
    pub retaliates: bool,
    /// Distance at which it begins a fight, in tiles.
    pub aggro_tiles: u32,
    /// Reach, in tiles.
    pub range_tiles: u32,
    /// Ticks between its attacks, at least 1.
    pub speed_ticks: u32,
    /// Ticks from its death until it is back, at least 1.
    pub respawn_ticks: u32,
    /// Sort of attack.
    pub attack: AttackType,
    /// Spell that it casts, for magic.
    pub spell: Option<Arc<str>>,
    /// Arrow that it shoots, for ranged.
    pub arrow: Option<Arc<str>>,
    /// Whether its hits poison.
    pub poisonous: bool,
    /// Whether its blows take no health: newcomers may learn from it.
    pub harmless: bool,
    /// Whether nothing can poison it.
    pub immune_to_poison: bool,
}

impl Default for Fight {
    fn default() -> Fight {
        Fight {
            aggressive: false,
            retaliates: true,
            aggro_tiles: 0,
            range_tiles: 1,
            speed_ticks: SPEED_TICKS,
            respawn_ticks: RESPAWN_TICKS,
            attack: AttackType::Melee,
            spell: None,
            arrow: None,
            poisonous: false,
            harmless: false,
            immune_to_poison: false,
        }
    }
}

pub(super) fn stats(fields: Option<&Fields<'_>>) -> Stats {
    let Some(fields) = fields else {
        return Stats::default();
    };
    let stat = |name: &str| fields.count_or(name, 1).clamp(1, 1_000_000);
    Stats {
        attack: stat("attack"),
        strength: stat("strength"),
        defense: stat(fields.either(&["defense", "defence"])),
        ranged: stat("ranged"),
        magic: stat("magic"),
        defense_bonus: fields
            .signed_or("defenseBonus", 1, 0)
            .clamp(-10_000, 10_000),
    }
}

/// Reads how the NPC that `npc` describes fights: from `combat`, or in the oldest generation from
/// `behavior` and the record itself.
pub(super) fn fight(
    npc: &Fields<'_>,
    combat: Option<&Fields<'_>>,
    behavior: Option<&Fields<'_>>,
) -> Fight {
    let usual = Fight::default();
    let Some(fields) = combat else {
        return Fight {
            aggressive: behavior.is_some_and(|b| b.flag_or("aggressive", false)),
            aggro_tiles: behavior.map_or(0, |b| tiles(b, "aggroRange", 0)),
            range_tiles: tiles(npc, "combatRange", 1).max(1),
            speed_ticks: seconds(npc),
            respawn_ticks: npc
                .ticks_or("respawnTicks", "respawnTime", RESPAWN_TICKS)
                .max(1),
            ..usual
        };
    };
    let named = |name: &str, of, so| Some(fields.refer(name, of, so)).filter(|id| !id.is_empty());
    let harmless = fields.flag_or("harmless", false);
    Fight {
        aggressive: fields.flag_or("aggressive", false),
        retaliates: fields.flag_or("retaliates", true),
        aggro_tiles: tiles(fields, "aggroRange", 0),
        range_tiles: tiles(fields, "combatRange", 1).max(1),
        speed_ticks: fields
            .ticks_or("attackSpeedTicks", "attackSpeed", SPEED_TICKS)
            .max(1),
        respawn_ticks: fields
            .ticks_or("respawnTicks", "respawnTime", RESPAWN_TICKS)
            .max(1),
        attack: fields.word("attackType").unwrap_or(usual.attack),
        spell: named("spellId", Of::Spell, "it fights without"),
        arrow: named("arrowId", Of::Item, "it fights without"),
        poisonous: fields.flag_or("poisonous", false) && !harmless,
        harmless,
        immune_to_poison: fields.flag_or("immuneToPoison", false),
    }
}

/// Reads a distance, rounded down, up to 64 tiles.
fn tiles(fields: &Fields<'_>, name: &str, default: i64) -> u32 {
    fields.int_or(name, default).clamp(0, 64) as u32
}

/// Reads the time between attacks, which the oldest generation gives in seconds. Returns ticks.
fn seconds(fields: &Fields<'_>) -> u32 {
    match fields.parts_or("attackSpeed", 1_000, 0) {
        0 => SPEED_TICKS,
        ms => (ms.saturating_add(300) / 600).clamp(1, 100),
    }
}
