//! Agents: they live by their orders, rest while somebody plays them, and do as their orders say.

use world::{
    AgentInput, AgentWord, CharacterId, Field, Goal, Inbox, Orders, Region, Tick, Tile, Value,
    World, agents::AgentActionKind,
};

use crate::stage::{BEGIN, Land, Stage};

/// A stage on which `ann` stands at 0,0 and is an agent from the second tick on.
pub(crate) struct Scene {
    pub(crate) stage: Stage,
    version: u64,
}

pub(crate) fn ann() -> CharacterId {
    CharacterId::from("ann")
}

impl Scene {
    pub(crate) fn new(land: &Land, before: &str) -> Scene {
        let mut stage = Stage::new(land);
        stage.play(before);
        Scene { stage, version: 0 }
    }

    /// Plays one tick with a word about ann.
    pub(crate) fn hears(&mut self, word: AgentWord) {
        self.stage.step(Inbox {
            agents: vec![AgentInput { who: ann(), word }],
            ..Inbox::default()
        });
    }

    pub(crate) fn ordered(&mut self, paused: bool, goal: Option<Goal>) {
        self.version += 1;
        let orders = Orders {
            version: self.version,
            agent: true,
            active: true,
            paused,
            goal,
            progress: 0,
        };
        self.hears(AgentWord::Orders(orders));
    }

    pub(crate) fn wait(&mut self, ticks: u32) {
        (0..ticks).for_each(|_| drop(self.stage.step(Inbox::default())));
    }

    /// Waits until something holds, but not for ever.
    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&World) -> bool) {
        for _ in 0..600 {
            if holds(&self.stage.world) {
                return;
            }
            self.wait(1);
        }
        let player = self.stage.world.player(&ann()).unwrap();
        let recent_actions = player
            .agent()
            .map(|agent| agent.recent_actions().collect::<Vec<_>>());
        panic!(
            "never: {what}; it is at {:?} after {recent_actions:#?}",
            self.at()
        );
    }

    pub(crate) fn at(&self) -> Tile {
        self.stage.world.player(&ann()).unwrap().tile()
    }

    pub(crate) fn goal(&self) -> Option<Goal> {
        let player = self.stage.world.player(&ann()).unwrap();
        let pursuit = player.agent().and_then(world::Agent::pursuit);
        pursuit.map(|pursuit| pursuit.goal.clone())
    }

    pub(crate) fn recent_actions(&self) -> Vec<AgentActionKind> {
        let player = self.stage.world.player(&ann()).unwrap();
        player
            .agent()
            .unwrap()
            .recent_actions()
            .map(|action| action.sort)
            .collect()
    }
}

#[test]
fn one_who_is_no_agent_stands_where_it_was_left() {
    let mut scene = Scene::new(&Land::default(), "ann joins at 0 0");
    scene.wait(50);
    assert_eq!(scene.at(), Tile::new(0, 0));
    let look = scene.stage.world.look(&ann().entity()).unwrap();
    assert_eq!(look.field("agent"), None);
}

#[test]
fn an_agent_that_is_left_alone_gets_on_and_everybody_sees_what_it_is() {
    let mut scene = Scene::new(&Land::default(), "ann joins at 0 0");
    scene.ordered(false, None);
    let look = scene.stage.world.look(&ann().entity()).unwrap();
    assert_eq!(look.field("agent"), Some(&Field::Bool(true)));
    scene.until("ann goes somewhere", |world| {
        world
            .player(&ann())
            .unwrap()
            .tile()
            .steps_to(Tile::new(0, 0))
            > 8
    });
    scene.until("it has seen five places and rests", |world| {
        let pursuit = world.player(&ann()).unwrap().agent().unwrap().pursuit();
        pursuit.is_some_and(|pursuit| pursuit.goal == Goal::Rest && pursuit.automatic)
    });
    assert!(
        scene
            .recent_actions()
            .contains(&AgentActionKind::GoalCompleted)
    );
}

/// The table of the specification, as the world sees it.
#[test]
fn stop_cancels_the_way_and_nothing_is_picked_until_it_may_go_on() {
    let mut scene = Scene::new(&Land::default(), "ann joins at 0 0");
    scene.ordered(false, Some(Goal::Place(Tile::new(90, 0))));
    scene.wait(5);
    assert!(scene.at().x > 4, "it is on its way: {:?}", scene.at());
    scene.ordered(true, None);
    let stopped = scene.at();
    scene.wait(200);
    assert_eq!((scene.at(), scene.goal()), (stopped, None));
    // Stopping twice is stopping.
    scene.ordered(true, None);
    assert_eq!(scene.at(), stopped);
    // Somebody who goes back in time changes nothing.
    let old = Orders {
        version: 1,
        agent: true,
        active: true,
        paused: false,
        goal: Some(Goal::Explore),
        progress: 0,
    };
    scene.hears(AgentWord::Orders(old));
    scene.wait(5);
    assert_eq!((scene.at(), scene.goal()), (stopped, None));
    scene.ordered(false, None);
    scene.until("it goes on by itself", |world| {
        world.player(&ann()).unwrap().tile() != stopped
    });
    scene.ordered(true, None);
    scene.ordered(false, Some(Goal::Rest));
    assert_eq!(scene.goal(), Some(Goal::Rest), "a goal ends the pause");
}

#[test]
fn what_is_said_in_chat_is_done_while_goals_are_paused() {
    let mut scene = Scene::new(&Land::default(), "ann joins at 0 0 / bob joins at 20 20");
    scene.ordered(true, None);
    let told = |goal| AgentWord::Command(Some(goal));
    scene.hears(told(Goal::Place(Tile::new(12, 0))));
    scene.until("ann is there", |world| {
        world
            .player(&ann())
            .unwrap()
            .tile()
            .steps_to(Tile::new(12, 0))
            <= 3
    });
    scene.wait(60);
    assert_eq!(scene.goal(), None, "goals are still paused");
    scene.hears(told(Goal::Follow("bob".into())));
    scene.until("ann is with bob", |world| {
        world
            .player(&ann())
            .unwrap()
            .tile()
            .steps_to(Tile::new(20, 20))
            < 3
    });
    scene.stage.play("bob goes to 40 20");
    scene.until("ann came along", |world| {
        world
            .player(&ann())
            .unwrap()
            .tile()
            .steps_to(Tile::new(40, 20))
            < 3
    });
    scene.hears(AgentWord::Command(None));
    scene.stage.play("bob goes to 0 0");
    scene.wait(40);
    assert!(
        scene.at().steps_to(Tile::new(40, 20)) < 3,
        "it was told to stop"
    );
}

#[test]
fn goals_rest_while_somebody_plays_the_character() {
    let mut scene = Scene::new(&Land::default(), "ann joins at 0 0");
    scene.hears(AgentWord::Played(true));
    scene.ordered(false, Some(Goal::Place(Tile::new(60, 0))));
    // It became an agent just now, so the zone reports its player anew.
    scene.hears(AgentWord::Played(true));
    scene.stage.play("ann stops");
    let stands = scene.at();
    scene.wait(40);
    assert_eq!(scene.at(), stands);
    scene.stage.play("ann goes to 0 20");
    scene.until("it goes where its player says", |world| {
        world.player(&ann()).unwrap().tile() == Tile::new(0, 20)
    });
    scene.hears(AgentWord::Played(false));
    scene.until("the goal goes on", |world| {
        world
            .player(&ann())
            .unwrap()
            .tile()
            .steps_to(Tile::new(60, 0))
            <= 3
    });
}

#[test]
fn an_agent_picks_up_what_lies_about_and_counts_it() {
    let before = "ann joins at 0 0 / bob joins at 6 0 with logs 1 candle 7\n\
                  bob drops 0 / bob drops 1\nbob leaves";
    let mut scene = Scene::new(&Land::default(), before);
    // A dropped thing belongs to its dropper for a while.
    scene.ordered(false, Some(Goal::Collect));
    scene.wait(4);
    let taken = |world: &World| world.player(&ann()).unwrap().record().inventory.len();
    assert_eq!(taken(&scene.stage.world), 0);
    scene.ordered(true, None);
    scene.wait(100);
    scene.ordered(false, Some(Goal::Collect));
    scene.until("it has both", |world| taken(world) == 2);
    scene.until("it is done", |world| {
        world.player(&ann()).unwrap().agent().unwrap().over()
    });
    let pickups = scene.recent_actions().into_iter();
    assert_eq!(
        pickups
            .filter(|sort| *sort == AgentActionKind::Pickup)
            .count(),
        2
    );
    assert_eq!(scene.stage.world.takeable_near(&ann()), 0);
}

#[test]
fn nothing_is_taken_while_it_cannot_be_saved() {
    let before = "ann joins at 0 0 / bob joins at 2 0 with logs 1\nbob drops 0";
    let mut scene = Scene::new(&Land::default(), before);
    scene.ordered(true, None);
    scene.wait(100);
    let orders = AgentWord::Orders(Orders {
        version: 2,
        agent: true,
        active: true,
        paused: false,
        goal: Some(Goal::Collect),
        progress: 0,
    });
    scene.stage.step(Inbox {
        agents: vec![AgentInput {
            who: ann(),
            word: orders,
        }],
        value: Value::Unavailable,
        ..Inbox::default()
    });
    for _ in 0..10 {
        scene.stage.play("ann may not save");
    }
    assert!(
        scene
            .stage
            .world
            .player(&ann())
            .unwrap()
            .record()
            .inventory
            .is_empty()
    );
}

#[test]
fn what_cannot_be_reached_is_given_up() {
    let land = Land::default().rect("water", (-20, -20), (20, -18));
    let land = land.rect("water", (-20, 18), (20, 20));
    let land = land.rect("water", (-20, -20), (-18, 20));
    let land = land.rect("water", (18, -20), (20, 20));
    let mut scene = Scene::new(&land, "ann joins at 0 0");
    scene.ordered(false, Some(Goal::Place(Tile::new(100, 100))));
    scene.until("it gives up", |world| {
        world.player(&ann()).unwrap().agent().unwrap().over()
    });
    assert!(
        scene
            .recent_actions()
            .contains(&AgentActionKind::GoalFailed)
    );
}

#[test]
fn who_is_an_agent_no_more_stands_still_and_looks_like_anybody() {
    let mut scene = Scene::new(&Land::default(), "ann joins at 0 0");
    scene.ordered(false, Some(Goal::Place(Tile::new(90, 0))));
    scene.wait(3);
    let none = Orders {
        version: 9,
        agent: false,
        active: false,
        paused: false,
        goal: None,
        progress: 0,
    };
    scene.hears(AgentWord::Orders(none));
    let stands = scene.at();
    scene.wait(20);
    assert_eq!(scene.at(), stands);
    let look = scene.stage.world.look(&ann().entity()).unwrap();
    assert_eq!(look.field("agent"), None);
}

#[test]
fn what_an_agent_is_about_moves_along_with_it() {
    let mut scene = Scene::new(&Land::default(), "ann joins at 10 10");
    scene.ordered(false, Some(Goal::Place(Tile::new(60, 10))));
    scene.wait(4);
    let region = Region::from(Tile::new(10, 10));
    let (before, bytes) = (
        scene.stage.world.player(&ann()).unwrap().agent().cloned(),
        scene.stage.world.region_out(region).unwrap(),
    );
    let now = Tick(BEGIN + 500);
    scene
        .stage
        .world
        .region_in(region, now, Some(&bytes))
        .unwrap();
    let after = scene.stage.world.player(&ann()).unwrap().agent().cloned();
    let goal =
        |agent: &Option<world::Agent>| agent.as_ref().unwrap().pursuit().unwrap().goal.clone();
    assert_eq!(goal(&before), goal(&after));
    let (record, hot) = scene.stage.world.leave(&ann()).unwrap();
    let bytes = hot.to_bytes();
    let hot = world::PlayerHot::from_bytes(&bytes).unwrap();
    assert_eq!(goal(&hot.agent), goal(&before));
    assert_eq!(record.id, ann());
}

#[test]
fn a_crowd_of_agents_leaves_players_their_searches() {
    let land = Land::default();
    let names: Vec<String> = (0..300).map(|n| format!("agent{n}")).collect();
    let joins: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(n, name)| format!("{name} joins at {} {}", n % 20, n / 20))
        .collect();
    let mut stage = Stage::new(&land);
    stage.play(&joins.join(" / "));
    let orders = Orders {
        version: 1,
        agent: true,
        active: true,
        paused: false,
        goal: None,
        progress: 0,
    };
    let agents = names.iter().map(|name| AgentInput {
        who: name.as_str().into(),
        word: AgentWord::Orders(orders.clone()),
    });
    stage.step(Inbox {
        agents: agents.collect(),
        ..Inbox::default()
    });
    let mut told = stage.play("bob joins at -40 -40");
    told += &stage.play("bob goes to 100 100");
    assert!(!told.contains("refused"), "{told}");
    stage.play("wait 20");
    let walks = names.iter().filter(|name| {
        let player = stage.world.player(&name.as_str().into()).unwrap();
        player.walking() || player.tile().steps_to(Tile::new(10, 7)) > 12
    });
    assert!(walks.count() > 250, "each of them gets its turn");
}
