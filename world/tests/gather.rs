//! Stories about gathering: trees, rocks and shoals.

use crate::stage;

use insta::assert_snapshot;
use stage::{Land, Stage};
use world::{CharacterId, Field, Region, Tick};

/// Returns a grove: an elm, a thicket that never ends, a great oak, a rock of copper, and a pond.
fn land() -> Land {
    Land::default()
        .resource("tree", "elm", (5, 0))
        .resource("tree", "thicket", (5, 8))
        .resource("tree", "great_oak", (5, 4))
        .resource("ore", "copper", (-5, 0))
        .rect("water", (-12, 10), (-4, 18))
        .resource("fishing_spot", "shoal", (-6, 11))
}

const ELM: &str = "res:elm:5,0";
const SHOAL: &str = "res:shoal:-6,11";

/// Lines of a story that say more than where somebody is.
fn said(told: &str) -> String {
    let lines = told.lines().filter(|line| line.len() > 3);
    let lines = lines
        .filter(|line| !line[3..].starts_with("ann ") || line.contains(';') || line.contains('='));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_tree_is_cut_from_straight_beside_it_falls_and_grows_again() {
    let mut stage = Stage::new(&land());
    let told = stage.play(&format!(
        "ann joins at 0 1 with bronze_hatchet 1
         ann gathers {ELM}
         wait 18"
    ));
    assert_snapshot!(said(&told), @r"
     1 ann joined; ann 0,1; res:copper:-5,0 -5,0; res:elm:5,0 5,0; res:great_oak:5,4 5,4; res:shoal:-6,11 -6,11; res:thicket:5,8 5,8
     3 ann gathers at res:elm:5,0; ann 4,0
     7 ann 1=elm_logs 1; ann woodcutting +25.0=25.0 level 1; res:elm:5,0 5,0 empty
     8 ann rests Depleted; ann 4,0
    15 res:elm:5,0 5,0
    ");
    assert_eq!(stage.world.player(&"ann".into()).unwrap().tile().x, 4);
}

#[test]
fn what_it_takes_to_gather_is_asked_before_one_sets_out() {
    let mut stage = Stage::new(&land());
    let told = stage.play(
        "ann joins at 0 0 with logs 1 / bob joins at 0 0 with steel_hatchet 1 / cid joins at 0 0 with net 1 / dan joins at 0 0 with bronze_hatchet 1
         ann gathers res:elm:5,0 / bob gathers res:elm:5,0 / cid gathers res:shoal:-6,11 / dan gathers res:great_oak:5,4
         ann gathers res:elm:99,99 / bob gathers bob / cid gathers sta:field:bank
         dan gathers res:elm:5,0
         dan goes to 60 0
         wait 60
         dan gathers res:elm:5,0",
    );
    let refused: Vec<&str> = told.lines().filter(|l| l.contains("refused")).collect();
    assert_snapshot!(refused.join("\n"), @r"
     2 ann refused NoTool; dan refused LevelTooLow; cid refused NotEnough; bob refused LevelTooLow
     3 ann refused NotFound; cid refused NotFound; bob refused NotFound
    66 dan refused TooFar
    ");
}

#[test]
fn the_best_tool_of_use_counts_wherever_it_is() {
    let mut stage = Stage::new(&land());
    // 41 takes 37,224: bob has just not.
    let told = stage.play(
        "ann joins at -4 0 trained mining=411710 with bronze_pickaxe 1 rune_pickaxe 1 / bob joins at -4 0 trained mining=411709 with rune_pickaxe 1 bronze_pickaxe 1
         ann gathers res:copper:-5,0
         wait 3
         ann stops
         wait 4
         bob gathers res:copper:-5,0
         wait 8",
    );
    assert_snapshot!(said(&told), @r"
     1 ann joined; bob joined; ann -4,0; bob -4,0; res:copper:-5,0 -5,0; res:elm:5,0 5,0; res:great_oak:5,4 5,4; res:shoal:-6,11 -6,11; res:thicket:5,8 5,8
     2 ann gathers at res:copper:-5,0; ann -4,0
     5 ann 2=copper_ore 1 3=gem 1; ann mining +17.5=41188.5 level 41; res:copper:-5,0 -5,0 empty
     6 ann is done; ann -4,0
     9 res:copper:-5,0 -5,0
    11 bob gathers at res:copper:-5,0; bob -4,0
    19 bob 2=copper_ore 1 3=gem 1; bob mining +17.5=41188.4 level 41!; res:copper:-5,0 -5,0 empty
    ");
}

#[test]
fn a_rock_gives_gems_by_the_way_while_there_is_room() {
    let mut stage = Stage::new(&land());
    let full = (0..26).map(|_| "logs 1 ").collect::<String>();
    let told = stage.play(&format!(
        "ann joins at -4 0 with {full}bronze_pickaxe 1
         ann gathers res:copper:-5,0
         wait 8
         ann gathers res:copper:-5,0"
    ));
    assert_snapshot!(said(&told), @r"
     1 ann joined; ann -4,0; res:copper:-5,0 -5,0; res:elm:5,0 5,0; res:great_oak:5,4 5,4; res:shoal:-6,11 -6,11; res:thicket:5,8 5,8
     2 ann gathers at res:copper:-5,0; ann -4,0
    10 ann 27=copper_ore 1; ann mining +17.5=17.5 level 1; ann rests InventoryFull; ann -4,0; res:copper:-5,0 -5,0 empty
    ");
}

#[test]
fn fish_take_bait_and_come_to_four_tiles_away() {
    let mut stage = Stage::new(&land());
    let told = stage.play(&format!(
        "ann joins at -3 10 with net 1 bait 2
         ann gathers {SHOAL}
         wait 16"
    ));
    assert_snapshot!(said(&told), @r"
     1 ann joined; ann -3,10; res:copper:-5,0 -5,0; res:elm:5,0 5,0; res:great_oak:5,4 5,4; res:shoal:-6,11 -6,11; res:thicket:5,8 5,8
     2 ann gathers at res:shoal:-6,11; ann -3,10
     7 ann 1=bait 1 2=raw_trout 1; ann fishing +50.0=50.0 level 1
    12 ann 1=raw_trout 1; ann fishing +50.0=100.0 level 2!
    17 ann rests NotEnough; ann -3,10
    ");
    let tile = stage.world.player(&"ann".into()).unwrap().tile();
    assert_eq!((tile.x, tile.z), (-3, 10), "she need not go nearer");
}

#[test]
fn the_best_fish_is_tried_first() {
    let mut stage = Stage::new(&land());
    let told = stage.play(&format!(
        "ann joins at -3 10 trained fishing=14000000 with net 1 bait 2
         ann gathers {SHOAL}
         wait 5"
    ));
    assert!(told.contains("raw_shark"), "{told}");
    assert!(!told.contains("raw_trout"), "{told}");
}

#[test]
fn a_shoal_swims_on_and_leaves_whoever_fishes() {
    let mut stage = Stage::new(&land());
    let full = "ann joins at -3 8 with net 1 bait 900";
    stage.play(full);
    let told = stage.play("wait 420");
    let swum: Vec<&str> = told.lines().filter(|line| line.contains(SHOAL)).collect();
    assert!((1..=3).contains(&swum.len()), "{swum:?}");
    let look = stage.world.look(&SHOAL.into()).unwrap();
    let home = world::Tile::new(-6, 11);
    assert!((1..=3).contains(&look.tile.steps_to(home)), "{look:?}");
    let here = stage.world.entities_in(look.tile.into());
    assert!(
        here.into_iter().any(|id| id.as_str() == SHOAL),
        "it is where it looks"
    );
}

#[test]
fn work_ends_with_a_step_and_with_the_last_free_slot() {
    let mut stage = Stage::new(&land());
    let full = (0..26).map(|_| "logs 1 ").collect::<String>();
    let told = stage.play(&format!(
        "ann joins at 4 8 with {full}bronze_hatchet 1 / bob joins at 4 8 with bronze_hatchet 1
         ann gathers res:thicket:5,8 / bob gathers res:thicket:5,8
         wait 2
         bob goes to 0 8
         wait 6"
    ));
    let rests: Vec<&str> = told
        .lines()
        .filter(|l| l.contains("rests") || l.contains("is done"))
        .collect();
    assert_snapshot!(rests.join("\n"), @r"
    5 bob is done; bob 2,8
    6 ann 27=elm_logs 1; ann woodcutting +0.5=0.5 level 1; ann rests InventoryFull; ann 4,8; bob 0,8
    ");
}

#[test]
fn an_old_tree_falls_when_it_was_cut_for_its_time_by_all_together() {
    let mut stage = Stage::new(&land());
    let told = stage.play(
        "ann joins at 4 4 trained woodcutting=24110 with bronze_hatchet 1 / bob joins at 5 5 trained woodcutting=24110 with bronze_hatchet 1
         ann gathers res:great_oak:5,4
         wait 20
         ann stops / bob gathers res:great_oak:5,4
         wait 60",
    );
    let fell: Vec<&str> = told
        .lines()
        .filter(|l| l.contains("great_oak:5,4 5,4"))
        .collect();
    assert_snapshot!(fell.join("\n"), @r"
     1 ann joined; bob joined; ann 4,4; bob 5,5; res:copper:-5,0 -5,0; res:elm:5,0 5,0; res:great_oak:5,4 5,4; res:shoal:-6,11 -6,11; res:thicket:5,8 5,8
    51 bob 7=oak_logs 1; bob woodcutting +37.5=2673.5 level 15; res:great_oak:5,4 5,4 empty
    65 res:great_oak:5,4 5,4
    ");
}

#[test]
fn hands_rest_while_nothing_can_be_saved_and_go_on_after() {
    let mut stage = Stage::new(&land());
    stage.play("ann joins at 4 8 with bronze_hatchet 1\nann gathers res:thicket:5,8\nwait 3");
    let told = stage.play(
        "ann may not save\nann may not trade\nwait 1\nann may not save / ann gathers res:elm:5,0",
    );
    assert_snapshot!(told, @r"
    6
    7
    8 ann 1=elm_logs 1; ann woodcutting +0.5=0.5 level 1
    9 ann refused StorageUnavailable
    ");
}

#[test]
fn a_stump_and_whoever_waits_for_it_move_with_their_region() {
    let mut stage = Stage::new(&land());
    stage.play(&format!(
        "ann joins at 4 0 with bronze_hatchet 1\nann gathers {ELM}\nwait 5"
    ));
    let region = Region { x: 0, z: 0 };
    let bytes = stage.world.region_out(region).unwrap();
    assert!(stage.world.look(&ELM.into()).is_none());
    // A hundred ticks later: it was not played meanwhile.
    stage
        .world
        .region_in(region, Tick(stage::BEGIN + 106), Some(&bytes))
        .unwrap();
    assert_eq!(
        stage.world.region_bytes(region).map(|b| b.len()),
        Some(bytes.len())
    );
    let empty = |stage: &Stage| {
        stage
            .world
            .look(&ELM.into())
            .unwrap()
            .field("depleted")
            .is_some()
    };
    assert!(empty(&stage));
    stage.skip_to(stage::BEGIN + 106);
    stage.play("wait 6");
    assert!(empty(&stage));
    stage.play("wait 2");
    assert!(!empty(&stage));
}

#[test]
fn work_goes_on_after_a_handover() {
    let mut stage = Stage::new(&land());
    stage.play("ann joins at 4 8 with bronze_hatchet 1\nann gathers res:thicket:5,8\nwait 2");
    let who = CharacterId::from("ann");
    let (record, hot) = stage.world.leave(&who).unwrap();
    let hot = world::PlayerHot::from_bytes(&hot.to_bytes()).unwrap();
    let region = Region { x: 0, z: 0 };
    let mut inbox = world::Inbox::default();
    inbox.arrivals.push(world::Arrival {
        record,
        hot,
        region,
        look: "".into(),
    });
    stage.step(inbox);
    let told = stage.play("wait 2");
    assert!(told.contains("elm_logs"), "{told}");
}

#[test]
fn everybody_sees_at_what_somebody_works_until_it_ends() {
    let mut stage = Stage::new(&land());
    let doing = |stage: &Stage| {
        let look = stage.world.look(&"ann".into()).expect("it is here");
        look.field("doing").cloned()
    };
    stage.play(&format!(
        "ann joins at -4 0 with bronze_hatchet 1
         ann gathers {ELM}"
    ));
    assert_eq!(doing(&stage), None, "she has only set out");
    stage.play("wait 3");
    assert_eq!(doing(&stage), Some(Field::from("chop")));
    let told = stage.play("ann goes to 3 0");
    assert!(told.contains("ann 3,0"), "the world publishes it: {told}");
    assert_eq!(doing(&stage), None);
}
