//! Tests of the spread of load over living runs.

use super::simulated::{World, ratio, skewed};
use super::*;

fn owns_nothing(view: &View, letter: char) -> bool {
    view.regions.iter().all(|one| one.run != run_of(letter))
}

/// Asserts that no region moved on within its rest.
fn assert_rested(world: &World) {
    let mut last: BTreeMap<Region, i64> = BTreeMap::new();
    for (at, region, from, to) in &world.moves {
        if let Some(before) = last.insert(*region, *at) {
            assert!(at - before >= 20_000, "{region:?} {from} -> {to}");
        }
    }
}

/// Returns the skewed world after two more runs have joined the first two and nothing moves any
/// more.
fn shared_by_four() -> World {
    let mut world = World::new(skewed());
    world.join('c');
    world.join('d');
    world.pass(60);
    world
}

#[test]
fn load_is_spread_over_two_runs_more_within_fifteen_seconds() {
    let mut world = World::new(skewed());
    world.pass(30);
    assert_eq!(world.moves, []);
    world.join('c');
    world.join('d');
    assert!(ratio(&world.view) > 1.9);
    assert_eq!(world.until(15, |view| ratio(view) <= 1.3), Some(3));
    world.pass(60);
    assert!(ratio(&world.view) <= 1.15);
    assert_eq!(
        world.map().split(' ').collect::<Vec<_>>(),
        [
            "aaaaabbbbb",
            "aaaaabbbbb",
            "aaaaabccbb",
            "aaaaabcccb",
            "aaaaabcccb",
            "aaaaabcbbb",
            "addaabbbbb",
            "adddabbbbb",
            "adddabbbbb",
            "aaaaabbbbb",
        ]
    );
    assert_eq!(world.moves.len(), 17);
    assert_rested(&world);
    world.pass(300);
    assert_eq!(world.moves.len(), 17);
}

#[test]
fn what_two_of_four_runs_had_is_spread_over_the_others() {
    let mut world = shared_by_four();
    let before = world.moves.len();
    for letter in ['c', 'd'] {
        run(&mut world.view, letter).state = RunState::Draining;
    }
    let gone = |view: &View| owns_nothing(view, 'c') && owns_nothing(view, 'd');
    assert!(world.until(15, gone).is_some());
    assert!(ratio(&world.view) <= 1.3);
    world.pass(60);
    assert_eq!(world.map(), ["aaaaabbbbb"; 10].join(" "));
    assert_eq!(world.moves.len() - before, 17);
}

#[test]
fn an_idle_world_is_shared_by_count_in_two_blocks() {
    let mut world = World::new(view(&["aaaaaaaaaa"; 10].join(" "), ""));
    world.join('b');
    assert!(world.until(15, |view| ratio(view) <= 1.3).is_some());
    world.pass(60);
    assert!(ratio(&world.view) <= 1.15);
    for letter in ['a', 'b'] {
        let mine = world.view.regions.iter();
        let mine = mine.filter(|one| one.run == run_of(letter));
        assert_eq!(block::pieces(&mine.map(place).collect::<Vec<_>>()), 1);
    }
}

#[test]
fn a_run_that_takes_nothing_does_not_keep_the_others_from_sharing() {
    let mut world = World::new(skewed());
    world.refuses = Some(run_of('c'));
    world.join('c');
    world.pass(10);
    assert_eq!(world.moves, []);
    world.join('d');
    world.pass(60);
    assert!(owns_nothing(&world.view, 'c'));
    assert!(!owns_nothing(&world.view, 'd'));
    // Later the planner may request the move again.
    world.refuses = None;
    world.pass(120);
    assert!(!owns_nothing(&world.view, 'c'));
    assert!(ratio(&world.view) <= 1.3);
}

#[test]
fn noise_moves_nothing() {
    let mut world = shared_by_four();
    let before = world.moves.len();
    world.jitter = Some(7);
    world.pass(300);
    assert_eq!(world.moves.len(), before);
}

#[test]
fn load_that_wanders_moves_each_region_at_most_once_in_a_while() {
    let mut world = World::new(view(&["aaabbb"; 6].join(" "), ""));
    for round in 0..30 {
        for one in &mut world.view.regions {
            let west = one.region.x < 3;
            one.cost_us = if west == (round % 2 == 0) { 2_000 } else { 100 };
        }
        world.pass(7);
    }
    assert!(!world.moves.is_empty());
    assert_rested(&world);
}

#[test]
fn a_run_that_dies_and_comes_back_all_the_time_is_not_given_the_same_again_and_again() {
    let mut world = World::new(view(&["aaaaaa"; 6].join(" "), ""));
    for letter in 'b'..='m' {
        world.join(letter);
        world.pass(5);
        run(&mut world.view, letter).witnesses = 2;
        world.pass(1);
        assert!(owns_nothing(&world.view, letter));
    }
    let mut last: BTreeMap<Region, i64> = BTreeMap::new();
    for (at, region, from, _) in &world.moves {
        if let Some(before) = last.insert(*region, *at)
            && *from == run_of('a')
        {
            assert!(at - before >= 20_000, "{region:?}");
        }
    }
    let given = world
        .moves
        .iter()
        .filter(|(_, _, from, _)| *from == run_of('a'));
    assert!(given.count() > world.view.regions.len());
}

#[test]
fn a_heavy_region_stays_where_it_would_only_be_the_busiest_elsewhere() {
    let mut view = view("aaabbb", "");
    at(&mut view, 0, 0).cost_us = 50_000;
    assert_eq!(wanted(&view, &plan(&view, POLICY)), ".bb...");
    let mut world = World::new(view);
    world.pass(60);
    assert_eq!(world.map(), "abbbbb");
}

#[test]
fn a_little_more_moves_nothing() {
    for map in ["aab", "aaabb", "ab", "aaaaaabbbb"] {
        let view = view(map, "");
        assert!(plan(&view, POLICY).is_empty(), "{map}");
    }
}

#[test]
fn few_moves_are_requested_at_a_time() {
    let view = view("aaaaaaaaaaaabbbbbbbbbbbb", "cd");
    let change = plan(&view, POLICY);
    assert_eq!(change.move_requests.len(), 8);
    assert_eq!(wanted(&view, &change), "cccc................dddd");
    let view = self::view("aaaaaaaabbbbbbbbcccccccc", "def");
    assert_eq!(plan(&view, POLICY).move_requests.len(), 8);
}

#[test]
fn what_came_a_moment_ago_rests_but_for_who_was_not_there() {
    let mut view = view("aaaaaa", "b");
    for one in &mut view.regions {
        one.changed_ms = NOW_MS - 19_999;
    }
    assert!(plan(&view, POLICY).is_empty());
    run(&mut view, 'b').registered_ms = NOW_MS - 19_998;
    assert_eq!(plan(&view, POLICY).move_requests.len(), 3);
    view.taken_over = 1;
    assert!(plan(&view, POLICY).is_empty());
    for one in &mut view.regions {
        one.changed_ms = NOW_MS - 20_000;
    }
    assert_eq!(plan(&view, POLICY).move_requests.len(), 3);
}

#[test]
fn a_run_that_drains_is_asked_for_what_rests_and_is_given_nothing() {
    let mut view = view("aabb", "c");
    for one in &mut view.regions {
        one.changed_ms = NOW_MS;
    }
    run(&mut view, 'b').state = RunState::Draining;
    assert_eq!(wanted(&view, &plan(&view, POLICY)), "..cc");
    run(&mut view, 'c').state = RunState::Draining;
    assert_eq!(wanted(&view, &plan(&view, POLICY)), "..aa");
    run(&mut view, 'a').state = RunState::Draining;
    assert!(plan(&view, POLICY).is_empty());
}

#[test]
fn a_move_request_is_withdrawn_when_its_target_cannot_take_it() {
    let requested = |map: &str| {
        let mut view = view(map, "b");
        at(&mut view, 2, 0).wanted = run_of('b');
        view
    };
    let view = requested("aaaab");
    assert_eq!(wanted(&view, &plan(&view, POLICY)), "..b..");
    let mut drains = view.clone();
    run(&mut drains, 'b').state = RunState::Draining;
    let mut lapsed = view.clone();
    run(&mut lapsed, 'b').until_ms = NOW_MS;
    let mut dead = view.clone();
    run(&mut dead, 'b').witnesses = 2;
    let mut gone = view.clone();
    gone.runs.pop();
    for view in [drains, lapsed, dead, gone] {
        let move_requests = plan(&view, POLICY).move_requests;
        let mine = move_requests
            .iter()
            .find(|request| request.region.x == 2)
            .unwrap();
        assert_eq!((mine.owner, mine.to), (run_of('a'), NOBODY));
    }
}

#[test]
fn nothing_is_requested_of_runs_that_play_other_content() {
    let mut view = view("aaaa", "b");
    run(&mut view, 'b').content_hash = "newer".to_owned();
    assert!(plan(&view, POLICY).is_empty());
}
