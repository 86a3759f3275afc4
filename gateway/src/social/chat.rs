//! Hearers of chat. Pure.
//!
//! Always: players hear local chat within 32 tiles (Chebyshev), whatever regions lie between; a
//! player near a border listens to the channels on both sides.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use proto::client::limits::LOCAL_CHAT_TILES;
use world::{Region, Tile};

use super::{keeper::Keeper, presence::Present};
use crate::mailbox::Mailbox;

/// A player of this gateway, as chat knows it.
#[derive(Debug, Clone)]
pub(crate) struct Listener {
    pub(crate) present: Present,
    pub(crate) mailbox: Mailbox,
    /// Keeper of its lists of friends.
    pub(crate) keeper: Keeper,
    /// Accounts that it does not want to hear; `None`: not known yet.
    ignored: Option<BTreeSet<String>>,
    /// Tile at which it stood at the last look.
    tile: Option<Tile>,
}

impl Listener {
    /// Returns whether it hears an account. As long as the gateway does not know its ignored
    /// accounts, it hears only itself; that is a moment.
    pub(crate) fn hears(&self, account_id: &str) -> bool {
        let wanted = |ignored: &BTreeSet<String>| !ignored.contains(account_id);
        self.present.account_id == account_id || self.ignored.as_ref().is_some_and(wanted)
    }

    /// Returns the tile at which it stood at the last look.
    pub(crate) fn tile(&self) -> Option<Tile> {
        self.tile
    }

    /// Returns whether its ignored accounts are known.
    pub(crate) fn is_ready(&self) -> bool {
        self.ignored.is_some()
    }
}

/// All listeners, by session, by character and by the regions that they hear.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    by_session: HashMap<String, Listener>,
    by_character: HashMap<String, String>,
    /// Sessions that listen to a region.
    by_region: BTreeMap<Region, BTreeSet<String>>,
}

impl Listeners {
    pub(crate) fn join(&mut self, present: Present, mailbox: Mailbox, keeper: Keeper) {
        let session_id = present.session_id.clone();
        let character_id = present.character_id.clone();
        self.by_character.insert(character_id, session_id.clone());
        let listener = Listener {
            present,
            mailbox,
            keeper,
            ignored: None,
            tile: None,
        };
        self.by_session.insert(session_id, listener);
    }

    /// Sets the accounts that a session does not want to hear.
    pub(crate) fn ignore(&mut self, session_id: &str, accounts: BTreeSet<String>) {
        if let Some(listener) = self.by_session.get_mut(session_id) {
            listener.mailbox.ignore(accounts.clone());
            listener.ignored = Some(accounts);
        }
    }

    /// Makes a session hear everybody, if its ignored accounts are not known.
    pub(crate) fn hear_all(&mut self, session_id: &str) {
        if let Some(listener) = self.by_session.get_mut(session_id) {
            listener.ignored.get_or_insert_default();
        }
    }

    /// Removes a listener. Returns it if it was there.
    pub(crate) fn leave(&mut self, session_id: &str) -> Option<Present> {
        let listener = self.by_session.remove(session_id)?;
        self.unlist(session_id, listener.tile);
        let character_id = &listener.present.character_id;
        // A newer session of the character may have the entry already.
        if self
            .by_character
            .get(character_id)
            .is_some_and(|s| s == session_id)
        {
            self.by_character.remove(character_id);
        }
        Some(listener.present)
    }

    fn unlist(&mut self, session_id: &str, tile: Option<Tile>) {
        for region in tile.map(regions_heard).into_iter().flatten() {
            if let Some(sessions) = self.by_region.get_mut(&region) {
                sessions.remove(session_id);
                if sessions.is_empty() {
                    self.by_region.remove(&region);
                }
            }
        }
    }

    /// Notes where everybody stands now.
    pub(crate) fn locate(&mut self, position: impl Fn(&str) -> Option<Tile>) {
        let moved: Vec<(String, Option<Tile>, Tile)> = self
            .by_session
            .iter()
            .filter_map(|(session_id, listener)| {
                let now = position(session_id)?;
                (listener.tile != Some(now)).then(|| (session_id.clone(), listener.tile, now))
            })
            .collect();
        for (session_id, before, now) in moved {
            if before.map(regions_heard) != Some(regions_heard(now)) {
                self.unlist(&session_id, before);
                for region in regions_heard(now) {
                    let sessions = self.by_region.entry(region).or_default();
                    sessions.insert(session_id.clone());
                }
            }
            if let Some(listener) = self.by_session.get_mut(&session_id) {
                listener.tile = Some(now);
            }
        }
    }

    /// Returns the regions to which somebody listens.
    pub(crate) fn regions(&self) -> BTreeSet<Region> {
        self.by_region.keys().copied().collect()
    }

    /// Returns the listeners who hear a message at `tile`. `position` gives a session's tile right
    /// now.
    pub(crate) fn near(
        &self,
        tile: Tile,
        position: impl Fn(&str) -> Option<Tile>,
    ) -> Vec<&Listener> {
        let sessions = self.by_region.get(&Region::from(tile));
        let heard = sessions.into_iter().flatten().filter(|session_id| {
            let stands = position(session_id).or_else(|| self.by_session.get(*session_id)?.tile);
            stands.is_some_and(|stands| hears(stands, tile))
        });
        heard
            .filter_map(|session_id| self.by_session.get(session_id))
            .collect()
    }

    /// Returns all listeners.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Listener> {
        self.by_session.values()
    }

    /// Returns the player of this character.
    pub(crate) fn character(&self, character_id: &str) -> Option<&Listener> {
        self.by_session.get(self.by_character.get(character_id)?)
    }

    pub(crate) fn session(&self, session_id: &str) -> Option<&Listener> {
        self.by_session.get(session_id)
    }
}

/// Returns whether a player at `stands` hears a message at `tile`.
fn hears(stands: Tile, tile: Tile) -> bool {
    stands.steps_to(tile) <= LOCAL_CHAT_TILES.unsigned_abs()
}

/// Returns every region whose messages a player at `tile` may hear.
fn regions_heard(tile: Tile) -> BTreeSet<Region> {
    let reach = LOCAL_CHAT_TILES;
    let corners = [
        (-reach, -reach),
        (-reach, reach),
        (reach, -reach),
        (reach, reach),
    ];
    // Regions are larger than the reach, so the corners meet them all.
    let corners = corners.map(|(dx, dz)| Region::from(tile.moved(dx, dz)));
    corners.into_iter().chain([Region::from(tile)]).collect()
}

/// Returns a message without the characters that can play tricks on a screen; `None`: nothing is
/// left.
pub(crate) fn clean(message: &str) -> Option<String> {
    let text: String = message
        .chars()
        .filter_map(|c| match c {
            '\t' | '\n' | '\r' => Some(' '),
            // Marks that turn the direction of text, and invisible ones.
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => None,
            '\u{feff}' => None,
            c if c.is_control() => None,
            c => Some(c),
        })
        .collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn present(name: &str) -> Present {
        Present {
            session_id: format!("s-{name}"),
            account_id: format!("a-{name}"),
            character_id: format!("c-{name}"),
            name: name.to_owned(),
            session_epoch: 1,
            language: None,
        }
    }

    fn listeners(at: &'static [(&'static str, i32, i32)]) -> Listeners {
        let mut all = Listeners::default();
        for (name, _, _) in at {
            all.join(present(name), Mailbox::new(), Keeper::new().0);
        }
        all.locate(stands(at));
        all
    }

    fn stands(at: &'static [(&'static str, i32, i32)]) -> impl Fn(&str) -> Option<Tile> {
        move |session| {
            let found = at
                .iter()
                .find(|(name, _, _)| session == format!("s-{name}"));
            found.map(|(_, x, z)| Tile::new(*x, *z))
        }
    }

    fn names(heard: &[&Listener]) -> Vec<String> {
        heard.iter().map(|l| l.present.name.clone()).collect()
    }

    #[test]
    fn local_chat_reaches_32_tiles_also_over_borders() {
        const AT: &[(&str, i32, i32)] = &[
            ("self", 60, 60),
            ("edge", 92, 28),
            ("far", 93, 60),
            ("other-region", 70, 70),
            ("below-zero", 28, -4),
        ];
        let all = listeners(AT);
        let heard = names(&all.near(Tile::new(60, 60), stands(AT)));
        assert_eq!(heard, ["edge", "other-region", "self"]);
        let heard = names(&all.near(Tile::new(0, 0), stands(AT)));
        assert_eq!(heard, ["below-zero"]);
    }

    #[test]
    fn who_moves_listens_elsewhere_and_who_leaves_nowhere() {
        const HERE: &[(&str, i32, i32)] = &[("ann", 32, 32)];
        const THERE: &[(&str, i32, i32)] = &[("ann", 640, 640)];
        let mut all = listeners(HERE);
        let region = |x, z| Region { x, z };
        let around = [region(0, 0), region(0, 1), region(1, 0), region(1, 1)];
        assert_eq!(all.regions(), BTreeSet::from(around));
        all.locate(stands(THERE));
        assert!(all.regions().contains(&region(10, 10)));
        assert!(!all.regions().contains(&region(0, 0)));
        assert_eq!(all.leave("s-ann"), Some(present("ann")));
        assert!(all.regions().is_empty() && all.character("c-ann").is_none());
    }

    #[test]
    fn an_older_session_that_leaves_does_not_take_the_character_along() {
        let mut all = Listeners::default();
        all.join(present("ann"), Mailbox::new(), Keeper::new().0);
        let mut newer = present("ann");
        newer.session_id = "s-newer".to_owned();
        all.join(newer, Mailbox::new(), Keeper::new().0);
        all.leave("s-ann");
        assert_eq!(
            all.character("c-ann").unwrap().present.session_id,
            "s-newer"
        );
    }

    #[test]
    fn who_is_ignored_is_not_heard_by_any_character() {
        let mut all = listeners(&[("ann", 0, 0)]);
        let hears = |all: &Listeners, account| all.session("s-ann").unwrap().hears(account);
        assert!(
            hears(&all, "a-ann") && !hears(&all, "a-bob"),
            "nothing is known"
        );
        all.ignore("s-ann", BTreeSet::from(["a-bob".to_owned()]));
        all.hear_all("s-ann");
        assert!(hears(&all, "a-cat") && !hears(&all, "a-bob"));
        all.ignore("s-ann", BTreeSet::new());
        assert!(hears(&all, "a-bob"));
    }

    #[test]
    fn control_characters_do_not_get_through() {
        assert_eq!(
            clean(" a\u{7}b\nc\u{202e}d\u{200b} ").as_deref(),
            Some("ab cd")
        );
        assert_eq!(clean("<b>&amp;</b>").as_deref(), Some("<b>&amp;</b>"));
        assert_eq!(clean("\u{0}\u{200b} \n"), None);
        assert_eq!(clean("ä 🙂").as_deref(), Some("ä 🙂"));
    }
}
