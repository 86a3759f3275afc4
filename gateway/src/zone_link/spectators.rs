//! Whoever only looks on: at which place, and whom they follow.
//!
//! Always: nothing that they say goes to a zone; they get `world:update` like a session that
//! stands where they look, and nothing private.

use std::sync::Arc;

use proto::client::Format;
use world::Tile;

use super::table::{Table, Watch};
use crate::mailbox::Mailbox;

/// Where somebody looks.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    /// How it is written to.
    pub(crate) format: Format,
    /// Where its updates go.
    pub(crate) mailbox: Mailbox,
    /// The character that it follows from there on.
    pub(crate) follows: Option<Arc<str>>,
    /// Where it begins.
    pub(crate) position: Tile,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Spectator {
    look: Look,
    /// The first look: what the client knows since then.
    acquaintance: u64,
    /// Whom it follows is in sight, as of the last update.
    sees: bool,
}

impl Spectator {
    pub(super) fn position(&self) -> Tile {
        self.look.position
    }

    pub(super) fn watch(&self, session_id: &Arc<str>) -> Watch {
        Watch {
            session_id: Arc::clone(session_id),
            acquaintance: self.acquaintance,
            generation: self.acquaintance,
            paused: false,
            format: self.look.format,
            mailbox: self.look.mailbox.clone(),
            position: self.look.position,
            follows: self.look.follows.clone(),
            traceparents: Vec::new(),
        }
    }
}

impl Table {
    /// A session looks there from now on; what its client has seen elsewhere goes out of sight in
    /// the next update.
    pub(crate) fn look(&self, session_id: &str, look: Look) {
        let mut guard = self.inside();
        let inside = &mut *guard;
        inside.generation += 1;
        let known = inside.spectators.get(session_id);
        let acquaintance = known.map_or(inside.generation, |known| known.acquaintance);
        let spectator = Spectator {
            look,
            acquaintance,
            sees: false,
        };
        inside.spectators.insert(session_id.into(), spectator);
        drop(guard);
        self.changed.notify_one();
    }

    /// A session looks no more.
    pub(crate) fn look_away(&self, session_id: &str) {
        if self.inside().spectators.remove(session_id).is_some() {
            self.changed.notify_one();
        }
    }

    /// Whoever is followed stands there; `None`: is not in sight.
    pub(crate) fn followed(&self, session_id: &str, at: Option<Tile>) {
        let mut inside = self.inside();
        let Some(spectator) = inside.spectators.get_mut(session_id) else {
            return;
        };
        spectator.sees = at.is_some();
        if let Some(at) = at {
            spectator.look.position = at;
        }
    }

    /// Whether a session sees whom it follows.
    pub(crate) fn sees(&self, session_id: &str) -> bool {
        let inside = self.inside();
        inside.spectators.get(session_id).is_some_and(|s| s.sees)
    }

    /// Where a character stands that a session of this gateway plays.
    pub(super) fn stands(&self, character_id: &str) -> Option<Tile> {
        let inside = self.inside();
        let mut sessions = inside.sessions.values();
        let plays = sessions.find(|session| session.route.character_id == character_id)?;
        plays.route.position.map(|(tile, _)| tile)
    }
}
