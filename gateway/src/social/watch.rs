//! Whether the friends of players here are played, as far as this gateway knows. Pure.
//!
//! Events tell who comes and goes. The bus is asked for a friend when a player begins to watch it,
//! once a period, and when its gateway gives no sign of life.
//!
//! Always: it forgets a character that nobody watches. A friend does not seem to go if the bus has
//! nothing of it for a moment, because the bus starts anew. Of two events the one with the higher
//! login epoch counts, in whatever order they come.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::{Duration, Instant},
};

use proto::{
    client::friends::{FriendStatus, Status},
    topics::{Presence, PresenceChange},
};

use super::{
    poll::{self, Poll},
    presence::{RENEW, TIME_TO_LIVE},
};

/// Time after which a friend is gone of whom the bus has had nothing and who was not announced to
/// go. Somebody renews the entry before, or their gateway is dead.
const GONE: Duration = RENEW.saturating_add(Duration::from_secs(2));
/// Maximum number of gateways whose signs of life it remembers.
const GATEWAYS_MAX: usize = 4096;

/// News for sessions, by session.
pub(crate) type News = BTreeMap<String, Vec<FriendStatus>>;

/// See the module.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Friends by character.
    seen: HashMap<String, Seen>,
    by_session: HashMap<String, BTreeSet<String>>,
    poll: Poll,
    /// Characters of which the bus gave no answer.
    unanswered: BTreeSet<String>,
    /// Last sign of life of each gateway.
    beats: HashMap<String, Instant>,
}

#[derive(Debug, Default)]
struct Seen {
    status: Status,
    /// Login of which it knows last.
    login: Option<Login>,
    /// Time since which the bus has nothing of it, though nobody said that it went.
    missed_since: Option<Instant>,
    /// Sessions of its friends.
    watchers: BTreeSet<String>,
    /// Part of the period at which it is looked at.
    shard: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Login {
    gateway_id: String,
    epoch: u64,
    /// Whether it is over.
    over: bool,
}

impl Watch {
    /// Watches nobody yet. `period`: longest time between two looks at a friend.
    pub(crate) fn new(period: Duration, now: Instant) -> Self {
        Self {
            seen: HashMap::new(),
            by_session: HashMap::new(),
            poll: Poll::new(period, now),
            unanswered: BTreeSet::new(),
            beats: HashMap::new(),
        }
    }

    /// Sets the friends of a session.
    pub(crate) fn follow(&mut self, session_id: &str, friends: BTreeSet<String>) {
        let before = self.by_session.remove(session_id).unwrap_or_default();
        for gone in before.difference(&friends) {
            self.part(session_id, gone);
        }
        for friend in &friends {
            let seen = self.seen.entry(friend.clone()).or_insert_with(|| Seen {
                shard: poll::shard(friend),
                ..Seen::default()
            });
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
                self.unanswered.remove(friend);
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

    /// Returns whom to ask the bus for now: a part of all, those of whom it gave no answer, and
    /// those of whom it had nothing for so long that they are gone if it still has nothing.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<String> {
        let due = self.poll.due(now);
        let mut ids = std::mem::take(&mut self.unanswered);
        for (id, seen) in &self.seen {
            let missed = seen.missed_since;
            let again = missed.is_some_and(|at| now.saturating_duration_since(at) >= GONE);
            if again || due.has(seen.shard) {
                ids.insert(id.clone());
            }
        }
        ids.into_iter().collect()
    }

    /// Makes everybody due.
    pub(crate) fn look_at_all(&mut self) {
        self.poll.everybody();
    }

    /// Notes that the bus gave no answer about these. They are due at once.
    pub(crate) fn unanswered(&mut self, ids: Vec<String>) {
        let watched = ids.into_iter().filter(|id| self.seen.contains_key(id));
        self.unanswered.extend(watched);
    }

    /// Notes a gateway's sign of life.
    pub(crate) fn beat(&mut self, gateway_id: String, now: Instant) {
        if self.beats.len() < GATEWAYS_MAX || self.beats.contains_key(&gateway_id) {
            self.beats.insert(gateway_id, now);
        }
    }

    /// Returns those whose gateway has given no sign of life for as long as its entries live. It
    /// names them until the last entry of that gateway must be gone.
    pub(crate) fn abandoned(&mut self, now: Instant) -> Vec<String> {
        let silence = |at: &Instant| now.saturating_duration_since(*at);
        // Whoever came just before the end has an entry that was made after the last sign.
        self.beats.retain(|_, at| silence(at) < TIME_TO_LIVE + GONE);
        let dead = self
            .beats
            .iter()
            .filter(|(_, at)| silence(at) >= TIME_TO_LIVE);
        let dead: BTreeSet<&str> = dead.map(|(id, _)| id.as_str()).collect();
        if dead.is_empty() {
            return Vec::new();
        }
        let there = self.seen.iter().filter(|(_, seen)| {
            let login = seen.login.as_ref();
            seen.status == Status::Online
                && login.is_some_and(|login| dead.contains(login.gateway_id.as_str()))
        });
        there.map(|(id, _)| id.clone()).collect()
    }

    /// Takes the news that somebody came or left, and returns the news.
    pub(crate) fn heard(&mut self, id: &str, change: PresenceChange) -> News {
        let mut news = News::new();
        if let Some(seen) = self.seen.get_mut(id)
            && seen.takes(&change)
        {
            let status = if change.online {
                Status::Online
            } else {
                Status::Offline
            };
            seen.missed_since = None;
            seen.login = Some(Login {
                gateway_id: change.gateway_id,
                epoch: change.session_epoch,
                over: !change.online,
            });
            if status != seen.status {
                seen.status = status;
                tell(&mut news, id, seen);
            }
        }
        news
    }

    /// Takes the bus's answer where these are played, and returns the news. `announced`: somebody
    /// said that they came or went, so that no entry means that they are gone.
    pub(crate) fn looked(
        &mut self,
        found: &[(String, Option<Presence>)],
        announced: bool,
        now: Instant,
    ) -> News {
        let mut news = News::new();
        for (id, there) in found {
            let Some(seen) = self.seen.get_mut(id) else {
                continue;
            };
            let status = seen.found(there.as_ref(), announced, now);
            if status != seen.status {
                seen.status = status;
                tell(&mut news, id, seen);
            }
        }
        news
    }

    /// Forgets the states of those whom the bus does not reach. Returns the news.
    pub(crate) fn blind(&mut self, reaches: impl Fn(&str) -> bool) -> News {
        // Signs of life may have been lost with the rest.
        self.beats.clear();
        let mut news = News::new();
        for (id, seen) in &mut self.seen {
            if seen.status != Status::Unknown && !reaches(id) {
                seen.missed_since = None;
                seen.status = Status::Unknown;
                tell(&mut news, id, seen);
            }
        }
        news
    }
}

impl Seen {
    /// Returns whether news are newer than what it knows.
    fn takes(&self, change: &PresenceChange) -> bool {
        let Some(known) = &self.login else {
            return true;
        };
        let same = known.gateway_id == change.gateway_id;
        match change.session_epoch.cmp(&known.epoch) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Greater => true,
            // A login ends where it is played, and does not come back there. It may go on at
            // another gateway.
            std::cmp::Ordering::Equal if change.online => !(same && known.over),
            std::cmp::Ordering::Equal => same || known.over,
        }
    }

    fn found(&mut self, there: Option<&Presence>, announced: bool, now: Instant) -> Status {
        if let Some(entry) = there {
            let change = PresenceChange {
                online: true,
                gateway_id: entry.gateway_id.clone(),
                session_epoch: entry.session_epoch,
            };
            // Gateways of before do not tell the epoch.
            if entry.session_epoch > 0 && !self.takes(&change) {
                return self.status;
            }
            self.missed_since = None;
            self.login = Some(Login {
                gateway_id: change.gateway_id,
                epoch: change.session_epoch,
                over: false,
            });
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

    fn watch(now: Instant) -> Watch {
        Watch::new(Duration::from_secs(60), now)
    }

    fn one(name: &str, there: bool) -> Vec<(String, Option<Presence>)> {
        let entry = Presence {
            gateway_id: "g1".to_owned(),
            session_id: "s".to_owned(),
            account_id: "a".to_owned(),
            session_epoch: 1,
        };
        vec![(name.to_owned(), there.then_some(entry))]
    }

    fn change(online: bool, gateway_id: &str, session_epoch: u64) -> PresenceChange {
        PresenceChange {
            online,
            gateway_id: gateway_id.to_owned(),
            session_epoch,
        }
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
        let mut watch = watch(now);
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
        assert!(watch.seen.is_empty());
    }

    #[test]
    fn whose_gateway_died_is_gone_after_a_while_and_not_at_once() {
        let now = Instant::now();
        let mut watch = watch(now);
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
        let mut watch = watch(now);
        watch.follow("s", ids(&["bob", "cat"]));
        watch.looked(&one("bob", true), true, now);
        watch.looked(&one("cat", false), true, now);
        let news = watch.blind(|_| false);
        let mut all = told(&news);
        all.sort_by_key(|told| told.1);
        let both = [("s", "bob", Status::Unknown), ("s", "cat", Status::Unknown)];
        assert_eq!(all, both);
        assert!(watch.blind(|_| false).is_empty(), "it is said once");
        let news = watch.looked(&one("bob", true), false, now);
        assert_eq!(told(&news), [("s", "bob", Status::Online)]);
        // A friend who was not there yet may only not have been announced again.
        assert!(watch.looked(&one("cat", false), false, now).is_empty());
    }

    #[test]
    fn the_news_of_the_newest_login_count_in_whatever_order_they_come() {
        let now = Instant::now();
        // All orders of: came at g1, left there, came at g2 with the next login.
        let news = [
            change(true, "g1", 5),
            change(false, "g1", 5),
            change(true, "g2", 6),
        ];
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let mut watch = watch(now);
            watch.follow("s", ids(&["bob"]));
            for index in order {
                watch.heard("bob", news[index].clone());
            }
            assert_eq!(watch.status("bob"), Status::Online, "{order:?}");
        }
        // The same login goes on at another gateway, and ends there.
        let mut watch = watch(now);
        watch.follow("s", ids(&["bob"]));
        watch.heard("bob", change(true, "g1", 5));
        watch.heard("bob", change(true, "g2", 5));
        assert!(
            watch.heard("bob", change(false, "g1", 5)).is_empty(),
            "not its gateway"
        );
        let gone = watch.heard("bob", change(false, "g2", 5));
        assert_eq!(told(&gone), [("s", "bob", Status::Offline)]);
        assert!(
            watch.heard("bob", change(true, "g2", 5)).is_empty(),
            "that login is over"
        );
        // An entry that is not removed yet does not bring it back.
        watch.heard("bob", change(false, "g1", 6));
        assert!(watch.looked(&one("bob", true), false, now).is_empty());
        assert!(watch.heard("nobody", change(true, "g1", 9)).is_empty());
    }

    #[test]
    fn a_lost_event_is_made_good_within_a_period() {
        let now = Instant::now();
        let later = |s: u64| now + Duration::from_secs(s);
        let mut watch = watch(now);
        let names: Vec<String> = (0..600).map(|number| format!("c{number}")).collect();
        watch.follow("s", names.iter().cloned().collect());
        let mut asked = BTreeMap::new();
        for second in 1..=60 {
            let due = watch.due(later(second));
            assert!(due.len() < 40, "a part at a time: {}", due.len());
            for id in due {
                *asked.entry(id).or_insert(0) += 1;
            }
        }
        assert!(asked.len() == 600 && asked.values().all(|count| *count == 1));
        // Without an answer somebody is asked for again at once, and not if nobody watches.
        watch.unanswered(vec!["c1".to_owned(), "nobody".to_owned()]);
        assert_eq!(watch.due(later(60)), ["c1"]);
        assert!(watch.due(later(60)).is_empty());
        watch.look_at_all();
        assert_eq!(watch.due(later(60)).len(), 600);
    }

    #[test]
    fn who_is_missed_is_asked_for_again_soon() {
        let now = Instant::now();
        let mut watch = watch(now);
        watch.follow("s", ids(&["bob"]));
        watch.heard("bob", change(true, "g1", 5));
        assert!(watch.looked(&one("bob", false), false, now).is_empty());
        let again = (1..=30).find(|s| !watch.due(now + Duration::from_secs(*s)).is_empty());
        assert!(again <= Some(GONE.as_secs()), "{again:?}");
        let at = now + GONE;
        let news = watch.looked(&one("bob", false), false, at);
        assert_eq!(told(&news), [("s", "bob", Status::Offline)]);
    }

    #[test]
    fn those_of_a_gateway_without_a_sign_of_life_are_named_until_they_are_gone() {
        let now = Instant::now();
        let later = |s: u64| now + Duration::from_secs(s);
        let mut watch = watch(now);
        watch.follow("s", ids(&["bob", "cat", "dan"]));
        watch.heard("bob", change(true, "g1", 1));
        watch.heard("cat", change(true, "g2", 1));
        watch.heard("dan", change(false, "g1", 1));
        watch.beat("g1".to_owned(), now);
        watch.beat("g2".to_owned(), later(20));
        assert!(watch.abandoned(later(29)).is_empty());
        assert_eq!(watch.abandoned(later(30)), ["bob"]);
        // Its entry is younger than the last sign of its gateway.
        watch.looked(&one("bob", true), true, later(30));
        assert_eq!(watch.abandoned(later(31)), ["bob"]);
        let news = watch.looked(&one("bob", false), true, later(40));
        assert_eq!(told(&news), [("s", "bob", Status::Offline)], "at once");
        assert!(watch.abandoned(later(41)).is_empty());
        watch.heard("bob", change(true, "g1", 2));
        assert!(
            watch.abandoned(later(42)).is_empty(),
            "nobody knows that gateway any more"
        );
        watch.blind(|_| true);
        assert!(watch.abandoned(later(60)).is_empty(), "the bus was away");
        assert_eq!(watch.status("cat"), Status::Online, "which the bus reaches");
    }
}
