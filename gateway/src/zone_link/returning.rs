//! Sessions that were at another gateway in between. This gateway does not know the numbers of
//! their last attaches and inputs until the run that has the character says so.
//!
//! Always: this gateway sends no input of such a session before that.

use std::time::Duration;

use tokio::sync::oneshot;

use super::{
    AttachSession,
    route::Place,
    session::Reply,
    table::{Lost, NotAsked, Table},
};

/// Time within which a run loads a region that it got.
const SETTLED: Duration = Duration::from_secs(3);

impl Table {
    /// Inserts a session that comes back from another gateway. Forgets one with the same id.
    pub(super) fn insert_resuming(&self, session: AttachSession) -> Lost {
        let lost = self.insert(session);
        if let Some(session) = self.inside().sessions.get_mut(&lost.session_id) {
            session.route.resuming = true;
        }
        lost
    }

    /// Returns whether a session that was resumed here may have been at another gateway meanwhile.
    /// The other gateway may have attached it under a higher number. If so, this gateway seeks it
    /// from now on as one that comes from there.
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

    /// Returns whether another gateway attached the session under this number, after every attach
    /// that it has here.
    pub(super) fn is_behind(&self, session_id: &str, attach: u64) -> bool {
        let inside = self.inside();
        inside.sessions.get(session_id).is_some_and(|session| {
            // A session that is just coming back will have a higher number.
            let coming = session.returning || session.route.resuming;
            !coming && session.route.attach < attach
        })
    }

    /// Returns all linked runs, and whether they play everything: then a character that none of
    /// them has is nowhere. Returns `None` if the session needs nobody any more.
    pub(super) fn everybody(&self, lost: &Lost) -> Option<(Vec<u64>, bool)> {
        let view = self.directory.view();
        let inside = self.inside();
        let session = inside.sessions.get(&lost.session_id)?;
        if session.generation != lost.generation || session.route.place == Place::Paused {
            return None;
        }
        let linked: Vec<u64> = inside.links.keys().copied().collect();
        let played = view.played_by(|run| inside.links.contains_key(&run));
        // A run that was just given a region may still be loading it.
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
