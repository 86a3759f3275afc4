//! One session in the world: its route, its mailbox, and the attach that it awaits.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use proto::{
    client::{ErrorCode, RequestId, error, session::Notice},
    rpc::zone::v1 as wire,
};
use service_runtime::tasks::TaskGroup;
use tokio::sync::{mpsc, mpsc::error::TrySendError, oneshot};

use super::{
    AttachSession, SessionEvent,
    areas::Showing,
    measures::Measures,
    route::{Place, Route},
    watcher::{Watch, Watcher},
};
use crate::{
    mailbox::{Full, Mailbox, Reliable},
    screen::Screen,
    unanswered::LinkId,
};

/// Time that a message that must not be lost may wait for room.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of encounters to remember for one session: more than others ask of anybody at
/// once.
const ENCOUNTERS_MAX: usize = 32;

/// Maximum number of frames that wait for the answer to an attach, or for a former owner: more than
/// come in the time that it may take.
const EARLY_MAX: usize = 64;

/// Answer of a run to an attach.
#[derive(Debug)]
pub(crate) enum Reply {
    /// It has the character.
    Attached(Box<wire::Attached>),
    /// It has not, with the code of `AttachRefused`.
    Refused(String),
}

/// Attach without an answer yet.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) run: u64,
    pub(super) attach: u64,
    pub(super) answer: oneshot::Sender<Reply>,
}

/// Link to a run.
#[derive(Debug)]
pub(super) struct Link {
    /// The run, and the number of the pair.
    pub(super) id: LinkId,
    pub(super) control: mpsc::Sender<wire::ToZone>,
    /// Number of frames that have come.
    pub(super) frames_heard: u64,
}

/// When the messages of a private frame go to the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// At once.
    Now,
    /// With the update of their tick, in one write.
    WithUpdate,
}

/// Links by run.
pub(super) type Links = BTreeMap<u64, Link>;

/// See the module.
#[derive(Debug)]
pub(super) struct Session {
    /// Number that grows with every resume.
    pub(super) generation: u64,
    /// Generation since which the client has kept its map.
    pub(super) acquaintance: u64,
    pub(super) route: Route,
    pub(super) screen: Screen,
    pub(super) mailbox: Mailbox,
    pub(super) showing: Showing,
    /// Knowledge of its client that the former fan-out task passed on.
    pub(super) arrives: Option<Box<Watcher>>,
    events: mpsc::Sender<Box<SessionEvent>>,
    /// Whether its first attach has no answer yet.
    pub(super) entering: bool,
    /// Whether the gateway has sent it the notice that its zone is lost.
    pub(super) noticed: bool,
    pub(super) waiter: Option<Waiter>,
    /// Run's frames by tick. They wait for the run's answer to the attach, or for the last word of
    /// the former owner.
    early: VecDeque<(u64, wire::SessionFrame)>,
    /// Runs that the gateway asked, while the session comes back from another gateway.
    pub(super) asked: BTreeMap<u64, oneshot::Sender<Reply>>,
    /// Whether it was resumed here and has not been attached since.
    pub(super) returning: bool,
    /// Encounters that its client knows, by id, each with the notification for the loss of the run.
    encounters: BTreeMap<String, wire::Notification>,
    /// Encounters that its client does not know, because it ignores the asker.
    unwanted: BTreeSet<String>,
    tasks: TaskGroup,
}

pub(super) fn to_zone(message: wire::to_zone::Message) -> wire::ToZone {
    wire::ToZone {
        message: Some(message),
    }
}

/// Reads a request's id as zones carry it; empty: none.
pub(super) fn request_id(json: &[u8]) -> Option<RequestId> {
    if json.is_empty() {
        return None;
    }
    serde_json::from_slice(json).ok()
}

/// Returns a request's id as zones carry it.
pub(super) fn request_id_text(id: &RequestId) -> Bytes {
    proto::encode::json(id).into()
}

/// Counts a message for which the mailbox had no room. A full mailbox knows that it is full, and its
/// socket closes for that.
fn noted(put: Result<(), Full>, measures: &Measures) {
    if put.is_err() {
        measures.refused_by_mailbox();
    }
}

fn outcome_unknown(id: RequestId, event: Option<&str>) -> Reliable {
    Reliable::of(&error::Error {
        code: ErrorCode::OutcomeUnknown,
        message: "it was passed on, but its answer was lost".to_owned(),
        event: event.map(str::to_owned),
        retry_after_ms: None,
    })
    .answering(Some(id))
}

impl Session {
    /// Returns how the session sees the world, if it stands somewhere. Takes its trace contexts.
    pub(super) fn watch(&mut self, session_id: &Arc<str>) -> Option<Watch> {
        let (position, _) = self.route.position?;
        Some(Watch {
            session_id: Arc::clone(session_id),
            acquaintance: self.acquaintance,
            generation: self.generation,
            paused: self.route.place == Place::Paused,
            screen: self.screen,
            mailbox: self.mailbox.clone(),
            position,
            follows: None,
            focus: Arc::clone(&self.route.focus),
            traceparents: std::mem::take(&mut self.route.traceparents),
            arrives: self.arrives.take(),
            goes_to: self.showing.goes_to(),
        })
    }

    pub(super) fn new(generation: u64, session: AttachSession, tasks: TaskGroup) -> Self {
        let route = Route::new(
            session.character_id,
            session.session_epoch,
            session.attach,
            session.last_input,
            session.region,
        );
        Self {
            generation,
            acquaintance: generation,
            route,
            screen: session.screen,
            mailbox: session.mailbox,
            showing: Showing::default(),
            arrives: None,
            events: session.events,
            entering: true,
            noticed: false,
            waiter: None,
            early: VecDeque::new(),
            asked: BTreeMap::new(),
            returning: false,
            encounters: BTreeMap::new(),
            unwanted: BTreeSet::new(),
            tasks,
        }
    }

    fn push(&self, message: Reliable, measures: &Measures) {
        noted(self.mailbox.push(message), measures);
    }

    /// Returns whether a fan-out task gives the session an update, or wakes its writer, after each
    /// frame of a tick.
    pub(super) fn is_shown(&self) -> bool {
        let stands = self.route.position.is_some() && self.route.place != Place::Paused;
        stands && self.showing.task().is_some()
    }

    pub(super) fn notice(&self, code: &str, message: &str, level: &str, measures: &Measures) {
        let notice = Notice {
            code: code.to_owned(),
            message: message.to_owned(),
            level: level.to_owned(),
        };
        self.push(Reliable::of(&notice), measures);
    }

    pub(super) fn sync(&self, data: Bytes, measures: &Measures) {
        self.push(Reliable::raw("player:sync", data), measures);
    }

    /// Remembers an encounter that the client knows, for the case that its run is lost. Forgets one
    /// that is over.
    fn remember(&mut self, encounter: wire::Encounter) {
        if encounter.over {
            self.encounters.remove(&encounter.id);
        } else if let Some(if_lost) = encounter.if_lost
            && self.encounters.len() < ENCOUNTERS_MAX
        {
            self.encounters.insert(encounter.id, if_lost);
        }
    }

    /// Returns whether an account that the player ignores asked for an encounter. The asker learns
    /// nothing of that: it is as if nobody answered.
    fn is_unwanted(&mut self, encounter: &wire::Encounter) -> bool {
        if encounter.asking_account.is_empty() {
            return encounter.over && self.unwanted.remove(&encounter.id);
        }
        let unwanted = self.mailbox.ignores(&encounter.asking_account);
        if unwanted {
            if self.unwanted.len() >= ENCOUNTERS_MAX {
                self.unwanted.pop_first();
            }
            self.unwanted.insert(encounter.id.clone());
        }
        unwanted
    }

    /// Keeps only the encounters that the character's new run knows. All others ended with the run
    /// that had them, and the client learns that.
    pub(super) fn encounters_go_on(&mut self, go_on: &[String], measures: &Measures) {
        let known = std::mem::take(&mut self.encounters);
        let (go_on, lost) = known.into_iter().partition(|(id, _)| go_on.contains(id));
        self.encounters = go_on;
        for (_, told) in lost {
            self.push(Reliable::raw(told.event, told.data), measures);
        }
    }

    /// Answers each request that went to a run and has no answer: its outcome is unknown. Held
    /// requests go to the next owner.
    pub(super) fn answer_unknown(&self, measures: &Measures) {
        self.unknown(self.mailbox.take_requests(), measures);
    }

    /// Answers each request without an answer, also those that wait for an owner: its outcome is
    /// unknown. No run gets a request of this session any more.
    pub(super) fn answer_all_unknown(&self, measures: &Measures) {
        self.unknown(self.mailbox.take_all_requests(), measures);
    }

    /// Answers each request that went over a lost link and has no answer since: its outcome is
    /// unknown.
    pub(super) fn answer_unknown_over(&self, link: LinkId, measures: &Measures) {
        self.unknown(self.mailbox.take_requests_over(link), measures);
    }

    fn unknown(&self, requests: Vec<(RequestId, &'static str)>, measures: &Measures) {
        for (id, event) in requests {
            self.push(outcome_unknown(id, Some(event)), measures);
        }
    }

    /// Answers a request whose answer is lost, if nobody has answered it all the same.
    pub(super) fn lose(&self, id: &RequestId, measures: &Measures) {
        if let Some(event) = self.mailbox.lose(id) {
            self.push(outcome_unknown(id.clone(), Some(event)), measures);
        }
    }

    /// Notes that an input of this session went over a link.
    pub(super) fn passed(&self, id: &[u8], link: LinkId) {
        if let Some(id) = request_id(id) {
            self.mailbox.passed(&id, link);
        }
    }

    /// Notes that an input of this session waits for an owner.
    pub(super) fn held_back(&self, id: &[u8]) {
        if let Some(id) = request_id(id) {
            self.mailbox.held_back(&id);
        }
    }

    /// Sends an attach. Returns `None` when the link takes no more.
    pub(super) fn ask(
        &mut self,
        session_id: &str,
        run: u64,
        link: &Link,
    ) -> Option<oneshot::Receiver<Reply>> {
        let message = self.route.next_attach(session_id);
        let attach = message.attach;
        link.control
            .try_send(to_zone(wire::to_zone::Message::Attach(message)))
            .ok()?;
        tracing::debug!(
            session = session_id,
            run,
            attach,
            "a session is to be attached"
        );
        let (answer, asked) = oneshot::channel();
        self.waiter = Some(Waiter {
            run,
            attach,
            answer,
        });
        Some(asked)
    }

    /// Asks a run whether it has the character. Returns `None` when the link takes no more.
    pub(super) fn ask_resume(
        &mut self,
        session_id: &str,
        run: u64,
        link: &Link,
    ) -> Option<oneshot::Receiver<Reply>> {
        let message = self.route.resume(session_id);
        link.control
            .try_send(to_zone(wire::to_zone::Message::Attach(message)))
            .ok()?;
        let (answer, asked) = oneshot::channel();
        self.asked.insert(run, answer);
        Some(asked)
    }

    /// Takes the answer to an attach. Returns the channel of the task that waits for it. `None`:
    /// nobody asked for this, or it is no news of the present owner.
    pub(super) fn answered(
        &mut self,
        run: u64,
        said: &wire::Attached,
    ) -> Option<oneshot::Sender<Reply>> {
        let (answer, news) = if self.route.resuming {
            let answer = self.asked.remove(&run)?;
            (answer, self.route.resumed(run, said))
        } else {
            let waiter = self.waiter.take_if(|w| w.attach == said.attach)?;
            let sequence = said.ownership_sequence;
            (
                waiter.answer,
                self.route.attached(run, said.attach, sequence),
            )
        };
        if !news {
            // If the receiver is gone, nobody waits for the answer.
            let _ = answer.send(Reply::Refused("not_here".to_owned()));
            return None;
        }
        self.asked.clear();
        self.returning = false;
        Some(answer)
    }

    /// Returns the channel of the task that waits for this refusal, if any does.
    pub(super) fn refused(&mut self, run: u64, attach: u64) -> Option<oneshot::Sender<Reply>> {
        if self.route.resuming {
            // The attach's number does not matter: the run may have given one meanwhile.
            return self.asked.remove(&run);
        }
        let waiter = self
            .waiter
            .take_if(|waiter| waiter.run == run && waiter.attach == attach)?;
        Some(waiter.answer)
    }

    /// Detaches the session from every run at which it is or may be attached.
    pub(super) fn release(&mut self, session_id: &str, links: &Links) {
        let asked = self.waiter.take().map(|waiter| waiter.run);
        let at = match self.route.place {
            Place::At(run) => Some(run),
            Place::Sought | Place::Paused => None,
        };
        for run in at.into_iter().chain(asked.filter(|run| at != Some(*run))) {
            let Some(link) = links.get(&run) else {
                continue;
            };
            let detach = to_zone(wire::to_zone::Message::Detach(
                self.route.detach(session_id),
            ));
            if let Err(TrySendError::Full(detach)) = link.control.try_send(detach) {
                let control = link.control.clone();
                self.tasks.spawn("detach over a full link", async move {
                    // A link that is stuck for so long ends, and all its sessions with it.
                    let _ = control.send_timeout(detach, TIMEOUT).await;
                });
            }
        }
    }

    /// Sends the inputs that waited for an owner, as far as the link takes them.
    pub(super) fn send_held(&mut self, session_id: &str, link: &Link) {
        let mut held = self.route.take_held().into_iter();
        for asked in held.by_ref() {
            let input = self.route.numbered(session_id, asked.clone());
            let input = to_zone(wire::to_zone::Message::Input(input));
            if link.control.try_send(input).is_err() {
                self.route.hold(asked);
                break;
            }
            self.route.sent();
            self.passed(&asked.id, link.id);
        }
        for asked in held {
            self.route.hold(asked);
        }
    }

    /// Refuses the inputs that waited for an owner. No run plays them.
    pub(super) fn refuse_held(&mut self, code: ErrorCode, measures: &Measures) {
        for asked in self.route.take_held() {
            let refused = error::Error {
                code,
                message: code.sentence().to_owned(),
                event: Some(asked.request.event.to_owned()),
                retry_after_ms: None,
            };
            let id = request_id(&asked.id);
            self.push(Reliable::of(&refused).answering(id), measures);
        }
    }

    /// Returns whether a run has to answer an attach of the session.
    pub(super) fn is_asking(&self, run: u64) -> bool {
        self.waiter.as_ref().is_some_and(|waiter| waiter.run == run)
            || self.asked.contains_key(&run)
    }

    /// Keeps a frame of a new owner until the former one has said that the character went there.
    /// Returns whether there was room. Else the answers in it are lost.
    pub(super) fn heard_early(
        &mut self,
        tick: u64,
        frame: wire::SessionFrame,
        measures: &Measures,
    ) -> bool {
        let room = self.early.len() < EARLY_MAX;
        if room {
            self.early.push_back((tick, frame));
        } else {
            self.take(frame, false, When::Now, measures);
        }
        room
    }

    /// Takes the frames that waited for a former owner, unless they also wait for the answer to an
    /// attach.
    pub(super) fn former_has_spoken(&mut self, measures: &Measures) {
        if self.waiter.is_none() {
            self.take_early(u64::MAX, measures);
        }
    }

    /// Handles a private frame that counts. The answer to an attach shows all that the character
    /// has, and comes by another stream. Newer frames wait for that answer, so that it never shows
    /// older state after them. They also wait for the last frames of the former owner.
    pub(super) fn heard(
        &mut self,
        run: u64,
        tick: u64,
        frame: wire::SessionFrame,
        when: When,
        measures: &Measures,
    ) {
        let asked = self.waiter.as_ref().is_some_and(|waiter| waiter.run == run);
        let waits = self.route.waits(tick) || asked;
        if waits && !self.entering && self.early.len() < EARLY_MAX {
            self.early.push_back((tick, frame));
            return;
        }
        self.take_early(u64::MAX, measures);
        self.take(frame, true, when, measures);
    }

    /// Takes the frames that waited, up to those of a tick. Those of an owner of whom no former one
    /// has told go on waiting.
    pub(super) fn take_early(&mut self, until: u64, measures: &Measures) {
        let sequence = self.route.sequence;
        let early = std::mem::take(&mut self.early).into_iter();
        let is_due = |(tick, frame): &(u64, wire::SessionFrame)| {
            *tick <= until && frame.ownership_sequence <= sequence
        };
        let (due, rest) = early.partition::<VecDeque<_>, _>(is_due);
        self.early = rest;
        for (_, frame) in due {
            self.take(frame, true, When::Now, measures);
        }
    }

    /// Takes the messages of a private frame. If the frame is too old to count, reports its answers
    /// as lost.
    pub(super) fn take(
        &mut self,
        frame: wire::SessionFrame,
        counts: bool,
        when: When,
        measures: &Measures,
    ) {
        let mut malformed = 0;
        for message in frame.messages {
            let re = request_id(&message.re);
            let late = re.as_ref().is_some_and(|re| self.mailbox.is_late(re));
            if counts {
                if let Some(encounter) = message.encounter {
                    if self.is_unwanted(&encounter) {
                        continue;
                    }
                    self.remember(encounter);
                }
                malformed += usize::from(message.malformed);
                if late && message.only_answers {
                    continue;
                }
                let re = re.filter(|_| !late);
                let reliable = Reliable::raw(message.event, message.data)
                    .answering(re)
                    .traced(frame.traceparents.clone());
                let put = match when {
                    When::Now => self.mailbox.push(reliable),
                    When::WithUpdate => self.mailbox.lay(reliable),
                };
                noted(put, measures);
            } else if let Some(re) = re {
                self.lose(&re, measures);
            }
        }
        if malformed > 0 {
            self.tell(SessionEvent::Malformed {
                requests: malformed,
            });
        }
        if counts {
            self.route.traced(frame.traceparents);
        } else {
            measures.old_private_frame();
        }
    }

    pub(super) fn tell(&self, event: SessionEvent) {
        if let Err(TrySendError::Full(event)) = self.events.try_send(Box::new(event)) {
            let events = self.events.clone();
            self.tasks.spawn("word to a session", async move {
                if events.send_timeout(event, TIMEOUT).await.is_err() {
                    tracing::warn!("a session does not hear that it is out of the world");
                }
            });
        }
    }
}
