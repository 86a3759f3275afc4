//! Stories about the edges of regions.

mod stage;

use insta::assert_snapshot;
use stage::{Land, Stage};

#[test]
fn a_crossing_is_reported_four_tiles_past_the_border_until_it_is_done() {
    let told = Stage::new(&Land::default()).play(
        "ann joins at 61 0
         wait 3
         ann walks to 72 0
         wait 5
         ann belongs to 1 0
         wait 1",
    );
    assert_snapshot!(told, @r"
     1 ann joined; ann 61,0
     2
     3
     4
     5 ann 63,0
     6 ann 65,0
     7 ann 67,0; ann to 1,0
     8 ann 69,0; ann to 1,0
     9 ann 71,0; ann to 1,0
    10 ann 72,0; ann to 1,0
    11
    12
    ");
}

#[test]
fn nobody_changes_region_twice_within_three_ticks() {
    let told = Stage::new(&Land::default()).play(
        "ann joins at 70 0 of 0 0
         wait 4",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 70,0
    2
    3
    4 ann to 1,0
    5 ann to 1,0
    ");
}

#[test]
fn one_who_walks_along_a_border_does_not_flicker() {
    let told = Stage::new(&Land::default()).play(
        "ann joins at 60 0
         wait 3
         ann runs to 66 10
         wait 2
         ann runs to 62 20
         wait 2",
    );
    assert!(!told.contains(" to "), "{told}");
}

#[test]
fn one_whom_nobody_takes_over_stops_within_sight_of_its_region() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 62 0 of 0 0
         ann runs to 120 0
         wait 30",
    );
    let last = told
        .lines()
        .rev()
        .find(|l| l.contains("ann 8"))
        .expect("she walks");
    assert!(last.contains("ann 87,0; ann to 1,0"), "{last}");
    let told = stage.play("ann belongs to 1 0");
    assert!(
        told.contains("ann 91,0") || told.contains("ann 89,0"),
        "and goes on: {told}"
    );
}

#[test]
fn one_who_is_being_handed_over_is_not_reported() {
    let told = Stage::new(&Land::default()).play(
        "ann joins at 70 0 of 0 0
         wait 3
         ann held
         ann free",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 70,0
    2
    3
    4 ann to 1,0
    5
    6 ann to 1,0
    ");
}

#[test]
fn a_player_can_only_belong_to_a_region_that_is_here() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 0 0");
    let ann = world::CharacterId::from("ann");
    assert!(!stage.world.set_region(&ann, world::Region { x: 7, z: 7 }));
    assert_eq!(
        stage.world.player(&ann).map(|p| p.region()),
        Some(world::Region { x: 0, z: 0 })
    );
}
