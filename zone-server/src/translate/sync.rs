//! `player:sync` and `vitals:update`: the private fields of the own character.

use proto::client::{
    session::Character,
    sync::{Health, PlayerSync, Position, Settings, Skill, Teleport, VitalsUpdate},
};
use world::{Content, PlayerRecord, Tile, item::SLOTS};

use super::{combat, equipment, inventory, prayer, quest, skill};
use crate::deliver::held::Holdings;

/// Everything, as after tick `tick`; of value only what the store has acknowledged.
pub(crate) fn sync(
    player: &PlayerRecord,
    has: &Holdings,
    (tick, content): (u64, &Content),
) -> PlayerSync {
    let skills = world::Skill::ALL.into_iter().map(|skill| {
        let has = has.skill(skill);
        let shown = Skill {
            level: has.level,
            xp: skill::points(has.xp_tenths),
        };
        (skill.name().to_owned(), shown)
    });
    PlayerSync {
        tick,
        character: Character {
            id: player.id.to_string(),
            name: player.name.clone(),
            combat_level: player.combat_level,
            last_login_at: None,
        },
        position: Position {
            x: player.tile.x,
            y: player.y as f32,
            z: player.tile.z,
        },
        health: health(player),
        skills: skills.collect(),
        inventory: (0..SLOTS)
            .map(|slot| inventory::stack(&has.inventory, slot))
            .collect(),
        equipment: equipment::all(&has.equipment),
        coins: has.coins,
        energy: energy(player),
        run: player.running,
        quests: quest::progress(&has.quests),
        prayer: prayer::all(player),
        combat: combat::ways(player, content),
        settings: Settings {
            run: player.running,
            retaliate: player.ways.retaliates,
            bank_placeholders: has.bank.placeholders,
        },
        dead: player.health == 0,
    }
}

/// The own character stands elsewhere at once.
pub(crate) fn teleport(player: &PlayerRecord, to: Tile) -> Teleport {
    Teleport {
        position: Position {
            x: to.x,
            y: player.y as f32,
            z: to.z,
        },
    }
}

/// Health, energy and the choice to run.
pub(crate) fn vitals(player: &PlayerRecord) -> VitalsUpdate {
    VitalsUpdate {
        health: Some(health(player)),
        energy: Some(energy(player)),
        run: Some(player.running),
    }
}

fn health(player: &PlayerRecord) -> Health {
    Health {
        current: player.health,
        max: player.max_health(),
    }
}

/// 0 to 100, in hundredths.
fn energy(player: &PlayerRecord) -> f64 {
    f64::from(player.energy) / 100.0
}
