//! Stories about using things in the pack.

use crate::stage;

use insta::assert_snapshot;
use stage::{Land, Stage};
use world::{CharacterId, Content};

#[test]
fn food_is_eaten_one_bite_after_the_other() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 0 0 health 3 with cake 1 cake 1 cake 1 cake_noted 1
         ann uses 0 / ann uses 1
         ann uses 1
         wait 1
         ann uses 1
         wait 3
         ann uses 2
         ann uses 2
         ann uses 3",
    );
    assert_snapshot!(told, @r"
     1 ann joined; ann 0,0
     2 ann 0=nothing; ann refused Cooldown; ann 0,0
     3 ann refused Cooldown
     4
     5 ann 1=nothing; ann 0,0
     6
     7
     8
     9 ann 2=nothing
    10 ann refused EmptySlot
    11 ann refused Unsupported
    ");
    let record = stage.world.record(&CharacterId::from("ann")).unwrap();
    assert_eq!(record.health, 10, "the third was too much, and is gone");
}

#[test]
fn bones_are_buried_for_prayer() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 0 0 trained prayer=800 with bones 1 old_bones 1 bones 1 logs 1
         ann uses 1
         ann uses 0
         ann uses 2
         ann uses 1
         ann uses 2
         ann uses 3
         wait 1
         ann uses 2",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 0,0
    2 ann refused LevelTooLow
    3 ann 0=nothing; ann prayer +4.5=84.5 level 2!; ann prays 2 []
    4 ann refused Cooldown
    5 ann 1=nothing; ann prayer +72.0=156.5 level 2
    6 ann refused Cooldown
    7 ann refused Unsupported
    8
    9 ann 2=nothing; ann prayer +4.5=161.0 level 2
    ");
}

#[test]
fn nothing_is_eaten_while_that_cannot_be_saved() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 0 0 health 3 with cake 1
         ann uses 0 / ann may not save
         ann uses 0 / ann may not trade
         ann uses 0",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 0,0
    2 ann refused StorageUnavailable
    3 ann refused ExchangesFrozen
    4 ann 0=nothing; ann 0,0
    ");
}

#[test]
fn a_lamp_teaches_what_it_says_in_the_skill_that_one_names() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 0 0 with lamp 1 lamp 1 lamp_noted 1 book 1 logs 1
         ann uses 0 / ann uses 1 for mining / ann uses 0 for magic
         wait 1
         ann uses 1 for mining / ann uses 2 for mining / ann uses 4 for mining
         ann uses 0 for prayer / ann may not save
         ann uses 0 for prayer / ann may not trade
         ann uses 0 for prayer / ann uses 3 for cooking
         wait 1
         ann uses 3 for cooking
         wait 1
         ann uses 3 for cooking",
    );
    assert_snapshot!(told, @r"
     1 ann joined; ann 0,0
     2 ann refused ChoiceRequired; ann 1=nothing; ann mining +250.0=250.0 level 3!; ann refused Cooldown
     3
     4 ann refused EmptySlot; ann refused Unsupported; ann refused Unsupported
     5 ann refused StorageUnavailable
     6 ann refused ExchangesFrozen
     7 ann 0=nothing; ann prayer +250.0=250.0 level 3!; ann prays 3 []; ann refused Cooldown
     8
     9 ann cooking +1.5=1.5 level 1
    10
    11 ann cooking +1.5=3.0 level 1
    ");
}

#[test]
fn what_can_be_rubbed_comes_to_something() {
    let held = |item: &str| {
        let content = Content::embedded();
        content.item(item).unwrap().lamp.unwrap().xp_tenths
    };
    assert_eq!(held("patient_lamp"), 2_500);
    assert_eq!(held("pocket_lamp"), 5_000);
    assert_eq!(held("storm_lamp"), 50_000);
}
