//! The square of chunks that a session sees.

use proto::client::limits::VIEW_CHUNKS;
use world::Chunk;

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
