//! How things look, as frames tell it.

use world::Look;

use crate::deliver::published::Appearance;

/// A look of something whose owner has this sequence.
pub(crate) fn appearance(look: Look, sequence: u64) -> Appearance {
    Appearance {
        kind: look.kind.wire(),
        tile: look.tile,
        sequence,
        fields: look.fields,
    }
}
