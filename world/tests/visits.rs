//! Stories about people who stroll. They wait for a player who comes to them, and while somebody
//! uses their service, but nobody keeps them for ever.

use world::{CharacterId, EntityId, Inbox, Interface, Tile};

use crate::stage::{Land, Stage};

const KEEPER: &str = "npc:field:stall_keeper";
const CLERK: &str = "npc:field:clerk";
/// So long nobody waits for one who does nothing.
const IDLE_TICKS: u32 = 500;
/// So long one waits away from home.
const AWAY_TICKS: u32 = 1_000;

/// Returns a keeper of a shop and one of a bank, both of whom stroll.
fn land(seed: u64) -> Land {
    let land = Land::default().shop("stall", (4, 0), &[("candle", 3, -1)]);
    let land = land.stroller("stall_keeper", 6).banker("clerk", (-40, 0));
    land.stroller("clerk", 6).seed(seed)
}

fn at(stage: &Stage, id: &str) -> Tile {
    stage.world.look(&EntityId::from(id)).unwrap().tile
}

fn open(stage: &Stage, who: &str) -> Option<Interface> {
    let player = stage.world.player(&CharacterId::from(who)).unwrap();
    player.open().cloned()
}

/// Lets ann come to the keeper from far away and open the shop.
fn ann_shops(stage: &mut Stage) {
    stage.play("ann joins at 20 0 pouch 100");
    stage.play(&format!("ann opens shop at {KEEPER}\nwait 20"));
    assert_eq!(open(stage, "ann"), Some(Interface::Shop));
}

#[test]
fn a_shop_stays_open_for_one_who_stands_still() {
    for seed in 1..9 {
        let mut stage = Stage::new(&land(seed));
        ann_shops(&mut stage);
        let stands = at(&stage, KEEPER);
        stage.play("wait 300");
        assert_eq!(open(&stage, "ann"), Some(Interface::Shop), "seed {seed}");
        assert_eq!(at(&stage, KEEPER), stands, "seed {seed}");
        let told = stage.play("ann buys 1 candle");
        assert!(told.contains("ann 0=candle 1"), "seed {seed}: {told}");
    }
}

#[test]
fn whoever_strolls_waits_for_one_who_comes() {
    for seed in 1..40 {
        let mut stage = Stage::new(&land(seed));
        stage.play(&format!(
            "ann joins at 25 9 / bob joins at -18 9\nwait {seed}"
        ));
        let told = stage.play(&format!(
            "ann opens shop at {KEEPER} / bob opens bank at {CLERK}\nwait 20"
        ));
        assert!(!told.contains("refused"), "seed {seed}: {told}");
        assert!(!told.contains("failed"), "seed {seed}: {told}");
        assert_eq!(
            open(&stage, "ann"),
            Some(Interface::Shop),
            "seed {seed}: {told}"
        );
        assert_eq!(
            open(&stage, "bob"),
            Some(Interface::Bank),
            "seed {seed}: {told}"
        );
    }
}

/// It comes as far as it strolls, so that whoever asks has a shorter way.
#[test]
fn a_keeper_goes_to_meet_one_who_comes() {
    let mut met = 0;
    for seed in 1..20 {
        let mut stage = Stage::new(&land(seed));
        stage.play(&format!("ann joins at 30 0 pouch 100\nwait {seed}"));
        let asked = at(&stage, KEEPER);
        stage.play(&format!("ann opens shop at {KEEPER}\nwait 20"));
        assert_eq!(open(&stage, "ann"), Some(Interface::Shop), "seed {seed}");
        let (then, ann) = (at(&stage, KEEPER), Tile::new(30, 0));
        assert!(then.steps_to(ann) <= asked.steps_to(ann), "seed {seed}");
        met += u32::from(then.steps_to(ann) < asked.steps_to(ann));
    }
    assert!(met > 12, "only {met} of 19 came");
}

#[test]
fn several_customers_are_served_and_the_keeper_strolls_when_the_last_has_gone() {
    let mut stage = Stage::new(&land(3));
    stage.play("bob joins at 20 2 pouch 50");
    ann_shops(&mut stage);
    stage.play(&format!("bob opens shop at {KEEPER}\nwait 20"));
    stage.play("ann closes shop\nwait 100");
    assert_eq!(open(&stage, "bob"), Some(Interface::Shop));
    stage.play("bob closes shop");
    let stood = at(&stage, KEEPER);
    let strolls = (0..60).any(|_| {
        stage.step(Inbox::default());
        at(&stage, KEEPER) != stood
    });
    assert!(strolls, "it goes on when nobody wants anything of it");
}

#[test]
fn one_who_does_nothing_keeps_nobody_for_ever() {
    let mut stage = Stage::new(&land(1));
    ann_shops(&mut stage);
    let stood = at(&stage, KEEPER);
    let mut ticks = 0;
    while at(&stage, KEEPER) == stood {
        stage.step(Inbox::default());
        ticks += 1;
        assert!(ticks < IDLE_TICKS + 60, "it still stands there");
    }
    assert!(ticks > IDLE_TICKS - 60, "it left after {ticks} ticks");
}

#[test]
fn nobody_keeps_a_keeper_far_from_its_home_for_ever() {
    let home = Tile::new(4, 0);
    let mut longest = 0;
    for seed in 1..5 {
        let mut stage = Stage::new(&land(seed));
        while at(&stage, KEEPER).steps_to(home) < 4 {
            stage.step(Inbox::default());
        }
        ann_shops(&mut stage);
        let mut away = 0;
        for tick in 0..AWAY_TICKS * 3 {
            // She closes the shop for a moment now and then, or asks at every moment; neither helps
            // her.
            match tick % 100 {
                98 => stage.play("ann closes shop"),
                50..99 => stage.play("wait 1"),
                _ => stage.play(&format!("ann opens shop at {KEEPER}")),
            };
            let far = at(&stage, KEEPER).steps_to(home) > 1;
            away = if far { away + 1 } else { 0 };
            longest = longest.max(away);
        }
    }
    assert!(longest > AWAY_TICKS / 2, "else nothing is shown: {longest}");
    assert!(longest < AWAY_TICKS + 60, "it was kept for {longest} ticks");
}

#[test]
fn at_home_a_keeper_waits_for_as_long_as_somebody_shops() {
    let land = Land::default().shop("stall", (4, 0), &[("candle", 3, -1)]);
    let mut stage = Stage::new(&land.stroller("stall_keeper", 1));
    ann_shops(&mut stage);
    for _ in 0..AWAY_TICKS / 50 {
        stage.play("wait 99\nann buys 1 candle");
        assert_eq!(open(&stage, "ann"), Some(Interface::Shop));
    }
}
