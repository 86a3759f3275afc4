//! Tests of the runs that the plan fences, and of those that it spares.

use super::super::takeover::TAKEOVERS_PER_MINUTE_MAX;
use super::*;

const QUIET: PlanPolicy = PlanPolicy {
    quiet: true,
    ..POLICY
};

#[test]
fn the_regions_of_a_dead_run_are_spread_over_the_others() {
    let mut view = view("aabbcc aabbcc", "");
    run(&mut view, 'b').until_ms = NOW_MS;
    let change = plan(&view, POLICY);
    assert_eq!(change.fence, [2]);
    assert_eq!(after(&view, &change), "aaaccc aaaccc");
    assert!(change.moves.iter().all(|moved| moved.epoch == 7));
}

#[test]
fn a_lease_that_has_not_ended_is_never_fenced() {
    let mut view = view("aabb", "");
    run(&mut view, 'b').until_ms = NOW_MS + 1;
    assert!(plan(&view, POLICY).is_empty());
}

#[test]
fn nobody_is_fenced_while_nobody_can_take_over() {
    let mut view = view("aabb", "");
    run(&mut view, 'a').until_ms = NOW_MS - 60_000;
    run(&mut view, 'b').until_ms = NOW_MS - 60_000;
    assert!(plan(&view, POLICY).is_empty());
}

#[test]
fn nobody_is_fenced_while_the_store_is_just_back() {
    let mut view = view("aab.", "");
    run(&mut view, 'a').until_ms = NOW_MS - 60_000;
    let change = plan(&view, QUIET);
    assert!(change.fence.is_empty());
    assert_eq!(after(&view, &change), "aabb");
}

#[test]
fn many_leases_that_end_together_get_longer() {
    let mut view = view("abcd", "");
    for letter in ['a', 'b'] {
        run(&mut view, letter).until_ms = NOW_MS - 100;
    }
    assert!(plan(&view, POLICY).is_empty());
    for letter in ['a', 'b'] {
        run(&mut view, letter).until_ms = NOW_MS - POLICY.mass_lapse_ms;
    }
    assert_eq!(plan(&view, POLICY).fence, [1, 2]);
}

#[test]
fn takeovers_are_delayed_beyond_ten_a_minute() {
    let mut view = view("abc", "");
    run(&mut view, 'a').until_ms = NOW_MS - 100;
    view.taken_over = TAKEOVERS_PER_MINUTE_MAX;
    assert!(plan(&view, POLICY).is_empty());
    view.taken_over -= 1;
    assert_eq!(plan(&view, POLICY).fence, [1]);
}

#[test]
fn two_witnesses_stand_for_the_end_of_a_lease_and_one_does_not() {
    let mut view = view("aabbcc", "");
    run(&mut view, 'b').witnesses = 1;
    assert!(plan(&view, POLICY).is_empty());
    run(&mut view, 'b').witnesses = 2;
    let change = plan(&view, POLICY);
    assert_eq!(change.fence, [2]);
    assert_eq!(after(&view, &change), "aaaccc");
}

#[test]
fn who_is_said_to_be_dead_is_given_nothing_even_while_it_cannot_be_fenced() {
    let mut view = view("ab..", "");
    run(&mut view, 'b').witnesses = 2;
    view.taken_over = TAKEOVERS_PER_MINUTE_MAX;
    let change = plan(&view, POLICY);
    assert!(change.fence.is_empty());
    assert_eq!(after(&view, &change), "abaa");
}

#[test]
fn witnesses_are_not_heard_while_the_store_is_just_back() {
    let mut view = view("aabb", "");
    run(&mut view, 'b').witnesses = 2;
    assert!(plan(&view, QUIET).is_empty());
    assert_eq!(plan(&view, POLICY).fence, [2]);
}

#[test]
fn witnessed_runs_do_not_wait_where_lapsed_ones_do() {
    let mut view = view("abcd", "");
    for letter in ['a', 'b', 'c'] {
        run(&mut view, letter).until_ms = NOW_MS - 100;
    }
    run(&mut view, 'b').witnesses = 2;
    assert_eq!(plan(&view, POLICY).fence, [2]);
}

#[test]
fn the_limit_counts_both_and_takes_the_witnessed_first() {
    let mut view = view("abcdefgh", "");
    run(&mut view, 'a').until_ms = NOW_MS - 100;
    run(&mut view, 'b').witnesses = 2;
    view.taken_over = TAKEOVERS_PER_MINUTE_MAX - 1;
    assert_eq!(plan(&view, POLICY).fence, [2]);
    view.taken_over -= 1;
    assert_eq!(plan(&view, POLICY).fence, [1, 2]);
}

#[test]
fn nobody_is_fenced_while_all_are_said_to_be_dead() {
    let mut view = view("aabb", "");
    for letter in ['a', 'b'] {
        run(&mut view, letter).witnesses = 2;
    }
    assert!(plan(&view, POLICY).is_empty());
}

#[test]
fn the_regions_of_the_dead_go_to_who_has_least_to_do() {
    let mut view = view("aaabbc", "");
    run(&mut view, 'c').until_ms = NOW_MS;
    for x in [3, 4] {
        at(&mut view, x, 0).cost_us = 5_000;
    }
    assert_eq!(after(&view, &plan(&view, POLICY)), "aaabba");
}
