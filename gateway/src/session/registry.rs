//! The sessions of this gateway, by id, by character and by account.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use proto::client::RequestId;
use service_runtime::tasks::TaskGroup;
use tokio::{
    sync::{
        mpsc::{self, error::TrySendError},
        oneshot,
    },
    time::timeout,
};

use crate::{
    auth::sanctions::News,
    session::resume::Written,
    socket::{Socket, WriteSide},
};

/// Time for which the gateway waits for a busy session.
const NEWS_TIMEOUT: Duration = Duration::from_secs(10);

/// Command to a session.
pub(crate) enum Command {
    /// Go on with this socket, or give it back.
    Adopt(Box<Adoption>, oneshot::Sender<Box<Adoption>>),
    /// A newer session plays the character now.
    Replaced,
    /// Its account has a newer session: if this one is lost and plays nobody, it need not wait.
    Outlived,
    /// Another gateway attached the session itself, under this number.
    Elsewhere(u64),
    /// News of the account from the store.
    News(News),
}

/// A new socket of a session.
pub(crate) struct Adoption {
    pub(crate) socket: Socket,
    /// Its writing side, from its first writer.
    pub(crate) half: WriteSide,
    /// Messages that its first writer wrote.
    pub(crate) written: Written,
    /// Number of the last message that the client has, in the count `line`.
    pub(crate) last_seq: u64,
    pub(crate) line: String,
    /// Request that asked for it.
    pub(crate) re: Option<RequestId>,
}

/// Way to reach a session.
#[derive(Clone)]
pub(crate) struct Handle {
    pub(crate) session_id: String,
    pub(crate) commands: mpsc::Sender<Box<Command>>,
}

impl Handle {
    /// Returns whether both reach the same session.
    fn is(&self, other: &Self) -> bool {
        self.commands.same_channel(&other.commands)
    }
}

/// All authenticated sessions.
#[derive(Default)]
pub(crate) struct Registry {
    known: Mutex<Known>,
    tasks: TaskGroup,
}

#[derive(Default)]
struct Known {
    by_id: HashMap<String, Handle>,
    by_character: HashMap<String, (u64, Handle)>,
    by_account: HashMap<String, OfAccount>,
}

/// The sessions of an account.
#[derive(Default)]
struct OfAccount {
    all: Vec<Handle>,
    /// Last session that was lost while it played nobody. Of those that play, each character has
    /// one anyway.
    lost: Option<Handle>,
}

impl Registry {
    pub(crate) fn new(tasks: TaskGroup) -> Self {
        Self {
            known: Mutex::default(),
            tasks,
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a session under its id. If the id is there already, returns that session's handle and
    /// changes nothing.
    pub(crate) fn add(&self, handle: &Handle) -> Option<Handle> {
        let mut known = self.known();
        if let Some(there) = known.by_id.get(&handle.session_id) {
            return Some(there.clone());
        }
        known
            .by_id
            .insert(handle.session_id.clone(), handle.clone());
        None
    }

    /// Removes a session that is over.
    pub(crate) fn remove(&self, handle: &Handle) {
        let mut known = self.known();
        let there = known.by_id.get(&handle.session_id);
        if there.is_some_and(|there| there.is(handle)) {
            known.by_id.remove(&handle.session_id);
        }
    }

    /// Gives the session to an account. A lost session of the account that plays nobody ends.
    pub(crate) fn belongs(&self, account_id: &str, handle: Handle) {
        let older = {
            let mut known = self.known();
            let of = known.by_account.entry(account_id.to_owned()).or_default();
            of.all.retain(|there| !there.is(&handle));
            of.all.push(handle);
            of.lost.take()
        };
        if let Some(older) = older {
            tell(&older, Command::Outlived);
        }
    }

    /// Notes that a session has lost its socket and plays nobody. An older session of the account
    /// that waits in the same way ends. So each account keeps one at most, however often it comes
    /// and goes.
    pub(crate) fn lost(&self, account_id: &str, handle: &Handle) {
        let older = {
            let mut known = self.known();
            let of = known.by_account.get_mut(account_id);
            of.and_then(|of| of.lost.replace(handle.clone()))
        };
        if let Some(older) = older.filter(|older| !older.is(handle)) {
            tell(&older, Command::Outlived);
        }
    }

    /// Takes the session from an account.
    pub(crate) fn parted(&self, account_id: &str, handle: &Handle) {
        let mut known = self.known();
        if let Some(of) = known.by_account.get_mut(account_id) {
            of.all.retain(|there| !there.is(handle));
            of.lost.take_if(|there| there.is(handle));
            if of.all.is_empty() {
                known.by_account.remove(account_id);
            }
        }
    }

    /// Tells all sessions of an account the store's news of it.
    pub(crate) fn news(&self, account_id: &str, news: &News) {
        let known = self.known();
        let of = known.by_account.get(account_id);
        let all = of.map(|of| of.all.clone()).unwrap_or_default();
        drop(known);
        for handle in all {
            let news = Box::new(Command::News(news.clone()));
            let full = handle.commands.try_send(news);
            if let Err(TrySendError::Full(command)) = full {
                // The session is busy. If it has time, it hears the news before its next heartbeat,
                // at which it looks for itself.
                self.tasks.spawn("news to a session", async move {
                    let _ = timeout(NEWS_TIMEOUT, handle.commands.send(command)).await;
                });
            }
        }
    }

    /// Tells a session that it goes on at another gateway.
    pub(crate) fn elsewhere(&self, session_id: &str, attach: u64) {
        let here = self.known().by_id.get(session_id).cloned();
        if let Some(here) = here {
            tell(&here, Command::Elsewhere(attach));
        }
    }

    /// Notes that a session plays a character now, and tells an older one that did. An older epoch
    /// changes nothing.
    pub(crate) fn play(&self, character_id: &str, epoch: u64, handle: Handle) {
        let before = {
            let mut known = self.known();
            let newer = known.by_character.get(character_id);
            if newer.is_some_and(|(there, _)| *there > epoch) {
                return;
            }
            let session_id = handle.session_id.clone();
            let entry = (epoch, handle);
            let before = known.by_character.insert(character_id.to_owned(), entry);
            before.filter(|(_, other)| other.session_id != session_id)
        };
        if let Some((_, other)) = before {
            tell(&other, Command::Replaced);
        }
    }

    /// Notes that the session does not play the character any more.
    pub(crate) fn stop(&self, character_id: &str, session_id: &str) {
        let mut known = self.known();
        let playing = known.by_character.get(character_id);
        if playing.is_some_and(|(_, handle)| handle.session_id == session_id) {
            known.by_character.remove(character_id);
        }
    }

    /// Tells the session here that another gateway plays the character, if the epoch is higher.
    pub(crate) fn replaced(&self, character_id: &str, epoch: u64) {
        let playing = self.known().by_character.get(character_id).cloned();
        if let Some((here, handle)) = playing
            && here < epoch
        {
            tell(&handle, Command::Replaced);
        }
    }

    /// Returns the number of characters played here.
    pub(crate) fn players(&self) -> usize {
        self.known().by_character.len()
    }
}

fn tell(handle: &Handle, command: Command) {
    // The zone also tells a replaced session, and a lost session ends by itself after its time.
    if handle.commands.try_send(Box::new(command)).is_err() {
        tracing::debug!(session = handle.session_id, "a session is busy or gone");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(session_id: &str) -> (Handle, mpsc::Receiver<Box<Command>>) {
        let (commands, heard) = mpsc::channel(4);
        let session_id = session_id.to_owned();
        (
            Handle {
                session_id,
                commands,
            },
            heard,
        )
    }

    fn told(heard: &mut mpsc::Receiver<Box<Command>>) -> bool {
        matches!(heard.try_recv().as_deref(), Ok(Command::Replaced))
    }

    #[test]
    fn the_older_session_of_a_character_is_told() {
        let registry = Registry::default();
        let ((old, mut old_heard), (new, mut new_heard)) = (handle("old"), handle("new"));
        registry.play("c", 1, old.clone());
        registry.play("c", 2, new);
        assert!(told(&mut old_heard));
        assert!(!told(&mut new_heard));
        registry.stop("c", "old");
        assert_eq!(registry.players(), 1, "only who plays it can stop");
        registry.play("c", 1, old);
        assert!(!told(&mut new_heard), "an older epoch replaces nobody");
    }

    #[test]
    fn an_id_is_taken_once_and_given_back_by_its_holder_only() {
        let registry = Registry::default();
        let ((first, _first_heard), (second, _second_heard)) = (handle("s"), handle("s"));
        assert!(registry.add(&first).is_none());
        let there = registry.add(&second).expect("taken");
        assert!(there.commands.same_channel(&first.commands));
        registry.remove(&second);
        assert!(registry.add(&second).is_some(), "still the first one's");
        registry.remove(&first);
        assert!(registry.add(&second).is_none());
    }

    #[test]
    fn of_lost_sessions_an_account_keeps_the_newest_until_somebody_logs_in() {
        let registry = Registry::default();
        let outlived = |heard: &mut mpsc::Receiver<Box<Command>>| {
            matches!(heard.try_recv().as_deref(), Ok(Command::Outlived))
        };
        let ((a, mut a_heard), (b, mut b_heard)) = (handle("a"), handle("b"));
        let (other, mut other_heard) = handle("other");
        registry.belongs("account", a.clone());
        registry.belongs("account", b.clone());
        registry.belongs("another account", other.clone());
        registry.lost("account", &a);
        registry.lost("another account", &other);
        registry.lost("account", &a);
        assert!(!outlived(&mut a_heard), "not by itself");
        registry.lost("account", &b);
        assert!(outlived(&mut a_heard) && !outlived(&mut b_heard));
        let (new, mut new_heard) = handle("new");
        registry.belongs("account", new.clone());
        assert!(outlived(&mut b_heard) && !outlived(&mut new_heard));
        registry.lost("account", &new);
        registry.parted("account", &new);
        registry.belongs("account", a);
        assert!(!outlived(&mut new_heard), "it is over");
        assert!(!outlived(&mut other_heard), "nor anybody else's");
    }

    #[test]
    fn only_a_higher_epoch_elsewhere_replaces() {
        let registry = Registry::default();
        let (here, mut heard) = handle("here");
        registry.play("c", 5, here);
        registry.replaced("c", 5);
        assert!(!told(&mut heard));
        registry.replaced("c", 6);
        assert!(told(&mut heard));
    }
}
