//! THE CLOCK: a thread of its own that plays a tick every 600 ms and listens in between.
//!
//! Always: a tick is due 600 ms after the last one was due, and the ticks of all runs fall at the
//! same moments of the store's clock; a tick never waits for anything; a panic ends the run.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{Receiver, RecvTimeoutError},
    thread::sleep,
    time::{Duration, Instant},
};

use crate::{
    beat::End,
    mailbox::Message,
    run::{Fault, Run},
};

/// Time for which messages gather before the thread listens again: to wake it for each of them would
/// cost more than to handle them.
const GATHER: Duration = Duration::from_millis(1);

/// A run that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) end: End,
    /// Cause of the end, as far as it is known.
    pub(crate) fault: Fault,
}

/// Plays until the run ends, and then drops everything that the run held.
pub(crate) fn play(mut run: Run, messages: &Receiver<Message>) -> Ended {
    let end = lived(&mut run, messages);
    run.measure_end();
    let fault = run.fault();
    Ended { end, fault }
}

fn lived(run: &mut Run, messages: &Receiver<Message>) -> End {
    let mut last = None;
    let ended = catch_unwind(AssertUnwindSafe(|| turn(run, messages, &mut last)));
    match ended {
        Ok(end) => end,
        Err(panic) => {
            let words = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no words");
            let told = catch_unwind(AssertUnwindSafe(|| run.panicked(last, words)));
            if told.is_err() {
                tracing::error!(tick = last, panic = words, "a tick panicked; the run ends");
            }
            End::Panicked
        }
    }
}

fn turn(run: &mut Run, messages: &Receiver<Message>, last: &mut Option<u64>) -> End {
    loop {
        run.steps();
        if let Some(edge) = run.beat.edge(Instant::now()) {
            *last = Some(edge.number);
            run.tick(edge);
        } else if let Ok(message) = messages.try_recv() {
            run.hear(message);
        } else {
            let wait = || run.beat.due().saturating_duration_since(Instant::now());
            sleep(wait().min(GATHER));
            match messages.recv_timeout(wait()) {
                Ok(message) => run.hear(message),
                Err(RecvTimeoutError::Timeout) => {}
                // All senders are gone: nobody wants this run.
                Err(RecvTimeoutError::Disconnected) => return End::Stopped,
            }
        }
        if let Some(end) = run.end() {
            return end;
        }
    }
}
