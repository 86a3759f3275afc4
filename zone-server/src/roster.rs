//! All characters that this run holds, and the sessions that play them.
//!
//! Always: of two sessions the one with the higher (session epoch, attach number) plays; a message
//! that names a lower one changes nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use bytes::Bytes;
use handover::player::Source;
use proto::rpc::zone::v1::{Attach, CompleteRequest, Detach, Input, Private, SessionRef};
use service_runtime::telemetry::sampled;
use world::{CharacterId, EntityId, Region, Tile};

use crate::{
    deliver::held::{HeldMessages, Holdings, Released, shows_holdings},
    inbox::{Inputs, Taken},
    spans::Ongoing,
    translate::{self, record::Owner},
};

/// Private messages that wait for a session's next frame.
const MESSAGES_MAX: usize = 1_024;

/// The connection that plays a character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) session_id: String,
    pub(crate) gateway_id: String,
    pub(crate) attach: u64,
}

/// The stage of a character's stay in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Comes in at the next edge; the run owes its session `Attached` when `welcome` is set.
    Joining { welcome: bool },
    /// Stands in the world.
    Playing,
    /// Out of the world with its region, which the store is giving to another run.
    Moving,
    /// Left the world; its last row is on its way to the store. `re` is the request that asked for
    /// it.
    Leaving { re: Bytes },
}

/// An entity beyond the border to which the run is to bring a player.
#[derive(Debug)]
pub(crate) struct Pull {
    pub(crate) target: EntityId,
    /// Tick since which the player wants it.
    pub(crate) since: u64,
    /// Number of searches for it.
    pub(crate) attempt: u32,
    /// Runs that have not said yet whether they have it.
    pub(crate) waiting: BTreeSet<u64>,
    /// Whether one of them gave no answer.
    pub(crate) silent: bool,
    /// Region to which the entity belongs.
    pub(crate) found: Option<Region>,
}

impl Pull {
    /// Returns a pull whose search begins at tick `now`.
    pub(crate) fn new(target: EntityId, now: u64) -> Self {
        Self {
            target,
            since: now,
            attempt: 0,
            waiting: BTreeSet::new(),
            silent: false,
            found: None,
        }
    }
}

/// The run's knowledge of one character.
#[derive(Debug)]
pub(crate) struct PlayerSlot {
    pub(crate) region: Region,
    pub(crate) sequence: u64,
    /// Tick in which this run became the owner.
    pub(crate) owner_since: u64,
    pub(crate) account_id: String,
    pub(crate) session_epoch: u64,
    /// Session that played it last, here or elsewhere.
    pub(crate) session_id: String,
    pub(crate) session: Option<Session>,
    pub(crate) attach: u64,
    pub(crate) inputs: Inputs,
    pub(crate) stage: Stage,
    /// Tick in which it leaves, unless a session comes to play it.
    pub(crate) linger_until: Option<u64>,
    /// Tick of the last batch of the owner that was lost, until a gateway has offered a place.
    pub(crate) regains: Option<u64>,
    pub(crate) departure: Departure,
    /// Whether the last owner has reported all that it knew.
    caught_up: bool,
    pub(crate) messages: Messages,
}

/// The way of a character to another owner.
#[derive(Debug, Default)]
pub(crate) struct Departure {
    /// Handover that is under way.
    pub(crate) source: Option<Source>,
    /// Number of offers to other owners by handovers that are over.
    offers: u32,
    /// Tile on which the character is to stand at its next owner; `None`: where it stands.
    pub(crate) place: Option<Tile>,
    /// Entity to which the character is to be brought; its inputs wait.
    pub(crate) pull: Option<Pull>,
    /// Tick since which the character is held for its next owner.
    pub(crate) leaving_since: u64,
    pub(crate) crossing_since: Option<Instant>,
    /// Span of the handover that is under way.
    pub(crate) span: Ongoing,
}

/// The messages for the session of a character.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    outbox: Vec<Private>,
    /// Messages about value that the store has not acknowledged.
    held: HeldMessages,
    /// Pack and coins as the store has acknowledged them.
    pub(crate) acknowledged: Holdings,
    /// Tick in which the run last sent the session `Attached`.
    pub(crate) attached_in: u64,
    pub(crate) traceparents: Vec<String>,
    /// Whether the session was last sent the confirmation screen of a trade.
    shows_confirm: bool,
}

/// Reason of an `AttachRefused`: a newer login plays the character.
pub(crate) const STALE: &str = "stale";
/// Reason of an `AttachRefused`: a newer attach of the same login plays it, as a rule at another
/// gateway.
pub(crate) const ELSEWHERE: &str = "elsewhere";
/// Attaches that a gateway may ask for before one of them looks like one of the next gateway's.
const ATTACHES_OF_A_GATEWAY: u64 = 1 << 20;

/// Returns the reason for which an attach is older than another one that counts.
pub(crate) const fn older(attach: &Attach, newer_epoch: u64) -> &'static str {
    if attach.session_epoch < newer_epoch {
        STALE
    } else {
        ELSEWHERE
    }
}

impl PlayerSlot {
    /// Returns a character that comes in at the next edge, with pack and coins as the store has
    /// them.
    pub(crate) fn new(region: Region, sequence: u64, now: u64, acknowledged: Holdings) -> Self {
        Self {
            region,
            sequence,
            owner_since: now,
            account_id: String::new(),
            session_epoch: 0,
            session_id: String::new(),
            session: None,
            attach: 0,
            inputs: Inputs::default(),
            stage: Stage::Joining { welcome: false },
            linger_until: None,
            regains: None,
            departure: Departure::default(),
            caught_up: false,
            messages: Messages {
                acknowledged,
                ..Messages::default()
            },
        }
    }

    /// Lets a session in from `gateway_id`, and returns the session that it replaces.
    ///
    /// # Errors
    /// [`STALE`] or [`ELSEWHERE`]: a newer session plays the character.
    pub(crate) fn attach(
        &mut self,
        gateway_id: &str,
        attach: &Attach,
    ) -> Result<Option<Session>, &'static str> {
        let asked = (attach.session_epoch, attach.attach);
        let has = (self.session_epoch, self.attach);
        if attach.resume && asked == has && self.is_played_from(gateway_id, &attach.session_id) {
            return Ok(None);
        }
        if asked <= has {
            return Err(older(attach, self.session_epoch));
        }
        if attach.session_epoch > self.session_epoch {
            self.inputs = Inputs::after(attach.last_input);
            self.messages.outbox.clear();
            self.messages.held.clear();
        } else {
            self.inputs.skip_to(attach.last_input);
        }
        self.session_epoch = attach.session_epoch;
        self.attach = attach.attach;
        self.session_id.clone_from(&attach.session_id);
        self.linger_until = None;
        self.messages.shows_confirm = false;
        let session = Session {
            session_id: attach.session_id.clone(),
            gateway_id: gateway_id.to_owned(),
            attach: attach.attach,
        };
        Ok(self.session.replace(session))
    }

    /// Returns whether the session `session_id` plays the character from the gateway.
    pub(crate) fn is_played_from(&self, gateway_id: &str, session_id: &str) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|s| s.session_id == session_id && s.gateway_id == gateway_id)
    }

    /// Returns the number of the attach with which the session comes from another gateway. The
    /// gateway that it leaves may go on attaching it until it hears of the move: all of these
    /// attaches are older.
    pub(crate) const fn next_gateway(&self) -> u64 {
        (self.attach / ATTACHES_OF_A_GATEWAY)
            .saturating_add(1)
            .saturating_mul(ATTACHES_OF_A_GATEWAY)
    }

    /// Returns the session as a handover names it.
    pub(crate) fn session_ref(&self) -> SessionRef {
        let gateway_id = self.session.as_ref().map(|s| s.gateway_id.clone());
        SessionRef {
            session_id: self.session_id.clone(),
            gateway_id: gateway_id.unwrap_or_default(),
            session_epoch: self.session_epoch,
            attach: self.attach,
        }
    }

    /// Takes over the session that a handover names, unless a newer one is here already.
    pub(crate) fn take_session(&mut self, session: &SessionRef, linger_until: u64) {
        if (session.session_epoch, session.attach) < (self.session_epoch, self.attach) {
            return;
        }
        self.session_epoch = session.session_epoch;
        self.attach = session.attach;
        self.session_id.clone_from(&session.session_id);
        if session.gateway_id.is_empty() {
            self.session = None;
            self.linger_until = Some(linger_until);
        } else {
            self.linger_until = None;
            self.session = Some(Session {
                session_id: session.session_id.clone(),
                gateway_id: session.gateway_id.clone(),
                attach: session.attach,
            });
        }
    }

    /// Takes the session that the last owner names, when the character came from the store already.
    /// The store knows of no socket. A slot that knows that attach, or a newer one, keeps its own.
    pub(crate) fn take_session_late(&mut self, session: &SessionRef, linger_until: u64) {
        if session.session_epoch == self.session_epoch && session.attach > self.attach {
            self.take_session(session, linger_until);
            // The session missed messages meanwhile.
            self.owe_sync(0);
        }
    }

    /// Notes that nobody plays the character any more; it stays until `until`.
    pub(crate) fn detach(&mut self, until: u64) {
        self.session = None;
        self.messages.outbox.clear();
        self.messages.held.clear();
        self.linger_until = Some(until);
    }

    /// Returns whether the end of a socket is that of the session that plays the character. It ends
    /// older attaches of that session too, because a newer one may have been sent elsewhere in
    /// vain. A gateway that has forgotten the session cannot number its end: then the epoch is 0.
    pub(crate) fn ended_by(&self, gateway_id: &str, detach: &Detach) -> bool {
        if detach.session_epoch > 0 {
            let current = self.current(detach.session_epoch, &detach.session_id);
            return current && self.attach <= detach.attach;
        }
        self.is_played_from(gateway_id, &detach.session_id)
    }

    /// Takes the last owner's word on a character that is here already. It counts once, without the
    /// parts that belong to an older login, which numbers its inputs otherwise. The holdings in
    /// that word are outdated: the run shows the session the present ones instead. Returns the
    /// inputs that this run will not play.
    pub(crate) fn catch_up_late(&mut self, mut complete: CompleteRequest) -> Vec<Input> {
        let told = complete.held.len();
        complete.held.retain(|message| !shows_holdings(message));
        if complete.held.len() < told && !self.caught_up {
            self.owe_sync(0);
        }
        self.catch_up(complete)
    }

    /// Takes the last owner's word on a character that comes with that word. It counts once,
    /// without the parts that belong to an older login, which numbers its inputs otherwise. Returns
    /// the inputs that this run will not play.
    pub(crate) fn catch_up(&mut self, complete: CompleteRequest) -> Vec<Input> {
        let epoch = self.session_epoch;
        let session = complete.session.as_ref();
        if session.is_none_or(|session| session.session_epoch != epoch) {
            return complete.inputs;
        }
        if std::mem::replace(&mut self.caught_up, true) {
            return Vec::new();
        }
        // An input that was put back must not come after one that it preceded.
        let overtaken = self.inputs.played() > complete.last_input;
        self.inputs.played_before(complete.last_input);
        let mut unplayed = Vec::new();
        for input in complete.inputs {
            let again = input.number <= complete.last_input;
            if input.session_epoch != epoch || (again && overtaken) {
                unplayed.push(input);
            } else if again {
                self.inputs.put_back(input);
            } else {
                match self.inputs.take(input) {
                    Taken::Queued | Taken::Duplicate => {}
                    Taken::Late(input) | Taken::Full(input) => unplayed.push(*input),
                }
            }
        }
        for message in complete.held {
            self.tell(message);
        }
        unplayed
    }

    /// Returns the requests whose answers the run has not sent to the session.
    pub(crate) fn unsent(&self) -> Vec<Bytes> {
        let outbox = self
            .messages
            .outbox
            .iter()
            .filter(|told| !told.re.is_empty());
        let unsent = outbox.chain(self.messages.held.answers());
        unsent.map(|answer| answer.re.clone()).collect()
    }

    /// Returns whether the run still owes the session an answer to this request. Either the request
    /// waits for a tick, or its answer waits.
    pub(crate) fn owes(&self, id: &[u8]) -> bool {
        let mut outbox = self.messages.outbox.iter();
        self.inputs.waits(id)
            || outbox.any(|told| told.re == id)
            || self.messages.held.answers().any(|answer| answer.re == id)
    }

    /// Returns whether a message of a session counts.
    pub(crate) fn current(&self, session_epoch: u64, session_id: &str) -> bool {
        let session = self.session.as_ref();
        session_epoch == self.session_epoch && session.is_some_and(|s| s.session_id == session_id)
    }

    /// Adds a message to the session's next frame. A session with too many waiting messages gets no
    /// more: its gateway does not take frames, and loses its link for that.
    pub(crate) fn tell(&mut self, message: Private) {
        if self.session.is_none() {
            return;
        }
        if self.messages.outbox.len() >= MESSAGES_MAX {
            if let Some(left_out) = sampled("messages of a session lost", "") {
                let session = &self.session_id;
                tracing::warn!(session, left_out, "messages of a session lost");
            }
            return;
        }
        self.note_screen(&message);
        self.messages.outbox.push(message);
    }

    fn note_screen(&mut self, message: &Private) {
        if let Some(shown) = translate::trade::shows_confirm(message) {
            self.messages.shows_confirm = shown;
        }
    }

    /// Returns whether the last screen that the session was sent is the confirmation screen of a
    /// trade.
    pub(crate) fn shows_confirm(&self) -> bool {
        self.messages.shows_confirm
    }

    /// Holds a message until the store acknowledges the batch `held`; sends it at once if there is
    /// none.
    pub(crate) fn tell_when(&mut self, held: Option<u64>, message: Private) {
        match held {
            Some(sequence) if self.session.is_some() => self.messages.held.hold(sequence, message),
            Some(_) => {}
            None => self.tell(message),
        }
    }

    /// Shows the session everything anew when the store acknowledges the batch `sequence`.
    pub(crate) fn owe_sync(&mut self, sequence: u64) {
        self.messages.held.owe_sync(sequence);
    }

    /// Releases the messages that wait for the acknowledgement of the batch `sequence`; `None`:
    /// there are none.
    pub(crate) fn release(&mut self, sequence: u64) -> Option<Released> {
        if self.messages.held.is_empty() {
            return None;
        }
        let released = self.messages.held.release(sequence);
        for message in &released.messages {
            self.note_screen(message);
        }
        (released != Released::default()).then_some(released)
    }

    /// Returns the number of messages that wait for an acknowledgement.
    pub(crate) fn held(&self) -> usize {
        self.messages.held.len()
    }

    /// Returns the batches for which the oldest and the newest of them wait.
    pub(crate) fn held_for(&self) -> impl Iterator<Item = u64> {
        self.messages.held.batches()
    }

    /// Takes all messages that wait for the session's next frame.
    pub(crate) fn take_outbox(&mut self) -> Vec<Private> {
        std::mem::take(&mut self.messages.outbox)
    }

    /// Returns the fields of the character's rows that the world's record lacks.
    pub(crate) fn owner(&self) -> Owner<'_> {
        Owner {
            account_id: &self.account_id,
            session_id: &self.session_id,
            session_epoch: self.session_epoch,
        }
    }

    /// Marks the character to be handed over to the owner of `region`.
    pub(crate) fn goes_to(&mut self, region: Region) {
        self.goes_nowhere();
        self.departure.source = Some(Source::new(region, self.departure.offers));
    }

    /// Calls the handover off. Returns whether the character was to be handed over.
    pub(crate) fn goes_nowhere(&mut self) -> bool {
        let source = self.departure.source.take();
        self.departure.span.end("called_off");
        self.departure.offers = source
            .as_ref()
            .map_or(self.departure.offers, Source::attempts);
        source.is_some()
    }

    /// Returns whether the character stands in the world and is not on its way to another owner.
    pub(crate) fn free(&self) -> bool {
        self.stage == Stage::Playing
            && self.departure.source.is_none()
            && self.departure.pull.is_none()
    }
}

/// All characters of a run.
pub(crate) type Roster = BTreeMap<CharacterId, PlayerSlot>;

#[cfg(test)]
mod tests;
