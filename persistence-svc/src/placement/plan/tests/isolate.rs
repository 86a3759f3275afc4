//! Regions that end their runs.

use super::simulated::World;
use super::*;

#[test]
fn a_region_of_two_faults_is_alone_where_that_moves_least() {
    let mut view = view("aaabbbcc", "");
    at(&mut view, 5, 0).faults = 2;
    assert_eq!(wanted(&view, &plan(&view, POLICY)), "...ac...");
    at(&mut view, 5, 0).faults = 1;
    assert!(plan(&view, POLICY).is_empty());
}

#[test]
fn it_goes_to_a_run_that_owns_nothing() {
    let mut view = view("aaaabbbb", "c");
    at(&mut view, 6, 0).faults = 2;
    assert_eq!(wanted(&view, &plan(&view, POLICY)), "......c.");
}

#[test]
fn the_last_run_keeps_everything() {
    let mut view = view("aaaa", "");
    at(&mut view, 2, 0).faults = 2;
    assert!(plan(&view, POLICY).is_empty());
}

#[test]
fn one_run_is_left_for_all_the_others() {
    let mut view = view("aabb", "");
    for x in [0, 2] {
        at(&mut view, x, 0).faults = 2;
    }
    assert_eq!(wanted(&view, &plan(&view, POLICY)), ".b..");
}

#[test]
fn what_nobody_plays_goes_past_the_run_that_is_kept_for_one() {
    let mut view = view("aab...", "");
    at(&mut view, 2, 0).faults = 2;
    assert_eq!(after(&view, &plan(&view, POLICY)), "aabaaa");
}

#[test]
fn it_is_alone_at_once_when_its_run_has_died_of_it() {
    let mut view = view("aa..cc", "");
    at(&mut view, 3, 0).faults = 2;
    let change = plan(&view, POLICY);
    assert_eq!(after(&view, &change), "aacacc");
    let mut world = World::new(view);
    assert!(
        world
            .until(15, |view| after(view, &Change::default()) == "cccacc")
            .is_some()
    );
}

#[test]
fn at_the_third_fault_it_is_paused_and_nobodys() {
    let mut view = view("aa.b", "");
    at(&mut view, 2, 0).faults = 3;
    let change = plan(&view, POLICY);
    let region = Region { x: 2, z: 0 };
    assert_eq!(change.pauses, [Pause { region, epoch: 7 }]);
    assert_eq!(after(&view, &change), "aa.b");
    let paused = at(&mut view, 2, 0);
    (paused.paused, paused.faults) = (true, 0);
    assert!(plan(&view, POLICY).is_empty());
    at(&mut view, 2, 0).paused = false;
    assert_eq!(after(&view, &plan(&view, POLICY)), "aabb");
}

#[test]
fn a_paused_region_is_given_on_by_nobody() {
    // Its owner is about to give it to nobody: neither a wish, nor an even load, nor a drain moves it.
    let mut view = view("aaaa", "b");
    let one = at(&mut view, 0, 0);
    (one.paused, one.wanted) = (true, run_of('b'));
    let change = plan(&view, POLICY);
    let region = Region { x: 0, z: 0 };
    let withdrawn = MoveRequest {
        region,
        epoch: 7,
        owner: run_of('a'),
        to: NOBODY,
    };
    assert!(change.move_requests.contains(&withdrawn), "{change:?}");
    at(&mut view, 0, 0).wanted = NOBODY;
    run(&mut view, 'a').state = RunState::Draining;
    assert_eq!(wanted(&view, &plan(&view, POLICY)), ".bbb");
    // A takeover leaves it nobody's, and so it stays.
    run(&mut view, 'a').until_ms = NOW_MS - 60_000;
    let change = plan(&view, POLICY);
    assert_eq!(change.fence, [run_of('a')]);
    assert_eq!(after(&view, &change), "abbb");
    at(&mut view, 0, 0).run = NOBODY;
    at(&mut view, 0, 0).paused = false;
    assert_eq!(after(&view, &plan(&view, POLICY)), "bbbb");
}

#[test]
fn a_faulty_region_that_is_played_goes_on() {
    let mut view = view("aab", "");
    at(&mut view, 2, 0).faults = 3;
    assert!(plan(&view, POLICY).is_empty());
}

#[test]
fn a_run_that_is_kept_for_one_is_emptied_a_few_at_a_time_and_left_alone() {
    let mut view = view("aaaaaa bbbbbb bbbbbb", "");
    at(&mut view, 5, 2).faults = 2;
    let mut world = World::new(view);
    assert!(
        world
            .until(15, |view| after(view, &Change::default())
                == "bbbbba bbbbbb bbbbbb")
            .is_some()
    );
    let moves = world.moves.len();
    world.pass(60);
    assert_eq!((moves, world.moves.len()), (5, 5));
    // Without faults of the region, the run is like any other.
    at(&mut world.view, 5, 2).faults = 0;
    world.pass(60);
    assert_eq!(world.map(), "aaaaaa abbbbb abbbbb");
}
