//! Trading with another player: the notifications to both.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{error::ErrorCode, table::server_events};

/// What the `ack` of a `tradeRequest` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeAck {
    /// The trade that was asked for.
    pub trade_id: String,
}

/// `tradeIncoming`: somebody asks for a trade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeIncoming {
    /// The trade that is asked for.
    pub trade_id: String,
    /// Who asks.
    pub from_player_id: String,
    /// As others see it.
    pub from_player_name: String,
    /// Combat level.
    pub from_player_level: u32,
}

/// `tradeStarted`: both have agreed to trade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeStarted {
    /// The trade.
    pub trade_id: String,
    /// With whom.
    pub partner_id: String,
    /// As others see it.
    pub partner_name: String,
    /// Combat level.
    pub partner_level: u32,
    /// Slots of the partner's pack that hold nothing.
    pub partner_free_slots: u32,
}

/// Something that is offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeItem {
    /// The slot of its owner's pack, 0 to 27.
    pub inventory_slot: u8,
    /// What.
    pub item_id: String,
    /// At least 1.
    pub quantity: u32,
    /// Its place in the offer, 0 to 27; there may be gaps.
    pub trade_slot: u8,
}

/// What one side offers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeOffer {
    /// By place.
    pub items: Vec<TradeItem>,
    /// This side agrees to the screen that is shown.
    pub accepted: bool,
}

/// `tradeUpdated`: the offer screen, as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeUpdated {
    /// The trade.
    pub trade_id: String,
    /// What one offers oneself.
    pub my_offer: TradeOffer,
    /// What the partner offers.
    pub their_offer: TradeOffer,
    /// Slots of the partner's pack that hold nothing.
    pub partner_free_slots: u32,
}

/// What both offers are worth, in coins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeValues {
    /// What one gives.
    pub mine: u64,
    /// What one gets.
    pub theirs: u64,
    /// `theirs` less `mine`: below 0, one loses by it.
    pub difference: i64,
}

/// `tradeConfirmScreen`: the confirmation screen, as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeConfirmScreen {
    /// The trade.
    pub trade_id: String,
    /// What one gives.
    pub my_offer: TradeOffer,
    /// What one gets.
    pub their_offer: TradeOffer,
    /// What it is worth.
    pub values: TradeValues,
}

/// Some of an item that was received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeReceived {
    /// What.
    pub item_id: String,
    /// At least 1.
    pub quantity: u64,
}

/// `tradeCompleted`: everything has changed hands, and is saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeCompleted {
    /// The trade.
    pub trade_id: String,
    /// What came into the own pack, each item once.
    pub received_items: Vec<TradeReceived>,
}

/// `tradeCancelled`: nothing has changed hands, and nothing will.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeCancelled {
    /// The trade.
    pub trade_id: String,
    /// declined, timeout, cancelled, disconnected, player_died, too_far, invalid_items, server
    pub reason: String,
    /// For people.
    pub message: String,
}

/// `tradeError`: what was asked of a trade was refused and has changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeError {
    /// One of those in capitals.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// The trade that was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trade_id: Option<String>,
}

server_events! {
    TradeIncoming => "tradeIncoming",
    TradeStarted => "tradeStarted",
    TradeUpdated => "tradeUpdated",
    TradeConfirmScreen => "tradeConfirmScreen",
    TradeCompleted => "tradeCompleted",
    TradeCancelled => "tradeCancelled",
    TradeError => "tradeError",
}
