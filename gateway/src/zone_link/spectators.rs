//! Sessions that only look on: their place, and the character that they follow.
//!
//! Always: the gateway passes nothing from them to a zone; they get `world:update` like a session
//! that stands where they look, and nothing private.

use std::sync::Arc;

use world::Tile;

use super::{
    areas::Showing,
    table::Table,
    watcher::{Watch, Watcher},
};
use crate::{mailbox::Mailbox, screen::Screen};

/// Look of a session that plays nobody.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    /// How its client sees the world.
    pub(crate) screen: Screen,
    /// Mailbox for its updates.
    pub(crate) mailbox: Mailbox,
    /// Character that it follows from that tile.
    pub(crate) follows: Option<Arc<str>>,
    /// Tile at which it begins.
    pub(crate) position: Tile,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Spectator {
    look: Look,
    /// Generation of its first look; its client has kept its map since then.
    acquaintance: u64,
    /// Whether the followed character is in sight, as of the last update.
    sees: bool,
    pub(super) showing: Showing,
    /// Knowledge of its client that the former fan-out task passed on.
    pub(super) arrives: Option<Box<Watcher>>,
}

impl Spectator {
    pub(super) fn position(&self) -> Tile {
        self.look.position
    }

    pub(super) fn watch(&mut self, session_id: &Arc<str>) -> Watch {
        Watch {
            session_id: Arc::clone(session_id),
            acquaintance: self.acquaintance,
            generation: self.acquaintance,
            paused: false,
            screen: self.look.screen,
            mailbox: self.look.mailbox.clone(),
            position: self.look.position,
            follows: self.look.follows.clone(),
            focus: self.look.follows.iter().cloned().collect(),
            traceparents: Vec::new(),
            arrives: self.arrives.take(),
            goes_to: self.showing.goes_to(),
        }
    }
}

impl Table {
    /// Makes a session look there from now on. In the next update, things that its client saw
    /// elsewhere go out of sight.
    pub(crate) fn look(&self, session_id: &str, look: Look) {
        let mut guard = self.inside();
        let inside = &mut *guard;
        inside.generation += 1;
        if let Some(known) = inside.spectators.get_mut(session_id) {
            known.look = look;
            known.sees = false;
        } else {
            let spectator = Spectator {
                look,
                acquaintance: inside.generation,
                sees: false,
                showing: Showing::default(),
                arrives: None,
            };
            inside.spectators.insert(session_id.into(), spectator);
        }
        drop(guard);
        self.changed.send_replace(());
    }

    /// Ends a session's look.
    pub(crate) fn look_away(&self, session_id: &str) {
        if self.inside().spectators.remove(session_id).is_some() {
            self.changed.send_replace(());
        }
    }

    /// Notes where the followed character stands; `None`: it is not in sight.
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

    /// Returns whether a session sees the character that it follows.
    pub(crate) fn sees(&self, session_id: &str) -> bool {
        let inside = self.inside();
        inside.spectators.get(session_id).is_some_and(|s| s.sees)
    }

    /// Returns the tile of a character that a session of this gateway plays.
    pub(super) fn stands(&self, character_id: &str) -> Option<Tile> {
        let inside = self.inside();
        let mut sessions = inside.sessions.values();
        let plays = sessions.find(|session| session.route.character_id == character_id)?;
        plays.route.position.map(|(tile, _)| tile)
    }
}
