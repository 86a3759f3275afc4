//! Stories about potions: brewing them, drinking dose by dose, their effects, and those of poison.

use crate::stage;

use std::collections::{BTreeMap, BTreeSet};

use insta::assert_snapshot;
use serde_json::{Value, json};
use stage::{Land, Stage};
use world::content::Content;
use world::record::CharacterState;
use world::{
    Arrival, Cause, CharacterId, Goal, HitKind, Inbox, Outcome, PlayerHot, PlayerRecord, Region,
    Skill, Tile, World,
};

use crate::agents::{Scene, ann};

/// Returns a viper that always hits, for one point, and has much health.
fn viper() -> Value {
    json!({"id": "viper", "name": "Viper",
        "stats": {"level": 15, "health": 9_000, "attack": 100_000, "strength": 1},
        "combat": {"attackable": true, "aggressive": true, "aggroRange": 7, "leashRange": 30,
            "poisonous": true}})
}

/// Health enough for a long story, in a script.
const TOUGH: &str = "trained constitution=50000000 health 80";

fn record(stage: &Stage) -> PlayerRecord {
    stage.world.record(&ann()).unwrap()
}

fn boosted(stage: &Stage, skill: Skill) -> u32 {
    record(stage).boosted(skill)
}

fn poisoned(stage: &Stage) -> bool {
    record(stage).potions.poison.is_some()
}

/// Plays until ann is poisoned.
fn until_poisoned(stage: &mut Stage) {
    for _ in 0..400 {
        if poisoned(stage) {
            return;
        }
        stage.step(Inbox::default());
    }
    panic!("never poisoned");
}

/// Returns two who fight in a ring, after `rule` was set during their talk about the rules.
fn duelling(ann: &str, rule: &str) -> Stage {
    let mut stage = Stage::new(&Land::default().rings().magic().potions());
    let told = stage.play(&format!(
        "ann joins at 0 0 {ann} / bob joins at 1 0
         ann uses 0
         ann challenges bob
         bob dares
         {rule}
         ann agrees rules / bob agrees rules
         ann agrees stakes / bob agrees stakes
         ann agrees final / bob agrees final
         wait 6"
    ));
    assert!(told.contains("ann fights bob"), "{told}");
    stage
}

#[test]
fn a_potion_is_drunk_dose_by_dose_and_leaves_a_vial() {
    let mut stage = Stage::new(&Land::default().potions());
    let told = stage.play(
        "ann joins at 0 0 with tonic_3 1 tonic_1 1 tonic_1_noted 1 cake 1
         ann uses 0
         ann uses 1 / ann uses 3
         wait 1
         ann uses 1
         wait 2
         ann uses 0
         wait 2
         ann uses 0 / ann uses 2
         wait 2
         ann uses 0",
    );
    assert_snapshot!(told, @r"
     1 ann joined; ann 0,0
     2 ann 0=tonic_2 1
     3 ann refused Cooldown; ann refused Cooldown
     4
     5 ann 1=vial 1
     6
     7
     8 ann 0=tonic_1 1
     9
    10
    11 ann 0=vial 1; ann refused Unsupported
    12
    13
    14 ann refused Unsupported
    ");
}

#[test]
fn a_drink_is_an_exchange_of_one_thing_for_another_with_a_cause_of_its_own() {
    let mut stage = Stage::new(&Land::default().potions());
    stage.play("ann joins at 0 0 with tonic_2 1");
    let mut inbox = Inbox::default();
    stage.command("ann uses 0", &mut inbox);
    let ledger = stage.step(inbox).changes.ledger;
    let rows = ledger.iter().map(|e| (&*e.item, e.cause, e.delta));
    let rows: Vec<_> = rows.collect();
    let expected = [("tonic_1", Cause::Drink, 1), ("tonic_2", Cause::Drink, -1)];
    assert_eq!(rows, expected);
}

#[test]
fn nothing_is_drunk_while_that_cannot_be_saved() {
    let mut stage = Stage::new(&Land::default().potions());
    let told = stage.play(
        "ann joins at 0 0 with tonic_2 1
         ann uses 0 / ann may not save
         ann uses 0 / ann may not trade",
    );
    assert!(told.contains("StorageUnavailable") && told.contains("ExchangesFrozen"));
    assert_eq!(boosted(&stage, Skill::Attack), 1);
}

#[test]
fn doses_of_the_same_potion_are_poured_together() {
    let mut stage = Stage::new(&Land::default().potions());
    let told = stage.play(
        "ann joins at 0 0 with tonic_3 1 tonic_3 1 tonic_1 1 tonic_1 1 cure_1 1 cure_1 1
         ann uses 0 with 1
         ann uses 2 with 3
         ann uses 4 with 3 / ann uses 4 with 5 / ann uses 0 with 1 / ann uses 3 with 3",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 0,0
    2 ann 0=tonic_2 1 1=tonic_4 1
    3 ann 2=vial 1 3=tonic_2 1
    4 ann refused Unsupported; ann refused Unsupported; ann refused Unsupported; ann refused Unsupported
    ");
}

#[test]
fn a_boost_fades_by_a_level_a_minute_down_to_the_level() {
    let mut stage = Stage::new(&Land::default().potions());
    // Level 7 in attack.
    stage.play("ann joins at 0 0 trained attack=7250 with tonic_1 1\nann uses 0");
    let mut levels = vec![boosted(&stage, Skill::Attack)];
    for _ in 0..4 {
        stage.play("wait 100");
        levels.push(boosted(&stage, Skill::Attack));
    }
    assert_eq!(levels, [10, 9, 8, 7, 7]);
}

#[test]
fn gear_goes_by_the_level_of_experience_and_not_by_a_boost() {
    let mut stage = Stage::new(&Land::default().potions());
    // The sword takes level 5 in attack.
    let told = stage.play(
        "ann joins at 0 0 trained attack=2760 with tonic_1 1 sword 1
         ann uses 0
         ann wears 1",
    );
    assert_eq!(boosted(&stage, Skill::Attack), 4 + 3);
    assert!(told.contains("refused LevelTooLow"), "{told}");
}

#[test]
fn a_boost_in_magic_lets_one_cast_for_as_long_as_it_lasts() {
    let hen = json!({"id": "hen", "name": "Hen", "stats": {"level": 1, "health": 9_000},
        "combat": {"attackable": true, "retaliates": false}});
    let land = Land::default().magic().potions().beast(hen, (4, 0));
    let mut stage = Stage::new(&land);
    // Level 6 in magic; the spell takes level 9.
    let told = stage.play(
        "ann joins at 0 0 trained magic=5120 with wits_1 1 staff 1
         ann wears 1
         ann casts quake
         ann uses 0
         ann casts quake
         ann attacks npc:field:hen:4,0:0
         wait 5",
    );
    assert_eq!(told.matches("refused LevelTooLow").count(), 1, "{told}");
    let kinds = |stage: &mut Stage| {
        let seen: Vec<Outcome> = (0..8).map(|_| stage.step(Inbox::default())).collect();
        let hits = seen.iter().flat_map(|o| &o.hits);
        let kinds: BTreeSet<_> = hits.map(|hit| hit.kind).collect();
        kinds.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(kinds(&mut stage), [HitKind::Magic]);
    // Two levels less, and the spell is beyond it again.
    stage.play("ann stops\nwait 200\nann attacks npc:field:hen:4,0:0\nwait 4");
    assert_eq!(kinds(&mut stage), [HitKind::Melee]);
}

#[test]
fn prayer_and_energy_come_back() {
    let mut stage = Stage::new(&Land::default().magic().potions());
    // Level 20 in prayer.
    let told = stage.play(
        "ann joins at 0 0 energy 1000 trained prayer=45000 devout 2 with blessing_1 1 fizz_1 1
         ann uses 0",
    );
    assert!(told.contains("ann prays 14 []"), "2 + 7 + 5: {told}");
    stage.play("wait 2");
    let before = record(&stage).energy;
    stage.play("ann uses 1");
    let gained = record(&stage).energy - before;
    assert!((1_000..1_500).contains(&gained), "{gained}");
}

#[test]
fn venom_poisons_and_strikes_every_thirty_ticks_until_it_has_worn_off() {
    let mut stage = Stage::new(&Land::default().potions().beast(viper(), (3, 0)));
    stage.play(&format!("ann joins at 0 0 {TOUGH}"));
    until_poisoned(&mut stage);
    stage.play("ann is put at -60 -60");
    let (mut falls, mut last, mut quiet) = (Vec::new(), record(&stage).health, 0);
    for tick in 0..600 {
        stage.step(Inbox::default());
        let now = record(&stage).health;
        if now < last {
            falls.push((tick, last - now));
        }
        last = now;
        quiet = if poisoned(&stage) { 0 } else { quiet + 1 };
    }
    let damage: Vec<u32> = falls.iter().map(|(_, damage)| *damage).collect();
    assert_eq!(damage, [2, 2, 2, 2, 2, 1, 1, 1, 1, 1]);
    assert!(falls.windows(2).all(|pair| pair[1].0 - pair[0].0 == 30));
    assert!(quiet > 200, "it is over");
}

#[test]
fn a_cure_ends_poison_and_keeps_the_next_off() {
    let mut stage = Stage::new(&Land::default().potions().beast(viper(), (3, 0)));
    stage.play(&format!("ann joins at 0 0 {TOUGH} with cure_1 1"));
    until_poisoned(&mut stage);
    stage.play("ann uses 0");
    for tick in 0..149 {
        assert!(!poisoned(&stage), "protected at {tick}");
        stage.play("wait 1");
    }
    until_poisoned(&mut stage);
}

#[test]
fn who_dies_of_poison_dies_as_of_a_beast_and_lives_on_without_it() {
    let mut stage = Stage::new(&Land::default().potions().lawless());
    let mut sick = stage::record("ann", Tile::new(0, 0));
    sick.health = 1;
    sick.inventory = [(0, world::Stack::new("sword", 1))].into();
    sick.potions.poison = Some(world::potions::Poison {
        strikes: 6,
        ticks: 3,
    });
    sick.potions.boosts = [(
        Skill::Attack,
        world::potions::Boost {
            levels: 4,
            ticks: 90,
        },
    )]
    .into();
    stage.step(joining(sick));
    let told = stage.play("bob joins at 1 0\nwait 2");
    assert!(told.contains("ann died by nothing"), "{told}");
    // As after the blow of a beast in the open: the things lie there for ann first.
    assert!(told.contains("sword 1 ann"), "{told}");
    let record = record(&stage);
    assert!(record.potions.is_none(), "death ends poison and boosts");
    let told = stage.play("wait 8");
    assert!(told.contains("ann rose"), "{told}");
    stage.play("wait 60");
    assert_eq!(self::record(&stage).health, 10);
}

#[test]
fn poison_takes_nothing_while_a_death_could_not_be_saved() {
    let mut stage = Stage::new(&Land::default());
    let mut sick = stage::record("ann", Tile::new(0, 0));
    sick.health = 1;
    sick.potions.poison = Some(world::potions::Poison {
        strikes: 5,
        ticks: 2,
    });
    stage.step(joining(sick));
    let told = stage.play(&"ann may not save\n".repeat(5));
    assert!(!told.contains("died"), "{told}");
    let told = stage.play("wait 2");
    assert!(told.contains("ann died by nothing"), "{told}");
}

fn joining(record: PlayerRecord) -> Inbox {
    let region = Region::from(record.tile);
    let hot = PlayerHot::default();
    Inbox {
        arrivals: vec![Arrival {
            record,
            hot,
            region,
            look: "".into(),
        }],
        ..Inbox::default()
    }
}

/// A logout and a takeover go through the document of the store, a handover through that of the
/// record.
#[test]
fn boosts_and_poison_come_back_as_they_left() {
    let mut stage = Stage::new(&Land::default().potions().beast(viper(), (3, 0)));
    stage.play(&format!("ann joins at 0 0 {TOUGH} with tonic_1 1"));
    until_poisoned(&mut stage);
    stage.play("ann uses 0\nann is put at -60 -60\nwait 20");
    let before = record(&stage);
    assert!(before.potions.boosts.len() == 2 && before.potions.poison.is_some());
    stage.play("ann leaves\nwait 500");
    let stored = CharacterState::from_document(&before.state().to_document()).unwrap();
    let handed = PlayerRecord::from_document(&before.to_document()).unwrap();
    assert_eq!((&stored.potions, &handed), (&before.potions, &before));
    stage.step(joining(handed));
    let mut after = before.potions.clone();
    let [attack, strength] = [Skill::Attack, Skill::Strength].map(|skill| after.boosts[&skill]);
    after.poison.as_mut().unwrap().ticks -= 1;
    for (skill, boost) in [(Skill::Attack, attack), (Skill::Strength, strength)] {
        let ticks = boost.ticks - 1;
        let boost = world::potions::Boost { ticks, ..boost };
        after.boosts.insert(skill, boost);
    }
    let ticks = |record: PlayerRecord| record.potions;
    assert_eq!(ticks(record(&stage)), after, "the time away does not count");
}

#[test]
fn a_duel_may_rule_potions_out_and_food_in() {
    let mut stage = duelling("with tonic_4 1 cake 1", "ann rules noPotions");
    let told = stage.play("ann uses 0\nann uses 1");
    assert_eq!(told.matches("refused AgainstRules").count(), 1, "{told}");
    assert!(told.contains("ann 1=nothing"), "{told}");
    let mut stage = duelling("with tonic_4 1 cake 1", "ann rules noFood");
    let told = stage.play("ann uses 0\nwait 2\nann uses 1");
    assert!(told.contains("ann 0=tonic_2 1"), "{told}");
    assert_eq!(told.matches("refused AgainstRules").count(), 1, "{told}");
}

#[test]
fn no_boost_goes_into_a_ring_or_out_of_it() {
    let mut stage = duelling("with tonic_4 1", "wait 1");
    assert!(record(&stage).potions.is_none(), "it drank before");
    stage.play("ann uses 0");
    assert_eq!(boosted(&stage, Skill::Attack), 4);
    let told = stage.play("bob forfeits\nwait 10");
    assert!(told.contains("ann won"), "{told}");
    assert!(record(&stage).potions.is_none());
}

fn embedded() -> BTreeMap<String, String> {
    let files = Content::embedded_files().iter();
    let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    files.map(owned).collect()
}

#[test]
fn a_newcomer_fills_a_vial_at_the_well_picks_a_herb_and_brews_in_the_first_town() {
    let mut stage = Stage::of(&embedded());
    let has = |stage: &Stage, item: &str| {
        let pack = record(stage).inventory;
        pack.values().filter(|stack| &*stack.item == item).count()
    };
    let told = stage.play(
        "ann joins at 4 6 with vial 1
         ann uses 0 on sta:tilestead:tilestead_well_9
         wait 20
         ann leaves",
    );
    assert!(told.contains("ann 0=vial_of_water 1"), "{told}");
    let mut told = stage.play(
        "ann joins at -25 25 with vial_of_water 1
         ann gathers res:patch_spiderbane:-26,24",
    );
    for _ in 0..200 {
        told += &stage.play("wait 1");
        if has(&stage, "spiderbane") > 0 {
            break;
        }
    }
    assert!(told.contains("ann crafting +8.0"), "{told}");
    let slot = record(&stage).inventory.iter().find_map(|(slot, stack)| {
        let herb = &*stack.item == "spiderbane";
        herb.then_some(*slot)
    });
    told = stage.play(&format!(
        "ann uses {} on sta:tilestead:tilestead_cauldron_36
         wait 40",
        slot.unwrap()
    ));
    assert_eq!(has(&stage, "antipoison_3"), 1, "{told}");
    assert!(told.contains("ann crafting +10.0"), "{told}");
}

/// Each kind with its effect on somebody of level 40 in all of it: the numbers of the genre.
#[test]
fn the_potions_that_ship_do_what_they_are_known_for() {
    let forty = "attack=372240,strength=372240,defense=372240,ranged=372240,magic=372240,\
        prayer=372240";
    let drunk = |item: &str| {
        let mut stage = Stage::of(&embedded());
        stage.play(&format!(
            "ann joins at 0 -6 energy 1000 trained {forty} devout 3 with {item} 1\nann uses 0"
        ));
        record(&stage)
    };
    for (item, skill, level) in [
        ("attack_potion_4", Skill::Attack, 47),
        ("strength_potion_4", Skill::Strength, 47),
        ("defense_potion_4", Skill::Defense, 47),
        ("ranging_potion_4", Skill::Ranged, 48),
        ("magic_potion_4", Skill::Magic, 44),
    ] {
        let record = drunk(item);
        assert_eq!(record.boosted(skill), level, "{item}");
        assert_eq!(record.potions.boosts.len(), 1, "{item}");
    }
    assert_eq!(drunk("prayer_potion_1").prayer.points, 3 + 7 + 10);
    assert!((2_000..2_500).contains(&drunk("energy_potion_2").energy));
    // One tick of it has gone by.
    assert_eq!(drunk("antipoison_3").potions.safe_ticks, 149);
}

#[test]
fn an_agent_drinks_against_poison_whatever_it_is_about() {
    let land = Land::default().potions().beast(viper(), (3, 0));
    let mut scene = Scene::new(&land, &format!("ann joins at 0 0 {TOUGH} with cure_1 1"));
    scene.ordered(false, Some(Goal::Rest));
    let carries = |world: &World, item: &str| {
        let pack = &world.player(&ann()).unwrap().record().inventory;
        pack.values().any(|stack| &*stack.item == item)
    };
    scene.until("it is poisoned, and drinks", |world| carries(world, "vial"));
    let record = scene.stage.world.record(&ann()).unwrap();
    assert!(record.potions.poison.is_none() && record.potions.safe_ticks > 0);
}

#[test]
fn an_agent_that_fights_drinks_what_helps_it_there_and_nothing_else() {
    let hen = json!({"id": "hen", "name": "Hen", "stats": {"level": 1, "health": 90},
        "combat": {"attackable": true, "retaliates": false},
        "drops": {"always": [
            {"itemId": "bones", "minQuantity": 1, "maxQuantity": 1, "chance": 1}]}});
    let land = Land::default().potions().beast(hen, (6, 0));
    let with = "ann joins at 0 0 with wits_1 1 tonic_2 1 stone_1 1 cure_1 1 fizz_1 1";
    let mut scene = Scene::new(&land, with);
    scene.ordered(true, None);
    scene.wait(30);
    let potions = |world: &World| world.player(&ann()).unwrap().record().potions.clone();
    assert!(potions(&scene.stage.world).is_none(), "it only stands");
    scene.ordered(false, Some(Goal::Fight));
    scene.until("it is ready", |world| potions(world).boosts.len() == 3);
    let drunk = potions(&scene.stage.world);
    let skills: Vec<Skill> = drunk.boosts.into_keys().collect();
    assert_eq!(skills, [Skill::Attack, Skill::Strength, Skill::Defense]);
    let record = scene.stage.world.record(&CharacterId::from("ann")).unwrap();
    let left = record.inventory.values().map(|stack| &*stack.item);
    let left: Vec<&str> = left.collect();
    assert_eq!(left, ["wits_1", "tonic_1", "vial", "cure_1", "fizz_1"]);
    scene.until("it attacks", |world| {
        let hen = world.look(&"npc:field:hen:6,0:0".into());
        hen.is_some_and(|hen| hen.field("health") != Some(&world::Field::Int(90)))
    });
}
