//! The things of one replica, each under a number: as small as possible, and of one thing only.
//!
//! Always: a number that is free stands for nothing at any client. It is given away only after a
//! flush has said that it stands for nothing.

use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc};

use foldhash::HashMap;

use super::entity::Entity;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Things {
    by_id: HashMap<Arc<str>, u32>,
    /// By number; `None`: the number is free, or its thing is gone since the last flush.
    places: Vec<Option<Box<Entity>>>,
    count: usize,
    free: BinaryHeap<Reverse<u32>>,
    /// Given back since the last flush.
    freed: Vec<u32>,
}

impl Things {
    /// Returns the number of a thing; a new one if it has none.
    pub(crate) fn number(&mut self, id: &Arc<str>) -> u32 {
        if let Some(number) = self.by_id.get(id) {
            return *number;
        }
        let number = match self.free.pop() {
            Some(Reverse(number)) => number,
            None => {
                self.places.push(None);
                // Memory ends long before the numbers do.
                u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX)
            }
        };
        self.by_id.insert(Arc::clone(id), number);
        number
    }

    /// Puts a thing in, or in the place of what was there, under the number that [`Self::number`] gave
    /// it.
    pub(crate) fn insert(&mut self, entity: Entity) {
        if let Some(place) = self.places.get_mut(entity.number as usize) {
            let before = place.replace(Box::new(entity));
            self.count += usize::from(before.is_none());
        }
    }

    /// Takes a thing out. It keeps its number until [`Self::give_back`].
    pub(crate) fn remove(&mut self, id: &str) -> Option<Entity> {
        let number = *self.by_id.get(id)?;
        let entity = self.places.get_mut(number as usize)?.take()?;
        self.count -= 1;
        Some(*entity)
    }

    /// Returns how many things there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Returns a thing.
    pub(crate) fn get(&self, id: &str) -> Option<&Entity> {
        self.numbered(*self.by_id.get(id)?)
    }

    /// Returns a thing, to change it.
    pub(crate) fn get_mut(&mut self, id: &str) -> Option<&mut Entity> {
        let number = *self.by_id.get(id)?;
        self.places.get_mut(number as usize)?.as_deref_mut()
    }

    /// Returns the thing for which a number stands.
    pub(crate) fn numbered(&self, number: u32) -> Option<&Entity> {
        self.places.get(number as usize)?.as_deref()
    }

    /// Gives the number of a thing back that is gone.
    pub(crate) fn give_back(&mut self, id: &str) {
        if let Some(number) = self.by_id.remove(id) {
            self.freed.push(number);
        }
    }

    /// Returns whether numbers were given back since the last flush.
    pub(crate) fn has_freed(&self) -> bool {
        !self.freed.is_empty()
    }

    /// Returns the numbers that were given back since the last call. From now on they may stand
    /// for other things.
    pub(crate) fn flush(&mut self) -> Vec<u32> {
        let freed = std::mem::take(&mut self.freed);
        self.free.extend(freed.iter().copied().map(Reverse));
        freed
    }
}

#[cfg(test)]
mod tests {
    use world::Chunk;

    use super::*;
    use crate::entity::{Fields, PLAYER};

    fn thing(things: &mut Things, id: &str) -> u32 {
        let id: Arc<str> = Arc::from(id);
        let number = things.number(&id);
        things.insert(Entity {
            id,
            number,
            kind: PLAYER.into(),
            x: 0,
            z: 0,
            chunk: Chunk { x: 0, z: 0 },
            run: 1,
            sequence: 1,
            fields: Fields::default(),
            departs: None,
        });
        number
    }

    #[test]
    fn a_number_is_given_away_again_only_after_a_flush() {
        let mut things = Things::default();
        assert_eq!(["a", "b"].map(|id| thing(&mut things, id)), [0, 1]);
        assert!(things.remove("a").is_some());
        assert!(things.get("a").is_none() && things.numbered(0).is_none());
        things.give_back("a");
        assert_eq!(thing(&mut things, "c"), 2);
        assert_eq!(things.flush(), [0]);
        assert_eq!(thing(&mut things, "d"), 0);
        assert!(things.flush().is_empty());
        assert_eq!(things.len(), 3);
    }

    #[test]
    fn a_thing_that_comes_back_before_the_flush_keeps_its_number() {
        let mut things = Things::default();
        thing(&mut things, "a");
        assert_eq!(thing(&mut things, "b"), 1);
        things.remove("b");
        assert_eq!((thing(&mut things, "b"), things.len()), (1, 2));
        assert_eq!(thing(&mut things, "b"), 1, "in the place of itself");
        assert_eq!(things.len(), 2);
        assert_eq!(things.numbered(1).map(|entity| &*entity.id), Some("b"));
    }
}
