//! Stories about praying.

use crate::stage;

use serde_json::json;
use stage::{Land, Stage};
use world::CharacterId;

fn points(stage: &Stage) -> u32 {
    let record = stage.world.record(&CharacterId::from("ann")).unwrap();
    record.prayer.points
}

#[test]
fn prayers_are_turned_on_and_off_and_rule_each_other_out() {
    let mut stage = Stage::new(&Land::default().magic());
    // Level 20 in prayer.
    let told = stage.play(
        "ann joins at 0 0 trained prayer=45000 devout 9
         ann prays skin
         ann prays fist
         ann prays rock
         ann prays rock
         ann prays nonsense",
    );
    assert!(told.contains("ann prays 9 [skin]"), "{told}");
    assert!(told.contains("ann prays 9 [fist skin]"), "{told}");
    assert!(told.contains("ann prays 9 [fist rock]"), "{told}");
    assert!(told.contains("ann prays 9 [fist]"), "{told}");
    assert!(told.contains("refused NotFound"), "{told}");
}

#[test]
fn prayers_take_a_level_points_and_room() {
    let mut stage = Stage::new(&Land::default().magic());
    let told = stage.play(
        "ann joins at 0 0 devout 1 / bob joins at 1 0
         ann prays fist / bob prays skin
         ann prays hum0 / ann prays hum1 / ann prays hum2 / ann prays hum3 / ann prays skin
         ann prays skin",
    );
    assert!(told.contains("ann refused LevelTooLow"), "{told}");
    assert!(told.contains("bob refused NoPrayer"), "{told}");
    assert!(!told.contains("refused Busy"), "five are on: {told}");
    let mut stage = Stage::new(&Land::default().magic());
    let told = stage.play(
        "ann joins at 0 0 trained prayer=45000 devout 9
         ann prays hum0 / ann prays hum1 / ann prays hum2 / ann prays hum3 / ann prays skin
         ann prays fist",
    );
    assert!(told.contains("ann refused Busy"), "{told}");
}

#[test]
fn a_prayer_of_one_takes_a_point_in_sixty_ticks() {
    let mut stage = Stage::new(&Land::default().magic());
    stage.play("ann joins at 0 0 trained prayer=45000 devout 2\nann prays skin\nwait 58");
    assert_eq!(points(&stage), 2);
    stage.play("wait 1");
    assert_eq!(points(&stage), 1);
    let told = stage.play("wait 60");
    assert!(
        told.contains("ann prays 0 []"),
        "without points nothing is on: {told}"
    );
    assert_eq!(points(&stage), 0);
}

#[test]
fn an_altar_and_a_new_level_give_all_points() {
    let mut stage = Stage::new(&Land::default().magic().station("altar", (6, 0)));
    let told = stage.play(
        "ann joins at 0 0 trained prayer=45000 with old_bones 1
         ann examines sta:field:altar
         wait 2",
    );
    assert_eq!(points(&stage), 0, "{told}");
    let script = "ann opens bank at sta:field:altar";
    let told = stage.play(script);
    assert!(told.contains("refused Unsupported"), "{told}");
    let told = stage.play("ann prays at sta:field:altar\nwait 6");
    assert!(!told.contains("opened"), "nothing stays open: {told}");
    assert!(points(&stage) > 15, "{told}");
    let mut stage = Stage::new(&Land::default().magic());
    let told = stage.play("ann joins at 0 0 trained prayer=800 with bones 1\nann uses 0");
    assert!(told.contains("level 2!") && points(&stage) == 2, "{told}");
}

#[test]
fn who_is_protected_is_not_hurt_by_beasts() {
    let ogre = json!({"id": "ogre", "name": "Ogre",
        "stats": {"level": 90, "health": 9_000, "attack": 900, "strength": 900},
        "combat": {"attackable": true, "aggressive": true, "aggroRange": 5, "leashRange": 9}});
    let mut stage = Stage::new(&Land::default().magic().beast(ogre, (3, 0)));
    let told = stage.play(
        "ann joins at 0 0 trained prayer=45000 devout 20
         ann suffers / ann prays wall
         wait 10",
    );
    assert!(told.contains("hits ann 0 left 10"), "{told}");
    let told = stage.play("ann prays wall\nwait 40");
    assert!(told.contains("ann died by Ogre"), "{told}");
}
