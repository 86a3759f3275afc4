//! Bounds how much of something scarce one subject holds at the same time.
//!
//! Always: a share returns when its holder drops it; a subject that holds nothing takes no memory.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::subject::Subject;

/// Held shares by subject; subjects without any are not in the map.
type Held = Arc<Mutex<HashMap<Subject, usize>>>;

/// The shares of one scarce thing.
#[derive(Debug, Clone)]
pub(crate) struct Shares {
    /// Shares of one subject at the same time, at most.
    most: usize,
    held: Held,
}

/// One share; a drop gives it back.
#[derive(Debug)]
pub(crate) struct Share {
    who: Subject,
    held: Held,
}

impl Shares {
    /// Makes `most` shares for each subject.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            held: Arc::default(),
        }
    }

    /// Takes one more share; `None` where the subject holds all that it may.
    pub(crate) fn take(&self, who: Subject) -> Option<Share> {
        let mut held = lock(&self.held);
        if held.get(&who).copied().unwrap_or(0) >= self.most {
            return None;
        }
        *held.entry(who.clone()).or_default() += 1;
        Some(Share {
            who,
            held: Arc::clone(&self.held),
        })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = lock(&self.held);
        if let Some(count) = held.get_mut(&self.who) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                held.remove(&self.who);
            }
        }
    }
}

fn lock(held: &Held) -> MutexGuard<'_, HashMap<Subject, usize>> {
    // No holder of the lock panics.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_holds_its_share_and_no_more_and_takes_no_memory_without_one() {
        let shares = Shares::new(2);
        let take = |address: &str| shares.take(Subject::address(address.parse().unwrap()));
        let first = take("2001:db8::1");
        let second = take("2001:db8::2");
        assert!(first.is_some() && second.is_some());
        assert!(take("2001:db8::3").is_none(), "one person has a whole /64");
        let other = take("10.0.0.1");
        assert!(other.is_some());
        drop(first);
        let third = take("2001:db8::3");
        assert!(third.is_some(), "given back");
        drop((second, third, other));
        assert!(lock(&shares.held).is_empty());
    }
}
