//! Everything that a session's socket has to write: reliable messages in order, one `world:update`,
//! pings and pongs, and a closing word.
//!
//! Always: nobody waits for a client. A push either fits (256 messages and 64 KB), or the session
//! learns that it overflowed. An update fits only when the writer has taken the last one.

use std::{
    borrow::Cow,
    collections::{BTreeSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use bytes::Bytes;
use proto::client::{CloseCode, RequestId, ServerEvent};
use tokio::sync::{Notify, oneshot};

use crate::unanswered::{LinkId, Unanswered, Which};

/// Maximum number of reliable messages that wait.
pub(crate) const MESSAGES_MAX: usize = 256;
/// Maximum size of those messages together, in bytes.
pub(crate) const BYTES_MAX: usize = 64 * 1024;
/// Maximum number of control frames that wait.
const CONTROLS_MAX: usize = 16;

/// Message that must arrive, in order.
#[derive(Debug)]
pub(crate) struct Reliable {
    /// The wire name of the event.
    pub(crate) event: Cow<'static, str>,
    /// Its data as JSON text.
    pub(crate) data: Bytes,
    /// The request that it answers.
    pub(crate) re: Option<RequestId>,
    /// The event of that request and when it came, once the mailbox gives the answer out.
    pub(crate) asked: Option<(&'static str, tokio::time::Instant)>,
    /// Trace contexts of its cause.
    pub(crate) traceparents: Vec<String>,
    /// Signal that the message has reached the socket; dropped when it never will.
    pub(crate) written: Option<oneshot::Sender<()>>,
}

impl Reliable {
    /// Returns a message whose data are JSON text already.
    pub(crate) fn raw(event: impl Into<Cow<'static, str>>, data: impl Into<Bytes>) -> Self {
        Self {
            event: event.into(),
            data: data.into(),
            re: None,
            asked: None,
            traceparents: Vec::new(),
            written: None,
        }
    }

    /// Returns a message of the protocol.
    pub(crate) fn of<T: ServerEvent>(data: &T) -> Self {
        Self::raw(T::NAME, proto::encode::json(data))
    }

    /// Makes it the answer to this request.
    pub(crate) fn answering(mut self, re: Option<RequestId>) -> Self {
        self.re = re;
        self
    }

    /// Adds the traces whose effect it shows.
    pub(crate) fn traced(mut self, traceparents: Vec<String>) -> Self {
        self.traceparents = traceparents;
        self
    }

    /// Returns its size against the bounds, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.event.len() + self.data.len()
    }
}

/// One `world:update`, ready to be written.
#[derive(Debug)]
pub(crate) struct Update {
    /// The tick that it shows.
    pub(crate) tick: u64,
    /// The `data` value in the session's format, in pieces to write one behind the other.
    pub(crate) body: Vec<Bytes>,
    /// Trace contexts of its cause.
    pub(crate) traceparents: Vec<String>,
    /// Time at which the tick's frame arrived at this gateway.
    pub(crate) received: Instant,
}

/// Error of a push without room: the session overflowed, its socket closes as too slow, and the
/// client may resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

/// Next thing that the socket writes.
#[derive(Debug)]
pub(crate) enum Next {
    /// A protocol ping.
    Ping,
    /// The answer to the client's ping.
    Pong(Bytes),
    /// A reliable message.
    Reliable(Reliable),
    /// A `world:update`.
    Update(Update),
    /// A close frame; nothing follows.
    Close(CloseCode, Cow<'static, str>),
    /// Order to give the socket to another mailbox.
    Release,
    /// A message as it is: an echo.
    #[cfg(test)]
    Whole(bool, Bytes),
}

#[derive(Debug, Default)]
struct Inside {
    reliable: VecDeque<Reliable>,
    bytes: usize,
    update: Option<Update>,
    ping: bool,
    pongs: VecDeque<Bytes>,
    close: Option<(CloseCode, Cow<'static, str>)>,
    released: bool,
    /// Whether a push did not fit since the last resync.
    overflowed: bool,
    /// Whether a message waits for the update of its tick.
    laid: bool,
    /// Messages that wait for the ones that must come first; `None`: messages do not wait.
    held: Option<Vec<Reliable>>,
    /// Whether there is no socket and the mailbox takes no update.
    paused: bool,
    #[cfg(test)]
    echoes: VecDeque<(bool, Bytes)>,
    /// Requests that the writer has not answered.
    unanswered: Unanswered,
    /// Accounts whose requests the player does not want.
    ignored: BTreeSet<String>,
}

impl Inside {
    /// Puts a message behind those that wait.
    fn put(&mut self, message: Reliable) -> Result<(), Full> {
        let held = self.held.as_ref().map_or(0, Vec::len);
        let count = self.reliable.len() + held;
        let length = message.len();
        if self.overflowed || count >= MESSAGES_MAX || self.bytes + length > BYTES_MAX {
            self.overflowed = true;
            return Err(Full);
        }
        self.bytes += length;
        match &mut self.held {
            Some(held) => held.push(message),
            None => self.reliable.push_back(message),
        }
        Ok(())
    }

    /// Takes the requests that the session has to answer with `outcome_unknown`.
    fn give_up(&mut self, which: Which) -> Vec<(RequestId, &'static str)> {
        let waiting = self.reliable.iter().chain(self.held.iter().flatten());
        let waiting: Vec<_> = waiting.filter_map(|message| message.re.as_ref()).collect();
        self.unanswered.give_up(which, |id| waiting.contains(&id))
    }
}

/// The one way to a session's socket. Cheap to clone; all clones are the same mailbox.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mailbox(Arc<(Mutex<Inside>, Notify, Notify)>);

impl Mailbox {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        // Nothing in here panics while it holds the lock; a poisoned one is whole.
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the accounts that the player ignores from now on.
    pub(crate) fn ignore(&self, accounts: BTreeSet<String>) {
        self.inside().ignored = accounts;
    }

    /// Returns whether the player ignores an account.
    pub(crate) fn ignores(&self, account_id: &str) -> bool {
        self.inside().ignored.contains(account_id)
    }

    fn wake(&self) {
        self.0.1.notify_one();
    }

    /// Puts a message behind those that wait.
    pub(crate) fn push(&self, message: Reliable) -> Result<(), Full> {
        let put = self.inside().put(message);
        self.wake();
        put
    }

    /// Does as [`Mailbox::push`], but wakes the writer only with the update of the same tick, so
    /// that both go out in one write. If there is no update, the caller wakes the writer by
    /// [`Mailbox::wake_for_laid`].
    pub(crate) fn lay(&self, message: Reliable) -> Result<(), Full> {
        let mut inside = self.inside();
        inside.laid = true;
        let put = inside.put(message);
        drop(inside);
        if put.is_err() {
            self.wake();
        }
        put
    }

    /// Wakes the writer if a message waits for an update that does not come.
    pub(crate) fn wake_for_laid(&self) {
        if std::mem::take(&mut self.inside().laid) {
            self.wake();
        }
    }

    /// Puts the update where the last one was. Returns false while the writer has not taken that,
    /// or while nothing may be shown. The caller then tries again with newer state.
    pub(crate) fn offer(&self, update: Update) -> bool {
        let mut inside = self.inside();
        if inside.update.is_some() || inside.held.is_some() || inside.paused {
            return false;
        }
        inside.update = Some(update);
        inside.laid = false;
        drop(inside);
        self.wake();
        true
    }

    /// Closes the socket after the messages that wait. The first reason stays.
    pub(crate) fn close(&self, code: CloseCode, reason: impl Into<Cow<'static, str>>) {
        let mut inside = self.inside();
        if inside.close.is_none() {
            inside.close = Some((code, reason.into()));
        }
        drop(inside);
        self.wake();
    }

    /// Asks for a protocol ping.
    pub(crate) fn ping(&self) {
        self.inside().ping = true;
        self.wake();
    }

    /// Answers the client's ping. Returns false when too many answers wait already.
    pub(crate) fn pong(&self, payload: Bytes) -> bool {
        let mut inside = self.inside();
        if inside.pongs.len() >= CONTROLS_MAX {
            return false;
        }
        inside.pongs.push_back(payload);
        drop(inside);
        self.wake();
        true
    }

    /// Sends the client's message back as it is.
    #[cfg(test)]
    pub(crate) fn echo(&self, text: bool, payload: Bytes) {
        self.inside().echoes.push_back((text, payload));
        self.wake();
    }

    /// Makes the writer give its socket back when nothing waits any more.
    pub(crate) fn release(&self) {
        self.inside().released = true;
        self.wake();
    }

    /// Makes messages wait until [`Mailbox::open`], and takes no update until then.
    pub(crate) fn hold(&self) {
        self.inside().held.get_or_insert_with(Vec::new);
    }

    /// Ends [`Mailbox::hold`]: `first` goes before the messages that waited.
    pub(crate) fn open(&self, first: Vec<Reliable>) -> Result<(), Full> {
        let mut inside = self.inside();
        let held = inside.held.take().unwrap_or_default();
        inside.bytes -= held.iter().map(Reliable::len).sum::<usize>();
        drop(inside);
        first
            .into_iter()
            .chain(held)
            .try_for_each(|message| self.push(message))
    }

    /// Pauses without a socket: messages gather, updates do not, and a requested close is done.
    pub(crate) fn pause(&self) {
        let mut inside = self.inside();
        inside.paused = true;
        inside.update = None;
        inside.close = None;
        inside.released = false;
        inside.ping = false;
        inside.pongs.clear();
    }

    /// Drops the messages that wait, because everything comes anew. Returns the requests that they
    /// would have answered, except those that still count as unanswered.
    pub(crate) fn forget(&self) -> Vec<RequestId> {
        let mut inside = self.inside();
        let dropped = std::mem::take(&mut inside.reliable);
        inside.bytes = inside.held.iter().flatten().map(Reliable::len).sum();
        inside.overflowed = false;
        let answered = dropped.into_iter().filter_map(|message| message.re);
        answered
            .filter(|id| !inside.unanswered.awaits(id))
            .collect()
    }

    /// Lets a new socket write: `first`, then the messages that wait.
    pub(crate) fn resume(&self, first: Vec<Reliable>) {
        let mut inside = self.inside();
        inside.paused = false;
        inside.update = None;
        inside.bytes += first.iter().map(Reliable::len).sum::<usize>();
        for message in first.into_iter().rev() {
            inside.reliable.push_front(message);
        }
        drop(inside);
        self.wake();
    }

    /// Returns whether a message that had to arrive found no room.
    pub(crate) fn overflowed(&self) -> bool {
        self.inside().overflowed
    }

    /// Remembers that a request must be answered. Returns the oldest one if there is no room for it
    /// any more: the caller answers that with `outcome_unknown`.
    pub(crate) fn expect(
        &self,
        id: RequestId,
        event: &'static str,
    ) -> Option<(RequestId, &'static str)> {
        self.inside().unanswered.expect(id, event)
    }

    /// Notes that a request waits for an owner.
    pub(crate) fn held_back(&self, id: &RequestId) {
        self.inside().unanswered.held(id);
    }

    /// Notes that a request went over a link.
    pub(crate) fn passed(&self, id: &RequestId, link: LinkId) {
        self.inside().unanswered.passed(id, link);
    }

    /// Returns whether a request has no written answer yet.
    pub(crate) fn awaits(&self) -> bool {
        !self.inside().unanswered.is_empty()
    }

    /// Takes the unanswered requests, with their events, except those that wait for an owner. The
    /// caller answers them with `outcome_unknown`.
    pub(crate) fn take_requests(&self) -> Vec<(RequestId, &'static str)> {
        self.inside().give_up(Which::Asked)
    }

    /// Does as [`Mailbox::take_requests`], but also takes the requests that wait for an owner.
    pub(crate) fn take_all_requests(&self) -> Vec<(RequestId, &'static str)> {
        self.inside().give_up(Which::All)
    }

    /// Does as [`Mailbox::take_requests`], but takes only requests that went over this link.
    pub(crate) fn take_requests_over(&self, link: LinkId) -> Vec<(RequestId, &'static str)> {
        self.inside().give_up(Which::Over(link))
    }

    /// Returns the oldest of the requests that went over a link before a moment and have no answer
    /// since.
    pub(crate) fn passed_before(&self, moment: tokio::time::Instant) -> Vec<RequestId> {
        self.inside().unanswered.passed_before(moment)
    }

    /// Forgets a request whose answer is lost. Returns its event if nothing has answered it yet:
    /// the caller then answers it with `outcome_unknown`.
    pub(crate) fn lose(&self, id: &RequestId) -> Option<&'static str> {
        let mut inside = self.inside();
        let waiting = inside.reliable.iter().chain(inside.held.iter().flatten());
        let answered = waiting
            .filter_map(|message| message.re.as_ref())
            .any(|re| re == id);
        if answered {
            return None;
        }
        inside.unanswered.lose(id)
    }

    /// Notes that the caller answers this request: nothing else answers it.
    pub(crate) fn answering(&self, id: &RequestId) {
        self.inside().unanswered.answered(id);
    }

    /// Returns whether an answer to this request no longer counts: the client has heard that its
    /// outcome is unknown.
    pub(crate) fn is_late(&self, id: &RequestId) -> bool {
        self.inside().unanswered.is_late(id)
    }

    /// Waits until refusals and answers have room, so that the session hears a client that asks
    /// much slowly. Safe to drop while it waits.
    pub(crate) async fn roomy(&self) {
        loop {
            {
                let inside = self.inside();
                let few = inside.reliable.len() <= MESSAGES_MAX / 2;
                if few && inside.bytes <= BYTES_MAX / 2 {
                    return;
                }
            }
            self.0.2.notified().await;
        }
    }

    /// Returns the next thing to write; waits until there is something. Safe to drop while it
    /// waits.
    pub(crate) async fn next(&self) -> Next {
        loop {
            if let Some(next) = self.try_next() {
                return next;
            }
            self.0.1.notified().await;
        }
    }

    /// Returns the next thing to write, if anything waits.
    pub(crate) fn try_next(&self) -> Option<Next> {
        let mut inside = self.inside();
        if let Some(payload) = inside.pongs.pop_front() {
            return Some(Next::Pong(payload));
        }
        if std::mem::take(&mut inside.ping) {
            return Some(Next::Ping);
        }
        #[cfg(test)]
        if let Some((text, payload)) = inside.echoes.pop_front() {
            return Some(Next::Whole(text, payload));
        }
        if let Some(mut message) = inside.reliable.pop_front() {
            inside.bytes -= message.len();
            if let Some(re) = &message.re {
                message.asked = inside.unanswered.answered(re);
            }
            self.0.2.notify_one();
            return Some(Next::Reliable(message));
        }
        if inside.overflowed {
            let reason = "too slow: more waits than is held for you";
            return Some(Next::Close(CloseCode::TooSlow, reason.into()));
        }
        if let Some((code, reason)) = inside.close.take() {
            return Some(Next::Close(code, reason));
        }
        if std::mem::take(&mut inside.released) {
            return Some(Next::Release);
        }
        inside.update.take().map(Next::Update)
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, time::Duration};

    use tokio::time::timeout;

    use super::*;

    fn message(bytes: usize) -> Reliable {
        Reliable::raw("notice", vec![b' '; bytes])
    }

    fn update() -> Update {
        Update {
            tick: 1,
            body: Vec::new(),
            traceparents: Vec::new(),
            received: Instant::now(),
        }
    }

    #[test]
    fn the_257th_message_does_not_fit_and_closes_behind_the_others() {
        let mailbox = Mailbox::new();
        for _ in 0..MESSAGES_MAX {
            mailbox.push(message(10)).unwrap();
        }
        assert_eq!(mailbox.push(message(10)), Err(Full));
        for _ in 0..MESSAGES_MAX {
            assert!(matches!(mailbox.try_next(), Some(Next::Reliable(_))));
        }
        let Some(Next::Close(CloseCode::TooSlow, _)) = mailbox.try_next() else {
            panic!("not closed");
        };
        assert_eq!(mailbox.push(message(10)), Err(Full), "order would break");
    }

    #[test]
    fn the_bytes_are_bounded() {
        let mailbox = Mailbox::new();
        mailbox.push(message(BYTES_MAX - 100)).unwrap();
        assert_eq!(mailbox.push(message(200)), Err(Full));
    }

    #[test]
    fn an_update_waits_for_the_one_before() {
        let mailbox = Mailbox::new();
        assert!(mailbox.offer(update()));
        assert!(!mailbox.offer(update()));
        assert!(matches!(mailbox.try_next(), Some(Next::Update(_))));
        assert!(mailbox.offer(update()));
    }

    /// Both go out in one write, so the writer is woken once.
    #[tokio::test(start_paused = true)]
    async fn a_message_of_a_tick_waits_for_the_update_or_for_the_word_that_there_is_none() {
        const MOMENT: Duration = Duration::from_millis(1);
        let mailbox = Mailbox::new();
        for has_update in [true, false] {
            let mut next = pin!(mailbox.next());
            assert!(timeout(MOMENT, &mut next).await.is_err());
            mailbox.lay(message(10)).unwrap();
            assert!(timeout(MOMENT, &mut next).await.is_err(), "woken too early");
            if has_update {
                assert!(mailbox.offer(update()));
            } else {
                mailbox.wake_for_laid();
            }
            let first = timeout(MOMENT, next).await;
            assert!(matches!(first, Ok(Next::Reliable(_))), "{first:?}");
            assert_eq!(mailbox.try_next().is_some(), has_update);
        }
    }

    #[test]
    fn what_is_held_follows_what_must_come_first() {
        let mailbox = Mailbox::new();
        mailbox.hold();
        mailbox.push(Reliable::raw("second", "{}")).unwrap();
        assert!(mailbox.try_next().is_none());
        assert!(!mailbox.offer(update()));
        mailbox.open(vec![Reliable::raw("first", "{}")]).unwrap();
        for expected in ["first", "second"] {
            let Some(Next::Reliable(message)) = mailbox.try_next() else {
                panic!("nothing");
            };
            assert_eq!(message.event, expected);
        }
        assert!(mailbox.offer(update()));
    }

    #[test]
    fn an_answer_that_is_written_is_no_longer_awaited() {
        let mailbox = Mailbox::new();
        let id = |text: &str| RequestId::Text(text.to_owned());
        mailbox.expect(id("a"), "player:move");
        mailbox.expect(id("b"), "player:move");
        let ack = Reliable::raw("ack", "{}").answering(Some(id("a")));
        mailbox.push(ack).unwrap();
        mailbox.try_next();
        assert_eq!(mailbox.take_requests(), [(id("b"), "player:move")]);
        assert!(mailbox.take_requests().is_empty());
    }

    #[test]
    fn resync_forgets_what_waited() {
        let mailbox = Mailbox::new();
        mailbox.push(message(BYTES_MAX - 100)).unwrap();
        assert_eq!(mailbox.push(message(200)), Err(Full));
        mailbox.pause();
        assert!(!mailbox.offer(update()));
        assert_eq!(mailbox.forget(), []);
        mailbox.resume(vec![Reliable::raw("session:resumed", "{}")]);
        assert!(
            matches!(mailbox.try_next(), Some(Next::Reliable(m)) if m.event == "session:resumed")
        );
        assert!(mailbox.try_next().is_none());
        mailbox.push(message(200)).unwrap();
    }
}
