//! The law of subscriptions: whatever changes, the gateway asks each run for just the chunks that
//! sessions may see and that the run may have something in.

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use view::subscriptions::{Around, Owners, Subscriptions, around};
use world::{Chunk, Region, Tile};

/// Regions on a side of the world.
const SIDE: i32 = 6;
/// Ticks for which a chunk may stay without a session near it.
const LINGER: u64 = 12;

struct Board(BTreeMap<(i32, i32), Option<u64>>);

impl Owners for Board {
    fn owner(&self, region: Region) -> Option<u64> {
        self.0.get(&(region.x, region.z)).copied().flatten()
    }

    fn exists(&self, region: Region) -> bool {
        self.0.contains_key(&(region.x, region.z))
    }
}

/// What the replica and the runs were told.
#[derive(Default)]
struct Told {
    chunks: BTreeMap<(i32, i32), Around>,
    runs: BTreeMap<u64, BTreeSet<(i32, i32)>>,
}

fn play(seed: u64) {
    let mut dice = StdRng::seed_from_u64(seed);
    let all = (0..SIDE).flat_map(|x| (0..SIDE).map(move |z| ((x, z), None)));
    let mut board = Board(all.collect());
    let (mut subscriptions, mut told) = (Subscriptions::default(), Told::default());
    let mut tiles: Vec<Tile> = Vec::new();
    let mut near: BTreeMap<(i32, i32), u64> = BTreeMap::new();
    for tick in 1..200 {
        change(&mut dice, &mut board, &mut tiles);
        if dice.random_ratio(1, 10) {
            let run = dice.random_range(1..5);
            told.runs.remove(&run);
            subscriptions.link_down(run);
            if dice.random() {
                told.runs.insert(run, BTreeSet::new());
                subscriptions.link_up(run);
            }
        }
        let change = subscriptions.reconcile(&tiles, &board, tick);
        for around in change.set {
            let at = around.chunk;
            told.chunks.insert((at.x, at.z), around);
        }
        for chunk in change.dropped {
            assert!(told.chunks.remove(&(chunk.x, chunk.z)).is_some());
        }
        for (run, ask) in subscriptions.asks() {
            // The queue to a run may be full.
            if dice.random_ratio(1, 5) {
                continue;
            }
            let known = told.runs.get_mut(&run).expect("a linked run");
            for chunk in &ask.add {
                assert!(known.insert((chunk.x, chunk.z)), "asked twice");
            }
            for chunk in &ask.remove {
                assert!(known.remove(&(chunk.x, chunk.z)), "was not asked");
            }
            subscriptions.tell(run, &ask);
        }
        for center in tiles.iter().map(|tile| Chunk::from(*tile)) {
            let side = -4..=4;
            let square = side.clone().flat_map(|x| side.clone().map(move |z| (x, z)));
            near.extend(square.map(|(x, z)| ((center.x + x, center.z + z), tick)));
        }
        check(&told, &board, &near, tick);
    }
    // Nothing more is open: every run knows just its chunks.
    for (run, ask) in subscriptions.asks() {
        let known = told.runs.get_mut(&run).expect("a linked run");
        known.extend(ask.add.iter().map(|chunk| (chunk.x, chunk.z)));
        ask.remove
            .iter()
            .for_each(|chunk| assert!(known.remove(&(chunk.x, chunk.z))));
        subscriptions.tell(run, &ask);
    }
    for (run, known) in &told.runs {
        let of_run = told
            .chunks
            .iter()
            .filter(|(_, around)| around.runs.contains(run));
        assert_eq!(*known, of_run.map(|(at, _)| *at).collect(), "run {run}");
    }
}

/// Lets sessions come, go, walk and jump, and regions change their owners.
fn change(dice: &mut StdRng, board: &mut Board, tiles: &mut Vec<Tile>) {
    let edge = SIDE * 64;
    let any = |dice: &mut StdRng| Tile {
        x: dice.random_range(0..edge),
        z: dice.random_range(0..edge),
    };
    if tiles.len() < 6 && dice.random_ratio(1, 4) {
        tiles.push(any(dice));
    }
    if dice.random_ratio(1, 12) && !tiles.is_empty() {
        tiles.swap_remove(dice.random_range(0..tiles.len()));
    }
    for tile in tiles {
        *tile = match dice.random_range(0..12) {
            0 => any(dice),
            1..8 => Tile {
                x: (tile.x + dice.random_range(-2..=2)).clamp(0, edge - 1),
                z: (tile.z + dice.random_range(-2..=2)).clamp(0, edge - 1),
            },
            _ => *tile,
        };
    }
    for owner in board.0.values_mut() {
        if dice.random_ratio(1, 40) {
            *owner = dice.random_ratio(4, 5).then(|| dice.random_range(1..5));
        }
    }
}

/// Checks that the replica knows of every chunk near somebody, of none that nobody was near for
/// long, and of each the runs around it now.
fn check(told: &Told, board: &Board, near: &BTreeMap<(i32, i32), u64>, tick: u64) {
    for ((x, z), last) in near {
        let knows = told.chunks.contains_key(&(*x, *z));
        assert!(knows || *last < tick, "{x} {z} at {tick}");
        assert!(!knows || last + LINGER >= tick, "{x} {z} still at {tick}");
    }
    for ((x, z), known) in &told.chunks {
        assert_eq!(*known, around(Chunk { x: *x, z: *z }, board), "at {tick}");
    }
}

#[test]
fn runs_are_asked_for_what_sessions_may_see_and_nothing_else() {
    for seed in 0..20 {
        let played = std::panic::catch_unwind(|| play(seed));
        assert!(played.is_ok(), "seed {seed}");
    }
}
