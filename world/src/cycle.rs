//! The tick: its phases in order, and who answers which intent.
//!
//! The order is: who arrives (by character id); inputs (by place in the order, then number);
//! NPCs; players' steps; energy; crossings. NPCs move before players, so that a player never
//! runs into one that was about to step aside.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::border::{self, Crossing};
use crate::changes::Changes;
use crate::event::Event;
use crate::ids::{CharacterId, EntityId};
use crate::intent::{Arrival, Intent, PlayerInput};
use crate::item::Value;
use crate::player::{PID_END, Pace, Player};
use crate::record::ENERGY_FULL;
use crate::refusal::Refusal;
use crate::rng::{self, Dice};
use crate::rules::npc_mind::{self, Crowd};
use crate::rules::{energy, examine, movement};
use crate::tick::Tick;
use crate::tile::Chunk;
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
}

/// All that a tick did, for those outside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What somebody in particular must be told, in order.
    pub events: Vec<Event>,
    /// Whose public look may have changed, appeared or gone since the tick before.
    pub touched: BTreeSet<EntityId>,
    /// Who must be saved.
    pub changes: Changes,
    /// Who should belong to another region, by character id.
    pub crossings: Vec<Crossing>,
}

/// A part of a tick whose time is worth knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Who comes in.
    Arrivals,
    /// What players ask.
    Inputs,
    /// What NPCs do.
    Npcs,
    /// The steps of players.
    Players,
    /// Run energy.
    Energy,
    /// Who crosses a border.
    Borders,
}

impl Phase {
    /// All of them, in the order of a tick.
    pub const ALL: [Phase; 6] = [
        Phase::Arrivals,
        Phase::Inputs,
        Phase::Npcs,
        Phase::Players,
        Phase::Energy,
        Phase::Borders,
    ];

    /// The label by which it is measured.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Arrivals => "arrivals",
            Phase::Inputs => "inputs",
            Phase::Npcs => "npcs",
            Phase::Players => "players",
            Phase::Energy => "energy",
            Phase::Borders => "borders",
        }
    }
}

/// Told when each phase ends and whose input comes next; whoever drives the world has the clock.
pub trait PhaseClock {
    /// `phase` has just ended.
    fn phase(&mut self, phase: Phase);

    /// An input of `who` is handled next.
    fn input(&mut self, _who: &CharacterId) {}
}

/// Does not care about time.
impl PhaseClock for () {
    fn phase(&mut self, _: Phase) {}
}

impl World {
    /// Plays the tick `now`, which is later than any before.
    pub fn tick(&mut self, now: Tick, inbox: Inbox, phases: &mut dyn PhaseClock) -> Outcome {
        self.now = now;
        let touched = std::mem::take(&mut self.touched);
        let mut out = Outcome {
            touched,
            ..Outcome::default()
        };
        self.regions
            .values_mut()
            .for_each(|counters| counters.ticks_played += 1);
        self.arrivals(inbox.arrivals, &mut out);
        phases.phase(Phase::Arrivals);
        self.inputs(inbox.inputs, phases, &mut out);
        phases.phase(Phase::Inputs);
        self.move_npcs(&mut out);
        phases.phase(Phase::Npcs);
        self.move_players(&mut out);
        phases.phase(Phase::Players);
        self.restore_energy(&mut out);
        phases.phase(Phase::Energy);
        self.find_crossings(&mut out);
        phases.phase(Phase::Borders);
        out
    }

    fn arrivals(&mut self, mut arrivals: Vec<Arrival>, out: &mut Outcome) {
        arrivals.sort_by(|a, b| a.record.id.cmp(&b.record.id));
        for arrival in arrivals {
            let who = arrival.record.id.clone();
            let refusal = if self.players.contains_key(&who) {
                Some(Refusal::Busy)
            } else if !self.regions.contains_key(&arrival.region) {
                Some(Refusal::NotFound)
            } else {
                None
            };
            if let Some(refusal) = refusal {
                out.events.push(Event::TurnedAway { who, refusal });
                continue;
            }
            if !arrival.record.placed {
                out.changes.moved.insert(who.clone());
            }
            self.arrive(arrival);
            out.events.push(Event::Joined { who });
        }
        out.touched.append(&mut self.touched);
    }

    fn arrive(&mut self, arrival: Arrival) {
        let Arrival {
            mut record,
            hot,
            region,
        } = arrival;
        if !record.placed {
            record.tile = self.content.spawn();
            record.placed = true;
            record.energy = ENERGY_FULL;
        }
        record.energy = record.energy.min(ENERGY_FULL);
        record.health = record.health.min(record.max_health());
        let key = rng::key(record.id.as_str());
        let pid = Dice::new(self.seed, key, self.now.0).below(PID_END);
        let told_energy = record.energy;
        let mut player = Player {
            region,
            region_since: self.now,
            pid,
            path: movement::brought(hot.path),
            held: false,
            told_energy,
            pace: Pace::Stood,
            record,
        };
        let tile = player.record.tile;
        movement::stand(&mut player, self.content.terrain(), tile);
        self.settle_player(player);
    }

    fn inputs(&mut self, inputs: Vec<PlayerInput>, phases: &mut dyn PhaseClock, out: &mut Outcome) {
        let place = |who: &CharacterId| self.players.get(who).map_or(PID_END, |p| p.pid);
        let mut ordered: Vec<(u32, PlayerInput)> = inputs
            .into_iter()
            .map(|input| (place(&input.who), input))
            .collect();
        ordered.sort_by(|(a_pid, a), (b_pid, b)| {
            (a_pid, &a.who, a.number).cmp(&(b_pid, &b.who, b.number))
        });
        let searches_end = self
            .router
            .visited()
            .saturating_add(self.rules.search_tiles_per_tick);
        for (_, input) in ordered {
            let PlayerInput {
                who,
                number,
                intent,
            } = input;
            phases.input(&who);
            let answer = match self.follow(&who, intent, searches_end, out) {
                Ok(()) => Event::Done {
                    who,
                    number,
                    value: false,
                },
                Err(refusal) => Event::Refused {
                    who,
                    number,
                    refusal,
                    value: false,
                },
            };
            out.events.push(answer);
        }
    }

    /// Who answers which intent.
    fn follow(
        &mut self,
        who: &CharacterId,
        intent: Intent,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        if player.held {
            return Err(Refusal::Busy);
        }
        match intent {
            Intent::Walk { to, run } => {
                let terrain = self.content.terrain();
                movement::walk(player, &mut self.router, terrain, searches_end, to)?;
                if let Some(run) = run {
                    choose_pace(player, run, out);
                }
            }
            Intent::Run(run) => choose_pace(player, run, out),
            Intent::Stop => player.path.clear(),
            Intent::Examine { target } => {
                let from = player.tile();
                let played = |region| self.regions.contains_key(&region);
                let (players, npcs) = (&self.players, &self.npcs);
                let text = examine::examine(players, npcs, &self.content, played, from, &target)?;
                out.events.push(Event::Examined {
                    who: who.clone(),
                    target,
                    text,
                });
            }
            Intent::Drop { .. }
            | Intent::Pickup { .. }
            | Intent::MoveSlot { .. }
            | Intent::WithdrawCoins { .. }
            | Intent::DepositCoins { .. }
            | Intent::HomeTeleport => return Err(Refusal::Unsupported),
        }
        Ok(())
    }

    fn move_npcs(&mut self, out: &mut Outcome) {
        let now = self.now;
        if !self.npcs.values().any(|npc| npc_mind::stirs(npc, now)) {
            return;
        }
        let mut crowd = Crowd::default();
        self.players
            .values()
            .for_each(|player| crowd.stand(player.tile()));
        self.npcs
            .values()
            .for_each(|npc| crowd.stand(npc.state.tile));
        let terrain = self.content.terrain();
        for (id, npc) in &mut self.npcs {
            if !npc_mind::stirs(npc, now) {
                continue;
            }
            let before = Chunk::from(npc.state.tile);
            let mut dice = Dice::new(self.seed, npc.placement.key, now.0);
            if npc_mind::act(npc, terrain, &mut crowd, now, &mut dice) {
                self.index.shift(before, Chunk::from(npc.state.tile), id);
                out.touched.insert(id.clone());
            }
        }
    }

    /// Nobody stands in a player's way, so that the order does not matter here.
    fn move_players(&mut self, out: &mut Outcome) {
        let terrain = self.content.terrain();
        for (who, player) in &mut self.players {
            let before = Chunk::from(player.tile());
            if movement::advance(player, terrain, &self.rules) {
                let id = who.entity();
                self.index.shift(before, Chunk::from(player.tile()), &id);
                out.touched.insert(id);
                out.changes.moved.insert(who.clone());
            }
        }
    }

    fn restore_energy(&mut self, out: &mut Outcome) {
        for (who, player) in &mut self.players {
            let ran = player.record.running;
            if energy::tick(player) {
                out.events.push(Event::Vitals { who: who.clone() });
            }
            if ran != player.record.running {
                out.touched.insert(who.entity());
            }
        }
    }

    fn find_crossings(&mut self, out: &mut Outcome) {
        for (who, player) in &self.players {
            if let Some(to) = border::crossing(player, self.now) {
                out.crossings.push(Crossing {
                    who: who.clone(),
                    to,
                    place: None,
                });
            }
        }
    }
}

/// The client is told in any case: it may have shown the choice already.
fn choose_pace(player: &mut Player, run: bool, out: &mut Outcome) {
    let who = player.record.id.clone();
    if energy::choose(player, run) {
        out.touched.insert(who.entity());
    }
    out.events.push(Event::Vitals { who });
}
