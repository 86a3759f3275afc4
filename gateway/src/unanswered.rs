//! Requests of a client without an answer. Pure but for the clock.
//!
//! Always: each request with an id gets one answer. A request whose answer was lost leaves here
//! once, for an answer `outcome_unknown`; an answer that comes after that does not count.

use std::collections::VecDeque;

use proto::client::RequestId;
use tokio::time::Instant;

/// Maximum number of requests that wait for their answers, and of late answers known as such.
const REQUESTS_MAX: usize = 256;

/// Maximum number of requests of one session about which the gateway asks a run at once.
const RECALLED_MAX: usize = 32;

/// A pair of streams: the run, and the number of the pair.
pub(crate) type LinkId = (u64, u64);

/// Progress of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing is known yet.
    Asked,
    /// It waits for an owner, and went to no run.
    Held,
    /// The session passed it on over this link.
    Passed(LinkId),
}

#[derive(Debug)]
struct Request {
    id: RequestId,
    event: &'static str,
    asked: Instant,
    stage: Stage,
    /// Beginning of that stage.
    since: Instant,
}

/// Choice of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// All but those that wait for an owner.
    Asked,
    /// All: none will go to a run any more.
    All,
    /// Requests that went over this link.
    Over(LinkId),
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Unanswered {
    requests: VecDeque<Request>,
    /// Requests whose outcome the client knows to be unknown.
    unknown: VecDeque<RequestId>,
}

impl Unanswered {
    /// Adds a request that must be answered. Returns the oldest one if there is no room for it any
    /// more: the caller answers that with `outcome_unknown`.
    pub(crate) fn expect(
        &mut self,
        id: RequestId,
        event: &'static str,
    ) -> Option<(RequestId, &'static str)> {
        self.unknown.retain(|other| *other != id);
        let full = self.requests.len() >= REQUESTS_MAX;
        let oldest = if full {
            self.requests.pop_front()
        } else {
            None
        };
        let oldest = oldest.map(|request| (request.id, request.event));
        if let Some((id, _)) = &oldest {
            self.said_unknown(id.clone());
        }
        let stage = Stage::Asked;
        let since = Instant::now();
        self.requests.push_back(Request {
            id,
            event,
            asked: since,
            stage,
            since,
        });
        oldest
    }

    /// Notes that a request waits for an owner.
    pub(crate) fn held(&mut self, id: &RequestId) {
        self.goes(id, Stage::Held);
    }

    /// Notes that a request went over a link.
    pub(crate) fn passed(&mut self, id: &RequestId, link: LinkId) {
        self.goes(id, Stage::Passed(link));
    }

    fn goes(&mut self, id: &RequestId, stage: Stage) {
        let latest = self.requests.iter_mut().rfind(|other| other.id == *id);
        if let Some(request) = latest {
            request.stage = stage;
            request.since = Instant::now();
        }
    }

    /// Returns the oldest of the requests that went over a link before a moment and have no answer
    /// since.
    pub(crate) fn passed_before(&self, moment: Instant) -> Vec<RequestId> {
        let old = self
            .requests
            .iter()
            .filter(|request| matches!(request.stage, Stage::Passed(_)) && request.since < moment);
        old.take(RECALLED_MAX)
            .map(|request| request.id.clone())
            .collect()
    }

    /// Removes a request whose answer is written. Returns its event and when it came.
    pub(crate) fn answered(&mut self, id: &RequestId) -> Option<(&'static str, Instant)> {
        let at = self.requests.iter().position(|request| request.id == *id)?;
        let request = self.requests.remove(at)?;
        // A client that names two requests alike gets one answer for both.
        self.requests.retain(|request| request.id != *id);
        Some((request.event, request.asked))
    }

    /// Returns whether a request waits for its answer.
    pub(crate) fn awaits(&self, id: &RequestId) -> bool {
        self.requests.iter().any(|request| request.id == *id)
    }

    /// Returns whether no request waits for an answer.
    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Returns whether an answer comes too late: the client has heard that the outcome is unknown.
    pub(crate) fn is_late(&self, id: &RequestId) -> bool {
        !self.awaits(id) && self.unknown.contains(id)
    }

    /// Takes the chosen requests, with their events, except those whose answer waits to be written.
    /// The caller answers them with `outcome_unknown`.
    pub(crate) fn give_up(
        &mut self,
        which: Which,
        waits: impl Fn(&RequestId) -> bool,
    ) -> Vec<(RequestId, &'static str)> {
        let meant = |request: &Request| match (which, request.stage) {
            (Which::Asked, stage) => stage != Stage::Held,
            (Which::All, _) => true,
            (Which::Over(link), stage) => stage == Stage::Passed(link),
        };
        let requests = std::mem::take(&mut self.requests);
        let (lost, stay): (VecDeque<_>, VecDeque<_>) = requests
            .into_iter()
            .partition(|request| meant(request) && !waits(&request.id));
        self.requests = stay;
        let lost = lost.into_iter().map(|request| (request.id, request.event));
        let lost: Vec<(RequestId, &'static str)> = lost.collect();
        for (id, _) in &lost {
            self.said_unknown(id.clone());
        }
        lost
    }

    /// Takes a request whose answer is lost. Returns its event if it still waited for the answer.
    pub(crate) fn lose(&mut self, id: &RequestId) -> Option<&'static str> {
        let at = self.requests.iter().position(|other| other.id == *id)?;
        let request = self.requests.remove(at)?;
        self.said_unknown(request.id);
        Some(request.event)
    }

    fn said_unknown(&mut self, id: RequestId) {
        if self.unknown.len() >= REQUESTS_MAX {
            self.unknown.pop_front();
        }
        self.unknown.push_back(id);
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;

    fn id(text: &str) -> RequestId {
        RequestId::Text(text.to_owned())
    }

    fn ids(given: Vec<(RequestId, &'static str)>) -> Vec<RequestId> {
        given.into_iter().map(|(id, _)| id).collect()
    }

    fn asked(all: &[(&str, Stage)]) -> Unanswered {
        let mut unanswered = Unanswered::default();
        for (name, stage) in all {
            assert!(unanswered.expect(id(name), "player:move").is_none());
            unanswered.goes(&id(name), *stage);
        }
        unanswered
    }

    #[test]
    fn only_what_went_over_a_link_is_lost_with_it() {
        let (old, new) = ((1, 7), (2, 7));
        let all = [
            ("asked", Stage::Asked),
            ("held", Stage::Held),
            ("old", Stage::Passed(old)),
            ("old, answer waits", Stage::Passed(old)),
            ("new", Stage::Passed(new)),
        ];
        let waits = |request: &RequestId| *request == id("old, answer waits");
        let mut unanswered = asked(&all);
        assert_eq!(
            ids(unanswered.give_up(Which::Over(old), waits)),
            [id("old")]
        );
        assert!(unanswered.give_up(Which::Over(old), waits).is_empty());
        let rest = ids(unanswered.give_up(Which::Asked, waits));
        assert_eq!(rest, [id("asked"), id("new")]);
        assert_eq!(ids(unanswered.give_up(Which::All, waits)), [id("held")]);
        assert!(!unanswered.is_late(&id("old, answer waits")));
        assert!(unanswered.is_late(&id("old")));
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_was_passed_on_long_ago_is_asked_for_again() {
        let all = [
            ("asked", Stage::Asked),
            ("held", Stage::Held),
            ("passed", Stage::Passed((1, 1))),
        ];
        let mut unanswered = asked(&all);
        tokio::time::advance(Duration::from_secs(1)).await;
        let moment = Instant::now();
        unanswered.passed(&id("held"), (1, 1));
        assert_eq!(unanswered.passed_before(moment), [id("passed")]);
        unanswered.answered(&id("passed"));
        assert!(unanswered.passed_before(moment).is_empty());
    }

    #[test]
    fn an_id_that_is_used_again_is_answered_again() {
        let mut unanswered = asked(&[("a", Stage::Passed((1, 1)))]);
        assert_eq!(unanswered.lose(&id("a")), Some("player:move"));
        assert_eq!(unanswered.lose(&id("a")), None);
        assert!(unanswered.is_late(&id("a")));
        assert!(unanswered.expect(id("a"), "player:move").is_none());
        assert!(!unanswered.is_late(&id("a")));
    }

    #[test]
    fn what_there_is_no_room_for_is_not_forgotten_in_silence() {
        let mut unanswered = Unanswered::default();
        for number in 0..REQUESTS_MAX {
            let fits = unanswered.expect(id(&number.to_string()), "player:move");
            assert!(fits.is_none());
        }
        let oldest = unanswered.expect(id("one more"), "player:move");
        assert_eq!(oldest, Some((id("0"), "player:move")));
        assert!(unanswered.is_late(&id("0")));
    }

    /// Each request gets one answer, for any losses in any order.
    #[test]
    fn whatever_is_lost_each_request_is_answered_once() {
        for seed in 0..200 {
            let mut dice = StdRng::seed_from_u64(seed);
            let mut unanswered = Unanswered::default();
            let mut answers: BTreeMap<String, u32> = BTreeMap::new();
            let mut count = |name: &RequestId| {
                let RequestId::Text(name) = name else {
                    panic!("a text")
                };
                *answers.entry(name.clone()).or_default() += 1;
            };
            for number in 0..100u32 {
                let name = id(&number.to_string());
                unanswered.expect(name.clone(), "player:move");
                match dice.random_range(0..3) {
                    0 => unanswered.held(&name),
                    _ => unanswered.passed(&name, (dice.random_range(1..4), 1)),
                }
                let other = id(&dice.random_range(0..=number).to_string());
                let link = (dice.random_range(1..4), 1);
                match dice.random_range(0..5) {
                    0 => {
                        let lost = unanswered.give_up(Which::Over(link), |_| false);
                        lost.iter().for_each(|(name, _)| count(name));
                    }
                    1 if unanswered.lose(&other).is_some() => count(&other),
                    1 => {}
                    2 => {
                        let lost = unanswered.give_up(Which::Asked, |_| false);
                        lost.iter().for_each(|(name, _)| count(name));
                    }
                    // A zone answers once, early or late.
                    _ if unanswered.awaits(&other) => {
                        unanswered.answered(&other);
                        count(&other);
                    }
                    _ => {}
                }
            }
            let rest = unanswered.give_up(Which::All, |_| false);
            rest.iter().for_each(|(name, _)| count(name));
            assert_eq!(answers.len(), 100, "seed {seed}");
            let twice = answers.iter().find(|(_, times)| **times != 1);
            assert_eq!(twice, None, "seed {seed}");
        }
    }
}
