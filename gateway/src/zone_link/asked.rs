//! Chunks that the fan-out tasks asked of one run, over one pair of streams.
//!
//! Always: the run is asked for the union of what the tasks want. Each task gets the frames of the
//! chunks for which it asked, and a chunk's full record after each time that it asks.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use proto::rpc::{common::v1 as common, zone::v1 as wire};
use tokio::sync::mpsc;
use view::subscriptions::Ask;
use world::Chunk;

/// Most fan-out tasks: a set of them is one word of bits.
pub(crate) const TASKS_MAX: usize = 64;

/// See the module.
#[derive(Debug)]
pub(super) struct Asked {
    tasks: usize,
    subscribe: mpsc::Sender<wire::Subscribe>,
    /// Tasks that asked for each chunk, as bits.
    by_chunk: Mutex<HashMap<Chunk, u64>>,
}

fn wire_chunk(chunk: Chunk) -> common::Chunk {
    common::Chunk {
        x: chunk.x,
        z: chunk.z,
    }
}

impl Asked {
    /// Returns a value for a new pair of streams, whose run nobody has asked for anything.
    pub(super) fn new(tasks: usize, subscribe: mpsc::Sender<wire::Subscribe>) -> Self {
        Self {
            tasks: tasks.clamp(1, TASKS_MAX),
            subscribe,
            by_chunk: Mutex::default(),
        }
    }

    fn by_chunk(&self) -> MutexGuard<'_, HashMap<Chunk, u64>> {
        // No change below can panic halfway.
        self.by_chunk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the run for what a task wants. Returns false, and asks for nothing, if the queue to the
    /// run has no room.
    pub(super) fn ask(&self, task: usize, ask: &Ask) -> bool {
        let bit = 1 << task;
        let mut by_chunk = self.by_chunk();
        let others = |chunk: &Chunk| by_chunk.get(chunk).is_some_and(|tasks| tasks & !bit != 0);
        let left = ask.remove.iter().filter(|chunk| !others(chunk));
        let message = wire::Subscribe {
            hello: None,
            add: ask.add.iter().copied().map(wire_chunk).collect(),
            remove: left.copied().map(wire_chunk).collect(),
        };
        let nothing = message.add.is_empty() && message.remove.is_empty();
        if !nothing && self.subscribe.try_send(message).is_err() {
            return false;
        }
        for chunk in &ask.add {
            *by_chunk.entry(*chunk).or_default() |= bit;
        }
        for chunk in &ask.remove {
            if let Some(tasks) = by_chunk.get_mut(chunk) {
                *tasks &= !bit;
                if *tasks == 0 {
                    by_chunk.remove(chunk);
                }
            }
        }
        true
    }

    /// Shares the chunks of a frame out to the tasks that asked for them, by the number of the task.
    pub(super) fn share(&self, chunks: Vec<wire::ChunkFrame>) -> Vec<Vec<wire::ChunkFrame>> {
        let mut shares = vec![Vec::new(); self.tasks];
        if let [all] = shares.as_mut_slice() {
            *all = chunks;
            return shares;
        }
        let by_chunk = self.by_chunk();
        for frame in chunks {
            let chunk = frame.chunk.map(|at| Chunk { x: at.x, z: at.z });
            // The first task counts what is malformed.
            let asked = chunk.map_or(1, |chunk| by_chunk.get(&chunk).copied().unwrap_or(0));
            let mut tasks = (0..self.tasks).filter(|task| asked >> task & 1 == 1);
            let Some(first) = tasks.next() else {
                continue;
            };
            for task in tasks {
                shares[task].push(frame.clone());
            }
            shares[first].push(frame);
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(x: i32) -> Chunk {
        Chunk { x, z: 0 }
    }

    fn ask(add: &[i32], remove: &[i32]) -> Ask {
        let chunks = |xs: &[i32]| xs.iter().copied().map(chunk).collect();
        Ask {
            add: chunks(add),
            remove: chunks(remove),
        }
    }

    fn said(asked: &mut mpsc::Receiver<wire::Subscribe>) -> (Vec<i32>, Vec<i32>) {
        let message = asked.try_recv().unwrap();
        let xs = |chunks: &[common::Chunk]| chunks.iter().map(|chunk| chunk.x).collect();
        (xs(&message.add), xs(&message.remove))
    }

    fn shares(asked: &Asked, xs: &[i32]) -> Vec<Vec<i32>> {
        let frames = xs.iter().map(|x| wire::ChunkFrame {
            chunk: Some(wire_chunk(chunk(*x))),
            ..Default::default()
        });
        let xs = |share: &Vec<wire::ChunkFrame>| {
            let chunks = share.iter().filter_map(|frame| frame.chunk);
            chunks.map(|chunk| chunk.x).collect()
        };
        asked.share(frames.collect()).iter().map(xs).collect()
    }

    #[test]
    fn a_run_is_asked_for_what_any_task_wants_and_each_task_gets_its_own() {
        let (subscribe, mut heard) = mpsc::channel(8);
        let asked = Asked::new(2, subscribe);
        assert!(asked.ask(0, &ask(&[1, 2], &[])) && asked.ask(1, &ask(&[2, 3], &[])));
        assert_eq!(said(&mut heard), (vec![1, 2], vec![]));
        assert_eq!(said(&mut heard), (vec![2, 3], vec![]));
        assert_eq!(shares(&asked, &[1, 2, 3, 4]), [vec![1, 2], vec![2, 3]]);
        assert!(asked.ask(0, &ask(&[], &[1, 2])));
        assert_eq!(said(&mut heard), (vec![], vec![1]), "the other needs 2");
        assert_eq!(shares(&asked, &[1, 2, 3]), [vec![], vec![2, 3]]);
        assert!(asked.ask(1, &ask(&[], &[2])));
        assert_eq!(said(&mut heard), (vec![], vec![2]));
    }

    #[test]
    fn a_full_queue_to_the_run_changes_nothing() {
        let (subscribe, _heard) = mpsc::channel(1);
        let asked = Asked::new(2, subscribe);
        assert!(asked.ask(0, &ask(&[1], &[])));
        assert!(!asked.ask(1, &ask(&[1, 2], &[])));
        assert!(!asked.ask(0, &ask(&[], &[1])));
        assert_eq!(shares(&asked, &[1, 2]), [vec![1], vec![]]);
    }
}
