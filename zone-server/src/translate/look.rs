//! Translates looks for frames.

use world::Look;

use crate::deliver::published::Appearance;

/// Returns a look for frames; `sequence` is that of the thing's owner.
pub(crate) fn appearance(look: Look, sequence: u64) -> Appearance {
    Appearance {
        kind: look.kind.wire(),
        tile: look.tile,
        sequence,
        fields: look.fields,
    }
}
