//! Reading of one connection, in any encoding.

use anyhow::Result;
use proto::client::{
    Format,
    compact::read::{Decoder, Finder},
};

use super::{
    Message, Payload, glance,
    wire::{self, Glance},
};

/// Reads what one connection brings.
#[derive(Debug, Clone)]
pub struct Listener {
    format: Format,
    decoder: Decoder,
    finder: Finder,
}

impl Listener {
    /// Returns the reader of a new connection.
    pub fn new(format: Format) -> Self {
        Self {
            format,
            decoder: Decoder::default(),
            finder: Finder::default(),
        }
    }

    /// Reads a message whole.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Message> {
        if self.format == Format::Compact && Decoder::is_update(bytes) {
            let (seq, update) = self.decoder.read(bytes)?;
            return Ok(Message {
                seq,
                re: None,
                payload: Payload::Update(update),
            });
        }
        wire::read(self.format, bytes)
    }

    /// Reads a `world:update` for its tick and the entity `own` only, anything else whole. A
    /// connection is read in this way from its start, or never.
    pub fn glance(&mut self, bytes: &[u8], own: &str) -> Result<Message> {
        match self.format {
            Format::Compact if Decoder::is_update(bytes) => {
                let found = self.finder.read(bytes, own)?;
                Ok(Message {
                    seq: found.seq,
                    re: None,
                    payload: Payload::Glance(Glance {
                        tick: found.tick,
                        own: found.tile.map(|tile| (Some(tile.x), Some(tile.z))),
                    }),
                })
            }
            format => glance::read(format, bytes, own),
        }
    }
}
