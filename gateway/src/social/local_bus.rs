//! The bus inside the process, for a world that runs in one: gateways that name the same bus hear
//! each other.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::delivery::Heard;

/// All buses of the process, by name.
static BUSES: OnceLock<Mutex<HashMap<String, Weak<Shared>>>> = OnceLock::new();
/// Number of keys from which on the bus forgets those whose time is over.
const SWEEP_AT: usize = 1024;

#[derive(Default)]
struct Shared {
    members: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    channels: HashMap<String, BTreeMap<u64, mpsc::Sender<Heard>>>,
    values: HashMap<String, (String, Instant)>,
    sweep_at: usize,
}

/// One member of a bus.
#[derive(Clone)]
pub(crate) struct LocalBus(Arc<Member>);

struct Member {
    id: u64,
    sender: mpsc::Sender<Heard>,
    shared: Arc<Shared>,
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.channels.retain(|_, readers| {
            readers.remove(&self.id);
            !readers.is_empty()
        });
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LocalBus {
    pub(crate) fn join(name: &str, sender: mpsc::Sender<Heard>) -> Self {
        let buses = BUSES.get_or_init(Mutex::default);
        let mut buses = buses.lock().unwrap_or_else(PoisonError::into_inner);
        buses.retain(|_, bus| bus.strong_count() > 0);
        let known = buses.get(name).and_then(Weak::upgrade);
        let shared = known.unwrap_or_else(|| {
            let shared = Arc::new(Shared::default());
            buses.insert(name.to_owned(), Arc::downgrade(&shared));
            shared
        });
        let id = shared.members.fetch_add(1, Ordering::Relaxed);
        Self(Arc::new(Member { id, sender, shared }))
    }

    pub(crate) fn subscribe(&self, channel: &str) {
        let mut state = self.0.shared.state();
        let readers = state.channels.entry(channel.to_owned()).or_default();
        readers.insert(self.0.id, self.0.sender.clone());
    }

    pub(crate) fn unsubscribe(&self, channel: &str) {
        let mut state = self.0.shared.state();
        if let Some(readers) = state.channels.get_mut(channel) {
            readers.remove(&self.0.id);
            if readers.is_empty() {
                state.channels.remove(channel);
            }
        }
    }

    pub(crate) fn publish(&self, channel: &str, payload: &Bytes) {
        let state = self.0.shared.state();
        for reader in state
            .channels
            .get(channel)
            .into_iter()
            .flat_map(BTreeMap::values)
        {
            let heard = Heard {
                channel: channel.to_owned(),
                payload: payload.clone(),
                at: Instant::now(),
            };
            // At most once: a gateway that reads too slowly misses it, as with Redis.
            if reader.try_send(heard).is_err() {
                tracing::warn!(channel, "a gateway reads the bus too slowly");
            }
        }
    }

    pub(crate) fn set(&self, values: &[(String, String)], time_to_live: Duration) {
        let now = Instant::now();
        let mut state = self.0.shared.state();
        for (key, value) in values {
            let kept = (value.clone(), now + time_to_live);
            state.values.insert(key.clone(), kept);
        }
        if state.values.len() > state.sweep_at.max(SWEEP_AT) {
            state.values.retain(|_, (_, until)| *until > now);
            state.sweep_at = state.values.len() * 2;
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<String> {
        let state = self.0.shared.state();
        let (value, until) = state.values.get(key)?;
        (*until > Instant::now()).then(|| value.clone())
    }

    /// Keeps a value if its key has none. Returns the time until that ends which it has.
    pub(crate) fn claim(&self, key: &str, value: &str, time_to_live: Duration) -> Option<Duration> {
        let now = Instant::now();
        let mut state = self.0.shared.state();
        if let Some((_, until)) = state.values.get(key)
            && *until > now
        {
            return Some(*until - now);
        }
        let kept = (value.to_owned(), now + time_to_live);
        state.values.insert(key.to_owned(), kept);
        None
    }

    pub(crate) fn remove(&self, key: &str, value: &str) {
        let mut state = self.0.shared.state();
        if state.values.get(key).is_some_and(|(kept, _)| kept == value) {
            state.values.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str) -> (LocalBus, mpsc::Receiver<Heard>) {
        let (sender, heard) = mpsc::channel(4);
        (LocalBus::join(name, sender), heard)
    }

    #[test]
    fn members_of_the_same_bus_hear_each_other_and_no_others() {
        let ((a, mut heard_a), (b, mut heard_b)) = (member("one"), member("one"));
        let (c, mut heard_c) = member("two");
        for bus in [&a, &b, &c] {
            bus.subscribe("x");
        }
        a.publish("x", &Bytes::from_static(b"hi"));
        assert_eq!(&heard_a.try_recv().unwrap().payload[..], b"hi");
        assert_eq!(&heard_b.try_recv().unwrap().payload[..], b"hi");
        assert!(heard_c.try_recv().is_err());
        b.unsubscribe("x");
        a.publish("x", &Bytes::new());
        assert!(heard_b.try_recv().is_err());
    }

    #[test]
    fn a_member_that_is_gone_is_forgotten() {
        let ((a, _heard_a), (b, heard_b)) = (member("gone"), member("gone"));
        b.subscribe("x");
        drop((b, heard_b));
        assert!(a.0.shared.state().channels.is_empty());
    }

    #[test]
    fn a_value_is_removed_only_by_who_set_it_and_ends_with_its_time() {
        let (a, _heard) = member("values");
        let pair = |value: &str| [("k".to_owned(), value.to_owned())];
        a.set(&pair("new"), Duration::from_secs(60));
        a.remove("k", "old");
        assert_eq!(a.get("k").as_deref(), Some("new"));
        a.remove("k", "new");
        assert_eq!(a.get("k"), None);
        a.set(&pair("over"), Duration::ZERO);
        assert_eq!(a.get("k"), None);
    }
}
