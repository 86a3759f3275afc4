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

use proto::client::RequestId;

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
    /// The texts of the kept messages, one behind the other: the event, the request that it answers
    /// as JSON, and the data. Most messages are short answers, one for each step of 30 s.
    texts: VecDeque<u8>,
    /// Highest number of a reliable message that is no longer kept.
    forgotten: u64,
}

/// A kept message: where its texts begin and end.
#[derive(Debug)]
struct Kept {
    seq: u64,
    at: Instant,
    event_bytes: usize,
    /// 0: it answers no request.
    re_bytes: usize,
    data_bytes: usize,
}

impl Kept {
    const fn bytes(&self) -> usize {
        self.event_bytes + self.re_bytes + self.data_bytes
    }
}

impl Written {
    pub(crate) const fn new() -> Self {
        Self {
            seq: 0,
            kept: VecDeque::new(),
            texts: VecDeque::new(),
            forgotten: 0,
        }
    }

    /// Returns the number of the next message, and does not keep that.
    pub(crate) const fn number(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    /// Keeps a message that [`Written::number`] has just numbered.
    pub(crate) fn keep(&mut self, message: &Reliable, now: Instant) {
        let re = message.re.as_ref().map(proto::encode::json);
        let re = re.unwrap_or_default();
        self.kept.push_back(Kept {
            seq: self.seq,
            at: now,
            event_bytes: message.event.len(),
            re_bytes: re.len(),
            data_bytes: message.data.len(),
        });
        self.texts.extend(message.event.as_bytes());
        self.texts.extend(&re);
        self.texts.extend(&message.data);
        self.forget(now);
    }

    /// Drops messages that are too old, or too many bytes, to replay.
    pub(crate) fn forget(&mut self, now: Instant) {
        while let Some(first) = self.kept.front() {
            let old = now.saturating_duration_since(first.at) > AGE_MAX;
            if !old && self.texts.len() <= BYTES_MAX {
                break;
            }
            self.forgotten = first.seq;
            self.texts.drain(..first.bytes());
            self.kept.pop_front();
        }
        // Much comes at once when a player enters. That memory is not held for as long as it plays.
        if self.kept.len() < self.kept.capacity() / 4 {
            self.kept.shrink_to(self.kept.len() * 2);
        }
        if self.texts.len() < self.texts.capacity() / 4 {
            self.texts.shrink_to(self.texts.len() * 2);
        }
    }

    /// Returns the reliable messages after `last_seq`, which the client does not have, and sets the
    /// count back to there. Returns `None` when that is not known.
    pub(crate) fn rewind(&mut self, last_seq: u64, now: Instant) -> Option<Vec<Reliable>> {
        self.forget(now);
        if last_seq > self.seq || last_seq < self.forgotten {
            return None;
        }
        let messages = std::mem::replace(self, Self::new()).messages();
        let missed = messages.filter(|(seq, _)| *seq > last_seq);
        let missed = missed.map(|(_, message)| message).collect();
        self.seq = last_seq;
        self.forgotten = last_seq;
        Some(missed)
    }

    /// Returns the kept messages in order, with their numbers.
    fn messages(self) -> impl Iterator<Item = (u64, Reliable)> {
        let (kept, mut texts) = (self.kept, self.texts);
        kept.into_iter().map(move |kept| {
            let event = take(&mut texts, kept.event_bytes);
            let re = take(&mut texts, kept.re_bytes);
            let data = take(&mut texts, kept.data_bytes);
            let event = String::from_utf8_lossy(&event).into_owned();
            (kept.seq, Reliable::raw(event, data).answering(request(&re)))
        })
    }

    /// Returns the requests whose kept answers the client may not have received. With a resync
    /// these answers are lost.
    pub(crate) fn answers_after(&self, last_seq: u64) -> Vec<RequestId> {
        let mut begin = 0;
        let answered = self.kept.iter().filter_map(|kept| {
            let re = begin + kept.event_bytes;
            begin += kept.bytes();
            let re = self.texts.range(re..re + kept.re_bytes).copied();
            let missed = kept.seq > last_seq;
            missed.then(|| request(&re.collect::<Vec<u8>>())).flatten()
        });
        answered.collect()
    }
}

/// Takes so many bytes from the front.
fn take(texts: &mut VecDeque<u8>, count: usize) -> Vec<u8> {
    texts.drain(..count).collect()
}

/// Reads the request that a message answers; it answers none if there is no text.
fn request(re: &[u8]) -> Option<RequestId> {
    serde_json::from_slice(re).ok()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn write(written: &mut Written, name: &'static str, now: Instant) -> u64 {
        let seq = written.number();
        written.keep(&Reliable::raw(name, "{}"), now);
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
        written.keep(&Reliable::raw("a", frame.slice(7..9)), Instant::now());
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
            written.keep(&Reliable::raw("x", vec![b' '; 2048]), now);
        }
        assert!(written.rewind(1, now).is_none());
        assert_eq!(written.rewind(20, now).unwrap().len(), 20);
    }

    #[test]
    fn a_replayed_message_is_what_was_written() {
        let now = Instant::now();
        let mut written = Written::new();
        // One whose last digit a quick reader of numbers gets wrong.
        let fraction = serde_json::Number::from_f64(90.422_252_909_423_83).unwrap();
        let requests = [
            None,
            Some(RequestId::Number(7.into())),
            Some(RequestId::Text("é \"7\"".to_owned())),
            Some(RequestId::Number(fraction)),
        ];
        // More than stay, so that the texts go round in their memory.
        for round in 0..200 {
            written.number();
            let data = format!("{{\"n\":{round}}}");
            let re = requests[round % 4].clone();
            let message = Reliable::raw("ack", data).answering(re);
            written.keep(&message, now + Duration::from_secs(round as u64));
        }
        let now = now + Duration::from_secs(199);
        assert_eq!(
            written.answers_after(197),
            [
                requests[1].clone(),
                requests[2].clone(),
                requests[3].clone()
            ]
            .map(Option::unwrap)
        );
        let missed = written.rewind(190, now).expect("not known");
        assert_eq!(missed.len(), 10);
        for (message, round) in missed.iter().zip(190..) {
            assert_eq!(message.event, "ack");
            assert_eq!(message.data, format!("{{\"n\":{round}}}"));
            assert_eq!(message.re, requests[round % 4]);
        }
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
