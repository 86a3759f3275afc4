//! Stories about fires: they are lit, cooked on, and go out.

use crate::stage;

use insta::assert_snapshot;
use stage::{Land, Stage};
use world::{Chunk, Inbox, Kind, Region, Tick, Tile};

fn fires(stage: &Stage) -> Vec<(i32, i32)> {
    let looks = stage.world.entities().filter_map(|id| stage.world.look(id));
    let fires = looks.filter(|look| look.kind == Kind::Fire);
    let mut fires: Vec<(i32, i32)> = fires.map(|look| (look.tile.x, look.tile.z)).collect();
    fires.sort_unstable();
    fires
}

/// Level 43: it never fails.
const SURE: &str = "trained firemaking=503390";

#[test]
fn one_lights_a_fire_and_steps_west_of_it() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(&format!(
        "ann joins at 0 0 {SURE} with tinderbox 1 logs 1 logs 1
         ann uses 0 with 1
         wait 6"
    ));
    assert_snapshot!(told, @r"
    1 ann joined; ann 0,0
    2 ann begins to light logs; ann 0,0
    3
    4
    5
    6 ann 1=nothing; ann firemaking +40.0=50379.0 level 43; ann is done; ann 0,0; #1 0,0
    7 ann -1,0; #1 0,0
    8
    ");
}

#[test]
fn a_line_of_fires_is_lit_and_the_fourth_is_one_too_many() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(&format!(
        "ann joins at 0 0 {SURE} with tinderbox 1 logs 1 logs 1 logs 1 logs 1
         ann light logs
         wait 24"
    ));
    assert_eq!(fires(&stage), [(-2, 0), (-1, 0), (0, 0)]);
    assert!(told.contains("ann rests NoFireHere"), "{told}");
}

#[test]
fn no_fire_is_lit_on_another_or_near_a_bank() {
    let mut stage = Stage::new(&Land::default().station("bank", (6, 0)));
    let told = stage.play(&format!(
        "ann joins at 0 0 {SURE} with tinderbox 1 logs 1 logs 1
         ann light logs times 1
         wait 6
         ann goes to 0 0
         wait 2
         ann light logs
         ann goes to 3 0
         wait 2
         ann light logs"
    ));
    let refused: Vec<&str> = told.lines().filter(|l| l.contains("refused")).collect();
    assert_snapshot!(refused.join("\n"), @r"
    12 ann refused NoFireHere
    16 ann refused NoFireHere
    ");
}

#[test]
fn a_wall_to_the_west_turns_one_east() {
    let land = Land::default().rect("wall", (-1, -3), (-1, 3));
    let mut stage = Stage::new(&land);
    stage.play(&format!(
        "ann joins at 0 0 {SURE} with tinderbox 1 logs 1
         ann light
         wait 6"
    ));
    assert_eq!(stage.world.player(&"ann".into()).unwrap().tile().x, 1);
}

#[test]
fn food_is_cooked_on_a_fire_until_it_goes_out_and_leaves_ashes() {
    let mut stage = Stage::new(&Land::default());
    let trout = (0..20).map(|_| "raw_trout 1 ").collect::<String>();
    stage.play(&format!(
        "ann joins at 0 0 {SURE} with tinderbox 1 logs 1 {trout}
         ann light logs
         wait 6
         ann uses 2 on #1"
    ));
    let told = stage.play("wait 196");
    let cooked = told.lines().filter(|l| l.contains("=trout")).count();
    assert_eq!(cooked, 20);
    assert!(told.contains("#1 gone; #2 0,0 ashes 1"), "{told}");
    assert_eq!(fires(&stage), []);
}

#[test]
fn whoever_cooks_on_a_fire_that_goes_out_rests() {
    let mut stage = Stage::new(&Land::default());
    let trout = (0..26).map(|_| "raw_trout 1 ").collect::<String>();
    let told = stage.play(&format!(
        "ann joins at 0 0 {SURE} with tinderbox 1 logs 1 {trout}
         ann light logs
         wait 100
         ann cook at #1
         wait 110"
    ));
    assert!(told.contains("ann rests Depleted"), "{told}");
}

#[test]
fn a_fire_moves_with_its_region_and_burns_as_long() {
    let mut stage = Stage::new(&Land::default());
    stage.play(&format!(
        "ann joins at 0 0 {SURE} with tinderbox 1 logs 1
         ann light logs
         wait 6"
    ));
    let region = Region { x: 0, z: 0 };
    let bytes = stage.world.region_out(region).unwrap();
    assert_eq!(fires(&stage), []);
    let later = stage::BEGIN + 1_008;
    stage
        .world
        .region_in(region, Tick(later), Some(&bytes))
        .unwrap();
    stage.skip_to(later);
    stage.play("wait 90");
    assert_eq!(fires(&stage), [(0, 0)]);
    stage.play("wait 110");
    assert_eq!(fires(&stage), []);
}

/// Ann still belongs to the region that she left: the fire does not.
#[test]
fn a_fire_past_a_border_stays_with_the_land_on_which_it_burns() {
    let mut stage = Stage::new(&Land::default());
    stage.play(&format!(
        "ann joins at -2 0 of 0 0 {SURE} with tinderbox 1 logs 1
         ann light logs"
    ));
    let seen = (0..6).flat_map(|_| stage.step(Inbox::default()).changes.persistent_objects);
    let chunk = Chunk::from(Tile::new(-2, 0));
    assert_eq!(seen.collect::<Vec<_>>(), [chunk], "it is to be saved");
    assert_eq!(stage.world.persistent_objects(chunk).fires.len(), 1);
    stage.world.region_out(Region { x: 0, z: 0 }).unwrap();
    assert_eq!(fires(&stage), [(-2, 0)], "it burns on");
    stage.world.region_out(Region { x: -1, z: 0 }).unwrap();
    assert_eq!(fires(&stage), []);
}

#[test]
fn no_fire_is_lit_on_land_that_is_played_elsewhere() {
    let mut stage = Stage::new(&Land::default());
    stage.world.region_out(Region { x: -1, z: 0 }).unwrap();
    let told = stage.play(&format!(
        "ann joins at -2 0 of 0 0 {SURE} with tinderbox 1 logs 1
         ann light logs"
    ));
    assert!(told.contains("ann refused NoFireHere"), "{told}");
}

#[test]
fn it_takes_tries_at_low_levels() {
    let mut stage = Stage::new(&Land::default());
    let logs = (0..20).map(|_| "logs 1 ").collect::<String>();
    let told = stage.play(&format!(
        "ann joins at 0 0 with tinderbox 1 {logs}
         ann light logs times 3
         wait 200"
    ));
    let lit = told
        .lines()
        .filter(|l| l.contains("firemaking +40.0"))
        .count();
    assert_eq!(lit, 3, "{told}");
    // A quarter of the tries: 66 of 256.
    let first = told.lines().position(|l| l.contains("firemaking +40.0"));
    assert!(first.is_some(), "{told}");
}
