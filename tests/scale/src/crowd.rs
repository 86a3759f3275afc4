//! Stub players and stub NPCs: where they stand, and where they step in a tick.

use rand::{RngExt, rngs::StdRng};
use world::{Region, Tile, geometry::tile::REGION_TILES};

use crate::land::{Land, Square};

/// Ticks, on average, for which a walker keeps its direction.
const KEEPS_TICKS: u32 = 8;
/// Share of NPCs that walk.
const NPCS_WALKING: f64 = 0.1;
/// Kinds of NPCs.
const NPC_KINDS: u32 = 40;

/// Where players stand, and how many of them walk.
#[derive(Debug, Clone, Copy)]
pub struct Habits {
    /// Share of the players who are in towns, from 0 to 1.
    pub in_towns: f64,
    /// Share of the players who walk, one step a tick, from 0 to 1.
    pub walking: f64,
    /// NPCs of each region.
    pub npcs: u32,
}

/// A stub player or NPC.
#[derive(Debug)]
pub struct Being {
    /// Id on the wire.
    pub id: String,
    /// Name that all see.
    pub name: String,
    /// Whether it is somebody's avatar.
    pub player: bool,
    /// Tile now.
    pub at: Tile,
    /// Sequence of its owner.
    pub sequence: u64,
    /// Tiles that it does not leave.
    within: Square,
    /// Direction of the next step; (0, 0): it stands still for ever.
    heading: (i32, i32),
}

/// A step of a being in a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Place of the being in [`Crowd::beings`].
    pub being: usize,
    /// Tile before the step.
    pub from: Tile,
    /// Tile after it.
    pub to: Tile,
}

/// See the module.
#[derive(Debug)]
pub struct Crowd {
    /// The players first, then the NPCs.
    pub beings: Vec<Being>,
    /// Number of players.
    pub players: usize,
}

impl Crowd {
    /// Puts `players` players and the regions' NPCs into a world.
    pub fn new(land: &Land, players: usize, habits: Habits, dice: &mut StdRng) -> Self {
        let mut beings = Vec::with_capacity(players);
        for n in 0..players {
            let town = dice.random_bool(habits.in_towns) && !land.towns.is_empty();
            let within = match town {
                true => land.towns[dice.random_range(0..land.towns.len())],
                false => land.all(),
            };
            beings.push(Being {
                id: uuid(dice),
                name: format!("Player {n}"),
                player: true,
                at: within.anywhere(dice),
                sequence: 1,
                within,
                heading: heading(dice, habits.walking),
            });
        }
        for region in land.regions() {
            for n in 0..habits.npcs {
                beings.push(npc(region, n, dice));
            }
        }
        Self { beings, players }
    }

    /// Lets each walker take a step. Returns the steps of those who moved.
    pub fn step(&mut self, dice: &mut StdRng) -> Vec<Step> {
        let mut steps = Vec::new();
        for (being, walker) in self.beings.iter_mut().enumerate() {
            if walker.heading == (0, 0) {
                continue;
            }
            if dice.random_ratio(1, KEEPS_TICKS) {
                walker.heading = heading(dice, 1.0);
            }
            let to = walker.at.moved(walker.heading.0, walker.heading.1);
            if !walker.within.contains(to) {
                walker.heading = (-walker.heading.0, -walker.heading.1);
                continue;
            }
            steps.push(Step {
                being,
                from: walker.at,
                to,
            });
            walker.at = to;
        }
        steps
    }
}

fn npc(region: Region, n: u32, dice: &mut StdRng) -> Being {
    let within = Square::new(
        region.x * REGION_TILES,
        region.z * REGION_TILES,
        REGION_TILES,
    );
    Being {
        id: format!("npc:{}:{}:{n}", region.x, region.z),
        name: format!("Forest beast {}", dice.random_range(0..NPC_KINDS)),
        player: false,
        at: within.anywhere(dice),
        sequence: 1,
        within,
        heading: heading(dice, NPCS_WALKING),
    }
}

/// Returns a random direction for the share of beings that walk; (0, 0) for all others.
fn heading(dice: &mut StdRng, walking: f64) -> (i32, i32) {
    if !dice.random_bool(walking) {
        return (0, 0);
    }
    loop {
        let heading = (dice.random_range(-1..=1), dice.random_range(-1..=1));
        if heading != (0, 0) {
            return heading;
        }
    }
}

/// Returns a random text of the form and length of a character's id.
pub fn uuid(dice: &mut StdRng) -> String {
    let bits: u128 = dice.random();
    let hex = format!("{bits:032x}");
    let parts = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    const HABITS: Habits = Habits {
        in_towns: 0.4,
        walking: 0.5,
        npcs: 2,
    };

    #[test]
    fn walkers_step_one_tile_and_stay_where_they_belong() {
        let mut dice = StdRng::seed_from_u64(3);
        let land = Land::new(4, 4, &mut dice);
        let mut crowd = Crowd::new(&land, 500, HABITS, &mut dice);
        for _ in 0..200 {
            for step in crowd.step(&mut dice) {
                assert_eq!(step.from.steps_to(step.to), 1);
                let being = &crowd.beings[step.being];
                assert_eq!(being.at, step.to);
                assert!(being.within.contains(step.to) && land.all().contains(step.to));
            }
        }
    }

    #[test]
    fn the_shares_are_those_that_were_asked_for() {
        let mut dice = StdRng::seed_from_u64(4);
        let land = Land::new(16, 9, &mut dice);
        let mut crowd = Crowd::new(&land, 10_000, HABITS, &mut dice);
        assert_eq!(crowd.beings.len(), 10_000 + 2 * 256);
        let players = &crowd.beings[..crowd.players];
        let in_town = |being: &&Being| land.towns.iter().any(|town| town.contains(being.at));
        let towns = players.iter().filter(in_town).count();
        // Some who are spread over the world stand in a town by chance.
        assert!((3_900..4_900).contains(&towns), "{towns} in towns");
        let steps = crowd.step(&mut dice);
        let walked = steps.iter().filter(|step| step.being < 10_000).count();
        assert!((4_700..5_300).contains(&walked), "{walked} walked");
    }
}
