//! Takes characters out of the world at a tick's edge, saves them, then tells their sessions. Also
//! ends a run in order.

use std::time::Duration;

use bytes::Bytes;
use proto::rpc::zone::v1::{Left, from_zone};
use world::CharacterId;

use super::Run;
use crate::{
    beat::End,
    commit::batch::Going,
    roster::{PlayerSlot, Stage},
    translate::record,
};

/// Time in which a run may save everything when no other run takes it.
const STOP_WITHIN: Duration = Duration::from_secs(8);
/// Ticks in which inputs that were on their way reach a run that has given everything away.
const LAST_INPUTS_TICKS: u64 = 2;

/// The state of a run that gives everything away.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drain {
    since: u64,
    told: Told,
    /// Tick since which nothing is left to do.
    over_since: Option<u64>,
    /// Cause of the run's end.
    end: End,
}

/// The way of a run to its end.
#[derive(Debug, Default)]
pub(super) struct Ending {
    /// State of the drain, once the run gives everything away.
    pub(super) drain: Option<Drain>,
    /// Tick since which the run saves everything, because no other run takes it.
    pub(super) stopping: Option<u64>,
    /// Cause of the run's end, once it has ended.
    pub(super) end: Option<End>,
    /// Characters whose rows the store refused, so that the run must end.
    pub(super) refused: Vec<CharacterId>,
}

/// The store's knowledge of the drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Asking,
    Failed,
    Heard,
}

impl Run {
    /// Takes a character out of the world, and saves it with the next batch. `re` is the request
    /// that asked for it.
    pub(super) fn leave(&mut self, who: &CharacterId, reason: &'static str, re: Bytes) {
        let Some(slot) = self.roster.get_mut(who) else {
            return;
        };
        let Some((player, _)) = self.world.leave(who) else {
            return;
        };
        tracing::debug!(
            run = self.id,
            tick = self.now,
            character = %who,
            session = slot.session_id,
            epoch = slot.session_epoch,
            played = slot.session.is_some(),
            reason,
            "leaves the world"
        );
        slot.stage = Stage::Leaving { re };
        slot.departure.source = None;
        let record = Box::new(record::row(&player, &slot.owner()));
        self.batch.going(who, Going::Logout { reason, record });
    }

    /// Takes out every character that no session has played for too long, but for agents that live
    /// here.
    pub(super) fn linger_ends(&mut self) {
        let now = self.now;
        let over = self.roster.iter().filter(|(who, slot)| {
            let alone = slot.free() && slot.session.is_none();
            let late = slot.linger_until.is_some_and(|t| t <= now);
            // The world settles a duel first, which takes less time than the wait for a session.
            alone && late && !self.lives(who) && !self.world.duels_now(who)
        });
        let over: Vec<CharacterId> = over.map(|(who, _)| who.clone()).collect();
        for who in over {
            self.leave(&who, "disconnected", Bytes::new());
        }
    }

    /// Forgets a character whose last row the store has, and tells its session.
    pub(super) fn logged_out(&mut self, who: &CharacterId, reason: &'static str) {
        if let Some(slot) = self.roster.remove(who) {
            self.context.metrics.departed(reason, 1);
            self.handovers.logged_out(who, slot.session_epoch, self.now);
            self.tell_left(who, slot, reason);
        }
        if self.handovers.calls.contains_key(who) {
            // A newer session waits for it.
            self.context.effects.load_character(who.clone());
        }
    }

    /// Tells the session of a character that it is out of the world.
    fn tell_left(&mut self, who: &CharacterId, slot: PlayerSlot, reason: &str) {
        let Some(session) = slot.session else {
            return;
        };
        let re = match slot.stage {
            Stage::Leaving { re } => re,
            Stage::Joining { .. } | Stage::Playing | Stage::Moving => Bytes::new(),
        };
        let left = Left {
            session_id: session.session_id,
            character_id: who.to_string(),
            session_epoch: slot.session_epoch,
            reason: reason.to_owned(),
            re,
        };
        self.links
            .tell(&session.gateway_id, from_zone::Message::Left(left));
    }

    /// Ends the run in order, for this reason: begins to give its regions to other runs.
    pub(super) fn stop(&mut self, end: End) {
        if self.ending.drain.is_some() {
            return;
        }
        let (regions, players) = (self.regions.held.len(), self.roster.len());
        tracing::info!(
            run = self.id,
            regions,
            players,
            "the run gives everything away"
        );
        self.ending.drain = Some(Drain {
            since: self.now,
            told: Told::Asking,
            over_since: None,
            end,
        });
        self.context.effects.drain();
    }

    /// Returns whether the run takes neither players nor regions any more.
    pub(super) fn draining(&self) -> bool {
        self.ending.drain.is_some()
    }

    /// Notes whether the store has heard that the run gives everything away.
    pub(super) fn drained(&mut self, heard: bool) {
        if let Some(drain) = &mut self.ending.drain {
            drain.told = if heard { Told::Heard } else { Told::Failed };
        }
    }

    /// Moves the drain on at each edge. When no run is there to take the rest, or too much time has
    /// gone, the run saves everything and leaves it to the next owner.
    pub(super) fn stop_edge(&mut self) {
        let nobody = self.ending.drain.is_some() && self.hosts().is_empty();
        let Some(drain) = &mut self.ending.drain else {
            return;
        };
        if drain.told == Told::Failed {
            drain.told = Told::Asking;
            self.context.effects.drain();
        }
        let (since, now) = (drain.since, self.now);
        let late = now > since + self.config.ticks(self.config.drain);
        let Some(stopping) = self.ending.stopping else {
            if nobody || late {
                tracing::info!(
                    run = self.id,
                    regions = self.regions.held.len(),
                    players = self.roster.len(),
                    "the run saves everything and leaves it to whoever comes"
                );
                self.ending.stopping = Some(now);
                self.hold_all();
            }
            return;
        };
        if now > stopping + self.config.ticks(STOP_WITHIN) {
            let players = self.roster.len();
            tracing::error!(
                run = self.id,
                players,
                "the run ends without saving all players"
            );
            self.ending.end = Some(drain.end);
        }
    }

    /// Makes everybody stand still from here on, so that the run saves them as they stand.
    fn hold_all(&mut self) {
        let standing = self.roster.iter();
        let standing = standing.filter(|(_, slot)| slot.stage == Stage::Playing);
        for who in standing.map(|(who, _)| who) {
            self.world.hold(who, true);
        }
        self.batch.hurry();
        self.saves.hurry();
    }

    /// Ends a run that stops, once it owns nothing and has told everything, or once it has saved
    /// everything. It still passes on the inputs that gateways sent before they heard of the next
    /// owner.
    pub(super) fn stopped(&mut self) {
        let Some(drain) = &mut self.ending.drain else {
            return;
        };
        let told = self.handovers.told() && self.moves.told();
        let nothing = self.regions.held.is_empty()
            && self.moves.giving.is_empty()
            && !self.regions.loads()
            && self.roster.is_empty();
        let saved = self.ending.stopping.is_some_and(|since| since < self.now)
            && self.moves.giving.is_empty();
        if !((nothing || saved) && told && self.batch.clean() && !self.saves.waits()) {
            drain.over_since = None;
            return;
        }
        let since = *drain.over_since.get_or_insert(self.now);
        if saved || self.now >= since + LAST_INPUTS_TICKS {
            self.ending.end.get_or_insert(drain.end);
        }
    }
}
