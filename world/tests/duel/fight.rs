//! Stories about the fight itself: the rules in a ring, and its end.

use super::{
    AGREE, STRONG, duelling_on, fighting, land, pack, record, refusals, staked, to_the_end,
};
use crate::stage::Stage;

#[test]
fn a_death_in_a_ring_is_none_and_the_dead_wakes_well_in_the_lobby() {
    let ann = format!("{STRONG} with candle 9");
    let mut stage = fighting(&ann, "with sword 1 cake 1", ["wait 1", "bob stakes 1 of 0"]);
    stage.play("ann attacks bob");
    let mut told = String::new();
    while !told.contains("bob died") {
        told.push_str(&stage.play("wait 1"));
    }
    // That tick decides it; the players hear of it eight ticks later.
    assert!(told.contains("bob died by ann"), "{told}");
    assert!(!told.contains("grave"), "{told}");
    assert_eq!(staked(&stage, "ann"), [(0, "sword".to_owned(), 1)]);
    assert!(staked(&stage, "bob").is_empty());
    let refused = stage.play(
        "bob eats / ann goes to 25 25"
            .replace("bob eats", "bob uses 1")
            .as_str(),
    );
    assert_eq!(refusals(&refused), ["InDuel", "Dead"]);
    let told = to_the_end(&mut stage);
    assert!(
        told.contains("ann won: [sword 1] for [] worth [26, 0]"),
        "{told}"
    );
    assert!(
        told.contains("bob lost: [] for [sword 1] worth [0, 26]"),
        "{told}"
    );
    assert!(told.contains("bob rose"), "{told}");
    let bob = record(&stage, "bob");
    assert_eq!((bob.health, pack(&stage, "bob", "cake")), (10, 1));
    assert_eq!(pack(&stage, "ann", "sword"), 1);
    for who in ["ann", "bob"] {
        assert!(record(&stage, who).tile.steps_to(world::Tile::new(0, 1)) < 3);
        assert!(stage.world.duel_of(&who.into()).is_none());
    }
    let told = stage.play("ann goes to 3 3 / bob uses 1");
    assert_eq!(refusals(&told), [""; 0], "{told}");
}

#[test]
fn who_is_away_for_thirty_seconds_has_lost_and_who_is_back_has_not() {
    let staked = ["wait 1", "bob stakes 1 of 0"];
    let mut stage = fighting("", "with sword 1", staked);
    let told = stage.play("bob is away\nwait 20\nbob is back\nwait 60");
    assert!(told.contains("ann waits 50") && told.contains("ann waits no more"));
    assert!(!told.contains(" won"), "{told}");
    let told = stage.play("bob is away\nwait 49");
    assert!(!told.contains(" won"), "{told}");
    // The winner's gain could not be saved at that moment.
    let told = stage.play("bob may not save");
    assert!(!told.contains(" won"), "{told}");
    let told = stage.play("wait 1");
    assert!(told.contains("ann won by forfeit: [sword 1]"), "{told}");
    assert_eq!(pack(&stage, "ann", "sword"), 1);
}

/// A player who may not give up does not get around it by going away.
#[test]
fn who_goes_away_where_nobody_may_give_up_has_lost_at_once() {
    let first = ["bob rules noForfeit", "bob stakes 1 of 0"];
    let mut stage = fighting("", "with sword 1", first);
    // The winner's gain could not be saved at that moment.
    let told = stage.play("bob is away / bob may not save");
    assert!(
        told.contains("ann waits 0") && !told.contains(" won"),
        "{told}"
    );
    let told = stage.play("wait 1");
    assert!(told.contains("ann won by forfeit: [sword 1]"), "{told}");
    assert_eq!(pack(&stage, "ann", "sword"), 1);
}

#[test]
fn the_rules_hold_in_the_fight() {
    let bob = "devout 5 with cake 1 sword 1 bow 1";
    let rules = "bob rules noMelee / bob rules noFood / bob rules noPrayer / bob rules noMovement";
    let mut stage = fighting("with candle 1", bob, [rules, "wait 1"]);
    let told = stage.play(
        "bob uses 0
         bob prays skin
         bob goes to 20 20
         bob attacks ann
         wait 2
         bob wears 1
         bob drops 1
         bob puts 1 into 9
         bob trades ann
         bob goes home
         bob calls off",
    );
    let expected = [
        "AgainstRules",
        "AgainstRules",
        "AgainstRules",
        "InDuel",
        "InDuel",
        "InDuel",
        "InDuel",
        "InDuel",
        "WrongStage",
    ];
    assert_eq!(refusals(&told), expected, "{told}");
    assert!(told.contains("bob failed AgainstRules"), "{told}");
    assert_eq!(record(&stage, "ann").health, 10);
    // Players who may not walk begin side by side.
    let [ann, bob] = ["ann", "bob"].map(|who| record(&stage, who).tile);
    assert_eq!(ann.steps_to(bob), 1);
}

#[test]
fn nobody_gives_up_where_that_was_ruled_out() {
    let mut stage = fighting("", "", ["bob rules noForfeit", "wait 1"]);
    assert_eq!(refusals(&stage.play("bob forfeits")), ["NoForfeit"]);
}

#[test]
fn a_weapon_in_earnest_is_not_fun() {
    let mut stage = Stage::new(&land());
    stage.play(&format!(
        "ann joins at 0 0 {STRONG} with sword 1 / bob joins at 1 0 with staff 1
         ann wears 0 / bob wears 0
         ann challenges bob
         bob dares
         ann rules funWeapons
         {AGREE}
         wait 5"
    ));
    let armed = ["ann", "bob"].map(|who| record(&stage, who).equipment.len());
    assert_eq!(armed, [0, 1]);
}

#[test]
fn both_who_fall_in_one_tick_keep_what_they_staked() {
    for seed in 1..200 {
        let mut stage = duelling_on(
            &land().seed(seed),
            &format!("{STRONG} with candle 9"),
            &format!("{STRONG} with sword 1"),
        );
        stage.play("ann agrees rules / bob agrees rules\nann stakes 4 of 0 / bob stakes 1 of 0");
        stage.play("ann agrees stakes / bob agrees stakes\nann agrees final / bob agrees final");
        stage.play("wait 5\nann attacks bob / bob attacks ann");
        let told = to_the_end(&mut stage);
        if told.contains(" won") {
            continue;
        }
        assert!(told.contains("ann duel off Draw") && told.contains("bob duel off Draw"));
        assert_eq!(
            (pack(&stage, "ann", "candle"), pack(&stage, "bob", "sword")),
            (9, 1)
        );
        assert_eq!(
            ["ann", "bob"].map(|who| record(&stage, who).health),
            [10, 10]
        );
        return;
    }
    panic!("they never fall both at once");
}

#[test]
fn rings_are_walls_from_both_sides() {
    let mut stage = fighting("", "", ["wait 1", "wait 1"]);
    stage.play(
        "cid joins at 10 20\ncid goes to 20 20\nann goes to 0 0 / bob runs to 20 90\nwait 30",
    );
    let at = |who: &str| record(&stage, who).tile;
    let (ann, bob, cid) = (at("ann"), at("bob"), at("cid"));
    assert_eq!(
        (ann.x.max(ann.z) <= 25, ann.x.min(ann.z) >= 15),
        (true, true),
        "{ann:?}"
    );
    assert_eq!((bob.x, bob.z), (20, 25), "{bob:?}");
    let inside = (15..26).contains(&cid.x) && (15..26).contains(&cid.z);
    assert!(!inside, "{cid:?}");
    let told = stage.play("cid attacks ann / ann trades cid");
    assert_eq!(refusals(&told), ["InDuel"; 2], "{told}");
}

#[test]
fn nothing_is_struck_while_exchanges_are_stopped() {
    let mut stage = fighting(STRONG, "with sword 1", ["wait 1", "bob stakes 1 of 0"]);
    stage.play("ann attacks bob");
    for _ in 0..30 {
        let told = stage.play("ann may not trade");
        assert!(!told.contains("hits"), "{told}");
    }
    let told = stage.play("bob forfeits / ann may not trade");
    assert_eq!(refusals(&told), ["ExchangesFrozen"]);
    assert!(to_the_end(&mut stage).contains("ann won"));
}
