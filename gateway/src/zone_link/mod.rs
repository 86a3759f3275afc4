//! What this gateway has with zone servers: a pair of streams with every live run, and for each
//! session that plays the run that plays it now.
//!
//! In reading order: `route` (pure: where one session's inputs go), `session`, `table` (all
//! sessions and links behind one short lock), `returning` (sessions that were at another gateway),
//! `spectators` (who only looks on), `hearing` (what runs say of sessions), `pair` (the streams with one run), `witness` (what is
//! reported of a run's death), `keeper` (a pair for each run of the directory), `attach` (finds
//! the run that plays a character), `fan_out` (shows sessions the world, as the crate `view` says).
//!
//! Always: inputs of a session epoch are numbered without gaps and none is sent twice; private
//! frames of an older ownership are dropped; the streams are drained whatever clients do.

mod attach;
mod fan_out;
mod hearing;
mod keeper;
mod measures;
mod pair;
mod recall;
mod returning;
mod route;
mod session;
mod spectators;
mod table;
#[cfg(test)]
mod tests;
mod witness;

use std::sync::{Arc, atomic::Ordering};

use bytes::Bytes;
use chassis::{rpc::Replicas, tasks::TaskGroup};
use opentelemetry::metrics::Meter;
use proto::client::{ErrorCode, Format, RequestId};
use tokio::sync::mpsc;
use world::{Region, Tile};

use self::{fan_out::FanOut, measures::Measures, witness::Witness};
pub(crate) use self::{spectators::Look, table::Table};
use crate::{
    directory::{Directory, DirectoryView},
    mailbox::Mailbox,
};

/// What the links need to know.
#[derive(Debug, Clone)]
pub(crate) struct ZonesConfig {
    /// This gateway's name.
    pub(crate) gateway_id: String,
    /// host:port of every persistence service.
    pub(crate) persistence_addresses: Vec<String>,
    /// The same, for calls.
    pub(crate) store: Replicas,
}

/// A session that enters the world, or comes back to it from elsewhere.
pub(crate) struct AttachSession {
    /// The session's id.
    pub(crate) session_id: String,
    /// Whom it plays.
    pub(crate) character_id: String,
    /// From the store.
    pub(crate) session_epoch: u64,
    /// The first attach number; later ones follow it.
    pub(crate) attach: u64,
    /// The number of the last input that was sent in this epoch.
    pub(crate) last_input: u64,
    /// Where the character is, by the store.
    pub(crate) region: Region,
    /// How it is written to.
    pub(crate) format: Format,
    /// Where everything for it goes, from before [`Zones::attach`] answers.
    pub(crate) mailbox: Mailbox,
    /// Told when the session is out of the world.
    pub(crate) events: mpsc::Sender<SessionEvent>,
}

/// A character is in the world.
#[derive(Debug, Clone)]
pub(crate) struct Attached {
    /// The tick at which it stands there.
    pub(crate) tick: u64,
    /// The region that it belongs to.
    pub(crate) region: Region,
    /// Who plays it.
    pub(crate) run_id: u64,
    /// The number of the attach.
    pub(crate) attach: u64,
    /// Data of `player:sync` as JSON text.
    pub(crate) sync: Bytes,
}

/// Why a character could not be brought into the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AttachError {
    /// A newer session plays the character.
    #[error("another login plays this character")]
    Replaced,
    /// Nobody played it within 5 s; it may be tried again.
    #[error("no zone plays that part of the world now")]
    Unavailable,
    /// Nobody plays it, and everything is played: it has left the world.
    #[error("the character has left the world")]
    NotInWorld,
    /// The session was detached meanwhile.
    #[error("the session is gone")]
    Gone,
}

/// Why an input was not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InputError {
    /// The session plays nobody.
    #[error("enter the world first")]
    NotInWorld,
    /// There is no owner now, and as much as is held waits already.
    #[error("no zone plays that part of the world now")]
    ZoneUnavailable,
    /// The zone does not take what is sent fast enough.
    #[error("too much waits to be done already")]
    Busy,
}

impl InputError {
    /// As clients see it.
    pub(crate) const fn code(self) -> ErrorCode {
        match self {
            Self::NotInWorld => ErrorCode::NotInWorld,
            Self::ZoneUnavailable => ErrorCode::ZoneUnavailable,
            Self::Busy => ErrorCode::Busy,
        }
    }
}

/// What becomes of a session in the world.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SessionEvent {
    /// The character is out of the world, durably.
    Left {
        /// The request that asked for it.
        re: Option<RequestId>,
        /// left, replaced, disconnected, shutdown
        reason: String,
    },
    /// The session goes on at another gateway.
    Elsewhere,
    /// The session no longer plays the character.
    Lost {
        /// For people.
        why: String,
    },
}

/// All zones, as sessions see them. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Zones {
    table: Arc<Table>,
    directory: Arc<Directory>,
}

impl Zones {
    /// Begins to follow the directory and to link with its runs; until `stop`. Call it inside a
    /// runtime.
    pub(crate) fn start(config: ZonesConfig, meter: &Meter, tasks: TaskGroup) -> Self {
        let directory = Directory::new();
        let measures = Measures::new(meter);
        let stop = tasks.stop().clone();
        let table = Table::new(Arc::clone(&directory), measures.clone(), tasks.clone());
        let frames = FanOut::start(Arc::clone(&table), Arc::clone(&directory), measures, &tasks);
        tasks.spawn("recall", Arc::clone(&table).keep_recalling());
        let client = format!("gateway {}", config.gateway_id);
        let witness = Witness::new(&config.gateway_id, config.store, table.measures.clone());
        let follow =
            Arc::clone(&directory).follow(config.persistence_addresses, client, stop.clone());
        tasks.finish("directory", follow);
        let keeper = keeper::Keeper::new(
            config.gateway_id,
            Arc::clone(&table),
            Arc::clone(&directory),
            frames,
            witness,
        );
        tasks.finish("links", keeper.keep(stop));
        Self { table, directory }
    }

    /// The latest directory.
    pub(crate) fn directory(&self) -> Arc<DirectoryView> {
        self.directory.view()
    }

    /// Brings a session into the world: asks the owner by the directory, then everybody, again
    /// and again for up to 5 s. From then on private messages and updates go to the mailbox.
    pub(crate) async fn attach(&self, session: AttachSession) -> Result<Attached, AttachError> {
        attach::enter(&self.table, &self.directory, session).await
    }

    /// Brings a session back that another gateway held: asks all runs at once, again and again for
    /// up to 10 s, or until it is certain that nobody plays its character. Its inputs go on behind
    /// the last one that the owner has.
    pub(crate) async fn take_over(&self, session: AttachSession) -> Result<Attached, AttachError> {
        attach::take_over(&self.table, &self.directory, session).await
    }

    /// The session was attached elsewhere under this number, after all that it has here: what is
    /// here of it is over.
    pub(crate) fn is_behind(&self, session_id: &str, attach: u64) -> bool {
        self.table.is_behind(session_id, attach)
    }

    /// Passes an input on. `Ok`: it was sent once, or is held until there is an owner; its answer
    /// comes by the mailbox.
    pub(crate) fn input(
        &self,
        session_id: &str,
        event: &'static str,
        data: Bytes,
        id: Option<&RequestId>,
        traceparent: String,
    ) -> Result<(), InputError> {
        let asked = route::Asked {
            event,
            data,
            id: id.map(session::request_id_text).unwrap_or_default(),
            traceparent,
        };
        self.table.input(session_id, asked)
    }

    /// The session is over. Its character stays in the world for the linger time.
    pub(crate) fn detach(&self, session_id: &str) {
        self.table.detach(session_id);
        self.table.look_away(session_id);
    }

    /// The socket is gone and the session may resume: nothing is shown, the zone is told that
    /// nobody is there, and inputs are refused.
    pub(crate) fn pause(&self, session_id: &str) {
        self.table.pause(session_id);
    }

    /// A paused session has a socket again. The zone is asked again for the character; a
    /// `player:sync` and full chunks follow by the mailbox. With `resync` the client has
    /// forgotten what it saw. False: the session plays nobody.
    pub(crate) fn resume(
        &self,
        session_id: &str,
        mailbox: Mailbox,
        format: Format,
        resync: bool,
    ) -> bool {
        let resumed = self.table.resume(session_id, mailbox, format, resync);
        if let Some(lost) = resumed {
            attach::recover(&self.table, &self.directory, lost);
            return true;
        }
        false
    }

    /// A session that plays nobody looks there from now on.
    pub(crate) fn look(&self, session_id: &str, look: Look) {
        self.table.look(session_id, look);
    }

    /// Whether a session that looks on sees whom it follows.
    pub(crate) fn sees(&self, session_id: &str) -> bool {
        self.table.sees(session_id)
    }

    /// Where a character stands that a session of this gateway plays.
    pub(crate) fn stands(&self, character_id: &str) -> Option<Tile> {
        self.table.stands(character_id)
    }

    /// Where the session's character stands, and since which tick that is known.
    pub(crate) fn position(&self, session_id: &str) -> Option<(Tile, u64)> {
        self.table.position(session_id)
    }

    /// The highest tick of which a frame has come; 0: none yet.
    pub(crate) fn last_tick(&self) -> u64 {
        self.table.last_tick.load(Ordering::Relaxed)
    }
}
