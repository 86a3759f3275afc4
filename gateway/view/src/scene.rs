//! The chunks in sight from one chunk, and what is new in them. Pure.
//!
//! Clients that stand in the same chunk and have all that is in sight get the same news. A scene
//! joins it once for all of them.

use std::cell::OnceCell;

use bytes::{Bytes, BytesMut};
use world::Chunk;

use super::square::slot_of;

/// One chunk in this flush, in the session's format.
pub trait Sight {
    /// Returns the chunk's position.
    fn chunk(&self) -> Chunk;
    /// Returns whether pieces of this encoding may be joined to one.
    fn joins(&self) -> bool;
    /// Returns whether the chunk is known and can be shown.
    fn ready(&self) -> bool;
    /// Returns whether something in it changed.
    fn changed(&self) -> bool;
    /// Returns its change, if any.
    fn change(&self) -> Option<&Bytes>;
    /// Returns all of it, if it is known, and whether that is really all.
    fn whole(&self) -> Option<(&Bytes, bool)>;
    /// Appends the numbers of the things that come with all of it, or with its change, in an
    /// encoding with numbers.
    fn arrivals(&self, whole: bool, arrivals: &mut Vec<u32>);
}

/// See the module.
#[derive(Debug)]
pub struct Scene<S> {
    sights: Vec<S>,
    news: OnceCell<Option<SceneNews>>,
}

/// The changes of all chunks of a scene, joined.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SceneNews {
    /// The chunks' bytes, nearest first.
    pub(crate) piece: Bytes,
    /// Slots whose chunks changed, as bits.
    pub(crate) slots: u64,
    /// Numbers of the things that come, the nearest first.
    pub(crate) arrivals: Vec<u32>,
}

impl<S: Sight> Scene<S> {
    /// Returns a scene of the chunks in sight, in the order of [`super::square::around`].
    pub fn new(sights: impl IntoIterator<Item = S>) -> Self {
        Self {
            sights: sights.into_iter().collect(),
            news: OnceCell::new(),
        }
    }

    /// Returns its chunks.
    pub(crate) fn sights(&self) -> &[S] {
        &self.sights
    }

    /// Returns the news for a client that has all that was in sight before. `None`: the pieces of
    /// this encoding cannot be joined, or some chunk cannot be shown.
    pub(crate) fn news(&self) -> Option<&SceneNews> {
        let join = || {
            let may = self
                .sights
                .iter()
                .all(|sight| sight.joins() && sight.ready());
            may.then(|| SceneNews::of(&self.sights))
        };
        self.news.get_or_init(join).as_ref()
    }
}

impl SceneNews {
    fn of(sights: &[impl Sight]) -> Self {
        let mut news = Self::default();
        let mut piece = BytesMut::new();
        for sight in sights {
            let change = sight.change().filter(|change| !change.is_empty());
            let Some(change) = change else {
                continue;
            };
            piece.extend_from_slice(change);
            news.slots |= 1 << slot_of(sight.chunk());
            sight.arrivals(false, &mut news.arrivals);
        }
        news.piece = piece.freeze();
        news
    }
}
