//! Towns: one run should own all regions of each.

use std::ops::Range;

use super::super::town::KEPT_PERMILLE;
use super::simulated::{World, ratio, skewed};
use super::*;

/// Marks the regions of a town by its south-western corner and its sides.
fn found(view: &mut View, town: i32, (x, z): (i32, i32), (width, depth): (i32, i32)) {
    for one in &mut view.regions {
        let inside =
            (x..x + width).contains(&one.region.x) && (z..z + depth).contains(&one.region.z);
        if inside {
            one.town = town;
        }
    }
}

/// Returns the regions of each town.
fn towns(view: &View) -> BTreeMap<i32, Vec<RegionView>> {
    let mut towns: BTreeMap<i32, Vec<RegionView>> = BTreeMap::new();
    for one in view.regions.iter().filter(|one| one.town > 0) {
        towns.entry(one.town).or_default().push(*one);
    }
    towns
}

fn owners(regions: &[RegionView]) -> BTreeSet<i64> {
    regions.iter().map(|one| one.run).collect()
}

/// Returns the towns that lie across runs.
fn cut(view: &View) -> Vec<i32> {
    let towns = towns(view).into_iter();
    let cut = towns.filter(|(_, regions)| owners(regions).len() > 1);
    cut.map(|(town, _)| town).collect()
}

fn weight(one: &RegionView) -> i64 {
    one.cost_us.max(prospect::FLOOR_US)
}

fn loads(view: &View) -> BTreeMap<i64, i64> {
    let mut loads: BTreeMap<i64, i64> = view.runs.iter().map(|run| (run.id, 0)).collect();
    for one in &view.regions {
        *loads.get_mut(&one.run).unwrap() += weight(one);
    }
    loads
}

fn mean(view: &View) -> i64 {
    loads(view).values().sum::<i64>() / i64::try_from(view.runs.len()).unwrap()
}

/// Dice of a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, among: Range<u64>) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        among.start + (self.0 >> 33) % (among.end - among.start)
    }

    fn side(&mut self, among: Range<u64>) -> i32 {
        i32::try_from(self.roll(among)).unwrap()
    }
}

const NONE: [i32; 0] = [];
const LETTERS: &str = "abcdefgh";

/// Builds a world of nobody, with towns of two to six regions, for two to six runs.
fn random(dice: &mut Dice) -> View {
    let (width, depth) = (dice.roll(5..11), dice.roll(5..11));
    let runs = usize::try_from(dice.roll(2..7)).unwrap();
    let line = ".".repeat(usize::try_from(width).unwrap());
    let map = vec![line; usize::try_from(depth).unwrap()].join(" ");
    let mut view = view(&map, &LETTERS[..runs]);
    for town in 1..=dice.side(1..7) {
        let sides = [(1, 2), (2, 1), (2, 2), (2, 3)][usize::try_from(dice.roll(0..4)).unwrap()];
        let corner = (dice.side(0..width - 1), dice.side(0..depth - 2));
        let mut with = view.clone();
        found(&mut with, town, corner, sides);
        let (before, after) = (towns(&view), towns(&with));
        let size = |town: &i32| after.get(town).map_or(0, Vec::len);
        let mut before = before.iter();
        if before.all(|(town, regions)| size(town) == regions.len()) {
            view = with;
        }
    }
    view
}

/// Gives the regions costs; none has more than a quarter of the mean of `runs`.
fn settle(view: &mut View, dice: &mut Dice, runs: usize) {
    for one in &mut view.regions {
        one.cost_us = i64::try_from(match one.town {
            0 => dice.roll(100..400),
            _ => dice.roll(100..4_000),
        })
        .unwrap();
    }
    let total: i64 = view.regions.iter().map(weight).sum();
    let most = total / i64::try_from(runs).unwrap() / 4;
    for one in &mut view.regions {
        one.cost_us = one.cost_us.min(most);
    }
}

/// Returns the world after the first division.
fn divided(view: View) -> World {
    let mut world = World::new(view);
    world.pass(1);
    assert!(world.view.regions.iter().all(|one| one.run != NOBODY));
    world
}

#[test]
fn the_first_division_goes_around_towns() {
    let mut view = view(".... .... .... ....", "ab");
    found(&mut view, 1, (1, 1), (2, 2));
    assert_eq!(after(&view, &plan(&view, POLICY)), "abbb aaab aaab aabb");
}

#[test]
fn the_first_division_cuts_no_town() {
    for seed in 0..500 {
        let mut dice = Dice(seed);
        let view = random(&mut dice);
        let largest = towns(&view).values().map(Vec::len).max().unwrap_or(0);
        let (regions, runs) = (view.regions.len(), view.runs.len());
        let world = divided(view);
        let kept = regions * usize::try_from(KEPT_PERMILLE).unwrap() / (runs * 1_000);
        for town in cut(&world.view) {
            let size = towns(&world.view)[&town].len();
            assert!(size > kept, "{seed}: {town} {}", world.map());
        }
        for run in &world.view.runs {
            let own = world.view.regions.iter().filter(|one| one.run == run.id);
            let off = own.count().abs_diff(regions / runs);
            assert!(off <= largest + 1, "{seed}: {off} {}", world.map());
        }
    }
}

#[test]
fn an_idle_world_keeps_its_towns_whole_when_a_run_dies_or_joins() {
    for seed in 0..40 {
        let mut dice = Dice(seed);
        let mut view = random(&mut dice);
        view.runs.truncate(4);
        let runs = view.runs.len();
        if view.regions.len() < 10 * (runs + 1) {
            continue;
        }
        let mut world = divided(view);
        world.pass(30);
        assert_eq!(cut(&world.view), NONE, "{seed}: {}", world.map());
        world.view.runs[0].witnesses = 2;
        world.pass(1);
        assert_eq!(world.view.runs.len(), runs - 1);
        assert_eq!(cut(&world.view), NONE, "{seed}: {}", world.map());
        world.join('g');
        world.join('h');
        world.pass(90);
        assert_eq!(cut(&world.view), NONE, "{seed}: {}", world.map());
        assert!(ratio(&world.view) <= 1.3, "{seed}: {}", world.map());
    }
}

/// Asserts that the load is even, and that a town is cut only if nobody who owns a part has room
/// for all.
fn assert_settled(world: &World, seed: u64) {
    let view = &world.view;
    assert!(
        ratio(view) <= 1.3,
        "{seed}: {} {}",
        ratio(view),
        world.map()
    );
    let (loads, mean) = (loads(view), mean(view));
    for (town, regions) in towns(view) {
        let owners = owners(&regions);
        for run in owners.iter().filter(|_| owners.len() > 1) {
            let others = regions.iter().filter(|one| one.run != *run).map(weight);
            let whole = loads[run] + others.sum::<i64>();
            assert!(
                whole > mean * 1_150 / 1_000,
                "{seed}: {town} {}",
                world.map()
            );
        }
    }
}

#[test]
fn loads_even_out_and_nothing_moves_to_and_fro() {
    for seed in 0..40 {
        let mut dice = Dice(seed);
        let mut view = random(&mut dice);
        let runs = view.runs.len();
        settle(&mut view, &mut dice, runs + 1);
        let mut world = divided(view);
        world.pass(120);
        assert_settled(&world, seed);
        world.view.runs[0].witnesses = 2;
        world.pass(1);
        world.join('g');
        world.join('h');
        world.pass(150);
        assert_settled(&world, seed);
        let moves = world.moves.len();
        world.pass(100);
        assert_eq!(world.moves.len(), moves, "{seed}: {}", world.map());
    }
}

#[test]
fn a_town_moves_as_one() {
    let mut view = view("aaaaaa aaaaaa", "b");
    for town in 1..=3 {
        found(&mut view, town, (2 * town - 2, 0), (2, 2));
    }
    let change = plan(&view, POLICY);
    assert_eq!(wanted(&view, &change), "bb.... bb....");
    // Not when one of its regions rests.
    at(&mut view, 0, 1).changed_ms = NOW_MS;
    run(&mut view, 'b').registered_ms = NOW_MS - 1;
    view.taken_over = 1;
    assert_eq!(wanted(&view, &plan(&view, POLICY)), "....bb ....bb");
}

#[test]
fn a_town_is_cut_only_if_its_owner_has_too_much_and_nothing_else_helps() {
    let heavy = |each: i64| {
        let mut view = view("aaaabbbb aaaabbbb", "");
        found(&mut view, 1, (0, 0), (2, 2));
        for one in &mut view.regions {
            one.cost_us = if one.town > 0 { each } else { 100 };
        }
        let mut world = World::new(view);
        world.pass(60);
        (cut(&world.view).is_empty(), ratio(&world.view) <= 1.3)
    };
    assert_eq!(heavy(100), (true, true));
    // Alone the town has 1.2 of the mean.
    assert_eq!(heavy(450), (true, true));
    // Alone it has 1.5 of the mean.
    assert_eq!(heavy(900), (false, true));
}

#[test]
fn the_parts_of_a_town_come_together_again() {
    let mut view = view("aaaabbbb aaaabbbb", "");
    found(&mut view, 1, (3, 0), (2, 2));
    // With all of it a run would have a quarter more than the mean.
    assert!(plan(&view, POLICY).is_empty());
    for z in 0..2 {
        at(&mut view, 6, z).cost_us = 3 * prospect::FLOOR_US;
        at(&mut view, 4, z).changed_ms = NOW_MS - 19_000;
    }
    assert!(plan(&view, POLICY).is_empty(), "the parts rest");
    let mut world = World::new(view);
    world.pass(60);
    assert_eq!(world.map(), "aaaaabbb aaaaabbb");
    assert_eq!(world.moves.len(), 2);
}

#[test]
fn a_drain_keeps_a_town_together() {
    let mut view = view("aabbcc aabbcc aabbcc", "");
    found(&mut view, 1, (2, 0), (2, 3));
    run(&mut view, 'b').state = RunState::Draining;
    let mut world = World::new(view);
    let gone = |view: &View| view.regions.iter().all(|one| one.run != run_of('b'));
    assert!(world.until(15, gone).is_some());
    assert_eq!(cut(&world.view), NONE);
}

#[test]
fn a_region_that_must_be_alone_leaves_its_town() {
    let mut view = view("aabbcc", "d");
    found(&mut view, 1, (2, 0), (2, 1));
    at(&mut view, 3, 0).faults = 2;
    let mut world = World::new(view);
    world.pass(60);
    assert_eq!(world.map(), "aadbcc");
}

#[test]
fn a_region_that_must_be_alone_does_not_go_back_to_its_town() {
    let mut view = view("aaabbbbbccccdddd", "e");
    found(&mut view, 1, (2, 0), (2, 1));
    at(&mut view, 3, 0).faults = 2;
    let mut world = World::new(view);
    world.pass(60);
    assert_eq!(world.map(), "aaaebbbbccccdddd");
    assert_eq!(world.moves.len(), 1);
}

#[test]
fn the_survivor_that_has_the_rest_of_a_town_takes_it_over() {
    let mut view = view("aaaabbcc", "");
    found(&mut view, 1, (3, 0), (2, 1));
    run(&mut view, 'b').until_ms = NOW_MS;
    assert_eq!(after(&view, &plan(&view, POLICY)), "aaaaaccc");
}

#[test]
fn noise_moves_no_towns() {
    let mut view = skewed();
    found(&mut view, 1, (2, 2), (2, 2));
    found(&mut view, 2, (6, 5), (2, 2));
    let mut world = World::new(view);
    world.join('c');
    world.join('d');
    assert!(world.until(15, |view| ratio(view) <= 1.3).is_some());
    world.pass(60);
    assert_eq!(cut(&world.view), NONE);
    let before = world.moves.len();
    world.jitter = Some(7);
    world.pass(300);
    assert_eq!(world.moves.len(), before);
}
