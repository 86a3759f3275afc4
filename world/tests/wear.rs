//! Stories about worn things.

use crate::stage;

use insta::assert_snapshot;
use stage::{Land, Stage};
use world::content::Bonuses;
use world::{CharacterId, EntityId, Field, item::worn};

fn play(script: &str) -> String {
    Stage::new(&Land::default()).play(script)
}

#[test]
fn things_are_put_on_and_taken_off() {
    let told = play(
        "ann joins at 0 0 with shield 1 logs 1 arrow 40 hood 1
         ann wears 0
         ann wears 2 / ann wears 3
         ann wears 1
         ann wears 9
         ann removes shield
         ann removes shield
         ann removes arrows",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 0,0
    2 ann 0=nothing; ann wears shield=shield 1; ann 0,0
    3 ann 2=nothing; ann wears arrows=arrow 40; ann 3=nothing; ann wears helmet=hood 1; ann 0,0
    4 ann refused NotWearable
    5 ann refused EmptySlot
    6 ann 0=shield 1; ann wears shield=nothing; ann 0,0
    7 ann refused EmptySlot
    8 ann 2=arrow 40; ann wears arrows=nothing
    ");
}

#[test]
fn a_level_that_is_not_reached_is_asked_for() {
    let told = play(
        "ann joins at 0 0 with sword 1 / bob joins at 0 0 trained attack=3880 with sword 1
         ann wears 0 / bob wears 0",
    );
    assert_snapshot!(told, @r"
    1 ann joined; bob joined; ann 0,0; bob 0,0
    2 ann refused LevelTooLow; bob 0=nothing; bob wears weapon=sword 1; bob 0,0
    ");
}

#[test]
fn a_full_pack_can_swap() {
    let full = "logs 1 ".repeat(26);
    let told = play(&format!(
        "ann joins at 0 0 trained attack=3880 pouch 5 with sword 1 maul 1 {full}
         ann wears 0
         ann withdraws 5
         ann wears 1
         ann puts 1 into 0
         ann wears 0"
    ));
    let told: Vec<&str> = told.lines().skip(1).collect();
    assert_snapshot!(told.join("\n"), @r"
    2 ann 0=nothing; ann wears weapon=sword 1; ann 0,0
    3 ann 0=coins 5; ann coins 0
    4 ann 1=sword 1; ann wears weapon=maul 1; ann 0,0
    5 ann 0=sword 1 1=coins 5
    6 ann 0=maul 1; ann wears weapon=sword 1; ann 0,0
    ");
}

#[test]
fn two_hands_hold_one_thing_or_two() {
    let told = play(
        "ann joins at 0 0 trained attack=3880 with sword 1 shield 1 maul 1
         ann wears 0 / ann wears 1
         ann wears 2
         ann wears 0
         ann wears 2
         ann wears 1",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 0,0
    2 ann 0=nothing; ann wears weapon=sword 1; ann 1=nothing; ann wears shield=shield 1; ann 0,0
    3 ann 0=shield 1 2=sword 1; ann wears weapon=maul 1 shield=nothing; ann 0,0
    4 ann 0=maul 1; ann wears weapon=nothing shield=shield 1; ann 0,0
    5 ann 2=nothing; ann wears weapon=sword 1; ann 0,0
    6 ann refused EmptySlot
    ");
}

#[test]
fn a_full_pack_has_no_room_for_the_shield_that_must_go() {
    let full = "logs 1 ".repeat(25);
    let mut stage = Stage::new(&Land::default());
    stage.play(&format!(
        "bob joins at 0 0 with logs 1
         bob drops 0
         ann joins at 0 0 trained attack=3880 pouch 5 with sword 1 shield 1 maul 1 {full}
         ann wears 0 / ann wears 1 / ann withdraws 5
         wait 100
         ann takes #1"
    ));
    let told = stage.play(
        "ann wears 2
         ann drops 5
         ann wears 2",
    );
    assert_snapshot!(told, @r"
    106 ann refused InventoryFull
    107 ann 5=nothing; #2 0,0 logs 1 ann
    108 ann 2=sword 1 5=shield 1; ann wears weapon=maul 1 shield=nothing; ann 0,0
    ");
}

#[test]
fn arrows_go_to_their_like() {
    let told = play(
        "ann joins at 0 0 with arrow 5 iron_arrow 7 arrow 2147483647
         ann wears 0
         ann wears 2
         ann wears 1
         ann wears 2",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 0,0
    2 ann 0=nothing; ann wears arrows=arrow 5
    3 ann refused InventoryFull
    4 ann refused InventoryFull
    5 ann refused InventoryFull
    ");
}

#[test]
fn what_is_worn_stays_with_its_holder_and_is_saved() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 0 0 with shield 1");
    let who = CharacterId::from("ann");
    let outcome = stage.step(world::Inbox {
        inputs: vec![world::PlayerInput {
            who: who.clone(),
            number: 1,
            intent: world::Intent::Equipment(world::equipment::Intent::Equip { slot: 0 }),
        }],
        value: world::Value::Frozen,
        ..world::Inbox::default()
    });
    assert_eq!(outcome.changes.ledger, []);
    assert!(outcome.changes.valued.contains(&who) && outcome.changes.worn.contains(&who));
    let record = stage.world.record(&who).unwrap();
    let bonuses = worn::bonuses(stage.world.content(), &record.equipment);
    let expected = Bonuses {
        defense_slash: 3,
        ..Bonuses::default()
    };
    assert_eq!(bonuses, expected);
}

#[test]
fn who_carries_more_tires_sooner() {
    let mut stage = Stage::new(&Land::default());
    stage.play(
        "ann joins at 0 0 / bob joins at 0 0 with maul 1 maul 1 / cat joins at 0 0 with maul 1
         cat wears 0
         ann runs to 100 0 / bob runs to 100 0 / cat runs to 100 0
         wait 9",
    );
    let energy = |who: &str| stage.world.record(&who.into()).unwrap().energy;
    // 1.2 % a tick, and half a hundredth of that more for each kilogram.
    assert_eq!(energy("ann"), 10_000 - 10 * 120);
    assert_eq!(energy("bob"), 10_000 - 10 * 156);
    assert_eq!(energy("cat"), 10_000 - 10 * 138);
}

/// Returns what everybody sees `who` wear.
fn seen(stage: &Stage, who: &str) -> Option<String> {
    let look = stage.world.look(&EntityId::from(who)).expect("it is here");
    match look.field("worn") {
        Some(Field::Text(worn)) => Some(worn.to_string()),
        None => None,
        Some(other) => panic!("{other:?}"),
    }
}

#[test]
fn everybody_sees_what_is_worn_but_not_the_arrows() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 0 0 trained attack=3880 with sword 1 hood 1 arrow 40");
    assert_eq!(seen(&stage, "ann"), None);
    let told = stage.play("ann wears 2");
    assert!(!told.contains("ann 0,0"), "nobody sees arrows: {told}");
    assert_eq!(seen(&stage, "ann"), None);
    let told = stage.play("ann wears 1 / ann wears 0");
    assert!(told.contains("ann 0,0"), "the world publishes it: {told}");
    assert_eq!(seen(&stage, "ann").as_deref(), Some("sword hood"));
    let told = stage.play("wait 1");
    assert!(!told.contains("ann"), "nothing changes meanwhile: {told}");
    stage.play("ann removes weapon");
    assert_eq!(seen(&stage, "ann").as_deref(), Some("hood"));
}
