//! Knowledge, counters and intentions of one bot. No socket; the caller passes the time in.

use std::{collections::HashMap, time::Duration};

use proto::client::{ErrorCode, RequestId};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    failover::Failover,
    measure::Tally,
    plan::{LOST_AFTER, Plan, Seen, Step},
};
use crate::bot::{Action, Forager, Message, Payload, Phase, View};

/// Acts of bots beside walking and talking.
#[derive(Debug, Clone, Copy)]
pub struct Acting {
    /// They drop, pick up and move coins, several times between two walks.
    pub actions: bool,
    /// Only the first so many bots do that; the others walk and talk.
    pub doers: usize,
    /// Lowest and highest number of such acts between two walks.
    pub actions_per_rest: (u32, u32),
    /// Each logs out and in again about this often.
    pub leave_every: Option<Duration>,
}

impl Acting {
    /// They only walk and talk.
    pub const NONE: Self = Self {
        actions: false,
        doers: usize::MAX,
        actions_per_rest: ACTIONS_PER_REST,
        leave_every: None,
    };

    /// Returns the acts of the bot of this number.
    pub fn of(self, index: usize) -> Self {
        Self {
            actions: self.actions && index < self.doers,
            ..self
        }
    }
}

/// Time between two acts, in milliseconds.
const ACTION_PAUSE_MS: std::ops::Range<u64> = 100..500;
/// Acts between two walks, of bots that also walk.
const ACTIONS_PER_REST: (u32, u32) = (2, 6);
/// Between leaving the world and entering it, and between two tries to enter, in milliseconds.
const AWAY_MS: std::ops::Range<u64> = 300..3_000;
/// Time after the first of a new character's things comes, by which all of them have come.
const GIFT_WITHIN: Duration = Duration::from_secs(1);

/// Next request of a bot.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Answered by this.
    pub id: u64,
    /// Name of the event.
    pub event: &'static str,
    /// Its data.
    pub data: Value,
}

/// Knowledge and counters of a bot.
pub struct Known {
    /// Learned from the server.
    pub view: View,
    /// Counted by itself.
    pub tally: Tally,
    /// Time for which it stands still when something breaks.
    pub failover: Failover,
    /// It stands still and asks for nothing any more.
    pub hushed: bool,
    /// Its map is compared then.
    pub snapshot_at: Option<Instant>,
    /// The key of its anonymous account.
    pub device_key: Option<String>,
    /// It goes to another gateway then, because this one has said that it leaves.
    pub move_on_at: Option<Instant>,
    plan: Plan,
    forager: Forager,
    acting: Acting,
    dice: ChaCha8Rng,
    pending: HashMap<u64, Instant>,
    walk_id: u64,
    next_id: u64,
    /// Acts still to do before the next walk.
    actions_left: u32,
    next_action_at: Instant,
    /// Time of the last answer, or of the last message about its possessions.
    received_at: Instant,
    /// It has had something: only then it acts.
    gifted: bool,
    leave_at: Option<Instant>,
    leave_id: u64,
    /// It asked to leave the world, and its connection ended before the answer.
    may_have_left: bool,
    enter_at: Option<Instant>,
}

impl Known {
    /// Returns a bot that has not connected yet.
    pub fn new(plan: Plan, acting: Acting, seed: u64, now: Instant) -> Self {
        let mut known = Self {
            view: View::default(),
            tally: Tally::default(),
            failover: Failover::default(),
            hushed: false,
            snapshot_at: None,
            gifted: false,
            device_key: None,
            move_on_at: None,
            plan,
            forager: Forager::new(seed),
            acting,
            dice: ChaCha8Rng::seed_from_u64(seed.rotate_left(17)),
            pending: HashMap::new(),
            walk_id: 0,
            next_id: 0,
            actions_left: 0,
            next_action_at: now,
            received_at: now,
            leave_at: None,
            leave_id: 0,
            may_have_left: false,
            enter_at: None,
        };
        known.plan_to_leave(now);
        known
    }

    /// Returns whether no request waits for its answer, and it is in the world.
    pub fn is_settled(&self) -> bool {
        self.view.phase == Phase::World
            && self.view.possessions.known()
            && self.view.possessions.is_settled()
            && self.enter_at.is_none()
    }

    /// Returns its state in words: its place, and the messages that it awaits.
    pub fn describe(&self) -> String {
        let view = &self.view;
        format!(
            "phase {:?} tick {} at {:?} leaving {} may_have_left {} dead {} resumed {} resyncs {} \
             last error {:?} enters {} pending {} pack known {} open {:?}",
            view.phase,
            view.tick,
            view.position,
            view.leaving,
            self.may_have_left,
            view.dead,
            view.resumed,
            view.resyncs,
            view.last_error,
            self.enter_at.is_some(),
            self.pending.len(),
            view.possessions.known(),
            view.possessions.open(),
        )
    }

    /// Returns a random time below `most`.
    pub fn jitter(&mut self, most: Duration) -> Duration {
        most.mul_f64(self.dice.random_range(0.0..1.0))
    }

    /// Returns one of `count` places that is not `other`, if there are several.
    pub fn place(&mut self, count: usize, other: usize) -> usize {
        let next = other + self.dice.random_range(1..count.max(2));
        next % count.max(1)
    }

    /// Returns a request of its own making.
    pub fn request(&mut self, event: &'static str, data: Value, now: Instant) -> Request {
        self.next_id += 1;
        let id = self.next_id;
        self.pending.insert(id, now);
        Request { id, event, data }
    }

    /// Notes the end of the connection: no open request gets an answer, and no sample is due.
    pub fn parted(&mut self, now: Instant) {
        self.plan.refused(now);
        self.pending.clear();
        self.move_on_at = None;
        self.may_have_left |= std::mem::take(&mut self.view.leaving);
        self.view.possessions.unanswered();
    }

    /// Notes that its session was resumed, or is over. It must not be over, unless the bot may have
    /// left.
    pub fn resumed(&mut self, resumed: bool) {
        let may_have_left = std::mem::take(&mut self.may_have_left);
        if resumed {
            self.tally.resumed += 1;
        } else {
            self.tally.resume_failed += u64::from(!may_have_left);
            self.view.entered = None;
        }
    }

    /// Learns from a message; the latency of a walk that has just shown its first effect.
    pub fn take(&mut self, message: &Message, now: Instant) -> Option<Duration> {
        let before = self.view.position;
        self.view.take(message);
        match &message.payload {
            Payload::Ack(_) | Payload::Inventory(_) | Payload::Coins(_) | Payload::Sync(_) => {
                self.received_at = now;
            }
            Payload::Chat(_) => self.tally.heard += 1,
            Payload::Draining(draining) => {
                let most = Duration::from_millis(draining.after_ms / 2);
                self.move_on_at = Some(now + self.jitter(most));
            }
            Payload::Welcome(welcome) if welcome.device_key.is_some() => {
                self.device_key.clone_from(&welcome.device_key);
            }
            Payload::WorldLeft(_) => self.come_back(now),
            Payload::WorldEntered(_) => (self.enter_at, self.may_have_left) = (None, false),
            // It begins its way anew where it stands up again.
            Payload::Died(_) | Payload::Respawned(_) => {
                self.failover.died();
                self.plan.refused(now);
            }
            _ => {}
        }
        if !self.gifted && self.has_something() {
            self.gifted = true;
            self.next_action_at = now + GIFT_WITHIN;
        }
        self.answered(message, now);
        let at = self.view.position?;
        let apart = |(x, z): (i32, i32)| x.abs_diff(at.0).max(z.abs_diff(at.1));
        let tiles = before.map_or(0, apart);
        if tiles > 0 && self.failover.moved(tiles, now) {
            self.plan.refused(now);
        }
        match self.plan.seen(now, at) {
            Seen::First(took) => Some(took),
            Seen::Same | Seen::Step => None,
        }
    }

    fn has_something(&self) -> bool {
        let own = &self.view.possessions;
        own.pouch() > 0 || own.slots().iter().any(Option::is_some)
    }

    fn answered(&mut self, message: &Message, now: Instant) {
        let Some(RequestId::Number(id)) = &message.re else {
            return;
        };
        let Some(id) = id.as_u64() else {
            return;
        };
        self.pending.remove(&id);
        match &message.payload {
            Payload::Error(error) => {
                if id == self.walk_id {
                    self.plan.refused(now);
                }
                if id == self.leave_id {
                    self.view.leaving = false;
                }
                match error.code {
                    ErrorCode::AlreadyInWorld => self.enter_at = None,
                    ErrorCode::NotInWorld => self.come_back(now),
                    _ if error.event.as_deref() == Some("world:enter") => self.come_back(now),
                    _ => {}
                }
            }
            Payload::Ack(_) if self.failover.acknowledged(id, now) => self.plan.refused(now),
            _ => {}
        }
    }

    fn come_back(&mut self, now: Instant) {
        self.enter_at = Some(now + Duration::from_millis(self.dice.random_range(AWAY_MS)));
        self.plan_to_leave(now);
    }

    fn plan_to_leave(&mut self, now: Instant) {
        self.leave_at = self
            .acting
            .leave_every
            .map(|every| now + every.mul_f64(self.dice.random_range(0.5..1.5)));
    }

    /// Returns the time for the next call of [`Known::next`]; none: not before a message comes.
    pub fn due(&self) -> Option<Instant> {
        let own = &self.view.possessions;
        let walk = if self.enter_at.is_some() || self.failover.is_waiting() {
            None
        } else if !own.is_settled() {
            Some(self.next_action_at.max(self.received_at) + LOST_AFTER)
        } else if self.hushed || self.view.leaving || self.view.dead {
            self.pending.values().min().map(|asked| *asked + LOST_AFTER)
        } else if self.wants_action() {
            Some(self.next_action_at)
        } else {
            Some(self.plan.due())
        };
        let times = [walk, self.failover.due(), self.move_on_at, self.enter_at];
        times.into_iter().flatten().min()
    }

    /// Returns whether it acts before it walks on.
    fn wants_action(&self) -> bool {
        self.acting.actions && self.gifted && self.actions_left > 0 && self.plan.is_at_rest()
    }

    /// Returns the next request. The second value says that a walk was lost.
    pub fn next(&mut self, now: Instant) -> (Option<Request>, bool) {
        self.give_up(now);
        if self.enter_at.is_some_and(|at| at <= now) {
            return (self.enter(now), false);
        }
        let Some(at) = self.view.position.filter(|_| self.enter_at.is_none()) else {
            return (None, false);
        };
        if self.failover.is_waiting() {
            return (self.walk_again(now, at), false);
        }
        if self.hushed || self.view.leaving || self.view.dead {
            self.plan.postpone(now);
            return (None, false);
        }
        if self.leave_at.is_some_and(|at| at <= now) {
            // Should no answer come, it looks again later.
            self.plan_to_leave(now);
            self.view.leaving = true;
            let request = self.request("world:leave", json!({}), now);
            self.leave_id = request.id;
            return (Some(request), false);
        }
        if !self.view.possessions.is_settled() {
            // Walking on would cancel the open request.
            self.plan.postpone(now);
            return (None, false);
        }
        if self.wants_action() {
            self.plan.postpone(now);
            return (self.action(now), false);
        }
        let (step, lost) = self.plan.act(now, at);
        (step.map(|step| self.step(step, now)), lost)
    }

    /// Gives up requests that got no answer in time.
    fn give_up(&mut self, now: Instant) {
        let before = self.pending.len();
        let overdue = |asked: Instant| now.saturating_duration_since(asked) >= LOST_AFTER;
        self.pending.retain(|_, asked| !overdue(*asked));
        let late = before - self.pending.len();
        if late > 0 && !self.pending.contains_key(&self.leave_id) {
            self.view.leaving = false;
        }
        self.tally.unanswered += late as u64;
        if late > 0 || overdue(self.next_action_at) {
            self.view.possessions.unanswered();
        }
        // The messages after a late answer show its effect.
        if overdue(self.next_action_at.max(self.received_at)) {
            self.view.possessions.overdue();
        }
    }

    fn enter(&mut self, now: Instant) -> Option<Request> {
        let id = self.view.characters.first()?.id.clone();
        // It asks again, should no answer come.
        self.enter_at = Some(now + LOST_AFTER);
        Some(self.request("world:enter", json!({ "characterId": id }), now))
    }

    fn walk_again(&mut self, now: Instant, at: (i32, i32)) -> Option<Request> {
        if self.failover.due().is_none_or(|due| due > now) {
            return None;
        }
        let to = self.plan.stroll(at);
        let to = to.unwrap_or(at);
        let data = json!({ "target": { "x": to.0, "z": to.1 } });
        let request = self.request("player:move", data, now);
        self.failover.asked(request.id, now);
        Some(request)
    }

    fn action(&mut self, now: Instant) -> Option<Request> {
        if now < self.next_action_at {
            return None;
        }
        self.actions_left = self.actions_left.saturating_sub(1);
        let pause = self.dice.random_range(ACTION_PAUSE_MS);
        self.next_action_at = now + Duration::from_millis(pause);
        let action = self.forager.choose(&self.view)?;
        Some(self.ask(action, now))
    }

    fn ask(&mut self, action: Action, now: Instant) -> Request {
        let (event, data) = action.request();
        let request = self.request(event, data, now);
        self.view.possessions.asked(request.id, action);
        request
    }

    fn step(&mut self, step: Step, now: Instant) -> Request {
        match step {
            Step::Walk { to, run } => {
                let (least, most) = self.acting.actions_per_rest;
                self.actions_left = self.dice.random_range(least..=most);
                let data = json!({ "target": { "x": to.0, "z": to.1 }, "run": run });
                let request = self.request("player:move", data, now);
                self.walk_id = request.id;
                request
            }
            Step::Say { message, global } => {
                let channel = if global { "global" } else { "local" };
                let data = json!({ "message": message, "channel": channel });
                self.request("player:chat", data, now)
            }
        }
    }
}

#[cfg(test)]
mod tests;
