//! Every way in which the world says no. A refusal is an answer, never a fault.

use serde::{Deserialize, Serialize};

/// Why an intent was not followed. It has then changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Refusal {
    /// There is no way, not even part of it.
    Unreachable,
    /// Further than anybody may ask for.
    TooFar,
    /// Not possible in this world yet, or not with that target.
    Unsupported,
    /// No such thing here.
    NotFound,
    /// Another matter must end first, or too much is being asked at once.
    Busy,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Refusal; 5] = [
        Refusal::Unreachable,
        Refusal::TooFar,
        Refusal::Unsupported,
        Refusal::NotFound,
        Refusal::Busy,
    ];
}
