//! Stories about regions whose owner is lost: the next one goes on with what the store has.

use std::sync::Arc;

use serde_json::json;
use world::{EntityId, Inbox, Region, Rules, Tick, Tile, World};

use crate::combat::{DUMMY, dummy};
use crate::stage::{BEGIN, Land, Stage};

const HOME: Region = Region { x: 0, z: 0 };
const KEEPER: &str = "npc:field:stall_keeper";
const RAT: &str = "npc:field:rat:8,8:0";
const ROCK: &str = "res:monolith:0,5";
/// Ticks for which a dead rat stays away.
const AWAY: u32 = 40;
const STRONG: &str = "trained attack=50000000,strength=50000000";

fn land() -> Land {
    Land::default()
        .shop("stall", (4, 0), &[("logs", 4, 3), ("candle", 3, 9)])
        .beast(dummy(), (5, 5))
        .beast(
            json!({"id": "rat", "name": "rat", "stats": {"level": 1, "health": 1},
                "combat": {"attackable": true, "respawnTicks": AWAY}}),
            (8, 8),
        )
        .resource("ore", "monolith", (0, 5))
}

/// Plays until the dummy is hurt, the rat dead, the rock empty and the shop short of goods.
fn worn() -> Stage {
    let mut stage = Stage::new(&land());
    stage.play(&format!(
        "ann joins at 3 0 pouch 100 with sword 1 / bob joins at 5 6 {STRONG} / cid joins at 8 9 {STRONG} / dan joins at 0 4 with bronze_pickaxe 1
         ann opens shop at {KEEPER} / bob attacks {DUMMY} / cid attacks {RAT} / dan gathers {ROCK}
         wait 14
         ann buys 2 logs / ann sells 1 of 0"
    ));
    assert!(stage.world.look(&RAT.into()).is_none(), "the rat lives");
    assert_eq!(field(&stage.world, ROCK, "depleted"), "Some(Bool(true))");
    stage
}

fn heir(content: &Arc<world::Content>) -> World {
    World::new(Arc::clone(content), Rules::default(), 7, 2)
}

fn field(world: &World, id: &str, name: &str) -> String {
    let look = world.look(&EntityId::from(id)).expect("it is there");
    format!("{:?}", look.field(name))
}

#[test]
fn a_region_of_the_store_has_the_state_that_was_saved() {
    let stage = worn();
    let saved = stage.world.saved_region(HOME).unwrap();
    let (now, content) = (stage.world.now(), stage.world.content());
    let mut world = heir(content);
    let unfit = world.region_saved_in(HOME, now, now, &saved).unwrap();
    assert_eq!(unfit, Vec::<String>::new());
    assert_eq!(world.saved_region(HOME).unwrap(), saved);
    assert_eq!(world.players().count(), 0);
    for (id, name) in [(DUMMY, "health"), (ROCK, "depleted")] {
        assert_eq!(field(&world, id, name), field(&stage.world, id, name));
    }
    let mut fresh = heir(content);
    fresh.region_in(HOME, now, None).unwrap();
    assert_ne!(
        field(&world, DUMMY, "health"),
        field(&fresh, DUMMY, "health")
    );
    assert!(world.region_saved_in(HOME, now, now, &saved).is_err());
}

#[test]
fn the_same_state_is_the_same_bytes_whatever_the_tick() {
    let stage = Stage::new(&land());
    let before = stage.world.saved_region(HOME);
    let mut later = heir(stage.world.content());
    let now = Tick(BEGIN + 5_000);
    later.region_in(HOME, Tick(BEGIN), None).unwrap();
    later.tick(now, Inbox::default(), &mut ());
    assert_eq!(
        later.saved_region(HOME).map(|b| b.len()),
        before.as_ref().map(Vec::len)
    );
    let again = heir(stage.world.content());
    assert_eq!(again.saved_region(HOME), None, "it is not here");
    let (mut one, mut other) = (heir(stage.world.content()), heir(stage.world.content()));
    let state = before.unwrap();
    one.region_saved_in(HOME, Tick(BEGIN), Tick(BEGIN), &state)
        .unwrap();
    other.region_saved_in(HOME, now, now, &state).unwrap();
    assert_eq!(one.saved_region(HOME), other.saved_region(HOME));
}

/// The owner dies some ticks after it saved. Its last batch says how far it played.
#[test]
fn timers_go_on_from_the_last_tick_of_play() {
    let mut stage = worn();
    let saved = stage.world.saved_region(HOME).unwrap();
    let ticks_to = |world: &mut World, from: u64| {
        let gone = |n: &u64| {
            world.tick(Tick(from + n), Inbox::default(), &mut ());
            world.look(&RAT.into()).is_none()
        };
        (1..200).take_while(gone).count()
    };
    let played = Tick(stage.world.now().0 + 6);
    let mut world = heir(stage.world.content());
    let later = played.0 + 1_000;
    world
        .region_saved_in(HOME, Tick(later), played, &saved)
        .unwrap();
    let there = ticks_to(&mut world, later);
    stage.play("wait 6");
    let here = ticks_to(&mut stage.world, played.0);
    assert_eq!(there, here);
    assert!(there > 1 && there < AWAY as usize, "{there}");
}

#[test]
fn goods_that_were_sold_are_still_short() {
    let stage = worn();
    let saved = stage.world.saved_region(HOME).unwrap();
    let now = stage.world.now();
    let mut next = Stage::new(&land());
    next.world.region_out(HOME).unwrap();
    next.world.region_saved_in(HOME, now, now, &saved).unwrap();
    next.skip_to(now.0);
    let told = next.play(&format!(
        "ann joins at 3 0 pouch 100 / ann opens shop at {KEEPER}"
    ));
    assert!(
        told.contains("sees stall: 1 logs at 5 9 candle at 3 1 sword"),
        "{told}"
    );
}

#[test]
fn a_part_that_content_does_not_know_any_more_is_left_out_and_the_rest_counts() {
    let stage = worn();
    let saved = stage.world.saved_region(HOME).unwrap();
    let now = stage.world.now();
    // The shop, the sword that it bought and the rat are gone; the dummy has less health.
    let mut weak = dummy();
    weak["stats"]["health"] = 7.into();
    let other = Land::default()
        .beast(weak, (5, 5))
        .resource("ore", "monolith", (0, 5));
    let mut world = heir(&other.content());
    let unfit = world.region_saved_in(HOME, now, now, &saved).unwrap();
    assert_eq!(unfit, [RAT, KEEPER, "stall"]);
    assert_eq!(field(&world, DUMMY, "health"), "Some(Int(7))");
    assert_eq!(field(&world, ROCK, "depleted"), "Some(Bool(true))");
    let mut files = land().files();
    let items = files["items.json"].replace(r#""id":"sword""#, r#""id":"sabre""#);
    files.insert("items.json".to_owned(), items);
    let changed = Arc::new(world::Content::load(&files).unwrap().content);
    let mut world = heir(&changed);
    let unfit = world.region_saved_in(HOME, now, now, &saved).unwrap();
    assert_eq!(unfit, ["sword of stall"]);
}

#[test]
fn bytes_of_another_version_are_left_out_and_the_region_is_as_content_has_it() {
    let stage = worn();
    let saved = stage.world.saved_region(HOME).unwrap();
    let now = stage.world.now();
    let version = saved.windows(7).position(|at| at == b"version").unwrap() + 7;
    let mut newer = saved.clone();
    newer[version] += 1;
    let elsewhere = stage.world.saved_region(Region { x: 1, z: 0 }).unwrap();
    assert_eq!(world::check_saved_region(HOME, &saved), Ok(()));
    let mut fresh = heir(stage.world.content());
    fresh.region_in(HOME, now, None).unwrap();
    for (bytes, why) in [
        (newer, "a region of version 2"),
        (elsewhere, "the region 1,0 instead"),
        (saved[..saved.len() - 9].to_vec(), "not a region: "),
        (b"\xc1".to_vec(), "not a region: "),
    ] {
        let mut world = heir(stage.world.content());
        let unreadable = world::check_saved_region(HOME, &bytes).unwrap_err();
        let unfit = world.region_saved_in(HOME, now, now, &bytes).unwrap();
        assert_eq!(unfit, [unreadable.to_string()]);
        assert!(unfit.len() == 1 && unfit[0].starts_with(why), "{unfit:?}");
        assert_eq!(world.saved_region(HOME), fresh.saved_region(HOME));
    }
}

/// Its owner was lost before it had saved her last steps.
#[test]
fn a_character_stands_again_only_where_it_can_have_walked() {
    let land = Land::default().rect("water", (10, -20), (12, 20));
    let mut stage = Stage::new(&land);
    stage.play("ann joins at 5 5 / bob joins at 5 6 / cid joins at 4 5 / dan joins at 3 5");
    stage.play("bob trades cid / dan walks to 3 12");
    let mut regains = |who: &str, at: (i32, i32), steps| {
        let tile = Tile::new(at.0, at.1);
        let before = stage.world.player(&who.into()).unwrap().tile();
        let there = stage.world.regain(&who.into(), tile, steps);
        let after = stage.world.player(&who.into()).unwrap().tile();
        assert_eq!(after, if there { tile } else { before }, "{who} {at:?}");
        there
    };
    assert!(!regains("ann", (5, 14), 8), "too far");
    assert!(!regains("ann", (11, 5), 200), "in the water");
    assert!(!regains("ann", (14, 5), 30), "around the water");
    assert!(!regains("ann", (5, -26), 200), "too far past the border");
    assert!(!regains("dan", (3, 13), 8), "on its way");
    assert!(!regains("bob", (5, 8), 8), "in a trade");
    assert!(!stage.world.regain(&"eve".into(), Tile::new(1, 1), 8));
    let mut regains = |who: &str, at: (i32, i32), steps| {
        stage
            .world
            .regain(&who.into(), Tile::new(at.0, at.1), steps)
    };
    assert!(regains("ann", (5, 13), 8));
    assert!(regains("ann", (5, 13), 0), "there already");
    assert!(regains("ann", (14, 13), 60));
    let shown = stage.step(Inbox::default()).touched;
    assert!(shown.contains(&"ann".into()), "{shown:?}");
    let there = stage.world.look(&"ann".into()).unwrap().tile;
    let chunk = world::Chunk::from(there);
    assert!(
        stage
            .world
            .entities_in(chunk)
            .any(|id| id.as_str() == "ann")
    );
    assert_eq!(there, Tile::new(14, 13));
}
