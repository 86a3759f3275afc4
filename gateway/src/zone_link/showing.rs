//! Shares the sessions out to the fan-out tasks, and lets them go from one task to another.
//!
//! Always: one task shows a session. A session goes on to another task only after that task knows
//! what the session sees, and right after an update of the former task.

use std::sync::Arc;

use world::Tile;

use super::{
    areas::Showing,
    route::Place,
    table::{Inside, Table},
    watcher::{Watch, Watcher},
};

/// Places that a fan-out task has to know.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Tiles at which its sessions stand or look, and those that will soon be its own.
    pub(super) positions: Vec<Tile>,
    /// Sessions that wait until the task knows what they see, each with its tile.
    pub(super) coming: Vec<(Arc<str>, Tile)>,
}

/// A session on its way to another task.
#[derive(Debug)]
pub(super) struct Passing {
    pub(super) session_id: Arc<str>,
    pub(super) to: usize,
    pub(super) watcher: Box<Watcher>,
}

impl Wanted {
    fn add(&mut self, task: usize, session_id: &Arc<str>, showing: &Showing, at: Tile) {
        let comes = showing.awaited_by() == Some(task);
        if comes {
            self.coming.push((Arc::clone(session_id), at));
        }
        if comes || showing.task() == Some(task) || showing.goes_to() == Some(task) {
            self.positions.push(at);
        }
    }
}

impl Table {
    /// Returns what a task has to know of the world.
    pub(super) fn wanted(&self, task: usize) -> Wanted {
        let mut guard = self.inside();
        let Inside {
            sessions,
            spectators,
            areas,
            ..
        } = &mut *guard;
        let mut wanted = Wanted::default();
        for (session_id, session) in sessions {
            let Some((at, _)) = session.route.position else {
                continue;
            };
            if session.route.place != Place::Paused {
                areas.settle(&mut session.showing, at);
                wanted.add(task, session_id, &session.showing, at);
            }
        }
        for (session_id, spectator) in spectators {
            let at = spectator.position();
            areas.settle(&mut spectator.showing, at);
            wanted.add(task, session_id, &spectator.showing, at);
        }
        wanted
    }

    /// Notes that a task knows what these sessions see.
    pub(super) fn knows(&self, task: usize, sessions: &[Arc<str>]) {
        let mut inside = self.inside();
        for session_id in sessions {
            if let Some((showing, _)) = inside.showing(session_id) {
                showing.knows(task);
            }
        }
    }

    /// Returns the sessions that a task shows. Takes their trace contexts.
    pub(super) fn watches(&self, task: usize) -> Vec<Watch> {
        let mut guard = self.inside();
        let inside = &mut *guard;
        if task == 0 {
            let sessions = inside.sessions.values().map(|session| &session.showing);
            let spectators = inside.spectators.values();
            let spectators = spectators.map(|spectator| &spectator.showing);
            inside.areas.recount(sessions.chain(spectators));
        }
        let mut watches = Vec::new();
        for (session_id, session) in &mut inside.sessions {
            if session.showing.task() == Some(task) {
                watches.extend(session.watch(session_id));
            }
        }
        for (session_id, spectator) in &mut inside.spectators {
            if spectator.showing.task() == Some(task) {
                watches.push(spectator.watch(session_id));
            }
        }
        watches
    }

    /// Lets sessions go on to other tasks. Returns those that stay.
    pub(super) fn pass_on(&self, passing: Vec<Passing>) -> Vec<Passing> {
        let mut inside = self.inside();
        let mut stay = Vec::new();
        for one in passing {
            let Some((showing, arrives)) = inside.showing(&one.session_id) else {
                // The session is over.
                continue;
            };
            if showing.pass_on(one.to) {
                *arrives = Some(one.watcher);
            } else {
                stay.push(one);
            }
        }
        stay
    }
}

impl Inside {
    /// Returns where a session is shown, and what waits there for its next task.
    fn showing(&mut self, session_id: &str) -> Option<(&mut Showing, &mut Option<Box<Watcher>>)> {
        if let Some(session) = self.sessions.get_mut(session_id) {
            return Some((&mut session.showing, &mut session.arrives));
        }
        let spectator = self.spectators.get_mut(session_id)?;
        Some((&mut spectator.showing, &mut spectator.arrives))
    }
}
