//! Requests of one kind that the store answers together, because one transaction for many costs
//! little more than one for a single request.
//!
//! Always: transactions of a kind begin [`APART`] or more apart, and those that come meanwhile share
//! the next one. So a request alone begins at once, and in a crowd few transactions answer many. A
//! request that fails fails alone. Two requests with the same key are never in the same transaction.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use futures::future::BoxFuture;
use service_runtime::tasks::TaskGroup;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::store::error::{Result, StoreError};

/// Most requests of a kind that wait; a further caller waits for room.
const WAITING_MAX: usize = 1_024;
/// Shortest time from the begin of a transaction to the begin of the next, if that is not full. In a
/// rush it decides how many share one: with half of it, 2 cores let 5 to 15 % fewer players in.
const APART: Duration = Duration::from_millis(40);
/// Most requests of one transaction.
pub(crate) const TOGETHER_MAX: usize = 64;

/// Answers of the store to several requests, in their order; or the failure of all.
pub(crate) type Answers<R> = Result<Vec<Result<R>>>;

/// The requests of one kind. The task that answers them ends when this is dropped.
pub(crate) struct Together<A, R> {
    asks: mpsc::Sender<Waiting<A, R>>,
}

struct Waiting<A, R> {
    ask: A,
    answer: oneshot::Sender<Result<R>>,
}

impl<A, R> Together<A, R>
where
    A: Clone + Send + Sync + 'static,
    R: Send + 'static,
{
    /// Starts the task that answers requests by `work`. `key` returns the thing that a request
    /// changes. Call it inside a runtime.
    pub(crate) fn start(
        tasks: &TaskGroup,
        name: &'static str,
        key: fn(&A) -> &[u8],
        work: impl Fn(Vec<A>) -> BoxFuture<'static, Answers<R>> + Send + Sync + 'static,
    ) -> Self {
        let (asks, inbox) = mpsc::channel(WAITING_MAX);
        tasks.spawn(name, answer_all(inbox, key, work));
        Self { asks }
    }

    /// Returns the answer to one request. A caller that gives up leaves the outcome unknown.
    pub(crate) async fn ask(&self, ask: A) -> Result<R> {
        let (answer, answered) = oneshot::channel();
        let gone = || StoreError::Away("the service stops".to_owned());
        let sent = self.asks.send(Waiting { ask, answer }).await;
        sent.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

async fn answer_all<A, R>(
    mut inbox: mpsc::Receiver<Waiting<A, R>>,
    key: fn(&A) -> &[u8],
    work: impl Fn(Vec<A>) -> BoxFuture<'static, Answers<R>>,
) where
    A: Clone,
{
    let mut waiting = VecDeque::new();
    let mut next = Instant::now();
    loop {
        if waiting.is_empty() {
            match inbox.recv().await {
                Some(first) => waiting.push_back(first),
                None => return,
            }
        }
        while waiting.len() < TOGETHER_MAX
            && let Ok(more) = inbox.try_recv()
        {
            waiting.push_back(more);
        }
        while waiting.len() < TOGETHER_MAX
            && Instant::now() < next
            && let Ok(Some(more)) = timeout_at(next, inbox.recv()).await
        {
            waiting.push_back(more);
        }
        next = Instant::now() + APART;
        // Nobody hears the answer to a caller that has gone, and its request has not begun.
        waiting.retain(|one| !one.answer.is_closed());
        let batch = distinct(&mut waiting, key);
        if !batch.is_empty() {
            answer(batch, &work).await;
        }
    }
}

/// Takes the first request of each key.
fn distinct<A, R>(
    waiting: &mut VecDeque<Waiting<A, R>>,
    key: fn(&A) -> &[u8],
) -> Vec<Waiting<A, R>> {
    let mut keys = HashSet::new();
    let first: Vec<bool> = waiting
        .iter()
        .map(|one| keys.insert(key(&one.ask)))
        .collect();
    let (mut batch, mut later) = (Vec::with_capacity(waiting.len()), VecDeque::new());
    for (one, first) in waiting.drain(..).zip(first) {
        if first {
            batch.push(one);
        } else {
            later.push_back(one);
        }
    }
    *waiting = later;
    batch
}

async fn answer<A, R>(
    batch: Vec<Waiting<A, R>>,
    work: &impl Fn(Vec<A>) -> BoxFuture<'static, Answers<R>>,
) where
    A: Clone,
{
    let asks: Vec<A> = batch.iter().map(|one| one.ask.clone()).collect();
    match work(asks).await {
        Ok(results) => {
            // A request without a result hears that the store is away.
            for (one, result) in batch.into_iter().zip(results) {
                // The caller may have gone.
                let _ = one.answer.send(result);
            }
        }
        // One of them may be the reason: nothing of the others is to fail with it.
        Err(StoreError::Broken(_)) if batch.len() > 1 => {
            for one in batch {
                let alone = work(vec![one.ask]).await;
                let result = alone.and_then(|mut results| {
                    let none = || StoreError::Broken("no answer".to_owned());
                    results.pop().ok_or_else(none)?
                });
                let _ = one.answer.send(result);
            }
        }
        Err(error) => {
            for one in batch {
                let _ = one.answer.send(Err(error.clone()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use futures::FutureExt;
    use tokio::sync::Semaphore;
    use tokio::time::sleep;

    use super::*;

    type Seen = Arc<Mutex<Vec<Vec<String>>>>;

    /// Returns requests that wait for a permit of the semaphore, and the batches that came.
    fn start(tasks: &TaskGroup) -> (Arc<Together<String, usize>>, Arc<Semaphore>, Seen) {
        let (gate, seen) = (Arc::new(Semaphore::new(0)), Seen::default());
        let (held, noted) = (Arc::clone(&gate), Arc::clone(&seen));
        let work = move |asks: Vec<String>| {
            let (gate, seen) = (Arc::clone(&held), Arc::clone(&noted));
            async move {
                seen.lock().unwrap().push(asks.clone());
                gate.acquire().await.unwrap().forget();
                if asks.iter().any(|ask| ask == "poison") {
                    return Err(StoreError::Broken("poison".to_owned()));
                }
                let each = |ask: &String| match ask.as_str() {
                    "taken" => Err(StoreError::NameTaken),
                    other => Ok(other.len()),
                };
                Ok(asks.iter().map(each).collect())
            }
            .boxed()
        };
        let together = Together::start(tasks, "test", |ask: &String| ask.as_bytes(), work);
        (Arc::new(together), gate, seen)
    }

    fn asked(
        together: &Arc<Together<String, usize>>,
        ask: &str,
    ) -> BoxFuture<'static, Result<usize>> {
        let (together, ask) = (Arc::clone(together), ask.to_owned());
        // Started here, so that requests come in the order in which the test makes them.
        let mut asked = async move { together.ask(ask).await }.boxed();
        assert!((&mut asked).now_or_never().is_none());
        asked
    }

    #[tokio::test]
    async fn requests_that_come_while_one_runs_share_the_next_transaction() {
        let tasks = TaskGroup::default();
        let (together, gate, seen) = start(&tasks);
        let first = asked(&together, "a");
        tokio::task::yield_now().await;
        let rest = [
            asked(&together, "bb"),
            asked(&together, "taken"),
            asked(&together, "ccc"),
        ];
        gate.add_permits(2);
        assert_eq!(first.await.unwrap(), 1);
        let rest = futures::future::join_all(rest).await;
        assert_eq!(rest[0].as_ref().unwrap(), &2);
        assert!(matches!(rest[1], Err(StoreError::NameTaken)));
        assert_eq!(rest[2].as_ref().unwrap(), &3);
        let seen = seen.lock().unwrap().clone();
        assert_eq!(seen, [vec!["a"], vec!["bb", "taken", "ccc"]]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_begins_at_once_and_those_after_it_wait_for_each_other() {
        let tasks = TaskGroup::default();
        let (together, gate, seen) = start(&tasks);
        gate.add_permits(4);
        let begin = Instant::now();
        assert_eq!(asked(&together, "a").await.unwrap(), 1);
        assert_eq!(begin.elapsed(), Duration::ZERO);
        let second = asked(&together, "bb");
        sleep(APART / 2).await;
        let third = asked(&together, "ccc");
        assert_eq!((second.await.unwrap(), third.await.unwrap()), (2, 3));
        assert_eq!(begin.elapsed(), APART);
        sleep(APART).await;
        assert_eq!(asked(&together, "a").await.unwrap(), 1);
        assert_eq!(begin.elapsed(), 2 * APART);
        let seen = seen.lock().unwrap().clone();
        assert_eq!(seen, [vec!["a"], vec!["bb", "ccc"], vec!["a"]]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_transaction_waits_for_nobody() {
        let tasks = TaskGroup::default();
        let (together, gate, seen) = start(&tasks);
        gate.add_permits(2);
        let begin = Instant::now();
        assert_eq!(asked(&together, "a").await.unwrap(), 1);
        let many: Vec<String> = (0..TOGETHER_MAX).map(|n| n.to_string()).collect();
        let many = many.iter().map(|ask| asked(&together, ask));
        let answers = futures::future::join_all(many.collect::<Vec<_>>()).await;
        assert!(answers.iter().all(Result::is_ok));
        assert_eq!(begin.elapsed(), Duration::ZERO);
        assert_eq!(seen.lock().unwrap().len(), 2);
    }

    #[tokio::test]
    async fn two_requests_with_one_key_follow_each_other() {
        let tasks = TaskGroup::default();
        let (together, gate, seen) = start(&tasks);
        let asks = [
            asked(&together, "a"),
            asked(&together, "a"),
            asked(&together, "b"),
        ];
        gate.add_permits(2);
        let answers = futures::future::join_all(asks).await;
        assert!(answers.iter().all(|answer| matches!(answer, Ok(1))));
        assert_eq!(*seen.lock().unwrap(), [vec!["a", "b"], vec!["a"]]);
    }

    #[tokio::test]
    async fn a_request_that_breaks_its_transaction_breaks_no_other() {
        let tasks = TaskGroup::default();
        let (together, gate, _) = start(&tasks);
        let asks = [
            asked(&together, "a"),
            asked(&together, "poison"),
            asked(&together, "bb"),
        ];
        gate.add_permits(4);
        let answers = futures::future::join_all(asks).await;
        assert_eq!(answers[0].as_ref().unwrap(), &1);
        assert!(matches!(answers[1], Err(StoreError::Broken(_))));
        assert_eq!(answers[2].as_ref().unwrap(), &2);
    }

    #[tokio::test]
    async fn the_request_of_a_caller_that_has_gone_does_not_begin() {
        let tasks = TaskGroup::default();
        let (together, gate, seen) = start(&tasks);
        let first = asked(&together, "a");
        tokio::task::yield_now().await;
        let (gone, stays) = (asked(&together, "gone"), asked(&together, "stays"));
        drop(gone);
        gate.add_permits(2);
        first.await.unwrap();
        stays.await.unwrap();
        assert_eq!(*seen.lock().unwrap(), [vec!["a"], vec!["stays"]]);
    }
}
