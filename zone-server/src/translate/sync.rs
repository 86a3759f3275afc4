//! `player:sync`: the private fields of the own character.

use proto::client::{
    session::Character,
    sync::{PlayerSync, Position, Settings, SkillShown, Stack},
};
use world::{
    Content, PlayerRecord, Skill, combat, equipment, item::SLOTS, potions, prayer, quests, vitals,
};

use crate::deliver::held::Holdings;

/// Returns everything as after tick `tick`; of value only the part that the store has acknowledged.
pub(crate) fn sync(
    player: &PlayerRecord,
    look: &str,
    has: &Holdings,
    tick: u64,
    content: &Content,
) -> PlayerSync {
    let skills = Skill::ALL.iter().copied();
    let skills = skills.map(|skill| (skill.name().to_owned(), SkillShown::from(has.skill(skill))));
    PlayerSync {
        tick,
        character: Character {
            id: player.id.to_string(),
            name: player.name.clone(),
            combat_level: player.combat_level,
            look: look.to_owned(),
            last_login_at: None,
        },
        position: Position::of(player, player.tile),
        health: vitals::told::health(player),
        skills: skills.collect(),
        inventory: (0..SLOTS)
            .map(|slot| has.inventory.get(&slot).map(Stack::from))
            .collect(),
        equipment: equipment::told::all(&has.equipment),
        coins: has.coins,
        energy: vitals::told::energy(player),
        run: player.running,
        quests: quests::told::progress(&has.quests),
        prayer: prayer::told::all(player),
        combat: combat::told::settings(player, content),
        settings: Settings {
            run: player.running,
            retaliate: player.combat_settings.retaliates,
            bank_placeholders: has.bank.placeholders,
        },
        dead: player.health == 0,
        effects: potions::told::effects(player),
    }
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
            let all = sync(player, "", &holdings, 9, &content);
            assert_eq!(all.effects, vitals::told::vitals(player).effects);
            proto::encode::json_text(&vitals::told::vitals(player))
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
