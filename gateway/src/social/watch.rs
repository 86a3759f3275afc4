//! Whether the friends of players here are played, as far as this gateway knows. Pure.
//!
//! Always: it forgets a character that nobody watches. A friend does not seem to go if the bus has
//! nothing of it for a moment, because the bus starts anew.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::{Duration, Instant},
};

use proto::client::friends::{FriendStatus, Status};

use super::presence::RENEW;

/// Time after which a friend is gone of whom the bus has had nothing and who was not announced to
/// go. Somebody renews the entry before, or their gateway is dead.
const GONE: Duration = RENEW.saturating_add(Duration::from_secs(2));

/// News for sessions, by session.
pub(crate) type News = BTreeMap<String, Vec<FriendStatus>>;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Friends by character.
    seen: HashMap<String, Seen>,
    by_session: HashMap<String, BTreeSet<String>>,
}

#[derive(Debug, Default)]
struct Seen {
    status: Status,
    /// Time since which the bus has nothing of it, though nobody said that it went.
    missed_since: Option<Instant>,
    /// Sessions of its friends.
    watchers: BTreeSet<String>,
}

impl Watch {
    /// Sets the friends of a session.
    pub(crate) fn follow(&mut self, session_id: &str, friends: BTreeSet<String>) {
        let before = self.by_session.remove(session_id).unwrap_or_default();
        for gone in before.difference(&friends) {
            self.part(session_id, gone);
        }
        for friend in &friends {
            let seen = self.seen.entry(friend.clone()).or_default();
            seen.watchers.insert(session_id.to_owned());
        }
        if !friends.is_empty() {
            self.by_session.insert(session_id.to_owned(), friends);
        }
    }

    fn part(&mut self, session_id: &str, friend: &str) {
        if let Some(seen) = self.seen.get_mut(friend) {
            seen.watchers.remove(session_id);
            if seen.watchers.is_empty() {
                self.seen.remove(friend);
            }
        }
    }

    /// Forgets a session that is over.
    pub(crate) fn forget(&mut self, session_id: &str) {
        self.follow(session_id, BTreeSet::new());
    }

    pub(crate) fn status(&self, character_id: &str) -> Status {
        let seen = self.seen.get(character_id);
        seen.map(|seen| seen.status).unwrap_or_default()
    }

    pub(crate) fn watches(&self, character_id: &str) -> bool {
        self.seen.contains_key(character_id)
    }

    /// Returns every watched character.
    pub(crate) fn watched(&self) -> Vec<String> {
        self.seen.keys().cloned().collect()
    }

    /// Takes the bus's answer whether these are played, and returns the news. `announced`: somebody
    /// said that they came or went, so that no entry means that they are gone.
    pub(crate) fn looked(
        &mut self,
        found: &[(String, bool)],
        announced: bool,
        now: Instant,
    ) -> News {
        let mut news = News::new();
        for (id, there) in found {
            let Some(seen) = self.seen.get_mut(id) else {
                continue;
            };
            let status = seen.found(*there, announced, now);
            if status != seen.status {
                seen.status = status;
                tell(&mut news, id, seen);
            }
        }
        news
    }

    /// Forgets all states, because the bus is away. Returns the news.
    pub(crate) fn blind(&mut self) -> News {
        let mut news = News::new();
        for (id, seen) in &mut self.seen {
            seen.missed_since = None;
            if seen.status != Status::Unknown {
                seen.status = Status::Unknown;
                tell(&mut news, id, seen);
            }
        }
        news
    }
}

impl Seen {
    fn found(&mut self, there: bool, announced: bool, now: Instant) -> Status {
        if there {
            self.missed_since = None;
            return Status::Online;
        }
        if announced || self.status == Status::Offline {
            self.missed_since = None;
            return Status::Offline;
        }
        let since = *self.missed_since.get_or_insert(now);
        if now.saturating_duration_since(since) < GONE {
            return self.status;
        }
        self.missed_since = None;
        Status::Offline
    }
}

fn tell(news: &mut News, id: &str, seen: &Seen) {
    for session in &seen.watchers {
        let status = FriendStatus {
            id: id.to_owned(),
            status: seen.status,
        };
        news.entry(session.clone()).or_default().push(status);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn one(name: &str, there: bool) -> Vec<(String, bool)> {
        vec![(name.to_owned(), there)]
    }

    /// Returns the news as (session, friend, state).
    fn told(news: &News) -> Vec<(&str, &str, Status)> {
        let all = news.iter().flat_map(|(session, friends)| {
            let friends = friends.iter();
            friends.map(move |f| (session.as_str(), f.id.as_str(), f.status))
        });
        all.collect()
    }

    #[test]
    fn all_friends_hear_once_who_came_and_went() {
        let now = Instant::now();
        let mut watch = Watch::default();
        watch.follow("s1", ids(&["bob", "cat"]));
        watch.follow("s2", ids(&["bob"]));
        let news = watch.looked(&one("bob", true), true, now);
        let both = [("s1", "bob", Status::Online), ("s2", "bob", Status::Online)];
        assert_eq!(told(&news), both);
        assert!(watch.looked(&one("bob", true), true, now).is_empty());
        assert!(watch.looked(&one("other", true), true, now).is_empty());
        watch.follow("s1", ids(&["cat"]));
        let news = watch.looked(&one("bob", false), true, now);
        assert_eq!(told(&news), [("s2", "bob", Status::Offline)]);
        watch.forget("s2");
        assert!(!watch.watches("bob") && watch.watches("cat"));
        watch.forget("s1");
        assert!(watch.watched().is_empty());
    }

    #[test]
    fn whose_gateway_died_is_gone_after_a_while_and_not_at_once() {
        let now = Instant::now();
        let mut watch = Watch::default();
        watch.follow("s", ids(&["bob"]));
        watch.looked(&one("bob", true), true, now);
        let later = |ms: u64| now + Duration::from_millis(ms);
        assert!(watch.looked(&one("bob", false), false, now).is_empty());
        // Back before its time was over: it counts from anew.
        watch.looked(&one("bob", true), false, later(9_000));
        assert!(
            watch
                .looked(&one("bob", false), false, later(10_000))
                .is_empty()
        );
        assert!(
            watch
                .looked(&one("bob", false), false, later(21_999))
                .is_empty()
        );
        let news = watch.looked(&one("bob", false), false, later(22_000));
        assert_eq!(told(&news), [("s", "bob", Status::Offline)]);
    }

    #[test]
    fn without_the_bus_nothing_is_known_and_with_it_all_again() {
        let now = Instant::now();
        let mut watch = Watch::default();
        watch.follow("s", ids(&["bob", "cat"]));
        watch.looked(&one("bob", true), true, now);
        watch.looked(&one("cat", false), true, now);
        let news = watch.blind();
        let mut all = told(&news);
        all.sort_by_key(|told| told.1);
        let both = [("s", "bob", Status::Unknown), ("s", "cat", Status::Unknown)];
        assert_eq!(all, both);
        assert!(watch.blind().is_empty(), "it is said once");
        let news = watch.looked(&one("bob", true), false, now);
        assert_eq!(told(&news), [("s", "bob", Status::Online)]);
        // A friend who was not there yet may only not have been announced again.
        assert!(watch.looked(&one("cat", false), false, now).is_empty());
    }
}
