//! The lie of the land: grounds, walls, heights, and ways from here to there.

pub(crate) mod budget;
mod generate;
mod ground;
mod noise;
pub(crate) mod plan;
pub mod route;
pub(crate) mod shape;
mod terrain;

pub use ground::Ground;
pub use terrain::Terrain;
