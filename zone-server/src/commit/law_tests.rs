//! However often nobody hears the store, after a batch it holds just what the world held when the
//! batch was cut. Its ledger says how that came.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proto::rpc::persistence::v1::{CharacterRecord, CommitRows, Slot};
use world::{Cause, CharacterId, EntityId, GroundItem, Holder, LedgerEntry, Region, Tick, Tile};

use super::*;
use crate::mutants::Mutants;

const REGIONS: [Region; 3] = [
    Region { x: 0, z: 0 },
    Region { x: 1, z: 0 },
    Region { x: 2, z: 0 },
];
const NAMES: [&str; 4] = ["ann", "bob", "eve", "kim"];

/// The amount in each pack, and the region and amount of each ground item. Beside these each
/// character has a tile, which walking changes, and a level, which only a row with everything writes.
#[derive(Debug, Clone, Default, PartialEq)]
struct Holdings {
    tiles: BTreeMap<String, i32>,
    levels: BTreeMap<String, u32>,
    packs: BTreeMap<String, i64>,
    ground: BTreeMap<String, (Region, i64)>,
}

/// A store that checks each batch against its contents.
#[derive(Debug, Default)]
struct Store {
    holdings: Holdings,
    places: BTreeMap<String, (Region, u64)>,
    ledger: BTreeMap<String, i64>,
    sequence: u64,
    given: Vec<Region>,
}

fn key(region: Option<proto::rpc::common::v1::Region>) -> Region {
    let at = region.unwrap();
    Region { x: at.x, z: at.z }
}

impl Store {
    fn apply(&mut self, sequence: u64, rows: &CommitRows) {
        if sequence <= self.sequence {
            return;
        }
        assert_eq!(sequence, self.sequence + 1);
        self.sequence = sequence;
        let mut change: BTreeMap<String, i64> = BTreeMap::new();
        for row in &rows.characters {
            let record = row.record.as_ref().unwrap();
            let place = self.places.get_mut(&record.id).expect("it is here");
            assert_eq!(*place, (key(record.region), record.ownership_sequence));
            self.holdings.tiles.insert(record.id.clone(), record.x);
            let levels = &mut self.holdings.levels;
            levels.insert(record.id.clone(), record.combat_level);
            if row.holdings {
                let has = i64::from(record.inventory.first().map_or(0, |slot| slot.quantity));
                let had = self.holdings.packs.insert(record.id.clone(), has);
                *change.entry(record.id.clone()).or_default() += has - had.unwrap_or(0);
            }
            if let Some(transfer) = &row.transfer {
                *place = (key(transfer.region), transfer.ownership_sequence);
            }
            if row.logout.is_some() || row.transfer.as_ref().is_some_and(|t| t.epoch > 0) {
                self.places.remove(&record.id);
            }
        }
        for row in &rows.positions {
            let place = self.places.get_mut(&row.id).expect("it is here");
            assert_eq!(*place, (key(row.region), row.ownership_sequence));
            let twice =
                |other: &CharacterRow| whose(other).is_some_and(|who| who.as_str() == row.id);
            assert!(!rows.characters.iter().any(twice), "two rows");
            place.0 = row.to_region.map_or(place.0, |region| key(Some(region)));
            self.holdings.tiles.insert(row.id.clone(), row.x);
        }
        for item in &rows.ground {
            let lies = (key(item.region), i64::from(item.quantity));
            let had = self.holdings.ground.insert(item.id.clone(), lies);
            *change.entry(String::new()).or_default() += lies.1 - had.map_or(0, |had| had.1);
        }
        for gone in &rows.gone {
            let (region, had) = self
                .holdings
                .ground
                .remove(&gone.id)
                .expect("it lies there");
            assert_eq!(region, key(gone.region));
            *change.entry(String::new()).or_default() -= had;
        }
        self.check_ledger(rows, change);
        for give in &rows.gives {
            self.given.push(key(give.region));
            let given = self.given.clone();
            self.places.retain(|_, (region, _)| !given.contains(region));
        }
    }

    fn check_ledger(&mut self, rows: &CommitRows, mut change: BTreeMap<String, i64>) {
        let mut causes: BTreeMap<&str, i64> = BTreeMap::new();
        let mut said = std::collections::BTreeSet::new();
        for row in &rows.ledger {
            assert_ne!(row.delta, 0);
            assert!(
                said.insert((row.character_id.clone(), row.cause.clone())),
                "said twice"
            );
            *change.entry(row.character_id.clone()).or_default() -= row.delta;
            *causes.entry(&row.cause).or_default() += row.delta;
            *self.ledger.entry(row.character_id.clone()).or_default() += row.delta;
        }
        assert!(
            change.values().all(|rest| *rest == 0),
            "{change:?} is not told"
        );
        for conserving in [Cause::Drop, Cause::Pickup] {
            let sum = causes.get(conserving.name()).copied().unwrap_or(0);
            assert_eq!(sum, 0, "{conserving:?} makes or destroys");
        }
    }
}

/// The run's side.
struct Game {
    world: Holdings,
    places: BTreeMap<String, Region>,
    /// Characters on their way to another run; nothing of theirs changes any more.
    still: BTreeMap<String, Region>,
    out: Vec<Region>,
    batch: Batch,
    store: Store,
    flight: Option<(Sending, Holdings)>,
    tick: u64,
    minted: u64,
}

#[derive(Debug, Clone)]
enum Step {
    Starter(usize, i64),
    Drop(usize, i64),
    Pickup(usize, usize),
    Expire(usize),
    Walk(usize),
    Alter(usize),
    Settle(usize, usize),
    Transfer(usize),
    Logout(usize),
    Give(usize),
    Tick,
    Cut,
    Done,
    /// The store applies the batch, but the answer is lost; the run sends the batch again.
    Lost,
    Stale,
    Repeat,
}

fn step() -> impl Strategy<Value = Step> {
    let who = 0..NAMES.len();
    prop_oneof![
        2 => (who.clone(), 1..9_i64).prop_map(|(who, n)| Step::Starter(who, n)),
        6 => (who.clone(), 1..9_i64).prop_map(|(who, n)| Step::Drop(who, n)),
        6 => (who.clone(), 0..4_usize).prop_map(|(who, at)| Step::Pickup(who, at)),
        1 => (0..4_usize).prop_map(Step::Expire),
        4 => who.clone().prop_map(Step::Walk),
        1 => who.clone().prop_map(Step::Alter),
        2 => (who.clone(), 0..REGIONS.len()).prop_map(|(who, to)| Step::Settle(who, to)),
        1 => who.clone().prop_map(Step::Transfer),
        1 => who.prop_map(Step::Logout),
        1 => (0..REGIONS.len()).prop_map(Step::Give),
        4 => Just(Step::Tick),
        6 => Just(Step::Cut),
        5 => Just(Step::Done),
        2 => Just(Step::Lost),
        2 => Just(Step::Stale),
        1 => Just(Step::Repeat),
    ]
}

impl Game {
    fn new(mutants: Mutants) -> Game {
        let pace = Pace {
            walked_ticks: 3,
            altered_ticks: 2,
            save_ticks: 9,
            rows_max: 1,
        };
        let mut game = Game {
            world: Holdings::default(),
            places: BTreeMap::new(),
            still: BTreeMap::new(),
            out: Vec::new(),
            batch: Batch::new(pace, mutants),
            store: Store::default(),
            flight: None,
            tick: 1,
            minted: 0,
        };
        for name in NAMES {
            let who = CharacterId::from(name);
            game.batch.enter(&who, REGIONS[0], 7, 0);
            game.places.insert(name.to_owned(), REGIONS[0]);
            game.store.places.insert(name.to_owned(), (REGIONS[0], 7));
        }
        game
    }

    fn entry(&mut self, holder: Option<&str>, cause: Cause, delta: i64) {
        let holder = holder.map_or(Holder::Ground, |name| {
            Holder::Character(CharacterId::from(name))
        });
        let item = "logs".into();
        self.batch.value().ledger(LedgerEntry {
            holder,
            item,
            cause,
            delta,
        });
    }

    fn gains(&mut self, name: &str, cause: Cause, delta: i64) {
        *self.world.packs.entry(name.to_owned()).or_default() += delta;
        self.batch.valued(&CharacterId::from(name));
        self.entry(Some(name), cause, delta);
    }

    fn play(&mut self, step: &Step) {
        let plays = |who: usize| self.places.contains_key(NAMES[who]);
        match *step {
            Step::Starter(who, n) if plays(who) => self.gains(NAMES[who], Cause::Starter, n),
            Step::Drop(who, n) if plays(who) => self.drop(NAMES[who], n),
            Step::Pickup(who, at) if plays(who) => {
                if let Some(quantity) = self.ground_goes(at, Cause::Pickup) {
                    self.gains(NAMES[who], Cause::Pickup, quantity);
                }
            }
            Step::Expire(at) => {
                self.ground_goes(at, Cause::Expire);
            }
            Step::Walk(who) if plays(who) => {
                *self.world.tiles.entry(NAMES[who].to_owned()).or_default() += 1;
                self.batch.walked(&CharacterId::from(NAMES[who]), self.tick);
            }
            Step::Alter(who) if plays(who) => {
                *self.world.levels.entry(NAMES[who].to_owned()).or_default() += 1;
                self.batch
                    .altered(&CharacterId::from(NAMES[who]), self.tick);
            }
            Step::Settle(who, to) if plays(who) && !self.out.contains(&REGIONS[to]) => {
                self.places.insert(NAMES[who].to_owned(), REGIONS[to]);
                let who = CharacterId::from(NAMES[who]);
                self.batch.region(&who, REGIONS[to], self.tick);
            }
            Step::Transfer(who) if plays(who) => {
                let going = Going::Transfer {
                    region: Region { x: 9, z: 9 },
                    epoch: 3,
                };
                self.goes(NAMES[who], going);
            }
            Step::Logout(who) if plays(who) => {
                let record = Box::new(record(&self.world, NAMES[who]));
                let reason = "left";
                self.goes(NAMES[who], Going::Logout { reason, record });
            }
            Step::Give(of) => self.give(REGIONS[of]),
            Step::Tick => self.tick += 1,
            Step::Cut => self.cut(),
            Step::Done => self.answered(false),
            Step::Lost => {
                if let Some((sending, _)) = &self.flight {
                    self.store.apply(sending.sequence, &sending.rows);
                }
            }
            Step::Stale => self.answered(true),
            Step::Repeat => {
                let last = self.store.sequence;
                let flying = self.flight.as_ref().map(|(sending, _)| sending.sequence);
                if flying != Some(last) {
                    let settled = self.batch.answered(last, Answer::Done);
                    assert_eq!(settled, Settled::default());
                }
            }
            _ => {}
        }
    }

    fn drop(&mut self, name: &str, wanted: i64) {
        let has = self.world.packs.get(name).copied().unwrap_or(0);
        let quantity = wanted.min(has);
        if quantity == 0 {
            return;
        }
        self.minted += 1;
        let id = format!("item:1-{}", self.minted);
        let region = self.places[name];
        self.world.ground.insert(id.clone(), (region, quantity));
        self.gains(name, Cause::Drop, -quantity);
        self.entry(None, Cause::Drop, quantity);
        self.batch.value().put(GroundItem {
            id: EntityId::from(id),
            region,
            tile: Tile { x: 1, z: 1 },
            item: "logs".into(),
            quantity: quantity as u32,
            owner: None,
            public_at: Tick(1),
            expires_at: Tick(2),
            grave: None,
        });
    }

    fn ground_goes(&mut self, at: usize, cause: Cause) -> Option<i64> {
        let there = self.world.ground.iter();
        let mut there = there.filter(|(_, (region, _))| !self.out.contains(region));
        let id = there.nth(at)?.0.clone();
        let (_, quantity) = self.world.ground.remove(&id)?;
        self.batch.value().gone(&EntityId::from(id));
        self.entry(None, cause, -quantity);
        Some(quantity)
    }

    fn goes(&mut self, name: &str, going: Going) {
        if self.batch.going(&CharacterId::from(name), going) {
            let region = self.places.remove(name).unwrap();
            self.still.insert(name.to_owned(), region);
        }
    }

    fn give(&mut self, region: Region) {
        let here = self.places.iter().filter(|(_, at)| **at == region);
        let here: Vec<String> = here.map(|(name, _)| name.clone()).collect();
        let players = here.iter().map(|name| {
            let record = record(&self.world, name);
            (CharacterId::from(name.as_str()), record)
        });
        let players = players.collect();
        if self.out.contains(&region) || !self.batch.give(region, 4, 9, players) {
            return;
        }
        self.out.push(region);
        for name in here {
            self.places.remove(&name);
            self.still.insert(name, region);
        }
    }

    fn cut(&mut self) {
        let world = &self.world;
        let record = |who: &CharacterId, _: Wanted<'_>| Some(record(world, who.as_str()));
        if let Some(sending) = self.batch.cut(self.tick, record) {
            assert!(self.flight.is_none());
            self.flight = Some((sending, self.world.clone()));
        }
    }

    fn answered(&mut self, stale: bool) {
        let Some((sending, world)) = self.flight.take() else {
            return;
        };
        let goes = |row: &CharacterRow| row.transfer.as_ref().is_some_and(|t| t.epoch > 0);
        let any = sending.rows.characters.iter().any(goes) || !sending.rows.gives.is_empty();
        let applied = self.store.sequence == sending.sequence;
        if stale && any && !applied {
            return self.stale(&sending, world);
        }
        self.store.apply(sending.sequence, &sending.rows);
        let seen = (&self.store.holdings.packs, &self.store.holdings.ground);
        let packs = world.packs.iter().filter(|(_, has)| **has != 0);
        let stored = seen.0.iter().filter(|(_, has)| **has != 0);
        assert!(packs.eq(stored), "{world:?} is not {:?}", self.store);
        assert_eq!(&world.ground, seen.1);
        let settled = self.batch.answered(sending.sequence, Answer::Done);
        let sequence = settled.applied.map(|(of, _)| of);
        assert_eq!(sequence, Some(sending.sequence));
        let left = settled.logged_out.iter().map(|(who, _)| who);
        for who in settled.transferred.iter().chain(left) {
            assert!(self.still.remove(who.as_str()).is_some());
        }
        self.still.retain(|_, at| !settled.given.contains(at));
    }

    /// Answers that the targets of all transfers and gives are gone.
    fn stale(&mut self, sending: &Sending, world: Holdings) {
        let goes = |row: &&CharacterRow| row.transfer.as_ref().is_some_and(|t| t.epoch > 0);
        let rows = &sending.rows;
        let ids = rows.characters.iter().filter(goes).filter_map(whose);
        let regions: Vec<Region> = rows.gives.iter().map(|give| key(give.region)).collect();
        let answer = Answer::Stale(ids.collect(), regions);
        let settled = self.batch.answered(sending.sequence, answer);
        assert!(!settled.broken);
        for who in &settled.stale {
            let region = self.still.remove(who.as_str()).unwrap();
            self.places.insert(who.to_string(), region);
        }
        for region in &settled.stale_gives {
            self.out.retain(|of| of != region);
            let back = self.still.extract_if(.., |name, at| {
                at == region && !rows.characters.iter().any(|row| logs_out(row, name))
            });
            self.places.extend(back);
        }
        self.flight = settled.again.map(|again| (again, world));
    }

    /// Lets the store take everything at last, and checks that it has acknowledged all value.
    fn end(&mut self) {
        for _ in 0..40 {
            self.answered(false);
            self.tick += 1;
            self.cut();
        }
        self.answered(false);
        assert_eq!(self.batch.value_sequence(), None);
        assert_eq!(self.batch.ledger_entries(), 0);
        assert!(self.batch.idle());
        let has = |(holder, sum): (&String, &i64)| {
            let ground = self.store.holdings.ground.values().map(|(_, n)| n);
            let of = self.store.holdings.packs.get(holder).copied();
            let held = if holder.is_empty() {
                ground.sum()
            } else {
                of.unwrap_or(0)
            };
            held == *sum
        };
        assert!(self.store.ledger.iter().all(has), "{:?}", self.store);
        let stored = &self.store.holdings;
        for (name, tile) in &self.world.tiles {
            assert_eq!(stored.tiles.get(name), Some(tile), "{name}");
        }
        for (name, level) in &self.world.levels {
            assert_eq!(stored.levels.get(name), Some(level), "{name}");
        }
    }
}

fn logs_out(row: &CharacterRow, name: &str) -> bool {
    row.logout.is_some() && row.record.as_ref().is_some_and(|record| record.id == name)
}

fn record(world: &Holdings, name: &str) -> CharacterRecord {
    let quantity = world.packs.get(name).copied().unwrap_or(0) as u32;
    let slot = Slot {
        slot: 0,
        item_id: "logs".to_owned(),
        quantity,
    };
    CharacterRecord {
        id: name.to_owned(),
        x: world.tiles.get(name).copied().unwrap_or(0),
        combat_level: world.levels.get(name).copied().unwrap_or(0),
        inventory: if quantity > 0 { vec![slot] } else { Vec::new() },
        ..CharacterRecord::default()
    }
}

fn plays(steps: &[Step], mutants: Mutants) {
    let mut game = Game::new(mutants);
    steps.iter().for_each(|step| game.play(step));
    game.end();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_store_holds_just_what_the_world_held_and_its_ledger_says_why(
        steps in prop::collection::vec(step(), 1..120)
    ) {
        plays(&steps, Mutants::default());
    }
}

#[test]
fn saving_the_sides_of_an_exchange_apart_breaks_the_law() {
    let mutants = Mutants {
        separate_saves: true,
        ..Mutants::default()
    };
    let exchange = [
        Step::Starter(0, 5),
        Step::Cut,
        Step::Done,
        Step::Drop(0, 5),
        Step::Pickup(1, 0),
        Step::Cut,
        Step::Done,
    ];
    plays(&exchange, Mutants::default());
    let broken = std::panic::catch_unwind(|| plays(&exchange, mutants));
    assert!(broken.is_err());
}
