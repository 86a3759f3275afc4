//! Time of one tick with 2,000 players in the world that ships.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use divan::Bencher;
use world::rng::Dice;
use world::{
    Arrival, CharacterId, CharacterState, Columns, Content, EntityId, Field, Inbox, Intent, Kind,
    PlayerHot, PlayerInput, PlayerRecord, Region, Rules, Skill, SkillXp, Stack, Tick, Tile, World,
    combat, ground_items, movement, skilling,
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

/// Returns somewhere within `reach` tiles of the spawn, differently for each player.
fn somewhere(number: u32, reach: u32) -> Tile {
    let mut dice = Dice::new(1, u64::from(number), 0);
    let reach = reach.cast_signed();
    let spawn = Content::embedded().spawn();
    spawn.moved(dice.between(-reach, reach), dice.between(-reach, reach))
}

/// Returns all regions, and players within `reach` tiles of the spawn with full packs.
fn crowd(reach: u32) -> World {
    let mut world = empty();
    settle(
        &mut world,
        &|number| somewhere(number, reach),
        &["logs"; 28],
    );
    world
}

/// Returns all regions, and nobody.
fn empty() -> World {
    let content = Content::embedded();
    let mut world = World::new(content.clone(), Rules::default(), 1, 1);
    for region in content.regions() {
        world
            .region_in(region, Tick(0), None)
            .expect("a fresh region");
    }
    world
}

/// Brings in the players, each where `place` says and with this in its pack. They are hard to
/// kill, and strike as weakly as newcomers, so that fights last.
fn settle(world: &mut World, place: &dyn Fn(u32) -> Tile, pack: &[&str]) {
    let grown = SkillXp {
        level: 80,
        xp_tenths: 20_000_000,
    };
    let arrivals = (0..PLAYERS).map(|number| {
        let tile = place(number);
        let columns = Columns {
            id: who(number),
            name: format!("Player {number}"),
            tile,
            y: 0,
            health: 80,
            skills: [(Skill::Constitution, grown), (Skill::Defense, grown)].into(),
            coins: 0,
            combat_level: 3,
            placed: true,
            inventory: (0..)
                .zip(pack.iter().map(|item| Stack::new(*item, 1)))
                .collect(),
            equipment: BTreeMap::new(),
            bank: BTreeMap::new(),
            stakes: BTreeMap::new(),
        };
        let state = CharacterState {
            running: number % 2 == 0,
            ..CharacterState::default()
        };
        Arrival {
            record: PlayerRecord::new(columns, state),
            hot: PlayerHot::default(),
            region: Region::from(tile),
            look: "".into(),
        }
    });
    let inbox = Inbox {
        arrivals: arrivals.collect(),
        inputs: Vec::new(),
        ..Inbox::default()
    };
    world.tick(Tick(1), inbox, &mut ());
}

/// Returns the requests of `players` of them: to go elsewhere, no more than a screen away.
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
            intent: Intent::Movement(movement::Intent::Walk { to, run: None }),
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

/// Measures players all over the country; each clicks every ten ticks.
#[divan::bench]
fn spread_out_and_walking(bencher: Bencher<'_, '_>) {
    play(bencher, PLAYERS / 10, 250);
}

/// Measures players in one town full of houses; each clicks every ten ticks.
#[divan::bench]
fn crowded_and_walking(bencher: Bencher<'_, '_>) {
    play(bencher, PLAYERS / 10, 40);
}

/// Measures players in one town, and every one clicks at every tick.
#[divan::bench]
fn crowded_and_all_clicking(bencher: Bencher<'_, '_>) {
    play(bencher, PLAYERS, 40);
}

/// Measures players in one town with 10,000 things on the ground; everybody drops or picks
/// something up.
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
                Some(target) if round % 2 == 0 || round > 12 => {
                    Intent::GroundItems(ground_items::Intent::Pickup {
                        target: target.clone(),
                    })
                }
                _ => Intent::GroundItems(ground_items::Intent::Drop {
                    slot: dice.below(28) as u8,
                    quantity: None,
                }),
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

/// Returns the targets of players: beasts to fight, and resources that take no level.
fn targets(world: &World) -> [Vec<(Tile, EntityId)>; 2] {
    let (mut beasts, mut resources) = (Vec::new(), Vec::new());
    for id in world.entities() {
        let Some(look) = world.look(id) else { continue };
        let says = |name: &'static str, field: Field| look.fields.contains(&(name, field));
        match look.kind {
            Kind::Npc if says("attackable", true.into()) => {
                beasts.push((look.tile, id.clone()));
            }
            Kind::Resource if says("level", 1_u32.into()) => {
                resources.push((look.tile, id.clone()));
            }
            _ => {}
        }
    }
    [beasts, resources]
}

/// Jobs of players: a third fights, a third gathers, a third walks.
struct Jobs {
    about: [Vec<(Tile, EntityId)>; 2],
}

impl Jobs {
    /// Returns the player's target; none for those who walk.
    fn of(&self, number: u32) -> Option<&(Tile, EntityId)> {
        let all = self.about.get(number as usize % 3)?;
        all.get(number as usize / 3 % all.len())
    }

    /// Returns a player's next request, in its turn; a player at work goes on.
    fn next(&self, world: &World, number: u32, walk: Intent) -> Option<Intent> {
        let player = world.player(&who(number))?;
        let Some((_, target)) = self.of(number) else {
            return Some(walk);
        };
        let target = target.clone();
        if number.is_multiple_of(3) {
            return Some(Intent::Combat(combat::Intent::Attack { target }));
        }
        let pack = &player.record().inventory;
        match pack.last_key_value() {
            Some((slot, _)) if pack.len() > 27 => {
                Some(Intent::GroundItems(ground_items::Intent::Drop {
                    slot: *slot,
                    quantity: None,
                }))
            }
            _ if player.work().is_some() => None,
            _ => Some(Intent::Skilling(skilling::Intent::Gather { target })),
        }
    }
}

/// Returns how many of a thousand players struck a blow, were at work and were on their way in ten
/// ticks.
fn shares(world: &mut World, mut inbox: impl FnMut(&World) -> (u64, Inbox)) -> [usize; 3] {
    let [mut fight, mut work, mut walk] = [const { BTreeSet::new() }; 3];
    for _ in 0..TICKS {
        let (round, asked) = inbox(world);
        let outcome = world.tick(Tick(round), asked, &mut ());
        fight.extend(outcome.hits.into_iter().map(|hit| hit.attacker.character()));
        for player in world.players() {
            let id = &player.record().id;
            if player.work().is_some() {
                work.insert(id.clone());
            }
            if player.walking() {
                walk.insert(id.clone());
            }
        }
    }
    fight.retain(|id| world.player(id).is_some());
    [fight, work, walk].map(|some| some.len() * 1_000 / PLAYERS as usize)
}

/// Measures players all over the country: a third fights, a third gathers, a third walks; a tenth
/// of each asks for something new at every tick. Says how many do so indeed.
#[divan::bench]
fn spread_out_fighting_gathering_and_walking(bencher: Bencher<'_, '_>) {
    let tools = ["bronze_hatchet", "bronze_pickaxe", "fishing_net"];
    let mut world = empty();
    let jobs = Jobs {
        about: targets(&world),
    };
    let place = |number| match jobs.of(number) {
        Some((tile, _)) => tile.moved(1, 0),
        None => somewhere(number, 250),
    };
    settle(&mut world, &place, &tools);
    let mut round = 1;
    let mut inbox = |world: &World| {
        round += 1;
        let mut inbox = clicks(world, round, PLAYERS / 10);
        let inputs = std::mem::take(&mut inbox.inputs).into_iter();
        let asked = inputs.filter_map(|input| {
            let number = input.who.as_str()["player-".len()..].parse().ok()?;
            let intent = jobs.next(world, number, input.intent)?;
            Some(PlayerInput { intent, ..input })
        });
        inbox.inputs = asked.collect();
        (round, inbox)
    };
    for _ in 0..TICKS * 5 {
        let (round, asked) = inbox(&world);
        world.tick(Tick(round), asked, &mut ());
    }
    let [fight, work, walk] = shares(&mut world, &mut inbox);
    eprintln!("in ten ticks, of 1,000: {fight} struck, {work} gathered, {walk} walked");
    let world = RefCell::new(world);
    bencher
        .with_inputs(|| inbox(&world.borrow()))
        .bench_local_values(|(round, inbox)| world.borrow_mut().tick(Tick(round), inbox, &mut ()));
}

/// Measures a tick in which nobody asks anything and nobody walks.
#[divan::bench]
fn at_rest(bencher: Bencher<'_, '_>) {
    play(bencher, 0, 40);
}

/// Measures the bytes of the busiest region.
#[divan::bench]
fn bytes_of_a_crowded_region(bencher: Bencher<'_, '_>) {
    let world = crowd(20);
    let region = Region::from(Content::embedded().spawn());
    bencher.bench_local(|| world.region_bytes(region));
}
