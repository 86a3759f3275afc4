//! Reads of an update only where one thing is.

use world::Tile;

use super::{
    super::section,
    Fault,
    parse::{NearNews, Reader, Step},
};

/// Finds one thing in the updates of one connection. It keeps no map, so that a load generator can
/// follow thousands of connections.
#[derive(Debug, Clone, Default)]
pub struct Finder {
    number: Option<u32>,
    /// Players of near sections, in the order of the list.
    near: Vec<(u32, Tile)>,
}

/// News of one thing in an update.
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
        let mut reader = Reader::new(frame);
        let (seq, tick) = reader.begin()?;
        let mut number = self.number;
        let mut tile = None;
        let mut near = None;
        while let Some(section) = reader.section()? {
            match section {
                section::GONE => reader.gone(|_| ())?,
                section::FORGET => reader.forget(|_| ())?,
                section::NAME => {
                    let (of, named) = reader.is_name(id)?;
                    if named {
                        number = Some(of);
                    } else if number == Some(of) {
                        number = None;
                    }
                }
                section::CHUNK => tile = reader.find_in_chunk(number)?.or(tile),
                section::NEAR if near.is_none() => near = Some(reader.near(self.near.len())?),
                other => return Err(Fault::Unknown("section", u64::from(other))),
            }
        }
        self.number = number;
        if let Some(near) = near {
            self.walk(near);
            let own = self.near.iter().find(|(of, _)| Some(*of) == number);
            tile = own.map(|(_, tile)| *tile).or(tile);
        }
        Ok(Found { seq, tick, tile })
    }

    fn walk(&mut self, news: NearNews) {
        let listed = std::mem::take(&mut self.near);
        for ((number, was), step) in listed.into_iter().zip(news.steps) {
            let now = match step {
                Step::Goes => continue,
                Step::Stands => was,
                Step::By(x, z) => was.moved(x, z),
                Step::To(tile) => tile,
            };
            self.near.push((number, now));
        }
        self.near.extend(news.added);
    }
}
