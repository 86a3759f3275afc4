//! The tick: it freezes all that it has heard, makes the world play, and tells and saves the
//! events.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use bytes::Bytes;
use proto::{
    client::{ErrorCode, Refusal},
    rpc::zone::v1::Input,
};
use world::{AgentInput, CharacterId, Inbox, Phase, PhaseClock, PlayerInput, Region, Tick};

use super::{
    Run,
    trace::{self, TickTrace},
};
use crate::{
    beat::Edge,
    metrics::Metrics,
    ownership::progress::Progress,
    translate::{self, Refused, Request},
};

/// Ticks from one report of the agents to the next.
const REPORT_TICKS: u64 = 5;

/// Measures the time between two marks.
struct Stopwatch<'a> {
    metrics: &'a Metrics,
    last: Instant,
}

impl Stopwatch<'_> {
    fn mark(&mut self, phase: &'static str) {
        let now = Instant::now();
        self.metrics.phase(phase, now - self.last);
        self.last = now;
    }
}

/// Measures the phases of the world. Remembers the player whose input the world is handling, and
/// the region that it plays.
struct Listening<'a, 'b> {
    watch: &'a mut Stopwatch<'b>,
    handled: &'a mut Option<CharacterId>,
    playing: &'a mut Option<Region>,
    progress: &'a Progress,
}

impl PhaseClock for Listening<'_, '_> {
    fn phase(&mut self, phase: Phase) {
        self.watch.mark(phase.name());
        *self.handled = None;
        *self.playing = None;
        self.progress.plays(None);
    }

    fn input(&mut self, who: &CharacterId) {
        *self.handled = Some(who.clone());
    }

    fn region(&mut self, region: Region) {
        *self.playing = Some(region);
        self.progress.plays(Some(region));
    }
}

/// The state of the tick that the run plays just now.
#[derive(Default)]
pub(super) struct TickScope {
    /// Words for agents that the next tick plays.
    pub(super) agent_words: Vec<AgentInput>,
    /// Inputs that the tick plays.
    pub(super) handling: Vec<PlayerInput>,
    /// Character whose input the world is handling.
    pub(super) handled: Option<CharacterId>,
    /// Region that the world plays just now outside anybody's input.
    pub(super) region: Option<Region>,
    /// Region in which the tick panicked: that of the input's player, or the one being played.
    pub(super) panicked_in: Option<Region>,
}

/// Inputs that the world is handling, by character and number.
pub(super) type Requests = BTreeMap<(CharacterId, u64), Input>;

impl Run {
    /// Notes that the tick loop has come round once more.
    pub(crate) fn steps(&self) {
        self.context.pulse.progress.steps.step();
    }

    /// Plays one tick.
    pub(crate) fn tick(&mut self, edge: Edge) {
        let metrics = self.context.metrics.clone();
        let begun = Instant::now();
        let mut watch = Stopwatch {
            metrics: &metrics,
            last: begun,
        };
        let last = std::mem::replace(&mut self.now, edge.number);
        self.taking_edges();
        self.regions_in(last);
        self.stop_edge();
        self.linger_ends();
        let tracer = self.context.tracing.then(|| self.context.tracer.clone());
        let mut trace = TickTrace::new(tracer, self.now);
        let (inbox, requests) = self.freeze(&mut trace);
        watch.mark("freeze");
        let within = trace.enter();
        let mut listening = Listening {
            watch: &mut watch,
            handled: &mut self.scope.handled,
            playing: &mut self.scope.region,
            progress: &self.context.pulse.progress,
        };
        let outcome = self.world.tick(Tick(self.now), inbox, &mut listening);
        self.scope.handling.clear();
        self.note(outcome.changes);
        self.audit(&outcome.trades);
        self.tell(&outcome.events, requests);
        drop(within);
        let traced = trace.end();
        if let Some(tick) = &traced {
            self.traces.note(tick.clone(), self.batch.value_waits());
        }
        watch.mark("tell");
        self.crossings(outcome.crossings);
        self.pull_edges();
        self.source_edges();
        self.announced_edges();
        self.departed_edges();
        self.handovers.forget_left(self.now);
        self.given_edges();
        watch.mark("handover");
        self.show(&outcome.touched);
        self.show_hits(&outcome.hits);
        watch.mark("show");
        self.deliver();
        watch.mark("deliver");
        self.giving_edges();
        self.cut();
        watch.mark("cut");
        self.world.picture();
        self.give_record();
        watch.mark("replay");
        self.drop_closed_links();
        self.stopped();
        let _within = traced.as_ref().map(trace::within);
        self.measure(begun.elapsed(), edge);
    }

    fn measure(&mut self, took: Duration, edge: Edge) {
        if edge.lost > 0 {
            tracing::error!(run = self.id, lost = edge.lost, "ticks were lost");
        }
        self.measure_value();
        let metrics = &self.context.metrics;
        metrics.tick(took, edge.late, edge.lost);
        if self.now.is_multiple_of(REPORT_TICKS) {
            self.report_agents();
        }
        metrics.holds(self.roster.len(), self.regions.held.len(), self.links.len());
        let pulse = &self.context.pulse;
        let players = u32::try_from(self.roster.len()).unwrap_or(u32::MAX);
        pulse.players.store(players, Ordering::Relaxed);
        pulse.tick.note(took);
        self.measure_regions(pulse.tick.micros());
    }

    /// Returns everything that the tick will play, and the requests behind it.
    fn freeze(&mut self, trace: &mut TickTrace) -> (Inbox, Requests) {
        let mut inbox = Inbox {
            arrivals: self.handovers.ripe(self.now),
            inputs: Vec::new(),
            away: self.away(),
            value: self.value_now(),
            agents: self.agent_words(),
        };
        let mut requests = Requests::new();
        let mut leaving = Vec::new();
        for (who, slot) in &mut self.roster {
            // The next owner plays the inputs that this run does not play any more.
            if !slot.free() || slot.inputs.len() == 0 || self.ending.stopping.is_some() {
                continue;
            }
            let ready = slot.inputs.ready();
            let mut left = false;
            for input in ready {
                if left {
                    slot.tell(too_late(&input));
                    continue;
                }
                let shown = trace.input(&input);
                if !shown.is_empty() {
                    slot.messages.traceparents.push(shown);
                }
                match translate::request(&input) {
                    Ok(Request::Intent(intent)) => {
                        let who = who.clone();
                        let number = input.number;
                        requests.insert((who.clone(), number), input);
                        inbox.inputs.push(PlayerInput {
                            who,
                            number,
                            intent,
                        });
                    }
                    Ok(Request::Leave) if fights(&self.world, who, self.now) => {
                        self.context.metrics.input("refused");
                        slot.tell(translate::error(&input, in_combat()));
                    }
                    Ok(Request::Leave) => {
                        left = true;
                        leaving.push((who.clone(), input.id));
                    }
                    Err(why) => {
                        self.context.metrics.input("refused");
                        slot.tell(translate::bad_request(&input, why));
                    }
                }
            }
        }
        self.context.metrics.inbox(inbox.inputs.len());
        for (who, re) in leaving {
            self.leaves(&who, re, &mut inbox, &mut requests);
        }
        self.scope.handling.clone_from(&inbox.inputs);
        (inbox, requests)
    }

    /// Returns the players in duels whom no session plays just now.
    fn away(&self) -> BTreeSet<CharacterId> {
        let alone = self
            .roster
            .iter()
            .filter(|(_, slot)| slot.session.is_none());
        let away = alone.filter(|(who, _)| self.world.duel_of(who).is_some());
        away.map(|(who, _)| who.clone()).collect()
    }

    /// Takes a leaving player's earlier inputs out of the tick. They count as done, because the
    /// player is not there to see their effects. An input that may move value is answered as too
    /// late instead, because the player would find its effect in its pack.
    fn leaves(&mut self, who: &CharacterId, re: Bytes, inbox: &mut Inbox, asked: &mut Requests) {
        for input in inbox.inputs.extract_if(.., |input| input.who == *who) {
            if !input.intent.may_move_value() {
                continue;
            }
            let request = asked.remove(&(input.who, input.number));
            if let (Some(slot), Some(request)) = (self.roster.get_mut(who), request) {
                slot.tell(too_late(&request));
            }
        }
        self.leave(who, "left", re);
    }
}

/// Returns whether a player must not leave, because it has just given or taken a blow, or has come
/// to the ring of a duel.
fn fights(world: &world::World, who: &CharacterId, now: u64) -> bool {
    let player = world.player(who);
    player.is_some_and(|player| !player.may_leave(Tick(now))) || world.duels_now(who)
}

fn in_combat() -> Refused {
    Refused {
        code: ErrorCode::Refused(Refusal::InCombat),
        words: "not within 16 ticks of a blow, given or taken, and not in a ring".to_owned(),
    }
}

fn too_late(input: &Input) -> proto::rpc::zone::v1::Private {
    let why = Refused {
        code: ErrorCode::NotInWorld,
        words: "the character is leaving the world".to_owned(),
    };
    translate::error(input, why)
}
