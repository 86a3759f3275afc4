//! All sessions in the world and all links, behind one lock that a task holds for moments only.
//!
//! Always: a task that holds the lock neither waits nor writes to a socket. A session that plays
//! somebody is either at a linked run, or sought by exactly one task, or paused.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicU64},
};

use proto::{client::ErrorCode, rpc::zone::v1 as wire};
use service_runtime::tasks::TaskGroup;
use tokio::sync::{mpsc, mpsc::error::TrySendError, oneshot, watch};
use world::Tile;

use super::{
    AttachSession, InputError, SessionEvent,
    areas::Areas,
    measures::Measures,
    route::{Asked, Candidates, Place, Way, candidates},
    session::{Link, Links, Reply, Session, to_zone},
    spectators::Spectator,
};
use crate::{directory::Directory, mailbox::Mailbox, screen::Screen};

/// Session whose run is lost and that the gateway has to attach again.
#[derive(Debug, Clone)]
pub(crate) struct Lost {
    pub(crate) session_id: Arc<str>,
    pub(crate) generation: u64,
}

/// Reason why the table could not send an attach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAsked {
    /// The session is gone, paused, or has another generation.
    Gone,
    /// No link, or no room on it.
    NoLink,
}

#[derive(Debug)]
pub(super) struct Inside {
    pub(super) sessions: HashMap<Arc<str>, Session>,
    pub(super) spectators: HashMap<Arc<str>, Spectator>,
    pub(super) links: Links,
    pub(super) generation: u64,
    pub(super) areas: Areas,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Table {
    inside: Mutex<Inside>,
    pub(super) directory: Arc<Directory>,
    pub(super) measures: Measures,
    /// Highest tick of any frame that has come.
    pub(crate) last_tick: AtomicU64,
    /// Signal that sessions came, went, or were resumed.
    pub(crate) changed: watch::Sender<()>,
    links_changed: watch::Sender<u64>,
    pub(super) tasks: TaskGroup,
}

impl Table {
    /// Returns a table without sessions, whose sessions are shared out to `fan_out_tasks` tasks.
    pub(crate) fn new(
        directory: Arc<Directory>,
        measures: Measures,
        tasks: TaskGroup,
        fan_out_tasks: usize,
    ) -> Arc<Self> {
        Arc::new(Self {
            inside: Mutex::new(Inside {
                sessions: HashMap::new(),
                spectators: HashMap::new(),
                links: Links::new(),
                generation: 0,
                areas: Areas::new(fan_out_tasks),
            }),
            directory,
            measures,
            last_tick: AtomicU64::new(0),
            changed: watch::Sender::new(()),
            links_changed: watch::Sender::new(0),
            tasks,
        })
    }

    pub(super) fn inside(&self) -> MutexGuard<'_, Inside> {
        // Every change below is whole before anything that could panic.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the run is no longer in the directory. If so, nothing that it says counts,
    /// however late its streams end.
    pub(super) fn is_fenced(&self, run: u64) -> bool {
        self.directory.view().run(run).is_none()
    }

    /// Returns a counter that changes with every link that comes or goes.
    pub(super) fn links_changed(&self) -> watch::Receiver<u64> {
        self.links_changed.subscribe()
    }

    /// Inserts a session that is about to attach. Forgets one with the same id.
    pub(super) fn insert(&self, session: AttachSession) -> Lost {
        self.detach(&session.session_id);
        let session_id: Arc<str> = session.session_id.as_str().into();
        let mut inside = self.inside();
        inside.generation += 1;
        let generation = inside.generation;
        let entry = Session::new(generation, session, self.tasks.clone());
        inside.sessions.insert(Arc::clone(&session_id), entry);
        Lost {
            session_id,
            generation,
        }
    }

    /// Returns the runs to ask for the session's character, in order. `None`: it needs none any
    /// more.
    pub(super) fn candidates(&self, lost: &Lost) -> Option<Candidates> {
        let view = self.directory.view();
        let mut inside = self.inside();
        let inside = &mut *inside;
        let session = inside.sessions.get_mut(&lost.session_id)?;
        let sought = session.entering || session.route.place == Place::Sought;
        if session.generation != lost.generation || !sought {
            return None;
        }
        let linked: Vec<u64> = inside.links.keys().copied().collect();
        let owner = view.owner_of(session.route.region);
        let owner = owner.map(|owner| owner.run_id);
        let owner = session.route.take_sure().or(owner);
        Some(candidates(owner, session.route.hint, &linked))
    }

    /// Asks a run for the session's character.
    pub(super) fn ask(&self, lost: &Lost, run: u64) -> Result<oneshot::Receiver<Reply>, NotAsked> {
        let mut guard = self.inside();
        let inside = &mut *guard;
        let session = inside
            .sessions
            .get_mut(&lost.session_id)
            .ok_or(NotAsked::Gone)?;
        if session.generation != lost.generation || session.route.place == Place::Paused {
            return Err(NotAsked::Gone);
        }
        let link = inside.links.get(&run).ok_or(NotAsked::NoLink)?;
        if session
            .waiter
            .as_ref()
            .is_some_and(|waiter| waiter.run != run)
        {
            session.release(&lost.session_id, &inside.links);
        }
        session
            .ask(&lost.session_id, run, link)
            .ok_or(NotAsked::NoLink)
    }

    /// Tells the player, once, that the search goes on for longer than a moment.
    pub(super) fn notice_lost(&self, lost: &Lost) {
        let mut inside = self.inside();
        let Some(session) = inside.sessions.get_mut(&lost.session_id) else {
            return;
        };
        if session.generation != lost.generation || session.noticed || session.entering {
            return;
        }
        session.noticed = true;
        let (code, text) = if self.directory.view().paused(session.route.region) {
            let text = "This part of the world is stopped until an operator has looked at it.";
            ("zone_unavailable", text)
        } else {
            let text = "This part of the world is being recovered. Hold on.";
            ("zone_recovering", text)
        };
        session.notice(code, text, "warning", &self.measures);
    }

    /// Ends a session that the gateway sought: another one plays the character.
    pub(super) fn replaced(&self, lost: &Lost) {
        let why = "another login plays this character".to_owned();
        self.over(lost, SessionEvent::Lost { why });
    }

    /// Ends a session that goes on at another gateway.
    pub(super) fn gone_elsewhere(&self, lost: &Lost) {
        self.over(lost, SessionEvent::Elsewhere);
    }

    /// Ends a session whose character left the world while the gateway sought it, and nobody could
    /// say so.
    pub(super) fn logged_out(&self, lost: &Lost) {
        let reason = "disconnected".to_owned();
        self.over(lost, SessionEvent::Left { re: None, reason });
    }

    fn over(&self, lost: &Lost, event: SessionEvent) {
        let mut inside = self.inside();
        let Some(session) = inside.sessions.get(&lost.session_id) else {
            return;
        };
        if session.generation != lost.generation {
            return;
        }
        session.answer_all_unknown(&self.measures);
        session.tell(event);
        inside.sessions.remove(&lost.session_id);
        drop(inside);
        self.changed.send_replace(());
    }

    /// Forgets a session that could not enter.
    pub(super) fn forget(&self, lost: &Lost) {
        let mut guard = self.inside();
        let inside = &mut *guard;
        let Some(session) = inside.sessions.get_mut(&lost.session_id) else {
            return;
        };
        if session.generation == lost.generation {
            session.release(&lost.session_id, &inside.links);
            inside.sessions.remove(&lost.session_id);
        }
    }

    /// Returns whether the session stands in a region that is paused and nobody's. If so, answers
    /// each request that waits for an owner: an operator may resume the region much later.
    pub(super) fn rests(&self, lost: &Lost) -> bool {
        let mut inside = self.inside();
        let session = inside.sessions.get_mut(&lost.session_id);
        let Some(session) = session.filter(|session| session.generation == lost.generation) else {
            return false;
        };
        let rests = self.directory.view().rests(session.route.region);
        if rests {
            session.refuse_held(ErrorCode::ZoneUnavailable, &self.measures);
        }
        rests
    }

    pub(super) fn input(&self, session_id: &str, asked: Asked) -> Result<(), InputError> {
        let mut guard = self.inside();
        let inside = &mut *guard;
        let session = inside
            .sessions
            .get_mut(session_id)
            .ok_or(InputError::NotInWorld)?;
        let sought = session.route.place == Place::Sought;
        if sought && self.directory.view().rests(session.route.region) {
            return Err(InputError::ZoneUnavailable);
        }
        let run = match session.route.way(&asked) {
            Way::Send(run) => run,
            Way::Held => {
                session.held_back(&asked.id);
                return Ok(());
            }
            Way::Full => return Err(InputError::ZoneUnavailable),
            Way::Closed => return Err(InputError::NotInWorld),
        };
        let link = inside.links.get(&run).ok_or(InputError::ZoneUnavailable)?;
        // The session may hold inputs because the link was full just before. They go first, in
        // order.
        session.send_held(session_id, link);
        let input = session.route.numbered(session_id, asked.clone());
        match link
            .control
            .try_send(to_zone(wire::to_zone::Message::Input(input)))
        {
            Ok(()) => {
                session.route.sent();
                session.passed(&asked.id, link.id);
                Ok(())
            }
            Err(TrySendError::Full(_)) => Err(InputError::Busy),
            // The pair is ending; the task that ends it seeks the character.
            Err(TrySendError::Closed(_)) if session.route.hold(asked.clone()) => {
                session.held_back(&asked.id);
                Ok(())
            }
            Err(TrySendError::Closed(_)) => Err(InputError::ZoneUnavailable),
        }
    }

    pub(super) fn detach(&self, session_id: &str) {
        let mut inside = self.inside();
        let Some(mut session) = inside.sessions.remove(session_id) else {
            return;
        };
        session.release(session_id, &inside.links);
        drop(inside);
        self.changed.send_replace(());
    }

    pub(super) fn pause(&self, session_id: &str) {
        let mut guard = self.inside();
        let inside = &mut *guard;
        let Some(session) = inside.sessions.get_mut(session_id) else {
            return;
        };
        session.release(session_id, &inside.links);
        if let Place::At(run) = session.route.place {
            session.route.hint = Some(run);
        }
        session.route.place = Place::Paused;
        drop(guard);
        self.changed.send_replace(());
    }

    pub(super) fn resume(
        &self,
        session_id: &str,
        mailbox: Mailbox,
        screen: Screen,
        resync: bool,
    ) -> Option<Lost> {
        let mut guard = self.inside();
        let inside = &mut *guard;
        inside.generation += 1;
        let (key, _) = inside.sessions.get_key_value(session_id)?;
        let session_id = Arc::clone(key);
        let session = inside.sessions.get_mut(&session_id)?;
        session.generation = inside.generation;
        if resync {
            session.acquaintance = inside.generation;
        }
        session.mailbox = mailbox;
        session.screen = screen;
        // Nobody was there to hear an answer. From now on the session holds its requests.
        session.answer_unknown(&self.measures);
        session.route.place = Place::Sought;
        session.noticed = false;
        session.returning = true;
        let generation = session.generation;
        drop(guard);
        self.changed.send_replace(());
        Some(Lost {
            session_id,
            generation,
        })
    }

    pub(super) fn position(&self, session_id: &str) -> Option<(Tile, u64)> {
        self.inside().sessions.get(session_id)?.route.position
    }

    /// Inserts a session that stands somewhere, without a zone.
    #[cfg(test)]
    pub(crate) fn stand(&self, session: AttachSession, at: Tile) {
        let lost = self.insert(session);
        self.place(&lost.session_id, at, 0);
    }

    /// Notes where a session stands, without a zone.
    #[cfg(test)]
    pub(crate) fn place(&self, session_id: &str, at: Tile, tick: u64) {
        if let Some(session) = self.inside().sessions.get_mut(session_id) {
            session.route.stands(at, tick);
        }
    }

    #[cfg(test)]
    pub(super) fn is_at(&self, session_id: &str, run: u64) -> bool {
        let inside = self.inside();
        let session = inside.sessions.get(session_id);
        session.is_some_and(|session| session.route.place == Place::At(run))
    }

    #[cfg(test)]
    pub(super) fn frames_heard(&self, run: u64) -> u64 {
        let inside = self.inside();
        inside.links.get(&run).map_or(0, |link| link.frames_heard)
    }

    #[cfg(test)]
    pub(super) fn is_linked(&self, run: u64) -> bool {
        self.inside().links.contains_key(&run)
    }

    /// Adds a pair of streams that is open.
    pub(super) fn link_up(&self, run: u64, number: u64, control: mpsc::Sender<wire::ToZone>) {
        let id = (run, number);
        self.inside().links.insert(
            run,
            Link {
                id,
                control,
                frames_heard: 0,
            },
        );
        self.links_changed.send_modify(|count| *count += 1);
    }

    /// Removes a pair of streams that has ended. Returns the sessions that its run played, which
    /// the gateway has to attach again.
    pub(super) fn link_down(&self, run: u64, number: u64) -> Vec<Lost> {
        let mut guard = self.inside();
        let inside = &mut *guard;
        if inside
            .links
            .get(&run)
            .is_none_or(|link| link.id != (run, number))
        {
            return Vec::new();
        }
        inside.links.remove(&run);
        let mut all = Vec::new();
        for (session_id, session) in &mut inside.sessions {
            session.waiter.take_if(|waiter| waiter.run == run);
            session.asked.remove(&run);
            let lost = session.route.lost(run);
            if lost {
                session.answer_unknown(&self.measures);
            }
            // What the run said last before it gave the character away is lost with the link. Its
            // requests may have gone along with the character.
            let missed = session.route.misses(run) && session.route.overlooked();
            if lost || missed {
                let session_id = Arc::clone(session_id);
                // The caller of `attach` seeks a session that enters.
                if !session.entering {
                    all.push(Lost {
                        session_id,
                        generation: session.generation,
                    });
                }
            }
        }
        drop(guard);
        self.links_changed.send_modify(|count| *count += 1);
        all
    }

    /// Answers each request that went over a lost pair and that no later run has answered either:
    /// its outcome is unknown.
    pub(super) fn never_answered(&self, run: u64, number: u64) {
        for session in self.inside().sessions.values() {
            session.answer_unknown_over((run, number), &self.measures);
        }
    }
}
