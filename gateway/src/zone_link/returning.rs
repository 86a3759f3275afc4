//! Sessions that were at another gateway in between: nothing is known here of how far their
//! attaches and inputs are numbered, until the run that has the character says so.
//!
//! Always: no input of such a session is sent before that.

use std::time::Duration;

use tokio::sync::oneshot;

use super::{
    AttachSession,
    route::Place,
    session::Reply,
    table::{Lost, NotAsked, Table},
};

/// Whoever was given a region has loaded it after this time.
const SETTLED: Duration = Duration::from_secs(3);

impl Table {
    /// A session comes back from another gateway. One with the same id is forgotten.
    pub(super) fn insert_resuming(&self, session: AttachSession) -> Lost {
        let lost = self.insert(session);
        if let Some(session) = self.inside().sessions.get_mut(&lost.session_id) {
            session.route.resuming = true;
        }
        lost
    }

    /// A session that was resumed here may have been at another gateway meanwhile, which attached
    /// it under a higher number: from now on it is asked for as if it came from there. Whether
    /// that is so.
    pub(super) fn was_elsewhere(&self, lost: &Lost) -> bool {
        let mut inside = self.inside();
        let Some(session) = inside.sessions.get_mut(&lost.session_id) else {
            return false;
        };
        let so = session.generation == lost.generation && session.returning;
        if so {
            session.returning = false;
            session.route.resuming = true;
        }
        so
    }

    /// The session was attached elsewhere under this number, after all that it has here.
    pub(super) fn is_behind(&self, session_id: &str, attach: u64) -> bool {
        let inside = self.inside();
        inside.sessions.get(session_id).is_some_and(|session| {
            // Who is just coming back will have a higher one.
            let coming = session.returning || session.route.resuming;
            !coming && session.route.attach < attach
        })
    }

    /// All linked runs, and whether everything is played by some of them, so that what none of
    /// them has is nowhere. None: the session needs nobody any more.
    pub(super) fn everybody(&self, lost: &Lost) -> Option<(Vec<u64>, bool)> {
        let view = self.directory.view();
        let inside = self.inside();
        let session = inside.sessions.get(&lost.session_id)?;
        if session.generation != lost.generation || session.route.place == Place::Paused {
            return None;
        }
        let linked: Vec<u64> = inside.links.keys().copied().collect();
        let played = view.played_by(|run| inside.links.contains_key(&run));
        // Whoever was just given a region may still be loading it.
        let played = played && view.settled() >= SETTLED;
        Some((linked, played))
    }

    /// Asks a run whether it has the character of a session that comes from elsewhere.
    pub(super) fn ask_resume(
        &self,
        lost: &Lost,
        run: u64,
    ) -> Result<oneshot::Receiver<Reply>, NotAsked> {
        let mut guard = self.inside();
        let inside = &mut *guard;
        let session = inside
            .sessions
            .get_mut(&lost.session_id)
            .ok_or(NotAsked::Gone)?;
        if session.generation != lost.generation || !session.route.resuming {
            return Err(NotAsked::Gone);
        }
        let link = inside.links.get(&run).ok_or(NotAsked::NoLink)?;
        session
            .ask_resume(&lost.session_id, run, link)
            .ok_or(NotAsked::NoLink)
    }
}
