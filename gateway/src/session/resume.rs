//! The last reliable messages, which a resume replays after a lost connection.
//!
//! `seq` grows by one per message on a socket. `session:hello` has 1. After a resume without
//! resync, `session:resumed` has the client's `lastSeq` + 1. The missed reliable messages follow
//! with new numbers, so that nothing is missing in the client's count. With resync the numbers go
//! on from the new socket's `session:hello`. No resume replays a `world:update`.
//!
//! Always: a resume replays exactly the reliable messages written behind `lastSeq`, in order; where
//! that is not certain, it replays nothing and everything comes anew.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use bytes::Bytes;

use crate::mailbox::Reliable;

/// Time for which written messages stay.
const AGE_MAX: Duration = Duration::from_secs(30);
/// Maximum size of the messages that stay, in bytes.
const BYTES_MAX: usize = 64 * 1024;

/// Messages written to a session's sockets.
#[derive(Debug)]
pub(crate) struct Written {
    /// Number of the last message.
    seq: u64,
    kept: VecDeque<Kept>,
    bytes: usize,
    /// Highest number of a reliable message that is no longer kept.
    forgotten: u64,
}

#[derive(Debug)]
struct Kept {
    seq: u64,
    at: Instant,
    message: Reliable,
}

impl Written {
    pub(crate) const fn new() -> Self {
        Self {
            seq: 0,
            kept: VecDeque::new(),
            bytes: 0,
            forgotten: 0,
        }
    }

    /// Returns the number of the next message, and does not keep that.
    pub(crate) const fn number(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    /// Keeps a message that [`Written::number`] has just numbered.
    pub(crate) fn keep(&mut self, mut message: Reliable, now: Instant) {
        self.bytes += message.len();
        // A copy: the data may be a part of a zone's whole frame, which they would hold for as long.
        message.data = Bytes::copy_from_slice(&message.data);
        self.kept.push_back(Kept {
            seq: self.seq,
            at: now,
            message,
        });
        self.forget(now);
    }

    /// Drops messages that are too old, or too many bytes, to replay.
    pub(crate) fn forget(&mut self, now: Instant) {
        while let Some(first) = self.kept.front() {
            let old = now.saturating_duration_since(first.at) > AGE_MAX;
            if !old && self.bytes <= BYTES_MAX {
                break;
            }
            self.forgotten = first.seq;
            self.bytes -= first.message.len();
            self.kept.pop_front();
        }
        if self.kept.is_empty() {
            self.kept.shrink_to_fit();
        }
    }

    /// Returns the reliable messages after `last_seq`, which the client does not have, and sets the
    /// count back to there. Returns `None` when that is not known.
    pub(crate) fn rewind(&mut self, last_seq: u64, now: Instant) -> Option<Vec<Reliable>> {
        self.forget(now);
        if last_seq > self.seq || last_seq < self.forgotten {
            return None;
        }
        let missed = self.kept.drain(..).filter(|kept| kept.seq > last_seq);
        let missed = missed.map(|kept| kept.message).collect();
        self.bytes = 0;
        self.seq = last_seq;
        self.forgotten = last_seq;
        Some(missed)
    }

    /// Returns the requests whose kept answers the client may not have received. With a resync
    /// these answers are lost.
    pub(crate) fn answers_after(&self, last_seq: u64) -> Vec<proto::client::RequestId> {
        let missed = self.kept.iter().filter(|kept| kept.seq > last_seq);
        missed.filter_map(|kept| kept.message.re.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(written: &mut Written, name: &'static str, now: Instant) -> u64 {
        let seq = written.number();
        written.keep(Reliable::raw(name, "{}"), now);
        seq
    }

    fn names(missed: Option<Vec<Reliable>>) -> Vec<String> {
        let missed = missed.expect("not known");
        missed.iter().map(|m| m.event.to_string()).collect()
    }

    #[test]
    fn exactly_the_missed_reliable_messages_are_replayed() {
        let now = Instant::now();
        let mut written = Written::new();
        write(&mut written, "a", now);
        written.number(); // a world:update
        write(&mut written, "b", now);
        written.number();
        write(&mut written, "c", now);
        assert_eq!(written.seq, 5);
        assert_eq!(names(written.rewind(2, now)), ["b", "c"]);
        assert_eq!(written.number(), 3, "the count goes on behind the client's");
    }

    #[test]
    fn a_resume_that_fails_midway_can_be_repeated() {
        let now = Instant::now();
        let mut written = Written::new();
        write(&mut written, "a", now);
        write(&mut written, "b", now);
        assert_eq!(names(written.rewind(1, now)), ["b"]);
        written.number(); // session:resumed
        write(&mut written, "b", now);
        assert_eq!(names(written.rewind(1, now)), ["b"]);
        assert_eq!(names(written.rewind(1, now)), Vec::<String>::new());
    }

    #[test]
    fn a_kept_message_does_not_hold_the_frame_that_brought_it() {
        let frame = Bytes::from(vec![b' '; 100_000]);
        let mut written = Written::new();
        written.number();
        written.keep(Reliable::raw("a", frame.slice(7..9)), Instant::now());
        assert!(frame.is_unique());
    }

    #[test]
    fn what_is_older_than_30_seconds_or_beyond_64_kb_is_unresolved() {
        let now = Instant::now();
        let mut written = Written::new();
        write(&mut written, "a", now);
        write(&mut written, "b", now + Duration::from_secs(20));
        let later = now + Duration::from_secs(31);
        assert!(written.rewind(0, later).is_none());
        assert_eq!(names(written.rewind(1, later)), ["b"]);

        let mut written = Written::new();
        for _ in 0..40 {
            written.number();
            written.keep(Reliable::raw("x", vec![b' '; 2048]), now);
        }
        assert!(written.rewind(1, now).is_none());
        assert_eq!(written.rewind(20, now).unwrap().len(), 20);
    }

    #[test]
    fn a_number_that_was_never_sent_is_unresolved() {
        let now = Instant::now();
        let mut written = Written::new();
        write(&mut written, "a", now);
        assert!(written.rewind(2, now).is_none());
        assert!(written.rewind(1, now).unwrap().is_empty());
    }
}
