//! Stories about emotes and dances.

use crate::stage;

use serde_json::json;
use stage::{BEGIN, Land, Stage};
use world::{
    BadRequest, CharacterId, Emote, EntityId, Field, Intent, Region, Screen, Tick, emotes,
};

const LEADER: &str = "npc:field:jig";

/// Returns the emote that everybody sees `id` perform.
fn shown(stage: &Stage, id: &str) -> Option<String> {
    let look = stage.world.look(&EntityId::from(id)).expect("it is here");
    match look.field("emote") {
        Some(Field::Text(emote)) => Some(emote.to_string()),
        None => None,
        Some(other) => panic!("{other:?}"),
    }
}

fn dance_floor() -> Stage {
    let mut stage = Stage::new(&Land::default().dance_leader("jig", (10, 10)));
    // A round begins at each tick that 8 divides.
    assert!(BEGIN.is_multiple_of(8));
    stage.play("ann joins at 8 8 / bob joins at 12 12 / cat joins at 3 10\nwait 6");
    stage
}

/// Plays a whole round, in which `who` follow the leader and `others` do something else.
fn round(stage: &mut Stage, who: &[&str], others: &[&str]) -> String {
    let begun = stage.play("wait 1");
    assert!(stage.world.now().0.is_multiple_of(8));
    let led = shown(stage, LEADER).expect("a leader always performs");
    let other = Emote::ALL.iter().find(|emote| emote.name() != led);
    let other = other.expect("another emote").name();
    let follow = who.iter().map(|who| format!("{who} performs {led}"));
    let stray = others.iter().map(|who| format!("{who} performs {other}"));
    let all: Vec<String> = follow.chain(stray).collect();
    let script = if all.is_empty() {
        "wait 7".to_owned()
    } else {
        format!("{}\nwait 6", all.join(" / "))
    };
    let rest = stage.play(&script);
    assert!(
        !rest.contains("step"),
        "a round ends with its last tick: {rest}"
    );
    begun
}

#[test]
fn everybody_sees_an_emote_for_four_ticks_and_a_dance_for_eight() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 0 0 / bob joins at 1 0");
    assert_eq!(shown(&stage, "ann"), None);
    for (emote, ticks) in [("wave", 4), ("dance", 8)] {
        let told = stage.play(&format!("ann performs {emote}"));
        assert!(told.contains("ann 0,0"), "the world publishes it: {told}");
        for _ in 1..ticks {
            assert_eq!(shown(&stage, "ann").as_deref(), Some(emote));
            let told = stage.play("wait 1");
            assert!(!told.contains("ann"), "nothing changes meanwhile: {told}");
        }
        let last = shown(&stage, "ann");
        assert_eq!(last.as_deref(), Some(emote));
        let told = stage.play("wait 1");
        assert!(told.contains("ann 0,0"), "its end is published: {told}");
        assert_eq!(shown(&stage, "ann"), None);
    }
    assert_eq!(shown(&stage, "bob"), None);
}

#[test]
fn the_last_emote_counts() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 0 0\nann performs bow\nwait 2\nann performs clap\nwait 3");
    assert_eq!(shown(&stage, "ann").as_deref(), Some("clap"));
    stage.play("wait 1");
    assert_eq!(shown(&stage, "ann"), None);
}

#[test]
fn walking_ends_an_emote_and_an_emote_ends_a_walk() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 0 0\nann performs dance\nann goes to 9 0");
    assert_eq!(shown(&stage, "ann"), None);
    stage.play("ann performs wave\nwait 2");
    assert_eq!(shown(&stage, "ann").as_deref(), Some("wave"));
    let ann = stage
        .world
        .player(&CharacterId::from("ann"))
        .expect("she is here");
    assert_eq!(ann.tile(), world::Tile::new(2, 0), "she has stopped");
    stage.play("ann is put at 30 30");
    assert_eq!(shown(&stage, "ann"), None, "nor does it go along");
}

#[test]
fn work_ends_an_emote_and_an_emote_ends_work() {
    let mut stage = Stage::new(&Land::default().resource("tree", "thicket", (2, 0)));
    let told = stage.play(
        "ann joins at 1 0 with bronze_hatchet 1
         ann performs think
         ann gathers res:thicket:2,0",
    );
    assert_eq!(shown(&stage, "ann"), None, "{told}");
    stage.play("ann performs think\nwait 1");
    assert_eq!(shown(&stage, "ann").as_deref(), Some("think"));
    let ann = stage
        .world
        .player(&CharacterId::from("ann"))
        .expect("she is here");
    assert_eq!(ann.work(), None);
}

fn rat() -> serde_json::Value {
    json!({"id": "rat", "name": "Rat", "category": "mob",
        "stats": {"level": 1, "health": 10_000, "attack": 1, "strength": 1, "defense": 1},
        "combat": {"attackable": true, "retaliates": false, "leashRange": 20},
        "movement": {"type": "stationary"}})
}

#[test]
fn nobody_performs_in_a_fight_or_dead_and_a_fight_ends_an_emote() {
    let mut stage = Stage::new(&Land::default().beast(rat(), (2, 0)));
    stage.play("ann joins at 1 0\nann performs laugh\nann attacks npc:field:rat:2,0:0");
    assert_eq!(shown(&stage, "ann"), None);
    let told = stage.play("wait 2\nann stops\nann performs laugh");
    assert!(told.contains("ann refused InCombat"), "{told}");
    assert_eq!(shown(&stage, "ann"), None);
    let told = stage.play("wait 20\nann performs laugh");
    assert!(!told.contains("refused"), "{told}");
    let ogre = json!({"id": "ogre", "name": "Ogre",
        "stats": {"level": 90, "health": 9_000, "attack": 900, "strength": 900},
        "combat": {"attackable": true, "aggressive": true, "aggroRange": 5, "leashRange": 9}});
    let mut stage = Stage::new(&Land::default().beast(ogre, (3, 0)));
    stage.play("ann joins at 0 0 / ann suffers");
    let died = (0..60).any(|_| stage.play("wait 1").contains("ann died"));
    assert!(died, "the ogre has not killed her");
    let told = stage.play("ann performs cry");
    assert!(told.contains("ann refused Dead"), "{told}");
}

#[test]
fn a_leader_of_the_same_seed_performs_the_same() {
    let led = |seed: u64| -> Vec<Option<String>> {
        let land = Land::default().dance_leader("jig", (10, 10)).seed(seed);
        let mut stage = Stage::new(&land);
        let rounds = (0..12).map(|_| {
            stage.play("wait 8");
            shown(&stage, LEADER)
        });
        rounds.collect()
    };
    assert_eq!(led(1), led(1));
    assert_ne!(led(1), led(2));
    assert!(led(1).iter().all(Option::is_some));
}

#[test]
fn a_leader_goes_on_the_same_after_its_region_has_moved() {
    let land = Land::default().dance_leader("jig", (10, 10));
    let (mut one, mut other) = (Stage::new(&land), Stage::new(&land));
    for stage in [&mut one, &mut other] {
        stage.play("wait 12");
    }
    let region = Region { x: 0, z: 0 };
    let bytes = other.world.region_out(region).expect("it is here");
    let now = Tick(BEGIN + 12);
    other
        .world
        .region_in(region, now, Some(&bytes))
        .expect("its own bytes");
    for _ in 0..30 {
        one.play("wait 1");
        other.play("wait 1");
        assert_eq!(shown(&one, LEADER), shown(&other, LEADER));
    }
}

#[test]
fn the_streak_of_a_dancer_grows_with_each_round_in_step_and_falls_to_nothing() {
    let mut stage = dance_floor();
    round(&mut stage, &["ann", "bob"], &[]);
    let told = round(&mut stage, &["ann"], &["bob"]);
    assert!(told.contains("ann in step with"), "{told}");
    assert!(told.contains("streak 1 of 2"), "{told}");
    let told = round(&mut stage, &["ann"], &[]);
    assert!(told.contains("streak 2 of 2"), "{told}");
    assert!(
        told.contains("bob out of step") && told.contains("streak 0 of 2"),
        "{told}"
    );
    round(&mut stage, &["bob"], &[]);
    let told = round(&mut stage, &[], &[]);
    assert!(told.contains("ann out of step"), "{told}");
    assert!(
        told.contains("bob in step with") && told.contains("streak 1 of 2"),
        "{told}"
    );
    assert!(
        !told.contains("cat"),
        "cat has not begun, and is too far away: {told}"
    );
}

#[test]
fn one_who_finds_the_emote_at_the_second_try_is_in_step() {
    let mut stage = dance_floor();
    stage.play("wait 1");
    let led = shown(&stage, LEADER).expect("it performs");
    let wrong = if led == "bow" { "jump" } else { "bow" };
    let right = format!("ann performs {wrong}\nann performs {led}\nann performs {wrong}\nwait 4");
    let told = stage.play(&right);
    assert!(!told.contains("step"), "{told}");
    let told = stage.play("wait 1");
    assert!(told.contains("ann in step"), "{told}");
}

#[test]
fn only_those_who_perform_near_the_leader_dance_until_they_leave() {
    let mut stage = dance_floor();
    // Six tiles are near, seven are not.
    stage.play("wait 1");
    let led = shown(&stage, LEADER).expect("it performs");
    stage.play(&format!(
        "cat performs {led}\ncat goes to 4 10\nwait 1\ncat performs {led}\nwait 3"
    ));
    let told = stage.play("wait 1");
    assert!(told.contains("cat in step"), "{told}");
    assert!(
        !told.contains("ann") && !told.contains("bob"),
        "they only watch: {told}"
    );
    stage.play("cat goes to 3 10\nwait 1\ncat goes to 4 10\nwait 4");
    let told = stage.play("wait 1\nwait 8");
    assert!(!told.contains("step"), "cat has left the dance: {told}");
}

#[test]
fn five_rounds_in_step_make_a_dancer_cheer() {
    let mut stage = dance_floor();
    for _ in 0..5 {
        let told = round(&mut stage, &["ann"], &["bob"]);
        assert!(!told.contains("streak 5"), "{told}");
    }
    let told = stage.play("wait 1");
    assert!(told.contains("streak 5 of 2"), "{told}");
    assert_eq!(shown(&stage, "ann").as_deref(), Some("cheer"));
    assert_eq!(shown(&stage, "bob"), None);
    assert!(told.contains("ann 8,8"), "everybody sees it: {told}");
    stage.play("wait 4");
    assert_eq!(shown(&stage, "ann"), None);
}

#[test]
fn a_dance_gives_nothing_and_saves_nothing() {
    let (mut dances, mut stands) = (dance_floor(), dance_floor());
    for _ in 0..6 {
        round(&mut dances, &["ann"], &[]);
        stands.play("wait 1\nann stops\nwait 6");
    }
    assert_eq!(dances.world.now(), stands.world.now());
    let image = |stage: &Stage| {
        let bytes = stage.world.region_bytes(Region { x: 0, z: 0 });
        bytes.expect("it is here")
    };
    assert!(
        image(&dances) == image(&stands),
        "a dancer is saved as one who stands there"
    );
}

#[test]
fn the_town_has_a_dance_with_room_for_all_of_it_in_one_region() {
    let content = world::Content::embedded();
    let leaders = content.dance_leaders();
    assert_eq!(leaders.len(), 1);
    let (spot, spawn) = (leaders[0].tile, content.spawn());
    assert!(spot.steps_to(spawn) <= 12, "it is near the spawn");
    // Nobody who comes past the spawn or a road is in the dance.
    assert!(spot.steps_to(spawn) > 6);
    let corners = [(-6, -6), (6, 6)].map(|(x, z)| Region::from(spot.moved(x, z)));
    assert_eq!(corners, [Region::from(spot); 2]);
    let around = (-6..=6).flat_map(|x| (-6..=6).map(move |z| spot.moved(x, z)));
    let free = around
        .filter(|tile| content.terrain().walkable(*tile))
        .count();
    assert!(free > 120, "{free} of 169 tiles are free");
}

#[test]
fn an_unknown_emote_is_refused_in_words_that_list_all_emotes() {
    let read = |emote: &str| {
        let data = json!({"emote": emote}).to_string();
        Intent::read("player:emote", data.as_bytes(), Screen::Offer)
    };
    let emote = Emote::Jump;
    assert_eq!(read("jump"), Ok(emotes::Intent::Perform { emote }.into()));
    let Err(BadRequest::Data(words)) = read("yodel") else {
        panic!("nobody can yodel");
    };
    assert!(Emote::ALL.len() >= 10);
    for emote in Emote::ALL {
        assert!(words.contains(emote.name()), "{emote:?}: {words}");
    }
}
