//! How long one tick takes with 2,000 players in the world that ships.

use std::cell::RefCell;
use std::collections::BTreeMap;

use divan::Bencher;
use world::rng::Dice;
use world::{
    Arrival, CharacterId, Content, EntityId, Field, Inbox, Intent, Kind, PlayerHot, PlayerInput,
    PlayerRecord, Region, Rules, Stack, Tick, Tile, World,
};

const PLAYERS: u32 = 2_000;
/// Ticks before it counts, in which everybody gets going.
const TICKS: u64 = 10;

fn main() {
    divan::main();
}

fn who(number: u32) -> CharacterId {
    CharacterId::from(format!("player-{number:05}"))
}

/// Somewhere within `reach` tiles of the spawn, differently for each player.
fn somewhere(number: u32, reach: u32) -> Tile {
    let mut dice = Dice::new(1, u64::from(number), 0);
    let reach = reach.cast_signed();
    let spawn = Content::embedded().spawn();
    spawn.moved(dice.between(-reach, reach), dice.between(-reach, reach))
}

/// All regions, and players within `reach` tiles of the spawn with full packs.
fn crowd(reach: u32) -> World {
    crowd_with(reach, &["logs"; 28])
}

/// The same with this in each pack.
fn crowd_with(reach: u32, pack: &[&str]) -> World {
    let content = Content::embedded();
    let mut world = World::new(content.clone(), Rules::default(), 1, 1);
    for region in content.regions() {
        world
            .region_in(region, Tick(0), None)
            .expect("a fresh region");
    }
    let arrivals = (0..PLAYERS).map(|number| {
        let tile = somewhere(number, reach);
        let record = PlayerRecord {
            id: who(number),
            name: format!("Player {number}"),
            tile,
            y: 0,
            health: 10,
            skills: BTreeMap::new(),
            coins: 0,
            energy: 10_000,
            running: number % 2 == 0,
            combat_level: 3,
            placed: true,
            inventory: (0..)
                .zip(pack.iter().map(|item| Stack::new(*item, 1)))
                .collect(),
            equipment: BTreeMap::new(),
            bank: world::Bank::default(),
            home_ready_at: world::Tick::default(),
            quests: world::Quests::new(),
            ways: world::Ways::default(),
            prayer: world::Devotion::default(),
            stakes: BTreeMap::new(),
        };
        Arrival {
            record,
            hot: PlayerHot::default(),
            region: Region::from(tile),
        }
    });
    let inbox = Inbox {
        arrivals: arrivals.collect(),
        inputs: Vec::new(),
        ..Inbox::default()
    };
    world.tick(Tick(1), inbox, &mut ());
    world
}

/// What `players` of them ask: to go elsewhere, no more than a screen away.
fn clicks(world: &World, round: u64, players: u32) -> Inbox {
    let input = |number| {
        let who = who(number);
        let from = world
            .player(&who)
            .map_or(Tile::default(), |player| player.tile());
        let mut dice = Dice::new(1, u64::from(number), round);
        let to = from.moved(dice.between(-24, 24), dice.between(-24, 24));
        PlayerInput {
            who,
            number: round,
            intent: Intent::Walk { to, run: None },
        }
    };
    // A tenth of them at a time, another tenth each tick.
    let first = if players == PLAYERS {
        0
    } else {
        (round as u32 % 10) * players
    };
    let inputs = (first..first + players).map(|n| input(n % PLAYERS));
    Inbox {
        arrivals: Vec::new(),
        inputs: inputs.collect(),
        ..Inbox::default()
    }
}

/// Plays ticks in which so many players click; the time is that of one tick.
fn play(bencher: Bencher<'_, '_>, clicking: u32, reach: u32) {
    let world = RefCell::new(crowd(reach));
    let mut round = 1;
    let mut warm = |players| {
        round += 1;
        let inbox = clicks(&world.borrow(), round, players);
        (round, inbox)
    };
    for _ in 0..TICKS {
        let (round, inbox) = warm(PLAYERS);
        world.borrow_mut().tick(Tick(round), inbox, &mut ());
    }
    bencher
        .with_inputs(|| warm(clicking))
        .bench_local_values(|(round, inbox)| world.borrow_mut().tick(Tick(round), inbox, &mut ()));
}

/// All over the country; each clicks every ten ticks.
#[divan::bench]
fn spread_out_and_walking(bencher: Bencher<'_, '_>) {
    play(bencher, PLAYERS / 10, 250);
}

/// All in one town full of houses; each clicks every ten ticks.
#[divan::bench]
fn crowded_and_walking(bencher: Bencher<'_, '_>) {
    play(bencher, PLAYERS / 10, 40);
}

/// All in one town, and every one clicks at every tick.
#[divan::bench]
fn crowded_and_all_clicking(bencher: Bencher<'_, '_>) {
    play(bencher, PLAYERS, 40);
}

/// All in one town, 10,000 things on the ground, and everybody drops or picks something up.
#[divan::bench]
fn crowded_and_all_dropping_and_picking_up(bencher: Bencher<'_, '_>) {
    let world = RefCell::new(crowd(40));
    let mut round = 1;
    let mut inbox = || {
        round += 1;
        let world = world.borrow();
        let home = Region::from(Content::embedded().spawn());
        let near = |dx, dz| Region {
            x: home.x + dx,
            z: home.z + dz,
        };
        let regions = (-1..=1).flat_map(|dx| (-1..=1).map(move |dz| near(dx, dz)));
        let lying = regions.flat_map(|region| world.ground(region));
        let lying: Vec<_> = lying.map(|item| item.id.clone()).collect();
        let inputs = (0..PLAYERS).map(|number| {
            let mut dice = Dice::new(2, u64::from(number), round);
            let some = dice.below(lying.len().max(1) as u32) as usize;
            let intent = match lying.get(some) {
                Some(target) if round % 2 == 0 || round > 12 => Intent::Pickup {
                    target: target.clone(),
                },
                _ => Intent::Drop {
                    slot: dice.below(28) as u8,
                    quantity: None,
                },
            };
            PlayerInput {
                who: who(number),
                number: round,
                intent,
            }
        });
        let inbox = Inbox {
            inputs: inputs.collect(),
            ..Inbox::default()
        };
        (round, inbox)
    };
    for _ in 0..TICKS {
        let (round, inbox) = inbox();
        world.borrow_mut().tick(Tick(round), inbox, &mut ());
    }
    bencher
        .with_inputs(inbox)
        .bench_local_values(|(round, inbox)| world.borrow_mut().tick(Tick(round), inbox, &mut ()));
}

/// What players can be about near them: beasts to fight, things to gather from.
fn targets(world: &World) -> [Vec<(Tile, EntityId)>; 2] {
    let (mut beasts, mut resources) = (Vec::new(), Vec::new());
    for id in world.entities() {
        let Some(look) = world.look(id) else { continue };
        let fights = look
            .fields
            .iter()
            .any(|(name, field)| *name == "attackable" && *field == Field::from(true));
        match look.kind {
            Kind::Npc if fights => beasts.push((look.tile, id.clone())),
            Kind::Resource => resources.push((look.tile, id.clone())),
            _ => {}
        }
    }
    [beasts, resources]
}

/// All over the country: a third fights, a third gathers, a third walks; a tenth of each asks for
/// something new at every tick. Who has nothing near walks.
#[divan::bench]
fn spread_out_fighting_gathering_and_walking(bencher: Bencher<'_, '_>) {
    let tools = [
        "bronze_hatchet",
        "bronze_pickaxe",
        "fishing_net",
        "small_fishing_net",
        "bronze_sword",
    ];
    let world = RefCell::new(crowd_with(250, &tools));
    let near = targets(&world.borrow());
    let mut round = 1;
    let mut inbox = || {
        round += 1;
        let mut inbox = clicks(&world.borrow(), round, PLAYERS / 10);
        for input in &mut inbox.inputs {
            let number: usize = input.who.as_str()["player-".len()..]
                .parse()
                .expect("a number");
            let world = world.borrow();
            let from = world
                .player(&input.who)
                .map_or(Tile::default(), |player| player.tile());
            let about = near.get(number % 3).into_iter().flatten();
            let nearest = about.min_by_key(|(tile, _)| from.steps_to(*tile));
            if let Some((_, target)) = nearest.filter(|(tile, _)| from.steps_to(*tile) <= 24) {
                let target = target.clone();
                input.intent = match number % 3 {
                    0 => Intent::Attack { target },
                    _ => Intent::Gather { target },
                };
            }
        }
        (round, inbox)
    };
    for _ in 0..TICKS * 5 {
        let (round, inbox) = inbox();
        world.borrow_mut().tick(Tick(round), inbox, &mut ());
    }
    bencher
        .with_inputs(inbox)
        .bench_local_values(|(round, inbox)| world.borrow_mut().tick(Tick(round), inbox, &mut ()));
}

/// Nobody asks anything and nobody walks.
#[divan::bench]
fn at_rest(bencher: Bencher<'_, '_>) {
    play(bencher, 0, 40);
}

/// The bytes of the busiest region.
#[divan::bench]
fn bytes_of_a_crowded_region(bencher: Bencher<'_, '_>) {
    let world = crowd(20);
    let region = Region::from(Content::embedded().spawn());
    bencher.bench_local(|| world.region_bytes(region));
}
