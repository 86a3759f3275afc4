//! Small worlds as maps: one letter per run, a dot for nobody; north is up.

use super::*;

const LEASE_MS: i64 = 3_000;
const NOW_MS: i64 = 1_000_000;
const PATIENT: Patience = Patience {
    settle_ms: 1_500,
    mass_lapse_ms: 10_000,
    quiet: false,
};

/// A view from a map; every run named in it or in `idle` registered long ago and lives.
fn view(map: &str, idle: &str) -> View {
    let lines: Vec<&str> = map.split_whitespace().collect();
    let mut regions = Vec::new();
    for (row, line) in lines.iter().rev().enumerate() {
        for (column, letter) in line.chars().enumerate() {
            let place = |n: usize| i32::try_from(n).unwrap();
            regions.push(RegionOwner {
                region: Region {
                    x: place(column),
                    z: place(row),
                },
                run: run_of(letter),
                epoch: 7,
            });
        }
    }
    let mut ids: BTreeSet<i64> = regions.iter().map(|owned| owned.run).collect();
    ids.extend(idle.chars().map(run_of));
    ids.remove(&NOBODY);
    let runs = ids.into_iter().map(|id| RunView {
        id,
        state: RunState::Live,
        registered_ms: NOW_MS - 60_000,
        until_ms: NOW_MS + LEASE_MS,
    });
    View {
        now_ms: NOW_MS,
        runs: runs.collect(),
        regions,
        taken_over: 0,
    }
}

fn run_of(letter: char) -> i64 {
    match letter {
        '.' => NOBODY,
        letter => i64::from(u32::from(letter) - u32::from('a') + 1),
    }
}

fn run(view: &mut View, letter: char) -> &mut RunView {
    let id = run_of(letter);
    view.runs.iter_mut().find(|run| run.id == id).unwrap()
}

/// The map after the plan.
fn after(view: &View, change: &Change) -> String {
    let moved: BTreeMap<Region, i64> = change.moves.iter().map(|m| (m.region, m.to)).collect();
    let owner: BTreeMap<Region, i64> = view
        .regions
        .iter()
        .map(|owned| {
            (
                owned.region,
                *moved.get(&owned.region).unwrap_or(&owned.run),
            )
        })
        .collect();
    let east = owner.keys().map(|region| region.x).max().unwrap();
    let north = owner.keys().map(|region| region.z).max().unwrap();
    let line = |z: i32| -> String {
        let letter = |x| match owner.get(&Region { x, z }) {
            None | Some(&NOBODY) => '.',
            Some(run) => char::from(b'a' + u8::try_from(run - 1).unwrap()),
        };
        (0..=east).map(letter).collect()
    };
    (0..=north).rev().map(line).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(before: &str, idle: &str, expected: &str) {
    let view = view(before, idle);
    assert_eq!(after(&view, &plan(&view, PATIENT)), expected);
}

#[test]
fn runs_that_start_together_share_the_world_in_blocks() {
    check(".... .... .... ....", "a", "aaaa aaaa aaaa aaaa");
    check(".... .... .... ....", "ab", "aabb aabb aabb aabb");
    check(".... .... .... ....", "abc", "accc accb aabb aabb");
    check(".... .... .... ....", "abcd", "bbdd bbdd aacc aacc");
    check("......", "abc", "aabbcc");
    check(".", "ab", "a");
}

#[test]
fn blocks_are_in_one_piece_and_counts_are_equal() {
    for (side, runs) in [
        (8, 2),
        (8, 3),
        (8, 5),
        (8, 7),
        (5, 4),
        (6, 11),
        (3, 9),
        (16, 6),
    ] {
        let line = ".".repeat(side);
        let letters: String = ('a'..='z').take(runs).collect();
        let view = view(&vec![line; side].join(" "), &letters);
        let change = plan(&view, PATIENT);
        assert_eq!(change.moves.len(), side * side);
        let mut blocks: BTreeMap<i64, Vec<Region>> = BTreeMap::new();
        for step in change.moves {
            blocks.entry(step.to).or_default().push(step.region);
        }
        assert_eq!(blocks.len(), runs);
        let least = side * side / runs;
        for block in blocks.values() {
            assert!(block.len() == least || block.len() == least + 1);
            assert_eq!(pieces(block), 1, "{runs} runs on {side} x {side}");
        }
    }
}

#[test]
fn what_is_played_stays_where_it_is() {
    check("aaaa aaaa", "b", "aaaa aaaa");
    check("aabb aabb", "", "aabb aabb");
}

#[test]
fn what_nobody_plays_goes_to_who_has_least_and_is_near() {
    check("aa.. aab.", "", "aabb aabb");
    check("aaa...", "bc", "aaabcc");
}

#[test]
fn the_regions_of_a_dead_run_are_spread_over_the_others() {
    let mut view = view("aabbcc aabbcc", "");
    run(&mut view, 'b').until_ms = NOW_MS;
    let change = plan(&view, PATIENT);
    assert_eq!(change.fence, [2]);
    assert_eq!(after(&view, &change), "aaaccc aaaccc");
    assert!(change.moves.iter().all(|moved| moved.epoch == 7));
}

#[test]
fn a_lease_that_has_not_ended_is_never_fenced() {
    let mut view = view("aabb", "");
    run(&mut view, 'b').until_ms = NOW_MS + 1;
    assert!(plan(&view, PATIENT).is_empty());
}

#[test]
fn nobody_is_fenced_while_nobody_can_take_over() {
    let mut view = view("aabb", "");
    run(&mut view, 'a').until_ms = NOW_MS - 60_000;
    run(&mut view, 'b').until_ms = NOW_MS - 60_000;
    assert!(plan(&view, PATIENT).is_empty());
}

#[test]
fn nobody_is_fenced_while_the_store_is_just_back() {
    let mut view = view("aab.", "");
    run(&mut view, 'a').until_ms = NOW_MS - 60_000;
    let quiet = Patience {
        quiet: true,
        ..PATIENT
    };
    let change = plan(&view, quiet);
    assert!(change.fence.is_empty());
    assert_eq!(after(&view, &change), "aabb");
}

#[test]
fn many_leases_that_end_together_get_longer() {
    let mut view = view("abcd", "");
    for letter in ['a', 'b'] {
        run(&mut view, letter).until_ms = NOW_MS - 100;
    }
    assert!(plan(&view, PATIENT).is_empty());
    for letter in ['a', 'b'] {
        run(&mut view, letter).until_ms = NOW_MS - PATIENT.mass_lapse_ms;
    }
    assert_eq!(plan(&view, PATIENT).fence, [1, 2]);
}

#[test]
fn takeovers_are_delayed_beyond_ten_a_minute() {
    let mut view = view("abc", "");
    run(&mut view, 'a').until_ms = NOW_MS - 100;
    view.taken_over = TAKEOVERS_PER_MINUTE_MAX;
    assert!(plan(&view, PATIENT).is_empty());
    view.taken_over -= 1;
    assert_eq!(plan(&view, PATIENT).fence, [1]);
}

#[test]
fn the_first_regions_wait_until_registrations_settle() {
    let mut view = view("....", "ab");
    run(&mut view, 'b').registered_ms = NOW_MS - 1_499;
    assert!(plan(&view, PATIENT).is_empty());
    run(&mut view, 'b').registered_ms = NOW_MS - 1_500;
    assert_eq!(plan(&view, PATIENT).moves.len(), 4);
}

#[test]
fn who_drains_is_given_nothing_and_keeps_what_it_has() {
    let mut view = view("ab..", "");
    run(&mut view, 'b').state = RunState::Draining;
    assert_eq!(after(&view, &plan(&view, PATIENT)), "abaa");
}

#[test]
fn regions_of_a_run_that_is_gone_are_nobodys() {
    let mut view = view("aazz", "");
    view.runs.retain(|run| run.id == 1);
    let change = plan(&view, PATIENT);
    assert!(change.fence.is_empty());
    assert_eq!(after(&view, &change), "aaaa");
}
