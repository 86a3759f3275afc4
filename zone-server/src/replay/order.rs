//! A record of the next ticks, for somebody who waits for it.
//!
//! Always: one at a time; the clock's thread never waits for the asker.

use tokio::sync::oneshot;

use super::{
    file::{self, Header},
    recorder::Kept,
};

/// Most ticks of an ordered record: a minute.
pub(crate) const TICKS_MAX: u64 = 100;

/// What became of an order.
#[derive(Debug)]
pub(crate) enum Made {
    /// The record: its header, and its changes.
    Record(Box<Header>, Kept),
    /// Somebody else waits for a record.
    Busy,
}

impl Made {
    /// Returns the bytes of the record's file; `None`: there is none.
    pub(crate) fn into_bytes(self) -> Option<Vec<u8>> {
        let Self::Record(header, kept) = self else {
            return None;
        };
        let mut bytes = file::head(&header)?;
        bytes.extend(kept.bytes);
        Some(bytes)
    }
}

/// An order for a record.
#[derive(Debug)]
pub(crate) struct Order {
    /// How many ticks it has.
    pub(crate) ticks: u64,
    pub(crate) reply: oneshot::Sender<Made>,
}

impl Order {
    /// Returns whether nobody waits any more.
    pub(crate) fn is_given_up(&self) -> bool {
        self.reply.is_closed()
    }

    /// Tells the asker that somebody else waits for a record.
    pub(crate) fn refuse(self) {
        // The asker may be gone.
        let _ = self.reply.send(Made::Busy);
    }

    /// Gives the record to the asker.
    pub(crate) fn answer(self, header: Header, kept: Kept) {
        // The asker may be gone.
        let _ = self.reply.send(Made::Record(Box::new(header), kept));
    }
}
