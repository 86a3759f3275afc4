//! Agents that work: left alone, or with one goal, they get on in the world that ships.

use std::collections::BTreeMap;

use world::{
    AgentInput, AgentWord, Arrival, CharacterId, Content, Goal, Inbox, Orders, PlayerHot,
    PlayerRecord, Region, Rules, Skill, Tick, Tile, World, agents::TRAINED,
};

use crate::stage::{self, BEGIN};

/// Distance from the spawn up to which the world plays regions, in tiles.
const PLAYED_TILES: u32 = 96;
/// An hour.
pub(crate) const HOUR_TICKS: u64 = 6_000;

pub(crate) struct Land {
    pub(crate) world: World,
    now: u64,
    version: u64,
}

pub(crate) fn ann() -> CharacterId {
    CharacterId::from("ann")
}

impl Land {
    /// Returns the world that ships, around its spawn, with one new character in it who is an
    /// agent.
    fn new(seed: u64) -> Land {
        let spawn = Content::embedded().spawn();
        let mut land = Land::around(seed, spawn, PLAYED_TILES);
        let mut record = stage::record("ann", spawn);
        record.placed = false;
        land.joins(record);
        land
    }

    /// Returns the world that ships, as far as so many tiles from `middle`.
    pub(crate) fn around(seed: u64, middle: Tile, tiles: u32) -> Land {
        let mut world = World::new(Content::embedded(), Rules::default(), seed, 1);
        for region in world.content().clone().regions() {
            if region.tiles_past(middle) <= tiles {
                world.region_in(region, Tick(BEGIN), None).unwrap();
            }
        }
        Land {
            world,
            now: BEGIN,
            version: 0,
        }
    }

    pub(crate) fn joins(&mut self, record: PlayerRecord) {
        let arrival = Arrival {
            region: Region::from(record.tile),
            record,
            hot: PlayerHot::default(),
            look: "".into(),
        };
        self.tick(Inbox {
            arrivals: vec![arrival],
            ..Inbox::default()
        });
    }

    pub(crate) fn tick(&mut self, inbox: Inbox) {
        self.now += 1;
        let outcome = self.world.tick(Tick(self.now), inbox, &mut ());
        for crossing in outcome.crossings {
            self.world.set_region(&crossing.who, crossing.to);
        }
    }

    pub(crate) fn ordered(&mut self, goal: Option<Goal>) {
        self.version += 1;
        let orders = Orders {
            version: self.version,
            agent: true,
            active: true,
            paused: false,
            goal,
            progress: 0,
        };
        let word = AgentWord::Orders(orders);
        self.tick(Inbox {
            agents: vec![AgentInput { who: ann(), word }],
            ..Inbox::default()
        });
    }

    fn levels(&self) -> BTreeMap<Skill, u32> {
        let record = self.world.player(&ann()).unwrap().record();
        let all = Skill::ALL.iter().copied();
        all.map(|skill| (skill, record.level(skill))).collect()
    }

    /// Returns the agent's acts so far, then its present work.
    pub(crate) fn recent_actions(&self) -> Vec<String> {
        let player = self.world.player(&ann()).unwrap();
        let agent = player.agent().unwrap();
        let recent_actions = agent.recent_actions().map(|action| action.text.clone());
        let now = [
            format!("{:?} {:?}", player.tile(), player.work()),
            format!("{:?}", agent.pursuit()),
            format!("{:?}", player.record().inventory),
        ];
        now.into_iter().chain(recent_actions).collect()
    }
}

#[test]
fn one_that_is_left_alone_gains_levels_in_four_skills_in_an_hour() {
    let mut land = Land::new(5);
    land.ordered(None);
    for _ in 0..HOUR_TICKS {
        land.tick(Inbox::default());
    }
    let levels = land.levels();
    let gained = TRAINED.iter().filter(|(skill, _)| levels[skill] > 1);
    let gained = gained.count();
    assert!(gained >= 4, "{levels:?} {:#?}", land.recent_actions());
}

#[test]
fn each_goal_of_work_gets_one_on_in_its_skill() {
    for (skill, _) in TRAINED {
        let mut land = Land::new(9);
        land.ordered(Some(Goal::Train(skill)));
        let mut ticks = 0;
        while land.levels()[&skill] == 1 && ticks < 2_500 {
            land.tick(Inbox::default());
            ticks += 1;
        }
        let level = land.levels()[&skill];
        assert!(level > 1, "{skill:?}: {:#?}", land.recent_actions());
    }
}
