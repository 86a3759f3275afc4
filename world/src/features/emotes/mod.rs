//! Emotes: gestures that everybody near sees, and dances, in which players follow a leader.
//!
//! Always: a player performs at most one emote, and follows at most one leader. Nothing of this is
//! saved or handed over, and it gives nobody anything.

mod rules;
pub(crate) mod tick;
pub mod told;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use crate::entity::ids::{CharacterId, EntityId};
use crate::features::trade::Screen;
use crate::geometry::tile::Tile;
use crate::time::Tick;
use crate::told::{Message, Recipient};
use crate::wire::{self, BadRequest};

use told::DanceRound;

/// Gesture.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "a gesture is its name")]
pub enum Emote {
    Wave,
    Bow,
    Cheer,
    Clap,
    Dance,
    Laugh,
    Cry,
    Think,
    Shrug,
    Point,
    Salute,
    Jump,
}

impl Emote {
    /// All emotes, in order.
    pub const ALL: &[Emote] = <Emote as VariantArray>::VARIANTS;

    /// Returns the emote's name.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Emote that a player performs now.
#[derive(Debug)]
pub(crate) struct Performed {
    emote: Emote,
    /// Tile on which the player performs it.
    tile: Tile,
    /// Tick at which it ends.
    until: Tick,
}

/// Player that follows the leader of a dance.
#[derive(Debug)]
pub(crate) struct Dancer {
    leader: EntityId,
    /// Tile of the leader.
    spot: Tile,
    /// Whether the player has performed the leader's emote in this round.
    in_step: bool,
    /// Number of rounds in step without a break.
    streak: u32,
}

/// Emotes that players perform, and players that dance.
#[derive(Debug, Default)]
pub(crate) struct Emotes {
    performed: BTreeMap<CharacterId, Performed>,
    dancers: BTreeMap<CharacterId, Dancer>,
    /// Round of all dances.
    round: u64,
}

/// Request about emotes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Intent {
    /// Stops, and performs a gesture.
    #[serde(rename = "player:emote")]
    Perform {
        /// Gesture.
        emote: Emote,
    },
}

impl wire::Requests for Intent {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        Ok(self)
    }
}

/// Fact about a dance that the world tells one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A round of a dance has ended.
    Round(CharacterId, DanceRound),
}

impl Event {
    /// Returns the player that hears of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Round(who, _) => who,
        }
    }

    /// Returns the message for the player.
    pub(crate) fn message(&self, _: &Recipient<'_>) -> Option<Message> {
        match self {
            Event::Round(_, round) => Some(Message::now(round)),
        }
    }
}
