//! With whom a player has to do: clients see these in every update.

use std::collections::BTreeSet;

use crate::{
    combat::{DUMMY, dummy},
    stage::{Land, Stage},
};

fn company(stage: &Stage, who: &str) -> BTreeSet<String> {
    let company = stage.world.company(&who.into());
    company.iter().map(ToString::to_string).collect()
}

fn only(id: &str) -> BTreeSet<String> {
    BTreeSet::from([id.to_owned()])
}

#[test]
fn whom_one_attacks_is_company_until_the_fight_is_long_over() {
    let mut stage = Stage::new(&Land::default().beast(dummy(), (5, 5)));
    stage.play("ann joins at 0 3");
    assert!(company(&stage, "ann").is_empty());
    stage.play(&format!("ann attacks {DUMMY}"));
    assert_eq!(company(&stage, "ann"), only(DUMMY));
    stage.play("wait 12\nann walks to 0 3\nwait 5");
    assert_eq!(company(&stage, "ann"), only(DUMMY), "it may still hit");
    stage.play("wait 40");
    assert!(company(&stage, "ann").is_empty());
}

#[test]
fn whose_shop_one_has_open_is_company() {
    let mut stage = Stage::new(&Land::default().shop("stall", (4, 0), &[("candle", 3, -1)]));
    stage.play("ann joins at 3 0\nann opens shop at npc:field:stall_keeper\nwait 2");
    assert_eq!(company(&stage, "ann"), only("npc:field:stall_keeper"));
}

#[test]
fn with_whom_one_trades_is_company_of_both() {
    let mut stage = Stage::new(&Land::default());
    stage.play(
        "ann joins at 0 0 / bob joins at 1 0
         ann trades bob
         bob agrees to trade",
    );
    assert_eq!(company(&stage, "ann"), only("bob"));
    assert_eq!(company(&stage, "bob"), only("ann"));
}

#[test]
fn with_whom_one_duels_is_company_of_both() {
    let mut stage = Stage::new(&Land::default().rings().magic());
    stage.play(
        "ann joins at 0 0 / bob joins at 1 0
         ann challenges bob
         bob dares",
    );
    assert_eq!(company(&stage, "ann"), only("bob"));
    assert_eq!(company(&stage, "bob"), only("ann"));
}
