//! The tick: its phases in order, and the feature that answers each intent.
//!
//! The order is: arrivals (by character id); duels; rounds of dances; inputs (by player slot, then
//! number); home teleports; agents; NPCs; players' steps, and the turns of followers; players'
//! attacks; blows that land, poison, deaths and respawns; the ground (players that have come to an
//! item take it, by slot, and due items go); visits; work (trees and shoals, workers by slot, fires);
//! shops; trades that cannot go on; emotes that end; skills; health, boosts and prayers; energy;
//! crossings. NPCs move before players, so that a player never runs into one that was about to step
//! aside.

mod consequences;
mod inputs;
pub(crate) mod value;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

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

/// Inputs of a tick: frozen at its edge, and enough to play it again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inbox {
    /// Players that come in.
    pub arrivals: Vec<Arrival>,
    /// Inputs of players.
    pub inputs: Vec<PlayerInput>,
    /// Whether value may change owners.
    #[serde(default)]
    pub value: Value,
    /// Characters in duels that nobody plays just now.
    #[serde(default)]
    pub away: BTreeSet<CharacterId>,
    /// Inputs about agents, in order.
    #[serde(default)]
    pub agents: Vec<AgentInput>,
}

/// Results of a tick, for the driver of the world.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Events for particular players, in order.
    pub events: Vec<Event>,
    /// Entities that may have appeared, gone, or changed their public look since the tick before.
    pub touched: BTreeSet<EntityId>,
    /// The blows that landed, in order.
    pub hits: Vec<Hit>,
    /// Changes to save.
    pub changes: Changes,
    /// Each step of each trade, in order.
    pub trades: Vec<TradeNote>,
    /// Players that should belong to another region, by character id.
    pub crossings: Vec<Crossing>,
}

impl Outcome {
    /// Appends an event of some feature.
    pub(crate) fn emit(&mut self, event: impl Into<Event>) {
        self.events.push(event.into());
    }
}

/// A part of a tick that the phase clock can time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Phase {
    /// Players that come in.
    Arrivals,
    /// Outcomes of duels.
    Duels,
    /// Inputs of players.
    Inputs,
    /// Players that go home.
    Homeward,
    /// Decisions of agents.
    Agents,
    /// Actions of NPCs.
    Npcs,
    /// The steps of players.
    Players,
    /// Attacks.
    Fights,
    /// Blows that land, deaths by them, and respawns.
    Deaths,
    /// Items on the ground.
    Ground,
    /// Players that come to a bank, or leave it.
    Visits,
    /// Work, and the state of trees, shoals and fires.
    #[strum(to_string = "labour")]
    Skilling,
    /// Stock of shops.
    Shops,
    /// Trades that cannot go on.
    Trades,
    /// Experience that players gain.
    Skills,
    /// Healing, and the points that prayers use up.
    Mending,
    /// Run energy.
    Energy,
    /// Players that cross a border.
    Borders,
}

impl Phase {
    /// Returns the label of the phase in measurements.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Hears the end of each phase, and the player or region that comes next in it. The driver of the
/// world has the clock.
pub trait PhaseClock {
    /// Hears that `phase` has just ended.
    fn phase(&mut self, phase: Phase);

    /// Hears that the world handles an input of `who` next.
    fn input(&mut self, _who: &CharacterId) {}

    /// Hears that the world plays something of this region next, for nobody in particular.
    fn region(&mut self, _region: Region) {}
}

/// Ignores time.
impl PhaseClock for () {
    fn phase(&mut self, _: Phase) {}
}

impl World {
    /// Plays the tick `now`, which is later than any before.
    pub fn tick(&mut self, now: Tick, inbox: Inbox, phases: &mut dyn PhaseClock) -> Outcome {
        self.now = now;
        self.mint.begin();
        let touched = self.index.take_touched();
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
        self.turn_dances(&mut out);
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
        self.play_deaths(inbox.value, &mut out);
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
        self.end_emotes(&mut out);
        self.train_walkers(&mut out);
        phases.phase(Phase::Skills);
        self.count_play();
        self.mend(&mut out);
        self.fade_potions(&mut out);
        self.drain_prayers(&mut out);
        phases.phase(Phase::Mending);
        self.restore_energy(&mut out);
        phases.phase(Phase::Energy);
        self.find_crossings(&mut out);
        phases.phase(Phase::Borders);
        out
    }

    /// Lands blows, lets poison strike, and raises players whose time has come.
    fn play_deaths(&mut self, value: Value, out: &mut Outcome) {
        let mut dead = self.land_blows(value, out);
        self.play_poison(value, &mut dead, out);
        self.fall(&mut dead, out);
        self.bury(dead, out);
        self.raise_the_dead(out);
    }

    /// Counts one tick more of play for newcomers. An agent that nobody plays only waits.
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
