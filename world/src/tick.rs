//! The tick: its phases in order, and who answers which intent.
//!
//! The order is: who arrives (by character id); duels; inputs (by place in the order, then number); who
//! goes home; NPCs; players' steps, and where those turn who follow others; players' attacks; blows
//! that land, deaths, and who stands up again; what lies on the ground (who has come to it takes it,
//! by place in the order, and what is due goes); visits; work (trees and shoals, who works by place
//! in the order, fires); shops; trades that cannot go on; skills;
//! health and prayers; energy; crossings. NPCs move before players, so that a
//! player never runs into one that was about to step aside.

mod inputs;
pub(crate) mod value;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub(crate) use inputs::{failed, interrupt, lay_down, turn_away};

use crate::changes::Changes;
use crate::entity::ids::{CharacterId, EntityId};
use crate::event::Event;
use crate::features::agents::{Agent, AgentInput};
use crate::features::arrivals::Arrival;
use crate::features::combat::Hit;
use crate::features::movement::border::Crossing;
use crate::features::trade::TradeNote;
use crate::geometry::tile::Region;
use crate::intent::PlayerInput;
use crate::item::Value;
use crate::time::Tick;
use crate::world::World;

/// All that a tick hears: frozen at its edge, and enough to play it again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inbox {
    /// Who comes in.
    pub arrivals: Vec<Arrival>,
    /// What players ask.
    pub inputs: Vec<PlayerInput>,
    /// Whether value may change hands.
    #[serde(default)]
    pub value: Value,
    /// Those in duels whom nobody plays just now.
    #[serde(default)]
    pub away: BTreeSet<CharacterId>,
    /// What comes in about agents, in order.
    #[serde(default)]
    pub agents: Vec<AgentInput>,
}

/// All that a tick did, for those outside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What somebody in particular must be told, in order.
    pub events: Vec<Event>,
    /// Whose public look may have changed, appeared or gone since the tick before.
    pub touched: BTreeSet<EntityId>,
    /// The blows that landed, in order.
    pub hits: Vec<Hit>,
    /// Who must be saved.
    pub changes: Changes,
    /// Each step of each trade, in order.
    pub trades: Vec<TradeNote>,
    /// Who should belong to another region, by character id.
    pub crossings: Vec<Crossing>,
}

impl Outcome {
    /// Appends an event of some feature.
    pub(crate) fn emit(&mut self, event: impl Into<Event>) {
        self.events.push(event.into());
    }
}

/// A part of a tick whose time is worth knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Who comes in.
    Arrivals,
    /// What duels come to.
    Duels,
    /// What players ask.
    Inputs,
    /// Who goes home.
    Homeward,
    /// What agents make up their minds to.
    Agents,
    /// What NPCs do.
    Npcs,
    /// The steps of players.
    Players,
    /// Who attacks whom.
    Fights,
    /// Which blows land, who dies of them, and who stands up again.
    Deaths,
    /// What lies on the ground.
    Ground,
    /// Who comes to a bank, or leaves it.
    Visits,
    /// Who works, and what becomes of trees, shoals and fires.
    Skilling,
    /// What shops have in stock.
    Shops,
    /// Who cannot go on trading.
    Trades,
    /// Who gains experience.
    Skills,
    /// Who gets better, and whose prayers use up points.
    Mending,
    /// Run energy.
    Energy,
    /// Who crosses a border.
    Borders,
}

impl Phase {
    /// All of them, in the order of a tick.
    pub const ALL: [Phase; 18] = [
        Phase::Arrivals,
        Phase::Duels,
        Phase::Inputs,
        Phase::Homeward,
        Phase::Agents,
        Phase::Npcs,
        Phase::Players,
        Phase::Fights,
        Phase::Deaths,
        Phase::Ground,
        Phase::Visits,
        Phase::Skilling,
        Phase::Shops,
        Phase::Trades,
        Phase::Skills,
        Phase::Mending,
        Phase::Energy,
        Phase::Borders,
    ];

    /// The label by which it is measured.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Arrivals => "arrivals",
            Phase::Duels => "duels",
            Phase::Inputs => "inputs",
            Phase::Homeward => "homeward",
            Phase::Agents => "agents",
            Phase::Npcs => "npcs",
            Phase::Players => "players",
            Phase::Fights => "fights",
            Phase::Deaths => "deaths",
            Phase::Ground => "ground",
            Phase::Visits => "visits",
            Phase::Skilling => "labour",
            Phase::Shops => "shops",
            Phase::Trades => "trades",
            Phase::Skills => "skills",
            Phase::Mending => "mending",
            Phase::Energy => "energy",
            Phase::Borders => "borders",
        }
    }
}

/// Told when each phase ends and what comes next in it; whoever drives the world has the clock.
pub trait PhaseClock {
    /// `phase` has just ended.
    fn phase(&mut self, phase: Phase);

    /// An input of `who` is handled next.
    fn input(&mut self, _who: &CharacterId) {}

    /// Something that belongs to this region is played next, for nobody in particular.
    fn region(&mut self, _region: Region) {}
}

/// Does not care about time.
impl PhaseClock for () {
    fn phase(&mut self, _: Phase) {}
}

impl World {
    /// Plays the tick `now`, which is later than any before.
    pub fn tick(&mut self, now: Tick, inbox: Inbox, phases: &mut dyn PhaseClock) -> Outcome {
        self.now = now;
        self.minted = 0;
        let touched = std::mem::take(&mut self.touched);
        let mut out = Outcome {
            touched,
            ..Outcome::default()
        };
        self.regions
            .values_mut()
            .for_each(|counters| counters.ticks_played += 1);
        self.arrivals(inbox.arrivals, inbox.value, &mut out);
        phases.phase(Phase::Arrivals);
        self.play_duels(&inbox.away, inbox.value, &mut out);
        phases.phase(Phase::Duels);
        self.inputs(inbox.inputs, inbox.value, phases, &mut out);
        phases.phase(Phase::Inputs);
        self.bring_home(&mut out);
        phases.phase(Phase::Homeward);
        self.hear_agents(inbox.agents, &mut out);
        self.play_agents(inbox.value, phases, &mut out);
        phases.phase(Phase::Agents);
        self.move_npcs(inbox.value, phases, &mut out);
        phases.phase(Phase::Npcs);
        self.stand_still();
        self.move_players(phases, &mut out);
        self.play_follows(phases, &mut out);
        phases.phase(Phase::Players);
        self.play_fights(inbox.value, phases, &mut out);
        phases.phase(Phase::Fights);
        let mut dead = self.land_blows(inbox.value, &mut out);
        self.fall(&mut dead, &mut out);
        self.bury(dead, &mut out);
        self.raise_the_dead(&mut out);
        phases.phase(Phase::Deaths);
        self.play_ground(inbox.value, phases, &mut out);
        phases.phase(Phase::Ground);
        self.travel(&mut out);
        self.play_visits(&mut out);
        phases.phase(Phase::Visits);
        self.play_resources(&mut out);
        self.play_work(inbox.value, phases, &mut out);
        self.play_fires(inbox.value, phases, &mut out);
        phases.phase(Phase::Skilling);
        self.play_shops(&mut out);
        phases.phase(Phase::Shops);
        self.play_trades(&mut out);
        phases.phase(Phase::Trades);
        self.train_walkers(&mut out);
        phases.phase(Phase::Skills);
        self.count_play();
        self.mend(&mut out);
        self.drain_prayers(&mut out);
        phases.phase(Phase::Mending);
        self.restore_energy(&mut out);
        phases.phase(Phase::Energy);
        self.find_crossings(&mut out);
        phases.phase(Phase::Borders);
        out
    }

    /// One tick more of play for newcomers. An agent that nobody plays only waits.
    fn count_play(&mut self) {
        let most = self.rules.newcomer_ticks;
        for player in self.players.values_mut() {
            let played = player.agent.as_ref().is_none_or(Agent::played);
            if played && player.record.played_ticks < most {
                player.record.played_ticks += 1;
            }
        }
    }
}
