//! Route of one session: where its inputs go, and which run's private frames count. Pure: no
//! stream, no clock.
//!
//! Always: the inputs of a session epoch have numbers without gaps. The ownership sequence never
//! falls. A session whose run is lost has no run until a run attaches it again.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use proto::{
    client::ZoneRequest,
    rpc::{common::v1::Tile as Position, zone::v1 as wire},
};
use world::{Region, Tile};

/// Maximum number of inputs that wait for an owner.
pub(crate) const HELD_MAX: usize = 32;
/// Ticks that a run may go without naming a session before the session is no longer played there. A
/// run names each of its sessions in every tick. About 5 s.
pub(crate) const UNNAMED_TICKS: u64 = 8;
/// Maximum number of trace contexts that wait for the next update.
const TRACEPARENTS_MAX: usize = 16;
/// Ticks for which frames of a new owner wait for the word and the last frames of the former one,
/// which come over other connections.
const FORMER_TICKS: u64 = 3;
/// Maximum number of former owners whose last frames a route awaits.
const FORMERS_MAX: usize = 4;

/// An input that has no number yet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) request: ZoneRequest,
    /// The request's id as JSON text; empty: none.
    pub(crate) id: Bytes,
    /// Trace context; may be empty.
    pub(crate) traceparent: String,
}

/// Run that plays the session's character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// This run.
    At(u64),
    /// No known run: the gateway seeks the character.
    Sought,
    /// None: the session has no socket, and the gateway asks no run.
    Paused,
}

/// Way of an input.
#[derive(Debug, PartialEq)]
pub(crate) enum Way {
    /// Send it to this run.
    Send(u64),
    /// Hold it until there is an owner.
    Held,
    /// Refuse it: the queue of held inputs is full.
    Full,
    /// Refuse it: the session is paused.
    Closed,
}

/// Meaning of a private frame for the route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Its messages count.
    Take,
    /// They count, and the run that sent them plays the character from now on.
    Switch,
    /// They count as soon as the former owner's word has come that the character went there.
    Early,
    /// They count, and a former owner sent them before it gave the character away.
    Former,
    /// They count, but no owner said that the character would go there. The last messages of its
    /// former owner may be lost. The gateway has to attach the session there, which shows
    /// everything.
    Unforeseen,
    /// Drop it: an older owner sent it.
    Drop,
}

/// Former owner whose last frames are still on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Former {
    run: u64,
    /// Ownership sequence of the character there.
    sequence: u64,
    /// Number of the last of these frames.
    last_frame: u64,
}

/// The route of one session.
#[derive(Debug)]
pub(crate) struct Route {
    /// Character that it plays.
    pub(crate) character_id: String,
    /// Epoch from the store.
    pub(crate) session_epoch: u64,
    /// Number of the last attach sent.
    pub(crate) attach: u64,
    /// Number of the last input sent.
    pub(crate) last_input: u64,
    /// Highest ownership sequence seen.
    pub(crate) sequence: u64,
    /// Run that plays it.
    pub(crate) place: Place,
    /// Last known region of the character.
    pub(crate) region: Region,
    /// Run that may have the character, for the search.
    pub(crate) hint: Option<u64>,
    /// Tile of the character, and the tick of that news.
    pub(crate) position: Option<(Tile, u64)>,
    /// Ids of its character and of those with whom that has to do.
    pub(crate) focus: Arc<[Arc<str>]>,
    /// Trace contexts for the next update.
    pub(crate) traceparents: Vec<String>,
    /// Whether another gateway numbered its inputs and attaches last. This gateway sends no input
    /// before the owner has given the last numbers.
    pub(crate) resuming: bool,
    held: VecDeque<Asked>,
    /// Run that named it last or should have, and the tick from which its silence counts.
    named: Option<(u64, u64)>,
    /// Run to ask before all others: it has the character for certain.
    sure: Option<u64>,
    /// Former owners that have more to say than has come.
    formers: Vec<Former>,
    /// Tick of the first frame that waits for the word of a former owner, or for its last frames.
    waiting_since: Option<u64>,
}

impl Route {
    /// Returns the route of a session that is about to attach.
    pub(crate) fn new(
        character_id: String,
        session_epoch: u64,
        attach: u64,
        last_input: u64,
        region: Region,
    ) -> Self {
        let focus = std::iter::once(Arc::from(character_id.as_str())).collect();
        Self {
            focus,
            character_id,
            session_epoch,
            attach: attach.saturating_sub(1),
            last_input,
            sequence: 0,
            place: Place::Sought,
            region,
            hint: None,
            position: None,
            traceparents: Vec::new(),
            resuming: false,
            held: VecDeque::new(),
            named: None,
            sure: None,
            formers: Vec::new(),
            waiting_since: None,
        }
    }

    /// Takes the run to ask first.
    pub(crate) fn take_sure(&mut self) -> Option<u64> {
        self.sure.take()
    }

    /// Marks the session as lost at its run, because the client missed something. The search asks
    /// that run first. Returns whether a run played the session.
    pub(crate) fn overlooked(&mut self) -> bool {
        let Place::At(run) = self.place else {
            return false;
        };
        self.sure = Some(run);
        self.lost(run)
    }

    /// Notes that a run has named the session in its frame of a tick.
    pub(crate) fn named(&mut self, run: u64, tick: u64) {
        self.named = Some((run, tick));
    }

    /// Returns whether a run that should play the session has not named it for too long. Call it
    /// for each of the run's frames of a tick.
    pub(crate) fn unnamed(&mut self, run: u64, tick: u64) -> bool {
        if self.place != Place::At(run) {
            return false;
        }
        match self.named {
            Some((by, since)) if by == run => tick.saturating_sub(since) > UNNAMED_TICKS,
            _ => {
                self.named = Some((run, tick));
                false
            }
        }
    }

    /// Returns the way of an input. Queues the input if it has to wait.
    pub(crate) fn way(&mut self, asked: &Asked) -> Way {
        match self.place {
            Place::At(run) => Way::Send(run),
            Place::Sought if self.held.len() < HELD_MAX => {
                self.held.push_back(asked.clone());
                Way::Held
            }
            Place::Sought => Way::Full,
            Place::Paused => Way::Closed,
        }
    }

    /// Queues an input in spite of a known run. Returns false if the queue is full.
    pub(crate) fn hold(&mut self, asked: Asked) -> bool {
        if self.held.len() >= HELD_MAX {
            return false;
        }
        self.held.push_back(asked);
        true
    }

    /// Returns the input as the next one to send; [`Route::sent`] counts it.
    pub(crate) fn numbered(&self, session_id: &str, asked: Asked) -> wire::Input {
        wire::Input {
            session_id: session_id.to_owned(),
            character_id: self.character_id.clone(),
            session_epoch: self.session_epoch,
            number: self.last_input + 1,
            event: asked.request.event.to_owned(),
            data: asked.request.data,
            message_pack: !asked.request.format.is_text(),
            shows_confirm: false,
            id: asked.id,
            traceparent: asked.traceparent,
            attach: self.attach,
        }
    }

    /// Counts the numbered input as sent.
    pub(crate) fn sent(&mut self) {
        self.last_input += 1;
    }

    /// Takes the inputs that waited.
    pub(crate) fn take_held(&mut self) -> VecDeque<Asked> {
        std::mem::take(&mut self.held)
    }

    /// Returns the next attach, which fences all before it.
    pub(crate) fn next_attach(&mut self, session_id: &str) -> wire::Attach {
        self.attach += 1;
        wire::Attach {
            session_id: session_id.to_owned(),
            character_id: self.character_id.clone(),
            session_epoch: self.session_epoch,
            attach: self.attach,
            last_input: self.last_input,
            resume: false,
            shown: self.shown(),
        }
    }

    /// Returns the question whether a run has the character, whichever gateway held the session
    /// before.
    pub(crate) fn resume(&self, session_id: &str) -> wire::Attach {
        wire::Attach {
            session_id: session_id.to_owned(),
            character_id: self.character_id.clone(),
            session_epoch: self.session_epoch,
            attach: 0,
            last_input: 0,
            resume: true,
            shown: self.shown(),
        }
    }

    /// Returns the place that the client was shown last.
    fn shown(&self) -> Option<wire::Shown> {
        let (tile, tick) = self.position?;
        let position = Some(Position {
            x: tile.x,
            z: tile.z,
        });
        Some(wire::Shown { position, tick })
    }

    /// Takes a run's word that it has the character, with the last numbers of inputs and attaches.
    /// Returns whether that is news of the present owner.
    pub(crate) fn resumed(&mut self, run: u64, said: &wire::Attached) -> bool {
        let old = said.ownership_sequence < self.sequence || said.attach < self.attach;
        if !self.resuming || self.place == Place::Paused || old {
            return false;
        }
        self.resuming = false;
        self.attach = said.attach;
        self.last_input = said.last_input;
        self.sequence = said.ownership_sequence;
        self.place = Place::At(run);
        self.hint = None;
        self.forget_formers();
        true
    }

    /// Returns the detach that ends the last attach.
    pub(crate) fn detach(&self, session_id: &str) -> wire::Detach {
        wire::Detach {
            session_id: session_id.to_owned(),
            character_id: self.character_id.clone(),
            session_epoch: self.session_epoch,
            attach: self.attach,
        }
    }

    /// Takes a run's word that it has the character. Returns whether that is news of the present
    /// owner.
    pub(crate) fn attached(&mut self, run: u64, attach: u64, sequence: u64) -> bool {
        let expected = match self.place {
            Place::Sought => sequence >= self.sequence,
            // The run's first frame was faster than its answer.
            Place::At(now) => now == run && sequence >= self.sequence,
            Place::Paused => false,
        };
        if attach != self.attach || !expected {
            return false;
        }
        self.sequence = sequence;
        self.place = Place::At(run);
        self.hint = None;
        self.forget_formers();
        true
    }

    /// Takes the owner's word that another run has the character from now on. `up`: that run is
    /// linked. Returns whether that was news.
    pub(crate) fn moved(&mut self, to_run: u64, sequence: u64, region: Region, up: bool) -> bool {
        if sequence <= self.sequence {
            return false;
        }
        self.sequence = sequence;
        self.region = region;
        if self.formers.is_empty() {
            self.waiting_since = None;
        }
        match self.place {
            Place::At(_) if up => self.place = Place::At(to_run),
            Place::At(_) => {
                self.place = Place::Sought;
                self.hint = Some(to_run);
            }
            Place::Sought => self.hint = Some(to_run),
            Place::Paused => {}
        }
        true
    }

    /// Notes that the run which gave the character away with `sequence` had sent more frames before
    /// than have come: up to number `last_frame`. Call it before [`Route::moved`] with the same
    /// word.
    pub(crate) fn awaits(&mut self, run: u64, sequence: u64, last_frame: u64) {
        if sequence <= self.sequence || self.formers.len() >= FORMERS_MAX {
            return;
        }
        self.formers.push(Former {
            run,
            sequence: sequence - 1,
            last_frame,
        });
    }

    /// Returns whether the last frames of a former owner are still on their way.
    pub(crate) fn awaits_anybody(&self) -> bool {
        !self.formers.is_empty()
    }

    /// Returns whether frames of the present owner have to wait in a tick, because those of a former
    /// one come first. They wait for at most [`FORMER_TICKS`].
    pub(crate) fn waits(&mut self, tick: u64) -> bool {
        if self.formers.is_empty() {
            return false;
        }
        let waits = self.has_patience(tick);
        if !waits {
            self.forget_formers();
        }
        waits
    }

    /// Notes that all frames of a run up to this number have come. Returns whether the session waits
    /// for no former owner any more, and did before.
    pub(crate) fn heard_out(&mut self, run: u64, frame: u64) -> bool {
        let awaited = !self.formers.is_empty();
        self.formers
            .retain(|former| former.run != run || former.last_frame > frame);
        let over = awaited && self.formers.is_empty();
        if over {
            self.forget_formers();
        }
        over
    }

    /// Returns whether the last frames of a former owner are lost with its link.
    pub(crate) fn misses(&mut self, run: u64) -> bool {
        let misses = self.formers.iter().any(|former| former.run == run);
        if misses {
            self.forget_formers();
        }
        misses
    }

    fn forget_formers(&mut self) {
        self.formers.clear();
        self.waiting_since = None;
    }

    /// Returns whether frames may still wait in this tick.
    fn has_patience(&mut self, tick: u64) -> bool {
        let since = *self.waiting_since.get_or_insert(tick);
        tick < since + FORMER_TICKS
    }

    /// Judges a private frame of a tick. `asked`: the run has to answer an attach of the session.
    pub(crate) fn framed(&mut self, run: u64, tick: u64, sequence: u64, asked: bool) -> Verdict {
        if sequence > self.sequence {
            let plays = self.place == Place::At(run) || self.place == Place::Paused;
            if !plays && !self.resuming && !asked && self.place != Place::Sought {
                // The word of the owner comes over another connection.
                if self.has_patience(tick) {
                    return Verdict::Early;
                }
            }
            self.sequence = sequence;
            self.waiting_since = None;
            return match self.place {
                Place::At(now) if now == run => Verdict::Take,
                Place::Paused => Verdict::Take,
                // The number of the next input is not known yet.
                Place::At(_) | Place::Sought if self.resuming => Verdict::Take,
                Place::At(_) | Place::Sought if asked => {
                    self.place = Place::At(run);
                    self.hint = None;
                    Verdict::Switch
                }
                Place::At(_) | Place::Sought => {
                    self.place = Place::Sought;
                    self.hint = Some(run);
                    self.sure = Some(run);
                    Verdict::Unforeseen
                }
            };
        }
        let present = match self.place {
            Place::At(now) => now == run,
            Place::Sought | Place::Paused => true,
        };
        let sent_before = |former: &Former| former.run == run && former.sequence == sequence;
        if sequence == self.sequence && present {
            Verdict::Take
        } else if self.formers.iter().any(sent_before) {
            Verdict::Former
        } else {
            Verdict::Drop
        }
    }

    /// Notes where the character stands at a tick. Older news changes nothing.
    pub(crate) fn stands(&mut self, tile: Tile, tick: u64) {
        if self.position.is_none_or(|(_, known)| known <= tick) {
            self.position = Some((tile, tick));
        }
    }

    /// Notes with whom the character has to do.
    pub(crate) fn focus(&mut self, company: &[String]) {
        let others = self.focus.iter().skip(1).map(|id| &**id);
        if !others.eq(company.iter().map(String::as_str)) {
            let own = std::iter::once(self.character_id.as_str());
            let all = own.chain(company.iter().map(String::as_str));
            self.focus = all.map(Arc::from).collect();
        }
    }

    /// Adds traces whose effect the next update shows, as far as there is room.
    pub(crate) fn traced(&mut self, traceparents: Vec<String>) {
        let room = TRACEPARENTS_MAX.saturating_sub(self.traceparents.len());
        self.traceparents
            .extend(traceparents.into_iter().take(room));
    }

    /// Marks the session as sought if the lost run plays it. Returns whether it did.
    pub(crate) fn lost(&mut self, run: u64) -> bool {
        if self.place != Place::At(run) {
            return false;
        }
        self.place = Place::Sought;
        self.hint = Some(run);
        true
    }
}

/// Linked runs that the gateway may ask for a character.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Candidates {
    /// The owner of its region.
    pub(crate) owner: Option<u64>,
    /// Run that may have it, if that is another one.
    pub(crate) hint: Option<u64>,
    /// All others. Each of them has to ask the store.
    pub(crate) others: Vec<u64>,
}

/// Returns which of the linked runs to ask first, next and last.
pub(crate) fn candidates(owner: Option<u64>, hint: Option<u64>, linked: &[u64]) -> Candidates {
    let owner = owner.filter(|run| linked.contains(run));
    let hint = hint.filter(|run| linked.contains(run) && owner != Some(*run));
    let others = linked.iter().copied();
    let others = others.filter(|run| owner != Some(*run) && hint != Some(*run));
    Candidates {
        owner,
        hint,
        others: others.collect(),
    }
}

#[cfg(test)]
mod tests;
