//! The tick: what was heard is frozen, the world plays, what happened is told and saved.

use std::{
    collections::BTreeMap,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use bytes::Bytes;
use proto::{
    client::ErrorCode,
    rpc::zone::v1::{Input, SessionFrame},
};
use world::{CharacterId, Event, Inbox, Phase, PhaseClock, PlayerInput, Refusal, Tick};

use super::{Run, trace::TickTrace};
use crate::{
    metrics::Metrics,
    roster::Stage,
    tick_loop::Edge,
    translate::{self, Refused, Told, Wish, look, record},
};

/// Measures what lies between two marks.
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

/// Measures the phases of the world, and keeps whose input it is handling.
struct Listening<'a, 'b> {
    watch: &'a mut Stopwatch<'b>,
    handled: &'a mut Option<CharacterId>,
}

impl PhaseClock for Listening<'_, '_> {
    fn phase(&mut self, phase: Phase) {
        self.watch.mark(phase.name());
        *self.handled = None;
    }

    fn input(&mut self, who: &CharacterId) {
        *self.handled = Some(who.clone());
    }
}

/// A request that the world is thinking about.
struct Request {
    event: String,
    id: Bytes,
}

type Requests = BTreeMap<(CharacterId, u64), Request>;

impl Run {
    /// Plays one tick.
    pub(crate) fn tick(&mut self, edge: Edge) {
        let metrics = self.hands.metrics.clone();
        let begun = Instant::now();
        let mut watch = Stopwatch {
            metrics: &metrics,
            last: begun,
        };
        let last = std::mem::replace(&mut self.now, edge.number);
        self.regions_in(last);
        self.stop_edge();
        self.linger_ends();
        let tracer = self.hands.tracing.then(|| self.hands.tracer.clone());
        let mut trace = TickTrace::new(tracer, self.now);
        let (inbox, requests) = self.freeze(&mut trace);
        watch.mark("freeze");
        let mut listening = Listening {
            watch: &mut watch,
            handled: &mut self.handled,
        };
        let outcome = self.world.tick(Tick(self.now), inbox, &mut listening);
        self.handling.clear();
        self.tick_trace = trace.end();
        self.tell(&outcome.events, requests);
        for who in &outcome.changes.moved {
            self.batch.moved(who, self.now);
        }
        for who in &outcome.changes.valued {
            self.batch.valued(who);
        }
        watch.mark("tell");
        self.crossings(outcome.crossings);
        self.source_edges();
        self.announced_edges();
        self.departed_edges();
        watch.mark("handover");
        self.show(&outcome.touched);
        watch.mark("show");
        self.deliver();
        watch.mark("deliver");
        self.cut();
        watch.mark("cut");
        self.world.picture();
        watch.mark("replay");
        self.mourn_links();
        self.stopped();
        self.measure(begun.elapsed(), edge);
    }

    fn measure(&self, took: Duration, edge: Edge) {
        if edge.lost > 0 {
            tracing::error!(run = self.id, lost = edge.lost, "ticks were lost");
        }
        let metrics = &self.hands.metrics;
        metrics.tick(took, edge.late, edge.lost);
        metrics.holds(self.roster.len(), self.held.len(), self.links.len());
        let pulse = &self.hands.pulse;
        let players = u32::try_from(self.roster.len()).unwrap_or(u32::MAX);
        pulse.players.store(players, Ordering::Relaxed);
        let us = u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
        let before = pulse.tick_cost_us.load(Ordering::Relaxed);
        let mean = before - before / 8 + us / 8;
        pulse.tick_cost_us.store(mean, Ordering::Relaxed);
    }

    /// All that the tick will hear.
    fn freeze(&mut self, trace: &mut TickTrace) -> (Inbox, Requests) {
        // Nobody is played twice in one tick, however early its last owner was.
        let ripe = self
            .arrivals
            .extract_if(.., |(played, _)| *played < self.now);
        let mut inbox = Inbox {
            arrivals: ripe.map(|(_, arrival)| arrival).collect(),
            ..Inbox::default()
        };
        let mut requests = Requests::new();
        let mut leaving = Vec::new();
        for (who, seat) in &mut self.roster {
            if !seat.free() || seat.inputs.len() == 0 {
                continue;
            }
            let ready = seat.inputs.ready();
            let mut left = false;
            for input in ready {
                if left {
                    seat.tell(too_late(&input));
                    continue;
                }
                let shown = trace.input(&input);
                if !shown.is_empty() {
                    seat.traceparents.push(shown);
                }
                match translate::wish(&input) {
                    Ok(Wish::Intent(intent)) => {
                        let who = who.clone();
                        let number = input.number;
                        let Input { event, id, .. } = input;
                        requests.insert((who.clone(), number), Request { event, id });
                        inbox.inputs.push(PlayerInput {
                            who,
                            number,
                            intent,
                        });
                    }
                    Ok(Wish::Leave) => {
                        left = true;
                        leaving.push((who.clone(), input.id));
                    }
                    Err(why) => {
                        self.hands.metrics.input("refused");
                        seat.tell(translate::error(&input.event, &input.id, why));
                    }
                }
            }
        }
        inbox.arrivals.sort_by(|a, b| a.record.id.cmp(&b.record.id));
        self.hands.metrics.inbox(inbox.inputs.len());
        for (who, re) in leaving {
            // What it asked before is as good as done: it is not there to see it.
            inbox.inputs.retain(|input| input.who != who);
            self.leave(&who, "left", re);
        }
        self.handling.clone_from(&inbox.inputs);
        (inbox, requests)
    }

    /// Tells each player what happened to it.
    fn tell(&mut self, events: &[Event], mut requests: Requests) {
        for event in events {
            let who = event.who();
            let record = self.world.player(who).map(world::Player::record);
            let Some(told) = translate::told(event, record) else {
                continue;
            };
            let Some(seat) = self.roster.get_mut(who) else {
                continue;
            };
            match told {
                Told::Done(number) => {
                    let request = requests.remove(&(who.clone(), number));
                    self.hands.metrics.input("played");
                    if let Some(ack) = request.and_then(|r| translate::ack(&r.id)) {
                        seat.tell(ack);
                    }
                }
                Told::Refused(number, why) => {
                    self.hands.metrics.input("refused");
                    if let Some(request) = requests.remove(&(who.clone(), number)) {
                        seat.tell(translate::error(&request.event, &request.id, why));
                    }
                }
                Told::Message(message) => seat.tell(message),
                Told::Joined => self.joined(who),
                Told::TurnedAway(refusal) => self.turned_away(who, refusal),
            }
        }
        // Nobody is left without an answer.
        for ((who, _), request) in requests {
            let seat = self.roster.get_mut(&who);
            if let (Some(seat), Some(ack)) = (seat, translate::ack(&request.id)) {
                seat.tell(ack);
            }
        }
    }

    fn joined(&mut self, who: &CharacterId) {
        let Some(seat) = self.roster.get_mut(who) else {
            return;
        };
        let stage = std::mem::replace(&mut seat.stage, Stage::Playing);
        // The world may have put it elsewhere than the store had it.
        self.batch.moved(who, self.now);
        if stage == (Stage::Joining { welcome: true }) {
            self.attached(who);
        }
    }

    fn turned_away(&mut self, who: &CharacterId, refusal: Refusal) {
        let joining = |seat: &crate::roster::Seat| matches!(seat.stage, Stage::Joining { .. });
        if !self.roster.get(who).is_some_and(joining) {
            return;
        }
        tracing::warn!(run = self.id, character = %who, ?refusal, "a character cannot come in");
        self.batch.forget(who);
        if let Some(seat) = self.roster.remove(who) {
            self.turn_out(who, &seat, "busy");
        }
    }

    /// Publishes what may look different now.
    fn show(&mut self, touched: &std::collections::BTreeSet<world::EntityId>) {
        for id in touched {
            let seat = self.roster.get(&id.character());
            let sequence = seat.map_or(0, |seat| seat.sequence);
            let appearance = self
                .world
                .look(id)
                .map(|seen| look::appearance(seen, sequence));
            let transferred = self.transferred.contains(id);
            self.published.show(id, appearance, transferred);
        }
        self.transferred.clear();
    }

    /// Sends each gateway its frame.
    fn deliver(&mut self) {
        let changes = self.published.flush();
        let mut sessions: BTreeMap<String, Vec<SessionFrame>> = BTreeMap::new();
        for (who, seat) in &mut self.roster {
            let messages = seat.take_outbox();
            let traceparents = std::mem::take(&mut seat.traceparents);
            let Some(session) = &seat.session else {
                continue;
            };
            let tile = self.world.player(who).map(world::Player::tile);
            if tile.is_none() && messages.is_empty() {
                continue;
            }
            let frame = SessionFrame {
                session_id: session.session_id.clone(),
                character_id: who.to_string(),
                ownership_sequence: seat.sequence,
                position: tile.map(record::rpc_tile),
                messages,
                traceparents,
            };
            sessions
                .entry(session.gateway_id.clone())
                .or_default()
                .push(frame);
        }
        let at = (self.id, self.now);
        let sent = self
            .links
            .publish(at, &changes, &mut self.published, sessions);
        self.hands.metrics.frames(sent.frames, sent.bytes);
        if self.config.dump_ticks > 0 {
            self.dumps.push_back((self.now, self.published.snapshot()));
            while self.dumps.len() > self.config.dump_ticks {
                self.dumps.pop_front();
            }
        }
    }
}

fn too_late(input: &Input) -> proto::rpc::zone::v1::Private {
    let why = Refused {
        code: ErrorCode::NotInWorld,
        words: "the character is leaving the world".to_owned(),
    };
    translate::error(&input.event, &input.id, why)
}
