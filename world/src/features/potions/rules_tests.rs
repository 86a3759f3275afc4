//! Tables of doses, fading and poison.

use super::*;
use crate::content::Content;
use crate::entity::ids::CharacterId;
use crate::entity::player::record::{CharacterState, Columns};
use crate::features::training::experience;
use crate::features::training::experience::SkillXp;
use crate::geometry::tile::Tile;

/// Returns a character of these levels, and of level 1 in all else.
fn of(levels: &[(Skill, u32)]) -> PlayerRecord {
    let skills = levels.iter();
    let skills = skills.map(|(skill, level)| (*skill, SkillXp::of(experience::xp_tenths(*level))));
    let columns = Columns {
        id: CharacterId::from("ann"),
        name: "Ann".to_owned(),
        tile: Tile::new(0, 0),
        y: 0,
        health: 10,
        skills: skills.collect(),
        coins: 0,
        combat_level: 3,
        placed: true,
        inventory: [].into(),
        equipment: [].into(),
        bank: [].into(),
        stakes: [].into(),
    };
    PlayerRecord::new(columns, CharacterState::default())
}

fn dose(effect: PotionEffect) -> Potion {
    Potion {
        effects: vec![effect],
        leaves: "vial".into(),
    }
}

fn boosting(skill: Skill, levels: u32, percent: u32) -> Potion {
    dose(PotionEffect::Boost {
        skill,
        levels,
        percent,
    })
}

#[test]
fn boosts_are_those_that_the_content_gives() {
    for (level, boosted) in [(1, 4), (9, 12), (10, 14), (70, 80), (99, 111)] {
        let mut record = of(&[(Skill::Attack, level)]);
        drink(&mut record, &boosting(Skill::Attack, 3, 10));
        assert_eq!(record.boosted(Skill::Attack), boosted, "at {level}");
        assert_eq!(record.level(Skill::Attack), level);
        assert_eq!(record.boosted(Skill::Strength), 1);
    }
}

#[test]
fn a_second_dose_adds_nothing_and_one_after_a_fade_brings_the_boost_back() {
    let mut record = of(&[(Skill::Magic, 50)]);
    let potion = boosting(Skill::Magic, 4, 0);
    drink(&mut record, &potion);
    for _ in 0..60 {
        fade(&mut record.potions);
    }
    drink(&mut record, &potion);
    assert_eq!(record.boosted(Skill::Magic), 54);
    let fell = (0..40).map(|_| fade(&mut record.potions));
    assert_eq!(fell.filter(|fell| *fell).count(), 1, "its time went on");
    assert_eq!(record.boosted(Skill::Magic), 53);
    drink(&mut record, &potion);
    assert_eq!(record.boosted(Skill::Magic), 54);
}

#[test]
fn a_boost_fades_by_one_level_a_minute_down_to_the_level() {
    let mut record = of(&[(Skill::Attack, 1)]);
    drink(&mut record, &boosting(Skill::Attack, 3, 10));
    let mut levels = Vec::new();
    for _ in 0..5 {
        for _ in 1..FADE_TICKS {
            assert!(!fade(&mut record.potions));
        }
        fade(&mut record.potions);
        levels.push(record.boosted(Skill::Attack));
    }
    assert_eq!(levels, [3, 2, 1, 1, 1]);
    assert!(record.potions.is_none(), "nothing is left to save");
}

#[test]
fn prayer_comes_back_up_to_the_level_and_is_never_taken() {
    let potion = dose(PotionEffect::Prayer {
        points: 7,
        percent: 25,
    });
    for (level, before, after) in [(1, 0, 1), (40, 0, 17), (40, 30, 40), (40, 40, 40)] {
        let mut record = of(&[(Skill::Prayer, level)]);
        record.prayer.points = before;
        let changed = drink(&mut record, &potion);
        assert_eq!(record.prayer.points, after, "{before} at {level}");
        assert_eq!(changed, before != after);
    }
}

#[test]
fn energy_comes_back_in_hundredths_and_is_at_most_full() {
    let potion = dose(PotionEffect::Energy { percent: 10 });
    for (before, after) in [(0, 1_000), (8_500, 9_500), (9_500, 10_000)] {
        let mut record = of(&[]);
        record.energy = before;
        drink(&mut record, &potion);
        assert_eq!(record.energy, after);
    }
}

#[test]
fn poison_strikes_every_thirty_ticks_and_weakens_until_it_ends() {
    let mut state = PotionState::default();
    assert!(poison(&mut state, 10));
    let struck: Vec<(u32, u32)> = (1..=1_000)
        .filter_map(|tick| Some((tick, strike(&mut state)?)))
        .collect();
    let ticks: Vec<u32> = struck.iter().map(|(tick, _)| *tick).collect();
    assert_eq!(ticks, (1..=10).map(|n| n * 30).collect::<Vec<_>>());
    let damage: Vec<u32> = struck.iter().map(|(_, damage)| *damage).collect();
    assert_eq!(damage, [2, 2, 2, 2, 2, 1, 1, 1, 1, 1]);
    assert!(state.is_none());
}

#[test]
fn only_stronger_poison_replaces_poison_and_keeps_its_time() {
    let mut state = PotionState::default();
    assert!(poison(&mut state, 5));
    for _ in 0..20 {
        strike(&mut state);
    }
    assert!(!poison(&mut state, 5) && !poison(&mut state, 1));
    assert!(poison(&mut state, 15));
    let has = state.poison.unwrap();
    assert_eq!((has.strikes, has.ticks), (15, 10));
}

#[test]
fn a_cure_ends_poison_and_keeps_it_off_for_its_ticks() {
    let mut record = of(&[]);
    assert!(poison(&mut record.potions, 20));
    drink(&mut record, &dose(PotionEffect::Cure { safe_ticks: 150 }));
    assert_eq!(record.potions.poison, None);
    for _ in 0..149 {
        fade(&mut record.potions);
        assert!(!poison(&mut record.potions, 20));
    }
    fade(&mut record.potions);
    assert!(poison(&mut record.potions, 20));
}

#[test]
fn one_hit_in_four_of_a_venomous_beast_poisons_the_worse_the_stronger_it_is() {
    let content = Content::embedded();
    let kind = |id: &str| content.npc_kinds().get(id).unwrap().as_ref().clone();
    let hen = kind("opinionated_hen");
    assert_eq!(venom(&hen, &mut Dice::scripted([0])), None);
    let strikes = |level, throw| {
        let mut beast = hen.clone();
        beast.level = level;
        beast.fight.poisonous = true;
        venom(&beast, &mut Dice::scripted([throw]))
    };
    assert_eq!([1, 2, 3].map(|throw| strikes(50, throw)), [None; 3]);
    let by_level = [1, 9, 10, 35, 50, 900].map(|level| strikes(level, 0));
    assert_eq!(by_level, [5, 5, 10, 20, 30, 30].map(Some));
}
