//! Small worlds as maps: one letter per run, a dot for nobody; north is up.

mod balance;
mod isolate;
mod simulated;
mod takeover;
mod towns;

use super::*;

const LEASE_MS: i64 = 3_000;
const NOW_MS: i64 = 1_000_000;
const POLICY: PlanPolicy = PlanPolicy {
    settle_ms: 1_500,
    mass_lapse_ms: 10_000,
    quiet: false,
    balance: true,
};

/// Builds a view from a map. Every run named in it or in `idle` registered long ago and lives.
fn view(map: &str, idle: &str) -> View {
    let lines: Vec<&str> = map.split_whitespace().collect();
    let place = |n: usize| i32::try_from(n).unwrap();
    let mut regions = Vec::new();
    for (row, line) in lines.iter().rev().enumerate() {
        for (column, letter) in line.chars().enumerate() {
            let (x, z) = (place(column), place(row));
            regions.push(region(x, z, run_of(letter)));
        }
    }
    regions.sort_by_key(|one| one.region);
    let mut ids: BTreeSet<i64> = regions.iter().map(|owned| owned.run).collect();
    ids.extend(idle.chars().map(run_of));
    ids.remove(&NOBODY);
    View {
        now_ms: NOW_MS,
        runs: ids.into_iter().map(newcomer).collect(),
        regions,
        taken_over: 0,
        backed_off: BTreeSet::new(),
    }
}

/// Builds a region that has had its owner for long.
fn region(x: i32, z: i32, run: i64) -> RegionView {
    RegionView {
        region: Region { x, z },
        run,
        epoch: 7,
        cost_us: 0,
        changed_ms: 0,
        wanted: NOBODY,
        paused: false,
        faults: 0,
        town: 0,
    }
}

/// Builds a live run that registered a minute ago.
fn newcomer(id: i64) -> RunView {
    RunView {
        id,
        state: RunState::Live,
        content_hash: "content".to_owned(),
        registered_ms: NOW_MS - 60_000,
        until_ms: NOW_MS + LEASE_MS,
        witnesses: 0,
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

fn at(view: &mut View, x: i32, z: i32) -> &mut RegionView {
    let place = Region { x, z };
    let mut regions = view.regions.iter_mut();
    regions.find(|one| one.region == place).unwrap()
}

/// Returns the map after the plan.
fn after(view: &View, change: &Change) -> String {
    let moved: BTreeMap<Region, i64> = change.moves.iter().map(|m| (m.region, m.to)).collect();
    let owned = view.regions.iter();
    draw(owned.map(|one| (one.region, *moved.get(&one.region).unwrap_or(&one.run))))
}

/// Returns a map with the wanted run of each region after the plan; a dot: nobody.
fn wanted(view: &View, change: &Change) -> String {
    let requested: BTreeMap<Region, i64> = change
        .move_requests
        .iter()
        .map(|w| (w.region, w.to))
        .collect();
    let owned = view.regions.iter();
    draw(owned.map(|one| {
        let to = requested.get(&one.region).unwrap_or(&one.wanted);
        (one.region, *to)
    }))
}

fn draw(letters: impl Iterator<Item = (Region, i64)>) -> String {
    let owner: BTreeMap<Region, i64> = letters.collect();
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
    assert_eq!(after(&view, &plan(&view, POLICY)), expected);
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
        let change = plan(&view, POLICY);
        assert_eq!(change.moves.len(), side * side);
        let mut blocks: BTreeMap<i64, Vec<Region>> = BTreeMap::new();
        for step in change.moves {
            blocks.entry(step.to).or_default().push(step.region);
        }
        assert_eq!(blocks.len(), runs);
        let least = side * side / runs;
        for block in blocks.values() {
            assert!(block.len() == least || block.len() == least + 1);
            assert_eq!(block::pieces(block), 1, "{runs} runs on {side} x {side}");
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
fn the_first_regions_wait_until_registrations_settle() {
    let mut view = view("....", "ab");
    run(&mut view, 'b').registered_ms = NOW_MS - 1_499;
    assert!(plan(&view, POLICY).is_empty());
    run(&mut view, 'b').registered_ms = NOW_MS - 1_500;
    assert_eq!(plan(&view, POLICY).moves.len(), 4);
}

#[test]
fn who_drains_is_given_nothing_and_keeps_what_it_has() {
    let mut view = view("ab..", "");
    run(&mut view, 'b').state = RunState::Draining;
    assert_eq!(after(&view, &plan(&view, POLICY)), "abaa");
}

#[test]
fn regions_of_a_run_that_is_gone_are_nobodys() {
    let mut view = view("aazz", "");
    view.runs.retain(|run| run.id == 1);
    let change = plan(&view, POLICY);
    assert!(change.fence.is_empty());
    assert_eq!(after(&view, &change), "aaaa");
}
