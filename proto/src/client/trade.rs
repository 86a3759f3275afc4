//! Trading with another player: what is asked, and what both are told.
//!
//! Always: numbers that a trade counts are read as far as they are integers, so that what is out
//! of bounds is refused by the trade itself, with its code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{error::ErrorCode, table::server_events};

/// The longest id of a trade or a player, in bytes.
const ID_BYTES_MAX: usize = 64;

/// `tradeRequest`: asks somebody within 2 tiles for a trade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TradeRequest {
    /// The character's id, which is also that of its entity.
    pub target_player_id: String,
}

/// `tradeRequestRespond`: answers somebody's request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TradeRequestRespond {
    /// Which, as `tradeIncoming` said.
    pub trade_id: String,
    /// False: no.
    pub accept: bool,
}

/// `tradeAddItem`: so much of what lies in a slot of the pack is offered from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TradeAddItem {
    /// In which trade.
    pub trade_id: String,
    /// 0 to 27.
    pub inventory_slot: i64,
    /// 1 up to what lies there; all of it, if not given. It takes the place of what was offered of
    /// this slot before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<i64>,
}

/// `tradeRemoveItem`: takes one thing back out of the own offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TradeRemoveItem {
    /// Of which trade.
    pub trade_id: String,
    /// Its place in the offer, 0 to 27.
    pub trade_slot: i64,
}

/// `tradeSetItemQuantity`: offers so many of something that is in the own offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TradeSetItemQuantity {
    /// In which trade.
    pub trade_id: String,
    /// Its place in the offer, 0 to 27.
    pub trade_slot: i64,
    /// 1 up to what lies in the slot.
    pub quantity: i64,
}

/// The two screens of a trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TradeScreen {
    /// Where both lay out what they give.
    Offer,
    /// Where both see it for the last time.
    Confirm,
}

/// `tradeAccept`: agrees to the screen that is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TradeAccept {
    /// In which trade.
    pub trade_id: String,
    /// The screen that is agreed to; if not given, the one that was shown when this was received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<TradeScreen>,
}

/// `tradeCancel` and `tradeCancelAccept`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TradeRef {
    /// Which trade.
    pub trade_id: String,
}

fn id(name: &str, id: &str) -> Result<(), String> {
    if (1..=ID_BYTES_MAX).contains(&id.len()) {
        return Ok(());
    }
    Err(format!("{name}: 1 to {ID_BYTES_MAX} bytes"))
}

impl TradeRequest {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        id("targetPlayerId", &self.target_player_id)
    }
}

macro_rules! of_a_trade {
    ($($data:ty),*) => {
        $(impl $data {
            /// What is wrong with it, if anything.
            pub(crate) fn check(&self) -> Result<(), String> {
                id("tradeId", &self.trade_id)
            }
        })*
    };
}

of_a_trade!(
    TradeRequestRespond,
    TradeAddItem,
    TradeRemoveItem,
    TradeSetItemQuantity,
    TradeAccept,
    TradeRef
);

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

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, String> {
        serde_json::from_str(text).map_err(|e| e.to_string())
    }

    #[test]
    fn numbers_of_a_trade_are_integers_and_nothing_else() {
        let offer = |quantity: &str| {
            let text = format!(r#"{{"tradeId":"t","inventorySlot":0,"quantity":{quantity}}}"#);
            read::<TradeAddItem>(&text).map(|asked| asked.quantity)
        };
        assert_eq!(offer("-1"), Ok(Some(-1)));
        assert_eq!(offer("2147483648"), Ok(Some(2_147_483_648)));
        for quantity in ["1.0", "\"5\"", "[1]", "{}", "true", "18446744073709551616"] {
            assert!(offer(quantity).is_err(), "{quantity}");
        }
    }

    #[test]
    fn a_trade_has_an_id_of_some_length() {
        let trade = |id: &str| {
            TradeRef {
                trade_id: id.into(),
            }
            .check()
        };
        assert!(trade("").is_err() && trade(&"t".repeat(65)).is_err());
        assert_eq!(trade(&"t".repeat(64)), Ok(()));
    }
}
