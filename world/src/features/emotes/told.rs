//! Messages about dances.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Emote;
use crate::entity::ids::EntityId;
use crate::server_events;

/// `dance:round`: a round of a dance has ended. Everybody sees the emote of the next one as the
/// leader's `emote` in `world:update`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DanceRound {
    /// Entity id of the leader.
    pub leader: EntityId,
    /// Emote that the leader performed in the round.
    pub emote: Emote,
    /// Whether the player performed it, too.
    pub in_step: bool,
    /// Number of rounds in step without a break.
    pub streak: u32,
    /// Number of players that follow the leader.
    pub dancers: u32,
}

server_events! {
    DanceRound => "dance:round",
}
