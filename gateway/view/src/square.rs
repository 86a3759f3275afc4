//! The square of chunks that a session sees.

use proto::client::limits::VIEW_CHUNKS;
use world::Chunk;

/// Number of chunks on a side of a session's view.
const SIDE: i32 = 2 * VIEW_CHUNKS + 1;
/// Number of chunks in a session's view.
pub(crate) const SLOTS: usize = (SIDE * SIDE) as usize;

/// Returns the index of a chunk's slot. Within a view each chunk has a slot of its own.
pub(crate) fn slot_of(chunk: Chunk) -> usize {
    let column = chunk.x.rem_euclid(SIDE);
    let row = chunk.z.rem_euclid(SIDE);
    usize::try_from(row * SIDE + column).unwrap_or(0)
}

/// Returns the chunks in sight from a center, which is the first of them; nearer rings come first.
pub fn around(center: Chunk) -> impl Iterator<Item = Chunk> {
    (0..=VIEW_CHUNKS).flat_map(move |ring| {
        (-ring..=ring).flat_map(move |dz| {
            let edge = dz.abs() == ring;
            let columns = (-ring..=ring).filter(move |dx| edge || dx.abs() == ring);
            columns.map(move |dx| Chunk {
                x: center.x.saturating_add(dx),
                z: center.z.saturating_add(dz),
            })
        })
    })
}
