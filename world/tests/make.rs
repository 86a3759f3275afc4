//! Stories about making things: each trade, and its conditions.

use crate::stage;

use insta::assert_snapshot;
use stage::{Land, Stage};
use world::Field;

/// Returns a street of workshops.
fn land() -> Land {
    Land::default()
        .station("range", (5, 0))
        .station("furnace", (5, 5))
        .station("anvil", (5, 10))
        .rune_altar("air", (5, 15))
        .tanner("ellis", (5, 20))
}

fn play(script: &str) -> String {
    let told = Stage::new(&land()).play(script);
    let lines = told.lines().filter(|line| line.len() > 3);
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn food_is_cooked_piece_by_piece_until_there_is_none() {
    let told = play(
        "ann joins at 4 0 with raw_trout 1 raw_trout 1 logs 1
         ann uses 0 on sta:field:range
         wait 9",
    );
    assert_snapshot!(told, @r"
     1 ann joined; ann 4,0; npc:field:ellis 5,20; sta:field:air 5,15; sta:field:anvil 5,10; sta:field:furnace 5,5; sta:field:range 5,0
     2 ann begins to cook raw_trout at sta:field:range; ann 4,0
     6 ann 0=trout 1; ann cooking +70.0=70.0 level 1
    10 ann 1=trout 1; ann cooking +70.0=140.0 level 2!; ann is done; ann 4,0
    ");
}

#[test]
fn everybody_sees_the_trade_in_which_somebody_works() {
    let mut stage = Stage::new(&land());
    let doing = |stage: &Stage| {
        let look = stage.world.look(&"ann".into()).expect("it is here");
        look.field("doing").cloned()
    };
    stage.play(
        "ann joins at 4 0 with raw_trout 1
         ann uses 0 on sta:field:range",
    );
    assert_eq!(doing(&stage), Some(Field::from("cook")));
    stage.play("wait 4");
    assert_eq!(doing(&stage), None, "there is none left");
}

#[test]
fn as_many_are_made_as_were_asked_for() {
    let told = play(
        "ann joins at 3 10 with hammer 1 bronze_bar 1 bronze_bar 1 bronze_bar 1
         ann smith dagger at sta:field:anvil times 2
         wait 12",
    );
    assert_snapshot!(told, @r"
     1 ann joined; ann 3,10; npc:field:ellis 5,20; sta:field:air 5,15; sta:field:anvil 5,10; sta:field:furnace 5,5; sta:field:range 5,0
     2 ann begins to smith dagger at sta:field:anvil; ann 4,10
     6 ann 1=dagger 1; ann smithing +12.5=12.5 level 1
    10 ann 2=dagger 1; ann smithing +12.5=25.0 level 1; ann is done; ann 4,10
    ");
}

#[test]
fn what_it_takes_is_asked_at_once() {
    let told = play(
        "ann joins at 4 0 with raw_shark 1 logs 1 gem 1 leather 1 bronze_bar 1 needle 1 / bob joins at 4 10 with bronze_bar 1
         ann cook raw_shark at sta:field:range / bob smith dagger at sta:field:anvil
         ann cook at sta:field:furnace / bob smith at sta:field:range
         ann cook raw_trout at sta:field:range / bob smith spoon at sta:field:anvil
         ann craft gloves / bob smelt at sta:field:furnace
         ann uses 0 with 1 / bob uses 0 with 9
         ann uses 1 on sta:field:range / bob uses 9 on sta:field:range
         ann light logs / bob smelt bronze_bar
         ann cook raw_trout at sta:field:nothing times 3",
    );
    assert_snapshot!(told, @r"
    1 ann joined; bob joined; ann 4,0; bob 4,10; npc:field:ellis 5,20; sta:field:air 5,15; sta:field:anvil 5,10; sta:field:furnace 5,5; sta:field:range 5,0
    2 ann refused LevelTooLow; bob refused NoTool
    3 ann refused NoStation; bob refused NoStation
    4 ann refused NotEnough; bob refused NotFound
    5 ann refused NotEnough; bob refused NotEnough
    6 ann refused Unsupported; bob refused EmptySlot
    7 ann refused Unsupported; bob refused EmptySlot
    8 ann refused NoTool; bob refused NoStation
    9 ann refused NotFound
    ");
}

#[test]
fn of_several_things_one_must_be_named() {
    let told = play(
        "ann joins at 4 10 with hammer 1 bronze_bar 1 bronze_bar 1
         ann uses 1 on sta:field:anvil
         ann smith helm at sta:field:anvil
         wait 4",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 4,10; npc:field:ellis 5,20; sta:field:air 5,15; sta:field:anvil 5,10; sta:field:furnace 5,5; sta:field:range 5,0
    2 ann refused ChoiceRequired
    3 ann begins to smith helm at sta:field:anvil; ann 4,10
    7 ann 1=helm 1 2=nothing; ann smithing +25.0=25.0 level 1; ann is done; ann 4,10
    ");
}

#[test]
fn bars_are_smelted_and_iron_is_lost_half_the_time() {
    let ores = (0..27).map(|_| "iron_ore 1 ").collect::<String>();
    let told = play(&format!(
        "ann joins at 3 5 trained smithing=30000 with copper_ore 1 tin_ore 1 / bob joins at 3 5 trained smithing=30000 with {ores}
         ann smelt at sta:field:furnace / bob uses 4 on sta:field:furnace
         wait 108"
    ));
    let ann: Vec<&str> = told.lines().filter(|l| l.contains("ann ")).collect();
    assert_snapshot!(ann.join("\n"), @r"
    1 ann joined; bob joined; ann 3,5; bob 3,5; npc:field:ellis 5,20; sta:field:air 5,15; sta:field:anvil 5,10; sta:field:furnace 5,5; sta:field:range 5,0
    2 ann begins to smelt bronze_bar at sta:field:furnace; bob begins to smelt iron_bar at sta:field:furnace; ann 3,5; bob 3,5
    6 ann 0=bronze_bar 1 1=nothing; ann smithing +6.2=3006.2 level 16; ann is done; bob 0=iron_bar 1; bob smithing +12.5=3012.5 level 16; ann 3,5
    ");
    let bars = told.lines().filter(|l| l.contains("=iron_bar")).count();
    assert!((7..21).contains(&bars), "{bars} of 27");
    let gained = told
        .lines()
        .filter(|l| l.contains("smithing +12.5"))
        .count();
    assert_eq!(bars, gained, "what is lost trains nobody");
    assert!(told.contains("bob is done"));
}

#[test]
fn thread_lasts_for_five_things() {
    let leather = (0..6).map(|_| "leather 1 ").collect::<String>();
    let mut stage = Stage::new(&land());
    stage.play(&format!(
        "ann joins at 0 0 with needle 1 thread 2 {leather}
         ann craft gloves times 5
         wait 20"
    ));
    let ann = |stage: &Stage| stage.world.record(&"ann".into()).unwrap().inventory;
    assert_eq!(ann(&stage)[&1].quantity, 1);
    let told = stage.play("ann uses 0 with 7\nwait 3");
    assert!(told.contains("thread") || ann(&stage).get(&1).is_none_or(|s| *s.item != *"thread"));
}

#[test]
fn bows_and_arrows_are_made_anywhere() {
    let told = play(
        "ann joins at 0 0 with knife 1 logs 1 feather 20 tip 15
         ann uses 0 with 1
         wait 2
         ann fletch headless
         wait 1
         ann fletch
         wait 2",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 0,0; npc:field:ellis 5,20; sta:field:air 5,15; sta:field:anvil 5,10; sta:field:furnace 5,5; sta:field:range 5,0
    2 ann begins to fletch shaft/logs; ann 0,0
    4 ann 1=shaft 15; ann fletching +5.0=5.0 level 1; ann is done; ann 0,0
    5 ann begins to fletch headless/shaft; ann 0,0
    6 ann 1=headless 15 2=feather 5; ann fletching +15.0=20.0 level 1; ann is done; ann 0,0
    7 ann begins to fletch fletched/headless; ann 0,0
    8 ann 1=fletched 15 3=nothing; ann fletching +19.5=39.5 level 1; ann is done; ann 0,0
    ");
}

#[test]
fn a_tanner_takes_coins_out_of_the_pouch_then_out_of_the_pack() {
    let told = play(
        "ann joins at 4 12 pouch 4 with hide 1 hide 1 hide 1 coins 3 logs 1
         ann uses 0 on npc:field:ellis
         wait 4",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 4,12; npc:field:ellis 5,20; sta:field:air 5,15; sta:field:anvil 5,10; sta:field:furnace 5,5; sta:field:range 5,0
    2 ann 4,14
    3 ann 4,16
    4 ann begins to tan hide at npc:field:ellis; ann 0=leather 1 1=leather 1 3=coins 1; ann coins 0; ann is done; ann 4,18
    ");
}

#[test]
fn all_essence_becomes_runes_at_once_and_more_with_higher_levels() {
    let told = play(
        "ann joins at 4 15 trained runecrafting=13580 with essence 1 essence 1 logs 1 essence 1
         ann runecraft at sta:field:air
         wait 1
         ann runecraft at sta:field:air",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 4,15; npc:field:ellis 5,20; sta:field:air 5,15; sta:field:anvil 5,10; sta:field:furnace 5,5; sta:field:range 5,0
    2 ann begins to runecraft air/essence at sta:field:air; ann 0=rune 6 1=nothing 3=nothing; ann runecrafting +15.0=1373.0 level 11; ann is done; ann 4,15
    4 ann refused NotEnough
    ");
}

#[test]
fn a_step_ends_the_work_and_what_was_done_stays_done() {
    let told = play(
        "ann joins at 4 0 with raw_trout 1 raw_trout 1 raw_trout 1
         ann cook at sta:field:range
         wait 5
         ann goes to 0 0
         wait 6",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 4,0; npc:field:ellis 5,20; sta:field:air 5,15; sta:field:anvil 5,10; sta:field:furnace 5,5; sta:field:range 5,0
    2 ann begins to cook raw_trout at sta:field:range; ann 4,0
    6 ann 0=trout 1; ann cooking +70.0=70.0 level 1
    8 ann is done; ann 2,0
    9 ann 0,0
    ");
}

#[test]
fn jewels_are_made_at_a_furnace_and_gems_cut_anywhere() {
    let told = play(
        "ann joins at 3 5 trained crafting=30000 with gem 1 chisel 1 gem 1
         ann uses 0 on sta:field:furnace
         wait 1
         ann stops
         ann uses 1 with 0
         wait 4",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 3,5; npc:field:ellis 5,20; sta:field:air 5,15; sta:field:anvil 5,10; sta:field:furnace 5,5; sta:field:range 5,0
    2 ann begins to craft jewel at sta:field:furnace; ann 3,5
    4 ann is done; ann 3,5
    5 ann begins to craft cut_gem; ann 3,5
    7 ann 0=cut_gem 1; ann crafting +50.0=3050.0 level 16
    9 ann 2=cut_gem 1; ann crafting +50.0=3100.0 level 16; ann is done; ann 3,5
    ");
}
