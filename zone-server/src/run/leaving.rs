//! Out of the world: at a tick's edge, then saved, then told. And the end of a run in order.

use std::time::{Duration, Instant};

use bytes::Bytes;
use proto::rpc::zone::v1::{Left, from_zone};
use world::CharacterId;

use super::Run;
use crate::{commit::batch::Going, roster::Stage, tick_loop::End, translate::record};

/// How long a run may take to end in order.
const STOP_WITHIN: Duration = Duration::from_secs(8);

impl Run {
    /// Takes somebody out of the world; saved with the next batch. `re`: the request that asked.
    pub(super) fn leave(&mut self, who: &CharacterId, reason: &'static str, re: Bytes) {
        let Some(seat) = self.roster.get_mut(who) else {
            return;
        };
        let Some((player, _)) = self.world.leave(who) else {
            return;
        };
        seat.stage = Stage::Leaving { re };
        seat.source = None;
        let record = Box::new(record::row(player, seat.owner()));
        self.batch.going(who, Going::Logout { reason, record });
    }

    /// Everybody whom nobody has played for too long leaves.
    pub(super) fn linger_ends(&mut self) {
        let now = self.now;
        let over = self.roster.iter().filter(|(_, seat)| {
            seat.free() && seat.session.is_none() && seat.linger_until.is_some_and(|t| t <= now)
        });
        let over: Vec<CharacterId> = over.map(|(who, _)| who.clone()).collect();
        for who in over {
            self.leave(&who, "disconnected", Bytes::new());
        }
    }

    /// The store has somebody's last row.
    pub(super) fn logged_out(&mut self, who: &CharacterId, reason: &str) {
        if let Some(seat) = self.roster.remove(who)
            && let Some(session) = seat.session
        {
            let re = match seat.stage {
                Stage::Leaving { re } => re,
                Stage::Joining { .. } | Stage::Playing => Bytes::new(),
            };
            let left = Left {
                session_id: session.session_id,
                character_id: who.to_string(),
                session_epoch: seat.session_epoch,
                reason: reason.to_owned(),
                re,
            };
            self.links
                .tell(&session.gateway_id, from_zone::Message::Left(left));
        }
        if self.calls.contains_key(who) {
            // A newer session waits for it.
            self.hands.outside.load_character(who.clone());
        }
    }

    /// The process stops: everybody is saved and leaves.
    pub(super) fn stop(&mut self) {
        if self.stopping.is_none() {
            tracing::info!(
                run = self.id,
                players = self.roster.len(),
                "the run ends in order"
            );
            self.stopping = Some(Instant::now());
        }
    }

    /// At each edge of a run that stops: whoever stands in the world leaves it.
    pub(super) fn stop_edge(&mut self) {
        let Some(since) = self.stopping else {
            return;
        };
        let standing = self.roster.iter().filter(|(_, seat)| {
            let committing = seat
                .source
                .as_ref()
                .is_some_and(|s| s.committing().is_some());
            seat.stage == Stage::Playing && !committing
        });
        let standing: Vec<CharacterId> = standing.map(|(who, _)| who.clone()).collect();
        for who in standing {
            self.leave(&who, "shutdown", Bytes::new());
        }
        if since.elapsed() > STOP_WITHIN {
            let players = self.roster.len();
            tracing::error!(
                run = self.id,
                players,
                "the run ends without saving all players"
            );
            self.end = Some(End::Stopped);
        }
    }

    /// A run that stops ends once everything is saved and told.
    pub(super) fn stopped(&mut self) {
        let told = self.departed.values().all(|gone| gone.state.open());
        if self.stopping.is_some() && self.roster.is_empty() && self.batch.idle() && told {
            self.end.get_or_insert(End::Stopped);
        }
    }
}
