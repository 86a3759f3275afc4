//! Reads of an update only where one thing is.

use world::Tile;

use super::{
    Fault,
    parse::{self, Step},
};

/// Finds one thing in the updates of one connection. It keeps no map, so that a load generator can
/// follow thousands of connections.
#[derive(Debug, Clone, Default)]
pub struct Finder {
    number: Option<u32>,
    /// Players of near sections, in the order of the list.
    near: Vec<(u32, Tile)>,
}

/// What a [`Finder`] took from an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Number of the message.
    pub seq: u64,
    /// The tick that the update shows.
    pub tick: u64,
    /// Tile of the thing, if the update has one.
    pub tile: Option<Tile>,
}

impl Finder {
    /// Reads a frame for the place of the thing with this id.
    ///
    /// # Errors
    /// Says what makes no sense; nothing changed.
    pub fn read(&mut self, frame: &[u8], id: &str) -> Result<Found, Fault> {
        let (seq, frame) = parse::frame(frame, self.near.len())?;
        for (number, named) in &frame.names {
            if named.id == id {
                self.number = Some(*number);
            } else if self.number == Some(*number) {
                self.number = None;
            }
        }
        let places = |of: &(u32, Tile)| (Some(of.0) == self.number).then_some(of.1);
        let chunks = frame.chunks.iter();
        let of_chunks = chunks.flat_map(|news| news.enter.iter().chain(&news.moved));
        let mut tile = of_chunks.filter_map(places).next_back();
        if let Some(near) = frame.near {
            let listed = std::mem::take(&mut self.near);
            for ((number, was), step) in listed.into_iter().zip(near.steps) {
                let now = match step {
                    Step::Goes => continue,
                    Step::Stands => was,
                    Step::By(x, z) => was.moved(x, z),
                    Step::To(tile) => tile,
                };
                self.near.push((number, now));
            }
            self.near.extend(near.added);
            tile = self.near.iter().find_map(places).or(tile);
        }
        Ok(Found {
            seq,
            tick: frame.tick,
            tile,
        })
    }
}
