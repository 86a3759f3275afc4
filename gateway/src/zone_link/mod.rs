//! Links with zone servers: a pair of streams with every live run, and for each session that plays
//! the run that plays it now.
//!
//! In reading order: `route` (pure: where one session's inputs go), `session`, `table` (all
//! sessions and links behind one short lock), `returning` (sessions that were at another gateway),
//! `spectators` (sessions that only look on), `hearing` (messages of runs about sessions), `pair`
//! (the streams with one run), `witness` (reports a run's death), `keeper` (a pair for each run of
//! the directory), `attach` (finds the run that plays a character), `areas` (pure: shares the world
//! out to tasks), `showing` (shares the sessions out), `asked` (unites what tasks ask of a run),
//! `watcher` (one session's update), `fan_out` (the tasks that show sessions the world, as the crate
//! `view` says).
//!
//! Always: the inputs of a session epoch have numbers without gaps, and the gateway sends none
//! twice. It drops private frames of an older ownership. It drains the streams even if clients read
//! nothing.

mod areas;
mod asked;
mod attach;
mod fan_out;
mod hearing;
mod keeper;
mod measures;
mod pair;
mod recall;
mod returning;
mod route;
mod rush;
mod session;
mod showing;
mod spectators;
mod table;
#[cfg(test)]
mod tests;
mod watcher;
mod witness;

use std::sync::{Arc, atomic::Ordering};

use bytes::Bytes;
use opentelemetry::metrics::Meter;
use proto::client::{ErrorCode, Refusal, RequestId, ZoneRequest};
use service_runtime::{
    rpc::{Replicas, Trust},
    tasks::TaskGroup,
    watchdog::Steps,
};
use tokio::sync::mpsc;
use world::{Region, Tile};

pub(crate) use self::{asked::TASKS_MAX, spectators::Look, table::Table};
use self::{fan_out::FanOut, measures::Measures, witness::Witness};
use crate::{
    directory::{Directory, DirectoryView},
    mailbox::Mailbox,
    screen::Screen,
};

/// Settings of the links.
#[derive(Debug, Clone)]
pub(crate) struct ZonesConfig {
    /// This gateway's name.
    pub(crate) gateway_id: String,
    /// Trust between this gateway and the other processes.
    pub(crate) trust: Trust,
    /// The persistence services.
    pub(crate) store: Replicas,
}

/// A session that enters the world, or comes back to it from elsewhere.
pub(crate) struct AttachSession {
    /// The session's id.
    pub(crate) session_id: String,
    /// Character that it plays.
    pub(crate) character_id: String,
    /// Epoch from the store.
    pub(crate) session_epoch: u64,
    /// The first attach number; later ones follow it.
    pub(crate) attach: u64,
    /// Number of the last input sent in this epoch.
    pub(crate) last_input: u64,
    /// Character's region, by the store.
    pub(crate) region: Region,
    /// How its client sees the world.
    pub(crate) screen: Screen,
    /// Mailbox for all its messages, from before [`Zones::attach`] answers.
    pub(crate) mailbox: Mailbox,
    /// Channel for the news that the session is out of the world; boxed as all that the channels of
    /// a session carry.
    pub(crate) events: mpsc::Sender<Box<SessionEvent>>,
}

/// A character is in the world.
#[derive(Debug, Clone)]
pub(crate) struct Attached {
    /// The tick at which it stands there.
    pub(crate) tick: u64,
    /// Region of the character.
    pub(crate) region: Region,
    /// Run that plays it.
    pub(crate) run_id: u64,
    /// The number of the attach.
    pub(crate) attach: u64,
    /// Data of `player:sync` as JSON text.
    pub(crate) sync: Bytes,
}

/// Reason why a character could not come into the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AttachError {
    /// A newer session plays the character.
    #[error("another login plays this character")]
    Replaced,
    /// The gateway found no run in time; the client may try again.
    #[error("no zone plays that part of the world now")]
    Unavailable,
    /// Nobody plays it, although runs play everything: it has left the world.
    #[error("the character has left the world")]
    NotInWorld,
    /// The session detached meanwhile.
    #[error("the session is gone")]
    Gone,
}

/// Reason why the gateway did not pass an input to a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InputError {
    /// The session plays nobody.
    #[error("enter the world first")]
    NotInWorld,
    /// No run can take the input now, and the gateway does not hold it.
    #[error("no zone plays that part of the world now")]
    ZoneUnavailable,
    /// The zone takes inputs too slowly.
    #[error("too much waits to be done already")]
    Busy,
}

impl InputError {
    /// Returns the code for clients.
    pub(crate) const fn code(self) -> ErrorCode {
        match self {
            Self::NotInWorld => ErrorCode::NotInWorld,
            Self::ZoneUnavailable => ErrorCode::ZoneUnavailable,
            Self::Busy => ErrorCode::Refused(Refusal::Busy),
        }
    }
}

/// End of a session in the world, as this gateway sees it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SessionEvent {
    /// The character is out of the world, durably.
    Left {
        /// Request that asked to leave.
        re: Option<RequestId>,
        /// left, replaced, disconnected, shutdown
        reason: String,
    },
    /// The session goes on at another gateway.
    Elsewhere,
    /// The zone could not read the data of some requests.
    Malformed {
        /// Number of these requests.
        requests: usize,
    },
    /// The session no longer plays the character.
    Lost {
        /// Reason, for people.
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
    /// Starts to follow the directory and to link with its runs, until `tasks` stop. There is a
    /// fan-out task for each of `fan_out`, in which it counts its rounds. Call it inside a runtime.
    pub(crate) fn start(
        config: ZonesConfig,
        fan_out: Vec<Arc<Steps>>,
        meter: &Meter,
        tasks: TaskGroup,
    ) -> Self {
        let directory = Directory::new();
        let measures = Measures::new(meter);
        let stop = tasks.stop().clone();
        let (of, shown_by) = (tasks.clone(), fan_out.len());
        let table = Table::new(Arc::clone(&directory), measures.clone(), of, shown_by);
        let frames = FanOut::start(&table, &directory, &measures, fan_out, &tasks);
        tasks.spawn("recall", Arc::clone(&table).keep_recalling());
        let client = config.gateway_id.clone();
        let witness = Witness::new(
            &config.gateway_id,
            config.store.clone(),
            table.measures.clone(),
        );
        let follow = Arc::clone(&directory).follow(config.store, client, stop.clone());
        tasks.finish("directory", follow);
        let keeper = keeper::Keeper::new(
            (config.gateway_id, config.trust),
            Arc::clone(&table),
            Arc::clone(&directory),
            frames,
            witness,
        );
        tasks.finish("links", keeper.keep(stop));
        Self { table, directory }
    }

    /// Returns the latest directory.
    pub(crate) fn directory(&self) -> Arc<DirectoryView> {
        self.directory.view()
    }

    /// Brings a session into the world. Asks the owner by the directory, then everybody, again and
    /// again for up to 5 s. From then on private messages and updates go to the mailbox.
    pub(crate) async fn attach(&self, session: AttachSession) -> Result<Attached, AttachError> {
        attach::enter(&self.table, &self.directory, session).await
    }

    /// Brings back a session that another gateway held. Asks all runs at once, again and again, for
    /// up to 10 s or until certainly nobody plays its character. Its inputs go on behind the last
    /// one that the owner has.
    pub(crate) async fn take_over(&self, session: AttachSession) -> Result<Attached, AttachError> {
        attach::take_over(&self.table, &self.directory, session).await
    }

    /// Returns whether another gateway attached the session under this number, after every attach
    /// that it has here. If so, the session is over here.
    pub(crate) fn is_behind(&self, session_id: &str, attach: u64) -> bool {
        self.table.is_behind(session_id, attach)
    }

    /// Passes an input on. `Ok`: the gateway sent it once, or holds it until there is an owner. Its
    /// answer comes by the mailbox.
    pub(crate) fn input(
        &self,
        session_id: &str,
        request: ZoneRequest,
        id: Option<&RequestId>,
        traceparent: String,
    ) -> Result<(), InputError> {
        let asked = route::Asked {
            request,
            id: id.map(session::request_id_text).unwrap_or_default(),
            traceparent,
        };
        self.table.input(session_id, asked)
    }

    /// Ends the session. Its character stays in the world for the linger time.
    pub(crate) fn detach(&self, session_id: &str) {
        self.table.detach(session_id);
        self.table.look_away(session_id);
    }

    /// Pauses a session that has lost its socket and may resume. Shows it nothing, tells the zone
    /// that nobody is there, and refuses inputs.
    pub(crate) fn pause(&self, session_id: &str) {
        self.table.pause(session_id);
    }

    /// Gives a paused session a socket again and asks the zones again for its character. A
    /// `player:sync` and full chunks follow by the mailbox. With `resync` the client has forgotten
    /// its map. Returns false if the session plays nobody.
    pub(crate) fn resume(
        &self,
        session_id: &str,
        mailbox: Mailbox,
        screen: Screen,
        resync: bool,
    ) -> bool {
        let resumed = self.table.resume(session_id, mailbox, screen, resync);
        if let Some(lost) = resumed {
            attach::recover(&self.table, &self.directory, lost);
            return true;
        }
        false
    }

    /// Makes a session that plays nobody look there.
    pub(crate) fn look(&self, session_id: &str, look: Look) {
        self.table.look(session_id, look);
    }

    /// Returns whether a session that looks on sees the character that it follows.
    pub(crate) fn sees(&self, session_id: &str) -> bool {
        self.table.sees(session_id)
    }

    /// Returns the tile of a character that a session of this gateway plays.
    pub(crate) fn stands(&self, character_id: &str) -> Option<Tile> {
        self.table.stands(character_id)
    }

    /// Returns the tile of the session's character, and the tick of that news.
    pub(crate) fn position(&self, session_id: &str) -> Option<(Tile, u64)> {
        self.table.position(session_id)
    }

    /// Returns the mean work of a fan-out task of showing a tick, in microseconds; 0: there was none yet.
    pub(crate) fn flush_us(&self) -> u32 {
        self.table.measures.flush_us()
    }

    /// Returns the highest tick of any frame that has come; 0: none yet.
    pub(crate) fn last_tick(&self) -> u64 {
        self.table.last_tick.load(Ordering::Relaxed)
    }
}
