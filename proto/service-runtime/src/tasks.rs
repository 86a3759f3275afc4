//! The tasks of one part of a process.
//!
//! Always: the stopper of the part can wait for all of them; the group logs and counts a panic,
//! which ends that task alone.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use opentelemetry::{
    KeyValue,
    metrics::{Counter, Meter, MeterProvider, noop::NoopMeterProvider},
};
use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::instruments::counter;

/// Starts tasks and knows which of them still run. Cheap to clone: all clones are one group.
#[derive(Debug, Clone)]
pub struct TaskGroup {
    tracker: TaskTracker,
    stop: CancellationToken,
    panics: Counter<u64>,
}

impl TaskGroup {
    /// Makes a group of tasks that end at `stop`. It counts panics as `tasks_panicked_total`, by the
    /// task's name.
    pub fn new(meter: &Meter, stop: CancellationToken) -> Self {
        let panics = counter(
            meter,
            "tasks_panicked_total",
            "Tasks that ended by a panic, by the name of the task",
        );
        Self {
            tracker: TaskTracker::new(),
            stop,
            panics,
        }
    }

    /// Makes a group of its own that counts panics with this one and ends at the same stop.
    #[must_use]
    pub fn part(&self) -> Self {
        Self {
            tracker: TaskTracker::new(),
            stop: self.stop.clone(),
            panics: self.panics.clone(),
        }
    }

    /// Returns the token at which the tasks end.
    pub fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Runs `work` to its end or to the stop, which may cut it short at any await.
    pub fn spawn(&self, name: &'static str, work: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        // If the stop cuts it short, the part is over, and nobody waits for its result.
        let work = stop.run_until_cancelled_owned(Box::pin(work)).map(drop);
        self.watch(name, work);
    }

    /// Runs `work` to its end, also beyond the stop.
    pub fn finish(&self, name: &'static str, work: impl Future<Output = ()> + Send + 'static) {
        self.watch(name, Box::pin(work));
    }

    /// Runs `work` and reports its panic. The caller boxes what is large: each async block around it
    /// would hold it twice.
    fn watch(&self, name: &'static str, work: impl Future<Output = ()> + Send + 'static) {
        let panics = self.panics.clone();
        // Locks guard the shared state of a panicked task, and they report the panic.
        let work = AssertUnwindSafe(work).catch_unwind();
        self.tracker.spawn(async move {
            if work.await.is_err() {
                tracing::error!(task = name, "a task panicked");
                panics.add(1, &[KeyValue::new("task", name)]);
            }
        });
    }

    /// Runs `work` to its end, for a caller that waits for its result and sees its panic.
    pub fn joined<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.tracker.spawn(work)
    }

    /// Waits until all have ended. A group to which tasks come meanwhile waits for those, too.
    pub async fn ended(&self) {
        self.tracker.close();
        self.tracker.wait().await;
    }
}

impl Default for TaskGroup {
    /// Makes a group that counts nothing and never stops.
    fn default() -> Self {
        let meter = NoopMeterProvider::new().meter("none");
        Self::new(&meter, CancellationToken::new())
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    fn group(stop: &CancellationToken) -> TaskGroup {
        TaskGroup {
            stop: stop.clone(),
            ..TaskGroup::default()
        }
    }

    #[tokio::test]
    async fn a_group_ends_with_its_stop_but_for_what_must_be_finished() {
        let stop = CancellationToken::new();
        let tasks = group(&stop);
        let (go_on, asked) = oneshot::channel::<()>();
        let (done, finished) = oneshot::channel();
        tasks.spawn("for ever", std::future::pending());
        tasks.finish("to the end", async move {
            let _ = asked.await;
            let _ = done.send(());
        });
        stop.cancel();
        let ended = tasks.ended();
        tokio::pin!(ended);
        assert!((&mut ended).now_or_never().is_none(), "one goes on");
        go_on.send(()).unwrap();
        ended.await;
        assert_eq!(finished.await, Ok(()));
    }

    #[tokio::test]
    async fn a_panic_ends_its_own_task_alone() {
        let stop = CancellationToken::new();
        let tasks = group(&stop);
        let (done, finished) = oneshot::channel();
        tasks.spawn("broken", async { panic!("on purpose") });
        tasks.spawn("whole", async move { done.send(7).unwrap() });
        tasks.ended().await;
        assert_eq!(finished.await, Ok(7));
    }
}
