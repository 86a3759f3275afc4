//! `player:sync` and `vitals:update`: what is private of the own character.

use std::collections::BTreeMap;

use proto::client::{
    session::Character,
    sync::{Health, PlayerSync, Position, Skill, Teleport, VitalsUpdate},
};
use world::{PlayerRecord, Tile, item::SLOTS};

use super::inventory;
use crate::deliver::held::Holdings;

/// Everything, as after tick `tick`; of value only what the store has acknowledged.
pub(crate) fn sync(player: &PlayerRecord, has: &Holdings, tick: u64) -> PlayerSync {
    let skills = player.skills.iter().map(|(name, skill)| {
        let skill = Skill {
            level: skill.level,
            xp: skill.xp_tenths as f64 / 10.0,
        };
        (name.clone(), skill)
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
        equipment: BTreeMap::new(),
        coins: has.coins,
        energy: energy(player),
        run: player.running,
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
