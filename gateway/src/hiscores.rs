//! Pages of the hiscores that this gateway has in memory.
//!
//! Always: the gateway asks the store for a page at most once in [`KEPT`], for any number of
//! readers. While the store is away, the gateway shows the last page that it has.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Semaphore,
    time::{Instant, timeout},
};
use tonic::Status;

use crate::http::stored::Stored;

/// Time for which a page is good.
const KEPT: Duration = Duration::from_secs(30);
/// Pause after a failure before the gateway asks the store for the page again.
const LEFT_ALONE: Duration = Duration::from_secs(1);
/// Pages in memory, at most.
const PAGES_KEPT: usize = 4_096;
/// Pages for which the gateway asks the store at the same time, at most.
const ASKED_AT_ONCE: usize = 4;
/// Time for which a request waits for its turn to ask.
const WAIT: Duration = Duration::from_secs(2);

/// A list and the number of its page.
pub(crate) type Key = (String, u32);

/// One page. The request that asks the store holds the lock; all others wait for its answer.
type Slot = tokio::sync::Mutex<Known>;

/// State of a page.
#[derive(Debug, Default)]
struct Known {
    page: Option<(Instant, Stored)>,
    /// When the store last failed to answer.
    failed: Option<Instant>,
}

impl Known {
    fn fresh(&self) -> Option<Stored> {
        let (at, page) = self.page.as_ref()?;
        (at.elapsed() < KEPT).then(|| page.clone())
    }

    /// Returns the last known page while the store does not answer; else the error `why`.
    fn stale(&self, why: Status) -> Result<Stored, Status> {
        let page = self.page.as_ref().map(|(_, page)| page.clone());
        page.ok_or(why)
    }
}

/// The pages of recent requests.
pub(crate) struct Hiscores {
    slots: Mutex<HashMap<Key, Arc<Slot>>>,
    asking: Semaphore,
}

impl Default for Hiscores {
    fn default() -> Self {
        Self {
            slots: Mutex::default(),
            asking: Semaphore::new(ASKED_AT_ONCE),
        }
    }
}

impl Hiscores {
    /// Returns the slot of a page. If there is no room, it forgets pages that are not good any
    /// more, or else all pages for which no request waits.
    fn slot(&self, key: Key) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= PAGES_KEPT && !slots.contains_key(&key) {
            let waited_for = |slot: &Arc<Slot>| Arc::strong_count(slot) > 1;
            let good = |slot: &Arc<Slot>| slot.try_lock().is_ok_and(|one| one.fresh().is_some());
            slots.retain(|_, slot| waited_for(slot) || good(slot));
            if slots.len() >= PAGES_KEPT {
                slots.retain(|_, slot| waited_for(slot));
            }
        }
        Arc::clone(slots.entry(key).or_default())
    }

    /// Returns the page: a fresh one from memory, or else the answer of `ask`.
    pub(crate) async fn page(
        &self,
        key: Key,
        ask: impl Future<Output = Result<Stored, Status>>,
    ) -> Result<Stored, Status> {
        let slot = self.slot(key);
        let mut known = slot.lock().await;
        if let Some(page) = known.fresh() {
            return Ok(page);
        }
        if known.failed.is_some_and(|at| at.elapsed() < LEFT_ALONE) {
            return known.stale(Status::unavailable("the store did not answer a moment ago"));
        }
        let Ok(Ok(_place)) = timeout(WAIT, self.asking.acquire()).await else {
            return known.stale(Status::unavailable("too many pages are asked for at once"));
        };
        match ask.await {
            Ok(page) => {
                known.failed = None;
                known.page = Some((Instant::now(), page.clone()));
                Ok(page)
            }
            Err(status) => {
                known.failed = Some(Instant::now());
                known.stale(status)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn stored(text: &str) -> Result<Stored, Status> {
        Ok(Stored::new(
            text.to_owned(),
            "text/plain",
            "public, max-age=30",
        ))
    }

    fn key(number: u32) -> Key {
        ("total".to_owned(), number)
    }

    #[tokio::test]
    async fn a_crowd_that_looks_at_a_page_asks_the_store_once() {
        let hiscores = Hiscores::default();
        let asked = AtomicU32::new(0);
        let look = || {
            hiscores.page(key(1), async {
                asked.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                stored("page")
            })
        };
        let seen = futures::future::join_all((0..200).map(|_| look())).await;
        assert!(
            seen.iter()
                .all(|page| page.as_ref().unwrap().body() == b"page")
        );
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_pages_are_asked_for_at_once_than_the_store_has_places() {
        let hiscores = Hiscores::default();
        let (now, most) = (AtomicU32::new(0), AtomicU32::new(0));
        let look = |number| {
            let (now, most) = (&now, &most);
            hiscores.page(key(number), async move {
                most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(500)).await;
                now.fetch_sub(1, Ordering::Relaxed);
                stored("page")
            })
        };
        let seen = futures::future::join_all((0..40).map(look)).await;
        assert_eq!(most.load(Ordering::Relaxed), 4);
        // A request that would wait too long gets an error.
        let told = seen.iter().filter(|page| page.is_ok()).count();
        assert!((16..40).contains(&told), "{told}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_is_away_is_left_alone_and_what_is_known_is_shown() {
        let hiscores = Hiscores::default();
        let away = || async { Err(Status::unavailable("away")) };
        let asked = hiscores.page(key(1), away()).await;
        assert_eq!(asked.unwrap_err().message(), "away");
        // Nobody asks again at once, though the store would answer by now.
        let again = hiscores.page(key(1), async { stored("page") }).await;
        assert_eq!(again.unwrap_err().code(), tonic::Code::Unavailable);
        let page = hiscores.page(key(2), async { stored("old") }).await;
        assert_eq!(page.unwrap().body(), b"old");
        tokio::time::advance(KEPT).await;
        let old = hiscores.page(key(2), away()).await.unwrap();
        assert_eq!(old.body(), b"old");
    }

    #[tokio::test]
    async fn no_more_pages_are_kept_than_there_is_room_for() {
        let hiscores = Hiscores::default();
        for number in 0..10_000 {
            let page = hiscores.page(key(number), async { stored("page") }).await;
            assert!(page.is_ok());
            assert!(hiscores.slots.lock().unwrap().len() <= PAGES_KEPT);
        }
    }
}
