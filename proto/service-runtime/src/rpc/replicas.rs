//! The replicas of a service, as one: a call goes to the replica that answered last. If that one
//! does not answer, the call goes to the next one.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tonic::{Code, Response, Status, transport::Channel};

use super::{Role, Trust, bounded};

/// All replicas of a service; at least one. Clones share the replica of the first attempt.
#[derive(Debug, Clone)]
pub struct Replicas {
    channels: Arc<[Channel]>,
    current: Arc<AtomicUsize>,
}

/// The answer of a replica.
#[derive(Debug)]
pub struct Answered<T> {
    /// Answer, or the failure of the last replica.
    pub answer: Result<T, Status>,
    /// Whether an earlier replica gave no answer and may have done the same.
    pub again: bool,
}

impl Replicas {
    /// Builds the replicas of a role and connects to none yet. Call it inside a runtime.
    ///
    /// # Errors
    /// If there is no address, or one is not `host:port`.
    pub fn new(trust: &Trust, role: Role, addresses: &[String]) -> anyhow::Result<Self> {
        let channels = addresses.iter().map(|address| trust.channel(role, address));
        let channels: Result<Vec<Channel>, _> = channels.collect();
        let channels = channels?;
        anyhow::ensure!(!channels.is_empty(), "no address is given");
        Ok(Self {
            channels: channels.into(),
            current: Arc::default(),
        })
    }

    /// Returns the replica that answered last.
    pub fn current(&self) -> Channel {
        let at = self.current.load(Ordering::Relaxed) % self.channels.len();
        self.channels[at].clone()
    }

    /// Moves on to the next replica.
    pub fn next(&self) {
        self.current.fetch_add(1, Ordering::Relaxed);
    }

    /// Asks one replica after the other until one answers, each within [`super::DEADLINE`]. More
    /// than one replica may carry out the request.
    ///
    /// # Errors
    /// The answer of a replica, or that of the last one if none answered.
    pub async fn call<Q: Clone, T>(
        &self,
        request: Q,
        call: impl AsyncFn(Channel, Q) -> Result<Response<T>, Status>,
    ) -> Result<T, Status> {
        self.call_once(request, call).await.answer
    }

    /// Calls as [`Replicas::call`] does, and says whether a replica without an answer may have done
    /// it.
    pub async fn call_once<Q: Clone, T>(
        &self,
        request: Q,
        call: impl AsyncFn(Channel, Q) -> Result<Response<T>, Status>,
    ) -> Answered<T> {
        let first = self.current.load(Ordering::Relaxed);
        let mut step = 0;
        loop {
            let index = (first + step) % self.channels.len();
            let channel = self.channels[index].clone();
            let answer = bounded(call(channel, request.clone())).await;
            let silent = answer.as_ref().is_err_and(away);
            let again = step > 0;
            step += 1;
            if silent && step < self.channels.len() {
                continue;
            }
            if !silent {
                self.current.store(index, Ordering::Relaxed);
            }
            return Answered { answer, again };
        }
    }
}

/// Returns whether a replica did not answer, so that another one may.
fn away(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::Unavailable | Code::DeadlineExceeded | Code::Unknown | Code::Cancelled
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn persistence(addresses: &[String]) -> anyhow::Result<Replicas> {
        Replicas::new(&Trust::none(), Role::Persistence, addresses)
    }

    fn three() -> Replicas {
        let addresses = ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"];
        persistence(&addresses.map(str::to_owned)).expect("addresses")
    }

    /// Answers call by call.
    fn script(answers: Vec<Result<u32, Code>>) -> Mutex<std::vec::IntoIter<Result<u32, Code>>> {
        Mutex::new(answers.into_iter())
    }

    async fn ask(
        replicas: &Replicas,
        script: &Mutex<std::vec::IntoIter<Result<u32, Code>>>,
    ) -> Answered<u32> {
        let call = async |_: Channel, (): ()| {
            let next = script.lock().expect("lock").next().expect("one call more");
            next.map(Response::new)
                .map_err(|code| Status::new(code, ""))
        };
        replicas.call_once((), call).await
    }

    #[tokio::test]
    async fn the_one_that_answered_is_asked_first_from_then_on() {
        let replicas = three();
        let silent = Err(Code::Unavailable);
        let asked = ask(&replicas, &script(vec![silent, Ok(7)])).await;
        assert_eq!((asked.answer.ok(), asked.again), (Some(7), true));
        assert_eq!(replicas.current.load(Ordering::Relaxed), 1);
        let asked = ask(&replicas, &script(vec![Ok(8)])).await;
        assert_eq!((asked.answer.ok(), asked.again), (Some(8), false));
    }

    #[tokio::test]
    async fn a_refusal_is_an_answer_and_nobody_else_is_asked() {
        let replicas = three();
        let asked = ask(&replicas, &script(vec![Err(Code::NotFound)])).await;
        assert_eq!(asked.answer.map_err(|s| s.code()), Err(Code::NotFound));
    }

    #[tokio::test]
    async fn each_is_asked_once_and_the_last_failure_is_told() {
        let replicas = three();
        let silent = [Code::Unavailable, Code::Unknown, Code::DeadlineExceeded];
        let asked = ask(&replicas, &script(silent.map(Err).to_vec())).await;
        let code = asked.answer.map_err(|status| status.code());
        assert_eq!(code, Err(Code::DeadlineExceeded));
        assert_eq!(replicas.current.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn nobody_to_ask_is_no_service() {
        assert!(persistence(&[]).is_err());
    }
}
