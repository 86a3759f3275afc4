//! Moves of NPCs of their own accord: stand, wander around their home, patrol.
//!
//! Always: an NPC never steps onto a tile on which somebody stands. It never goes further from its
//! home than its leash, except on a patrol. It never goes further past its region's border than
//! anybody may.

use super::Crowd;
use crate::content::{Content, Movement, NpcPlacement};
use crate::entity::npc::{Npc, NpcState};
use crate::features::combat::{NpcCombat, fighter, mind, reach};
use crate::features::movement::border;
use crate::geometry::tile::Tile;
use crate::geometry::{Terrain, route};
use crate::rng::Dice;
use crate::time::Tick;

/// Ticks from one walk to the next.
const IDLE_TICKS: (i32, i32) = (5, 13);
/// Ticks after which an NPC gives up a walk because others stand in its way.
const WAIT_TICKS: u32 = 3;
/// Ticks for which an NPC stands still after each tick with a customer.
const ATTENDS_TICKS: u64 = 4;
/// Ticks of waiting for customers after which an NPC waits only near its home: 10 minutes.
const AWAY_TICKS: u32 = 1_000;
/// Steps from its home within which an NPC waits for as long as a customer needs it.
const COUNTER_TILES: u32 = 1;
/// Tiles that the dice try before an NPC takes the middle of a spawn.
const SPAWN_THROWS: u32 = 16;
/// Steps from there within which an NPC looks for a free tile.
const SPAWN_RINGS: i32 = 8;

/// Returns an NPC as it first appears in the world with these dice, apart from those who are there
/// already.
pub(crate) fn appear(
    placement: &NpcPlacement,
    terrain: &Terrain,
    crowd: &mut Crowd,
    now: Tick,
    dice: &mut Dice,
) -> NpcState {
    let (middle, radius) = (placement.tile, placement.radius);
    let mut home = None;
    for _ in 0..if radius > 0 { SPAWN_THROWS } else { 0 } {
        let (dx, dz) = (dice.between(-radius, radius), dice.between(-radius, radius));
        let tile = middle.moved(dx, dz);
        let round = dx * dx + dz * dz <= radius * radius;
        if round && terrain.walkable(tile) && crowd.free(tile) {
            home = Some(tile);
            break;
        }
    }
    let near = || terrain.free_near(middle, middle, SPAWN_RINGS);
    let tile = home.or_else(near).unwrap_or(middle);
    crowd.stand(tile);
    NpcState {
        id: placement.id.clone(),
        tile,
        home: tile,
        goal: None,
        walks_at: now.after(idle(dice)),
        leg: 0,
        waited_ticks: 0,
        attended_ticks: 0,
        health: placement.kind.health,
        combat: NpcCombat::default(),
    }
}

/// Returns whether the NPC has anything to do at `now`.
pub(crate) fn stirs(npc: &Npc, now: Tick) -> bool {
    let wanders = matches!(
        npc.placement.kind.movement,
        Movement::Wander { radius: 1.. }
    );
    let rooted = !wanders && npc.placement.patrol.is_empty();
    npc.lives() && !rooted && (npc.state.goal.is_some() || now >= npc.state.walks_at)
}

/// Plays one tick of an NPC that stirs. Returns whether it stands elsewhere than before.
pub(crate) fn act(
    npc: &mut Npc,
    terrain: &Terrain,
    crowd: &mut Crowd,
    now: Tick,
    dice: &mut Dice,
) -> bool {
    if npc.state.goal.is_none() {
        npc.state.goal = think(npc, terrain, dice);
        npc.state.waited_ticks = 0;
        npc.state.attended_ticks = 0;
    }
    let Some(goal) = npc.state.goal else {
        npc.state.walks_at = now.after(idle(dice));
        return false;
    };
    let moved = walk(npc, terrain, crowd, goal, |at| at == goal);
    npc.state.waited_ticks = if moved { 0 } else { npc.state.waited_ticks + 1 };
    if npc.state.tile == goal || npc.state.waited_ticks >= WAIT_TICKS {
        npc.state.goal = None;
        npc.state.walks_at = now.after(idle(dice));
    }
    moved
}

/// Spends a tick for its customers: it goes to meet one who `comes`, as far as its leash lets it,
/// and else stands still. After too many such ticks away from home it goes there. So nobody keeps
/// it elsewhere for ever.
pub(crate) fn attend(npc: &mut Npc, comes: Option<Tile>, now: Tick) {
    let state = &mut npc.state;
    state.attended_ticks = state.attended_ticks.saturating_add(1);
    let away = state.tile.steps_to(state.home) > COUNTER_TILES;
    if away && state.attended_ticks >= AWAY_TICKS {
        state.goal = Some(state.home);
    } else if comes.is_some() {
        state.goal = comes;
    } else {
        state.goal = None;
        state.walks_at = state.walks_at.max(now.after(ATTENDS_TICKS));
    }
}

/// Takes the steps of one tick towards `goal`, until it is `there`. Returns whether it stands
/// elsewhere.
fn walk(
    npc: &mut Npc,
    terrain: &Terrain,
    crowd: &mut Crowd,
    goal: Tile,
    there: impl Fn(Tile) -> bool,
) -> bool {
    let start = npc.state.tile;
    for _ in 0..npc.placement.kind.tiles_per_tick {
        let at = npc.state.tile;
        if there(at) {
            break;
        }
        let may = |to| may_step(npc, terrain, at, to) && crowd.free(to);
        let Some(next) = route::toward(at, goal, may) else {
            break;
        };
        crowd.step(at, next);
        npc.state.tile = next;
    }
    npc.state.tile != start
}

/// Plays one tick on the way home. An NPC that is too far away, or cannot get there, is there at
/// once.
pub(crate) fn go_home(npc: &mut Npc, terrain: &Terrain, crowd: &mut Crowd) {
    let home = npc.state.home;
    let from = npc.state.tile.steps_to(home);
    walk(npc, terrain, crowd, home, |at| at == home);
    let left = npc.state.tile.steps_to(home);
    let combat = &mut npc.state.combat;
    combat.stuck_ticks = if left < from {
        0
    } else {
        combat.stuck_ticks + 1
    };
    let lost = left > mind::HOME_TILES || combat.stuck_ticks >= mind::STUCK_TICKS;
    if left == 0 || lost {
        combat.returning = false;
        combat.stuck_ticks = 0;
        if left > 0 {
            crowd.step(npc.state.tile, home);
            npc.state.tile = home;
        }
    }
}

/// Plays one tick of a chase after somebody who stands at `prey`: until it is in reach, or off its
/// very tile.
pub(crate) fn chase(npc: &mut Npc, content: &Content, crowd: &mut Crowd, prey: Tile) {
    let terrain = content.terrain();
    let attack = fighter::npc(content, &npc.placement.kind);
    let blow = attack.blow();
    let at = npc.state.tile;
    if at == prey {
        let free = |to| may_step(npc, terrain, at, to) && crowd.free(to);
        if let Some(to) = reach::aside(terrain, at, free) {
            crowd.step(at, to);
            npc.state.tile = to;
        }
        return;
    }
    walk(npc, terrain, crowd, prey, |at| {
        reach::reaches(terrain, blow, at, prey)
    });
}

/// Returns where it would like to go, if anywhere.
fn think(npc: &mut Npc, terrain: &Terrain, dice: &mut Dice) -> Option<Tile> {
    let points = &npc.placement.patrol;
    if !points.is_empty() {
        let point = points[npc.state.leg as usize % points.len()];
        npc.state.leg = (npc.state.leg + 1) % points.len() as u32;
        return Some(point).filter(|p| *p != npc.state.tile);
    }
    let Movement::Wander { radius } = npc.placement.kind.movement else {
        return None;
    };
    let reach = radius.min(npc.placement.kind.leash_tiles);
    let (dx, dz) = (dice.between(-reach, reach), dice.between(-reach, reach));
    let goal = npc.state.home.moved(dx, dz);
    Some(goal).filter(|g| *g != npc.state.tile && terrain.walkable(*g))
}

fn may_step(npc: &Npc, terrain: &Terrain, at: Tile, to: Tile) -> bool {
    let home = npc.state.home;
    let leash = npc.placement.kind.leash_tiles.cast_unsigned();
    // One who is beyond its leash may still come back.
    let leashed = !npc.placement.patrol.is_empty()
        || to.steps_to(home) <= leash
        || to.steps_to(home) < at.steps_to(home);
    leashed && border::may_step(npc.region, at, to) && terrain.step(at, to)
}

fn idle(dice: &mut Dice) -> u64 {
    u64::from(dice.between(IDLE_TICKS.0, IDLE_TICKS.1).unsigned_abs())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::content::NpcKind;
    use crate::entity::ids::EntityId;
    use crate::geometry::Ground;
    use crate::geometry::plan::{Biome, Plan};
    use crate::geometry::tile::{Bounds, Region};

    fn terrain() -> Terrain {
        let biome = Biome {
            grounds: vec![(Ground::Grass, 1)],
            ..Biome::default()
        };
        Terrain::new(Plan {
            bounds: Bounds {
                min_x: 0,
                max_x: 64,
                min_z: 0,
                max_z: 64,
            },
            biomes: vec![biome],
            ..Plan::default()
        })
    }

    fn hen(terrain: &Terrain, dice: &mut Dice) -> Npc {
        let kind = NpcKind {
            movement: Movement::Wander { radius: 3 },
            tiles_per_tick: 2,
            leash_tiles: 5,
            ..NpcKind::plain("hen", "Hen")
        };
        let placement = NpcPlacement {
            id: EntityId::from("npc:hen"),
            key: 1,
            name: Arc::clone(&kind.name),
            kind: Arc::new(kind),
            service: "".into(),
            tile: Tile::new(20, 20),
            radius: 4,
            patrol: Vec::new(),
            dialogue: None,
            store: None,
            respawn_ticks: 25,
            leads_dance: false,
        };
        let state = appear(&placement, terrain, &mut Crowd::default(), Tick(10), dice);
        let region = Region::from(placement.tile);
        Npc {
            placement,
            region,
            state,
        }
    }

    #[test]
    fn an_npc_goes_where_the_dice_send_it() {
        let terrain = terrain();
        // -4 and -4 is outside the disc, so it throws again: +2, -1; then a rest of 5 + 3.
        let mut hen = hen(&terrain, &mut Dice::scripted([0, 0, 6, 3, 3]));
        assert_eq!(
            (hen.state.tile, hen.state.walks_at),
            (Tile::new(22, 19), Tick(18))
        );
        assert!(!stirs(&hen, Tick(17)) && stirs(&hen, Tick(18)));
        // Three east and one north of home, then a rest of 13.
        let mut dice = Dice::scripted([6, 4, 8]);
        let mut crowd = Crowd::default();
        crowd.stand(hen.state.tile);
        assert!(act(&mut hen, &terrain, &mut crowd, Tick(18), &mut dice));
        assert_eq!(
            (hen.state.tile, hen.state.goal),
            (Tile::new(24, 20), Some(Tile::new(25, 20)))
        );
        assert!(act(&mut hen, &terrain, &mut crowd, Tick(19), &mut dice));
        assert_eq!((hen.state.tile, hen.state.goal), (Tile::new(25, 20), None));
        assert_eq!(hen.state.walks_at, Tick(32));
        assert!(crowd.free(Tile::new(24, 20)) && !crowd.free(Tile::new(25, 20)));
    }

    #[test]
    fn an_npc_gives_up_when_others_stay_in_its_way() {
        let terrain = terrain();
        let mut hen = hen(&terrain, &mut Dice::scripted([4, 4, 0]));
        let mut crowd = Crowd::default();
        for (dx, dz) in [
            (1, 0),
            (1, 1),
            (0, 1),
            (-1, 1),
            (-1, 0),
            (-1, -1),
            (0, -1),
            (1, -1),
        ] {
            crowd.stand(hen.state.tile.moved(dx, dz));
        }
        let mut dice = Dice::scripted([6, 3]);
        for tick in 15..18 {
            assert!(!act(&mut hen, &terrain, &mut crowd, Tick(tick), &mut dice));
        }
        assert_eq!((hen.state.goal, hen.state.walks_at), (None, Tick(22)));
    }
}
