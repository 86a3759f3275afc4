//! Tiles, chunks and regions; the land's grounds, walls and heights; and routes over it.

pub(crate) mod budget;
mod generate;
mod ground;
mod noise;
pub(crate) mod plan;
pub mod route;
pub(crate) mod shape;
pub(crate) mod terrain;
pub mod tile;

pub use ground::Ground;
pub use terrain::Terrain;
