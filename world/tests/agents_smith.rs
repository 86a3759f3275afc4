//! Agents that mine and smith: from wherever they begin, they go on with it.

use world::agents::AgentActionKind;
use world::{Area, Content, Goal, Inbox, Skill};

use crate::agents_work::{HOUR_TICKS, Land, ann};
use crate::stage;

/// Distance from the first town to which an hour's work leads.
const NEAR_TILES: u32 = 96;

/// Plays so many ticks of an agent with the goal to mine and smith, which it gets again whenever it
/// is done. It begins in the middle of `town` as a new character, and never gives up.
fn smiths(town: &Area, (seed, played_tiles): (u64, u32), ticks: u64) -> u32 {
    let middle = town.bounds.middle();
    let mut land = Land::around(seed, middle, played_tiles);
    let mut record = stage::record("ann", middle);
    record.placed = false;
    land.joins(record);
    let mut record = land.world.leave(&ann()).unwrap().0;
    record.tile = middle;
    land.joins(record);
    for _ in 0..ticks {
        let player = land.world.player(&ann()).unwrap();
        if player.agent().is_none_or(|agent| agent.over()) {
            let last = player
                .agent()
                .and_then(|agent| agent.recent_actions().next());
            let failed = last.is_some_and(|action| action.sort == AgentActionKind::GoalFailed);
            assert!(!failed, "{} {seed}: {:#?}", town.id, land.recent_actions());
            land.ordered(Some(Goal::Train(Skill::Smithing)));
        }
        land.tick(Inbox::default());
    }
    let player = land.world.player(&ann()).unwrap();
    let level = player.record().level(Skill::Smithing);
    assert!(
        level > 1,
        "{} {seed}: {:#?}",
        town.id,
        land.recent_actions()
    );
    level
}

fn town(content: &Content, id: &str) -> Area {
    let mut towns = content.areas().iter().filter(|area| area.starter_town);
    towns.find(|area| area.id == id).unwrap().clone()
}

#[test]
fn who_mines_and_smiths_in_the_first_town_goes_on_for_an_hour() {
    let content = Content::embedded();
    let town = town(&content, "tilestead");
    for seed in [1, 6] {
        let level = smiths(&town, (seed, NEAR_TILES), HOUR_TICKS);
        assert!(level >= 8, "seed {seed}: it came to level {level} only");
    }
}

#[test]
fn who_mines_and_smiths_finds_the_way_from_towns_without_a_mine() {
    let content = Content::embedded();
    for (id, seed) in [("plumfurrow", 2), ("tidewick", 3), ("fernhollow", 4)] {
        smiths(&town(&content, id), (seed, u32::MAX), HOUR_TICKS / 5);
    }
}
