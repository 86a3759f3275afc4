//! Duels with another player: the notifications to both. Names are those of the reference: the
//! player that challenged is `challenger`, the other is `target`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{error::ErrorCode, table::server_events};

/// `duelChallengeSent`: one's challenge is out, for 30 s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelChallengeSent {
    /// The challenge.
    pub challenge_id: String,
    /// Who is challenged.
    pub target_player_id: String,
    /// As others see it.
    pub target_player_name: String,
}

/// `duelChallengeIncoming`: somebody challenges one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelChallengeIncoming {
    /// The challenge.
    pub challenge_id: String,
    /// Who.
    pub from_player_id: String,
    /// As others see it.
    pub from_player_name: String,
    /// Combat level.
    pub from_player_level: u32,
}

/// `duelChallengeDeclined`: a challenge came to nothing. Both are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelChallengeDeclined {
    /// The challenge.
    pub challenge_id: String,
    /// Who did not want to; absent: it took too long, was called off, or the two have parted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined_by: Option<String>,
}

/// `duelSessionStarted`: both want to, and talk about the rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelSessionStarted {
    /// The duel.
    pub duel_id: String,
    /// The challenge that led to it.
    pub challenge_id: String,
    /// With whom.
    pub opponent_id: String,
    /// As others see it.
    pub opponent_name: String,
    /// It was one's own challenge.
    pub is_challenger: bool,
}

/// `duelRulesUpdated`: a rule holds, or not any more; nobody agrees any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelRulesUpdated {
    /// The duel.
    pub duel_id: String,
    /// All of them, by name: whether it holds.
    pub rules: BTreeMap<String, bool>,
    /// The challenger agrees.
    pub challenger_accepted: bool,
    /// The other agrees.
    pub target_accepted: bool,
    /// Who did that.
    pub modified_by: String,
}

/// `duelEquipmentUpdated`: nothing is to be worn somewhere, or something may be again; nobody
/// agrees any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelEquipmentUpdated {
    /// The duel.
    pub duel_id: String,
    /// All places: whether nothing may be worn there.
    pub equipment_restrictions: BTreeMap<String, bool>,
    /// The challenger agrees.
    pub challenger_accepted: bool,
    /// The other agrees.
    pub target_accepted: bool,
    /// Who did that.
    pub modified_by: String,
}

/// Something at stake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelStake {
    /// The slot of its owner's pack in which it lay, 0 to 27.
    pub inventory_slot: u8,
    /// What.
    pub item_id: String,
    /// At least 1.
    pub quantity: u32,
    /// What all of it is worth, in coins.
    pub value: u64,
}

/// `duelStakesUpdated`: something else is staked; nobody agrees any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelStakesUpdated {
    /// The duel.
    pub duel_id: String,
    /// What the challenger stakes, in the order of `stakeIndex`.
    pub challenger_stakes: Vec<DuelStake>,
    /// What the other stakes.
    pub target_stakes: Vec<DuelStake>,
    /// The challenger agrees.
    pub challenger_accepted: bool,
    /// The other agrees.
    pub target_accepted: bool,
    /// Who did that.
    pub modified_by: String,
}

/// `duelAcceptanceUpdated`: somebody agrees; all did if it says that the duel has moved on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelAcceptanceUpdated {
    /// The duel.
    pub duel_id: String,
    /// The challenger agrees.
    pub challenger_accepted: bool,
    /// The other agrees.
    pub target_accepted: bool,
    /// RULES, STAKES, CONFIRMING, COUNTDOWN, FIGHTING, FINISHED
    pub state: String,
    /// It is about the stakes now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moved_to_stakes: bool,
    /// It is the last look now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moved_to_confirm: bool,
}

/// `duelStateChanged`: the duel as it is now, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelStateChanged {
    /// The duel.
    pub duel_id: String,
    /// RULES, STAKES, CONFIRMING, COUNTDOWN, FIGHTING, FINISHED
    pub state: String,
    /// All of them, by name: whether it holds.
    pub rules: BTreeMap<String, bool>,
    /// All places: whether nothing may be worn there.
    pub equipment_restrictions: BTreeMap<String, bool>,
    /// What the challenger stakes. From CONFIRMING on it lies in no pack.
    pub challenger_stakes: Vec<DuelStake>,
    /// What the other stakes.
    pub target_stakes: Vec<DuelStake>,
    /// The challenger agrees.
    pub challenger_accepted: bool,
    /// The other agrees.
    pub target_accepted: bool,
    /// The number of the ring, from COUNTDOWN on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arena_id: Option<u8>,
    /// Who challenged.
    pub challenger_id: String,
    /// Who was challenged.
    pub target_id: String,
}

/// `duelCountdownStart`: both stand in the ring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelCountdownStart {
    /// The duel.
    pub duel_id: String,
    /// The number of the ring.
    pub arena_id: u8,
    /// Who challenged.
    pub challenger_id: String,
    /// Who was challenged.
    pub target_id: String,
}

/// `duelCountdownTick`: 3, 2, 1, 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelCountdownTick {
    /// The duel.
    pub duel_id: String,
    /// 3 to 0; at 0 they fight.
    pub count: u8,
    /// Who challenged.
    pub challenger_id: String,
    /// Who was challenged.
    pub target_id: String,
}

/// A corner of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DuelCorner {
    /// Column.
    pub x: i32,
    /// Row.
    pub z: i32,
}

/// The edges of a ring; both corners belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DuelBounds {
    /// South-west.
    pub min: DuelCorner,
    /// North-east.
    pub max: DuelCorner,
}

/// `duelFightStart`: they may fight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelFightStart {
    /// The duel.
    pub duel_id: String,
    /// The number of the ring.
    pub arena_id: u8,
    /// With whom.
    pub opponent_id: String,
    /// Nobody gets out of them before it is over.
    pub bounds: DuelBounds,
}

/// Some of an item that changed hands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelItem {
    /// What.
    pub item_id: String,
    /// At least 1.
    pub quantity: u32,
}

/// `duelCompleted`: it is decided, what was staked has changed hands, and that is saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelCompleted {
    /// The duel.
    pub duel_id: String,
    /// One has won it oneself.
    pub won: bool,
    /// The other, as others see it.
    pub opponent_name: String,
    /// What one got of the other.
    pub items_received: Vec<DuelItem>,
    /// What one gave to the other.
    pub items_lost: Vec<DuelItem>,
    /// What the first are worth, in coins.
    pub total_value_won: u64,
    /// What the second are worth, in coins.
    pub total_value_lost: u64,
    /// The loser gave up, or was gone for too long.
    pub forfeit: bool,
}

/// `duelCancelled`: it came to nothing, and everybody keeps what it staked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelCancelled {
    /// The duel.
    pub duel_id: String,
    /// cancelled, timeout, disconnected, player_died, too_far, invalid_items, draw, server
    pub reason: String,
    /// For people.
    pub message: String,
    /// Who called it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<String>,
}

/// `duelOpponentDisconnected`: nobody plays the other just now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelOpponentDisconnected {
    /// The duel.
    pub duel_id: String,
    /// If it is not back by then, the duel is off, or won if they fight.
    pub timeout_ms: u64,
}

/// `duelOpponentReconnected`: the other is back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelOpponentReconnected {
    /// The duel.
    pub duel_id: String,
}

/// `duelError`: what was asked of a duel was refused and has changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelError {
    /// One of those in capitals.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// The duel that was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duel_id: Option<String>,
}

server_events! {
    DuelChallengeSent => "duelChallengeSent",
    DuelChallengeIncoming => "duelChallengeIncoming",
    DuelChallengeDeclined => "duelChallengeDeclined",
    DuelSessionStarted => "duelSessionStarted",
    DuelRulesUpdated => "duelRulesUpdated",
    DuelEquipmentUpdated => "duelEquipmentUpdated",
    DuelStakesUpdated => "duelStakesUpdated",
    DuelAcceptanceUpdated => "duelAcceptanceUpdated",
    DuelStateChanged => "duelStateChanged",
    DuelCountdownStart => "duelCountdownStart",
    DuelCountdownTick => "duelCountdownTick",
    DuelFightStart => "duelFightStart",
    DuelCompleted => "duelCompleted",
    DuelCancelled => "duelCancelled",
    DuelOpponentDisconnected => "duelOpponentDisconnected",
    DuelOpponentReconnected => "duelOpponentReconnected",
    DuelError => "duelError",
}
