//! Stories about the things that new characters cannot give away, and the things that they can do
//! all the same.

use crate::stage;

use stage::{Land, Stage};
use world::{CharacterId, Rules};

/// Ticks for which a character of these stories is a newcomer.
const NEW: u64 = 50;

fn stage(land: &Land) -> Stage {
    let rules = Rules {
        newcomer_ticks: NEW,
        ..Rules::default()
    };
    Stage::with(land, rules)
}

fn trading(ann: &str) -> Stage {
    let mut stage = stage(&Land::default());
    stage.play(&format!(
        "ann joins at 0 0 {ann} with logs 1 coins 25 / bob joins at 1 0 with candle 2
         ann trades bob
         bob agrees to trade"
    ));
    stage
}

fn played(stage: &Stage, who: &str) -> u64 {
    let player = stage.world.player(&CharacterId::from(who)).unwrap();
    player.record().played_ticks
}

#[test]
fn a_newcomer_offers_nothing_until_it_has_played_for_long_enough() {
    let mut stage = trading("");
    for offer in ["ann offers 0", "ann offers 25 of 1"] {
        let told = stage.play(offer);
        assert!(told.contains("ann refused Newcomer"), "{told}");
    }
    let left = NEW - played(&stage, "ann");
    stage.play(&format!("wait {}", left - 1));
    let told = stage.play("ann offers 0");
    assert!(told.contains("ann refused Newcomer"), "{told}");
    let told = stage.play("ann offers 0\nann offers 25 of 1");
    assert!(!told.contains("refused"), "{told}");
    stage.play("wait 9");
    assert_eq!(played(&stage, "ann"), NEW, "counted no further");
}

#[test]
fn a_total_level_of_40_frees_a_newcomer_at_once() {
    // 14 levels more than a new character has.
    for (xp, told_to_be_new) in [(20_000, true), (40_000, false)] {
        let told = trading(&format!("trained agility={xp}")).play("ann offers 0");
        let refused = told.contains("ann refused Newcomer");
        assert_eq!(refused, told_to_be_new, "{xp}: {told}");
    }
}

#[test]
fn a_newcomer_stakes_nothing() {
    let mut stage = stage(&Land::default().rings().magic());
    stage.play(
        "ann joins at 0 0 with logs 1 / bob joins at 1 0
         ann challenges bob
         bob dares
         ann agrees rules / bob agrees rules",
    );
    let told = stage.play("ann stakes 1 of 0");
    assert!(told.contains("ann refused Newcomer"), "{told}");
}

#[test]
fn nobody_else_ever_takes_what_a_newcomer_drops() {
    let mut stage = stage(&Land::default());
    stage.play(
        "ann joins at 0 0 with logs 1 candle 2 / bob joins at 0 0
         ann drops 0 / ann drops 1",
    );
    // It is still there when another's would have been anybody's for long.
    stage.play("wait 280");
    let told = stage.play("bob takes #1");
    assert!(told.contains("bob refused Protected"), "{told}");
    let told = stage.play("ann takes #2");
    assert!(told.contains("ann 0=candle 2"), "{told}");
    let told = stage.play("wait 40\nbob takes #1");
    assert!(told.contains("#1 gone"), "{told}");
    assert!(told.contains("bob refused NotFound"), "{told}");
}

#[test]
fn what_a_newcomer_drops_does_not_become_anybodys_on_another_stack() {
    let mut stage = stage(&Land::default());
    // Of two that stack, the first is dropped when there is nothing to guard any more.
    stage.play("ann joins at 0 0 trained agility=40000 with candle 5\nann drops 2 of 0");
    let who = CharacterId::from("ann");
    let (mut record, hot) = stage.world.leave(&who).unwrap();
    record.skills.clear();
    let inbox = world::Inbox {
        arrivals: vec![world::Arrival {
            record,
            hot,
            region: world::Region { x: 0, z: 0 },
            look: "".into(),
        }],
        ..world::Inbox::default()
    };
    stage.step(inbox);
    stage.play("ann drops 3 of 0 / bob joins at 0 0");
    let told = stage.play("wait 150\nbob takes #1\nbob takes #2");
    assert!(told.contains("bob 0=candle 2"), "{told}");
    assert!(told.contains("bob refused Protected"), "{told}");
}
