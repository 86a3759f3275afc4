//! `model-bounds.json`: sizes of models, which decide how many tiles things cover.
//!
//! The file's own footprints are those of a model at scale 1, and the loader does not use them.
//! Always: [`tiles_covered`] rounds a size times a scale up to whole tiles, here and in the tool
//! that makes the file.

use std::collections::BTreeMap;

use super::reader::Reader;
use super::stations::SIDE_MAX;

/// File of the models' sizes.
const FILE: &str = "model-bounds.json";
/// Parts of a tile in which the file gives dimensions: millionths.
const MILLION: u32 = 1_000_000;
/// Greatest dimension of a model, in millionths of a tile.
const WIDE_MAX: i32 = 1_000_000_000;

/// Sizes of models.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelBounds {
    /// Sizes east and north, in millionths of a tile, by id.
    models: BTreeMap<String, (u32, u32)>,
    /// Ids by the path of the model below the root of assets.
    paths: BTreeMap<String, String>,
}

impl ModelBounds {
    /// Returns the tiles that the station `kind` covers, east and north. Its model is at the path
    /// `model`, at `scale_thousandths`; none if nobody measured the model.
    pub fn footprint(&self, kind: &str, model: &str, scale_thousandths: u32) -> Option<(i32, i32)> {
        let by_path = self.paths.get(below_root(model));
        let id = by_path.map_or_else(|| format!("stations/{kind}"), Clone::clone);
        let (east, north) = self.models.get(&id).or_else(|| self.models.get(kind))?;
        Some((
            tiles(*east, scale_thousandths),
            tiles(*north, scale_thousandths),
        ))
    }

    /// Returns the number of measured models.
    pub fn len(&self) -> usize {
        self.models.len()
    }

    /// Returns whether there are no measured models.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }
}

/// Returns how many tiles a length covers at a scale: rounded up, at least one. The length is in
/// millionths of a tile and the scale in thousandths. The length knows no smaller parts, so a model
/// of one tile is one tile, whatever fractions its file had.
pub fn tiles_covered(length_millionths: u32, scale_thousandths: u32) -> u64 {
    let billionths = u64::from(length_millionths) * u64::from(scale_thousandths);
    billionths.div_ceil(1_000_000_000).max(1)
}

/// Returns the same, capped at the most tiles of a station's side.
fn tiles(length: u32, scale: u32) -> i32 {
    tiles_covered(length, scale).min(SIDE_MAX.unsigned_abs().into()) as i32
}

/// Returns the path below the root of assets that an `asset://` address means.
fn below_root(path: &str) -> &str {
    path.strip_prefix("asset://").unwrap_or(path)
}

pub(crate) fn load(reader: &Reader) -> ModelBounds {
    let mut bounds = ModelBounds::default();
    for fields in &reader.records(FILE) {
        let Some(id) = fields.key("id") else { continue };
        let Some(dimensions) = fields.object("dimensions") else {
            fields.warn(
                "dimensions",
                "must be {x, y, z}, the model counts as not measured",
            );
            continue;
        };
        let side = |name: &str| {
            let side = dimensions.signed_or(name, MILLION, 0);
            side.clamp(0, WIDE_MAX).unsigned_abs()
        };
        bounds.models.insert(id.to_owned(), (side("x"), side("z")));
        let path = below_root(fields.text_or("assetPath", ""));
        if !path.is_empty() {
            bounds.paths.insert(path.to_owned(), id.to_owned());
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_rounded_up_to_whole_tiles_and_never_vanish() {
        for (length, scale, expected) in [
            (1_000_000, 1_000, 1),
            (1_000_001, 1_000, 2),
            (1_009_000, 1_000, 2),
            (1_500_000, 1_500, 3),
            (500_001, 2_000, 2),
            (0, 1_000, 1),
            (2_000_000, 500, 1),
            (4_000_000_000, 1_000_000, SIDE_MAX),
        ] {
            assert_eq!(tiles(length, scale), expected, "{length} x {scale}");
        }
        assert_eq!(tiles_covered(u32::MAX, u32::MAX), 18_446_744_066);
    }
}
