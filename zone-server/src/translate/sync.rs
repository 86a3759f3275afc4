//! `player:sync` and `vitals:update`: the private fields of the own character.

use proto::client::{
    session::Character,
    sync::{Effects, Health, PlayerSync, Position, Settings, Skill, Teleport, VitalsUpdate},
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
    let skills = world::Skill::ALL.iter().map(|&skill| {
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
        effects: effects(player),
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

/// Health, energy, the choice to run, boosts and poison.
pub(crate) fn vitals(player: &PlayerRecord) -> VitalsUpdate {
    VitalsUpdate {
        health: Some(health(player)),
        energy: Some(energy(player)),
        run: Some(player.running),
        effects: effects(player),
    }
}

/// Boosts and poison, if there are any.
fn effects(player: &PlayerRecord) -> Option<Effects> {
    let boosts = player.potions.boosts.iter();
    let boosts = boosts.map(|(skill, boost)| (skill.name().to_owned(), boost.levels));
    let effects = Effects {
        boosts: boosts.collect(),
        poison: player.potions.poison_damage(),
    };
    (effects != Effects::default()).then_some(effects)
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

#[cfg(test)]
mod tests {
    use world::potions::{Boost, Poison};

    use super::*;

    #[test]
    fn boosts_and_poison_are_told_of_those_who_have_them_and_of_nobody_else() {
        let row = proto::rpc::persistence::v1::CharacterRecord::default();
        let mut player = super::super::record::player(&row).unwrap();
        let told = |player: &PlayerRecord| {
            let holdings = Holdings::default();
            let content = Content::embedded();
            let all = sync(player, &holdings, (9, &content));
            assert_eq!(all.effects, vitals(player).effects);
            proto::encode::json_text(&vitals(player))
        };
        assert!(!told(&player).contains("effects"));
        player.potions.safe_ticks = 9;
        assert!(!told(&player).contains("effects"));
        let boost = Boost {
            levels: 5,
            ticks: 1,
        };
        player.potions.boosts.insert(world::Skill::Attack, boost);
        let json = told(&player);
        assert!(
            json.ends_with(r#","effects":{"boosts":{"attack":5}}}"#),
            "{json}"
        );
        player.potions.boosts.clear();
        player.potions.poison = Some(Poison {
            strikes: 6,
            ticks: 1,
        });
        let json = told(&player);
        assert!(json.ends_with(r#","effects":{"poison":2}}"#), "{json}");
    }
}
