//! The cost of searches for routes, and each player's share of it.

use crate::stage;

use std::collections::BTreeMap;

use stage::{Land, Stage};
use world::{
    CharacterId, Event, Inbox, Intent, PlayerInput, Refusal, Rules, Tile, movement, request,
};

/// Players who walk round a wall and back.
const HONEST: i32 = 136;
/// Moves of the greedy one in a tick: 58 in a second.
const GREEDY: i32 = 35;

/// Returns a closed room in the east, and a wall that has to be walked around in the middle.
fn land() -> Land {
    Land::default()
        .rect("wall", (60, -8), (76, 8))
        .rect("floor", (62, -6), (74, 6))
        .rect("wall", (2, -12), (4, 13))
}

fn walk(who: &str, number: u64, to: (i32, i32)) -> PlayerInput {
    PlayerInput {
        who: CharacterId::from(who),
        number,
        intent: Intent::Movement(movement::Intent::Walk {
            to: Tile::new(to.0, to.1),
            run: None,
        }),
    }
}

fn honest() -> impl Iterator<Item = (String, (i32, i32))> {
    (0..HONEST).map(|n| (format!("p{n}"), (-2 - n / 20, n % 20 - 10)))
}

fn stage() -> Stage {
    let mut stage = Stage::new(&land());
    let joins = honest().map(|(who, (x, z))| format!("{who} joins at {x} {z}"));
    let all: Vec<String> = joins.chain(["eve joins at 20 0".to_owned()]).collect();
    stage.play(&all.join(" / "));
    stage
}

/// Returns the number of refusals by reason, those of the greedy player apart.
fn refusals(events: &[Event]) -> BTreeMap<(bool, Refusal), usize> {
    let mut refusals = BTreeMap::new();
    for event in events {
        if let Event::Request(request::Event::Refused { who, refusal, .. }) = event {
            let greedy = *who == CharacterId::from("eve");
            *refusals.entry((greedy, *refusal)).or_default() += 1;
        }
    }
    refusals
}

/// Lets all honest players go to the other side of the wall in turn, and back. One player asks for
/// `greedy` moves to a closed room. Returns the refusals and the highest cost.
fn play(stage: &mut Stage, ticks: i32, greedy: i32) -> (BTreeMap<(bool, Refusal), usize>, u64) {
    let (mut refused, mut most, mut number) = (BTreeMap::new(), 0, 0);
    for tick in 0..ticks {
        let mut inbox = Inbox::default();
        for (who, (x, z)) in honest() {
            number += 1;
            let to = if tick % 2 == 0 { (8 - x, z) } else { (x, z) };
            inbox.inputs.push(walk(&who, number, to));
        }
        for goal in 0..greedy {
            number += 1;
            inbox
                .inputs
                .push(walk("eve", number, (63 + goal % 10, goal % 7 - 3)));
        }
        let before = stage.world.tiles_searched();
        let outcome = stage.step(inbox);
        most = most.max(stage.world.tiles_searched() - before);
        let answered = outcome.events.iter().filter(|event| {
            matches!(
                event,
                Event::Request(request::Event::Done { .. })
                    | Event::Request(request::Event::Refused { .. })
            )
        });
        assert_eq!(
            answered.count(),
            (HONEST + greedy) as usize,
            "each is answered"
        );
        for (why, times) in refusals(&outcome.events) {
            *refused.entry(why).or_default() += times;
        }
    }
    (refused, most)
}

#[test]
fn who_asks_for_what_cannot_be_reached_makes_nobody_else_wait() {
    let mut stage = stage();
    let (_, alone) = play(&mut stage, 4, 0);
    let (refused, most) = play(&mut stage, 20, GREEDY);
    let others = refused.keys().find(|(greedy, _)| !greedy);
    assert_eq!(others, None, "{refused:?}");
    assert!(alone > 10_000, "the honest have to search: {alone}");
    let one_search = world::SEARCH_VISITS_MAX;
    assert!(
        most <= 2 * alone + one_search,
        "one search a tick: {most} after {alone}"
    );
    assert!(most <= Rules::default().search_tiles_per_tick, "{most}");
}

#[test]
fn what_was_not_reached_from_here_is_not_searched_for_again() {
    let mut stage = Stage::new(&land());
    stage.play(
        "eve joins at 59 0
         eve goes to 68 0",
    );
    let before = stage.world.tiles_searched();
    let told = stage.play("eve goes to 68 0\neve goes to 68 0");
    assert_eq!(told.matches("eve refused Unreachable").count(), 2, "{told}");
    assert_eq!(stage.world.tiles_searched(), before);
    // From elsewhere it may be.
    stage.play("eve goes to 57 0\nwait 2\neve goes to 68 0");
    assert!(stage.world.tiles_searched() > before);
}

#[test]
fn searches_never_cost_more_than_a_tick_may_and_the_straight_way_is_always_found() {
    let rules = Rules {
        search_tiles_per_tick: 2_000,
        ..Rules::default()
    };
    let mut stage = Stage::with(&land(), rules);
    let joins: Vec<String> = (0..9).map(|n| format!("p{n} joins at 0 {n}")).collect();
    stage.play(&joins.join(" / "));
    let asks = |to: i32| (0..9).map(move |n| format!("p{n} walks to {to} {n}"));
    let before = stage.world.tiles_searched();
    let asked: Vec<String> = asks(30).chain(asks(64)).chain(asks(8)).collect();
    let told = stage.play(&asked.join(" / "));
    let cost = stage.world.tiles_searched() - before;
    assert!(cost <= 2_000, "{cost}");
    assert!(told.contains("refused Busy"), "{told}");
    let straight: Vec<String> = asks(-30).collect();
    let told = stage.play(&straight.join(" / "));
    assert!(!told.contains("refused"), "{told}");
}

#[test]
fn those_who_follow_share_their_searches_too() {
    let mut stage = Stage::new(&land());
    let names: Vec<String> = (0..12).map(|n| format!("p{n}")).collect();
    let joins = (0..12).map(|n| format!("p{n} joins at {} 0", 50 - n));
    let all: Vec<String> = joins.chain(["eve joins at 68 0".to_owned()]).collect();
    stage.play(&all.join(" / "));
    let follow: Vec<String> = names
        .iter()
        .map(|who| format!("{who} follows eve"))
        .collect();
    stage.play(&follow.join(" / "));
    for step in 0..6 {
        let before = stage.world.tiles_searched();
        stage.play(&format!("eve goes to {} 0", 64 + step));
        let cost = stage.world.tiles_searched() - before;
        assert!(
            cost <= Rules::default().search_tiles_per_tick / 4 + 100,
            "{cost}"
        );
    }
}
