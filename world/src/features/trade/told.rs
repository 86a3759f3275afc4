//! Messages about a trade to its two players.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Offer, Side, Trade, TradeEnd, rules};
use crate::content::Content;
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::player::Player;
use crate::server_events;
use crate::told::Stack;

/// Data of the `ack` of a `tradeRequest`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeAck {
    /// Requested trade.
    pub trade_id: EntityId,
}

/// `tradeIncoming`: somebody asks for a trade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeIncoming {
    /// Requested trade.
    pub trade_id: EntityId,
    /// Player that asks.
    pub from_player_id: CharacterId,
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
    pub trade_id: EntityId,
    /// With whom.
    pub partner_id: CharacterId,
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
    /// Id of the item.
    pub item_id: Arc<str>,
    /// At least 1.
    pub quantity: u32,
    /// Its place in the offer, 0 to 27; there may be gaps.
    pub trade_slot: u8,
}

/// Offer of one side.
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
    pub trade_id: EntityId,
    /// The player's own offer.
    pub my_offer: TradeOffer,
    /// The partner's offer.
    pub their_offer: TradeOffer,
    /// Slots of the partner's pack that hold nothing.
    pub partner_free_slots: u32,
}

/// Worth of both offers, in coins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeValues {
    /// Worth of the player's own offer.
    pub mine: u64,
    /// Worth of the partner's offer.
    pub theirs: u64,
    /// `theirs` less `mine`; below 0, the player loses by the trade.
    pub difference: i64,
}

/// `tradeConfirmScreen`: the confirmation screen, as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeConfirmScreen {
    /// The trade.
    pub trade_id: EntityId,
    /// The player's own offer.
    pub my_offer: TradeOffer,
    /// The partner's offer.
    pub their_offer: TradeOffer,
    /// Worth of both offers.
    pub values: TradeValues,
}

/// `tradeCompleted`: all items have changed owners, and that is saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeCompleted {
    /// The trade.
    pub trade_id: EntityId,
    /// Items that came into the own pack, each item once.
    pub received_items: Vec<Stack>,
}

/// `tradeCancelled`: no item has changed its owner, and none will.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeCancelled {
    /// The trade.
    pub trade_id: EntityId,
    /// Reason of the end.
    pub reason: TradeEnd,
    /// For people.
    pub message: String,
}

server_events! {
    TradeIncoming => "tradeIncoming",
    TradeStarted => "tradeStarted",
    TradeUpdated => "tradeUpdated",
    TradeConfirmScreen => "tradeConfirmScreen",
    TradeCompleted => "tradeCompleted",
    TradeCancelled => "tradeCancelled",
}

/// Returns the request for the trade `id` by `from`.
pub(crate) fn incoming(id: &EntityId, from: &Player) -> TradeIncoming {
    TradeIncoming {
        trade_id: id.clone(),
        from_player_id: from.record.id.clone(),
        from_player_name: from.record.name.clone(),
        from_player_level: from.record.combat_level,
    }
}

/// Returns the beginning of the trade `id` with `partner`.
pub(crate) fn started(id: &EntityId, partner: &Player) -> TradeStarted {
    TradeStarted {
        trade_id: id.clone(),
        partner_id: partner.record.id.clone(),
        partner_name: partner.record.name.clone(),
        partner_level: partner.record.combat_level,
        partner_free_slots: rules::free_slots(partner),
    }
}

/// Returns the end of the trade `id` without a swap.
pub(crate) fn cancelled(id: &EntityId, why: TradeEnd) -> TradeCancelled {
    TradeCancelled {
        trade_id: id.clone(),
        reason: why,
        message: why.sentence().to_owned(),
    }
}

/// Returns the offer screen for the player of the side `mine`.
pub(crate) fn updated(trade: &Trade, mine: &Side, theirs: &Side, partner: &Player) -> TradeUpdated {
    TradeUpdated {
        trade_id: trade.id.clone(),
        my_offer: offer(&mine.offer),
        their_offer: offer(&theirs.offer),
        partner_free_slots: rules::free_slots(partner),
    }
}

/// Returns the confirmation screen for the player of the side `mine`.
pub(crate) fn confirm(
    trade: &Trade,
    mine: &Side,
    theirs: &Side,
    content: &Content,
) -> TradeConfirmScreen {
    let [gives, gets] = [mine, theirs].map(|side| rules::worth(content, &side.offer));
    let signed = |worth: u64| i64::try_from(worth).unwrap_or(i64::MAX);
    TradeConfirmScreen {
        trade_id: trade.id.clone(),
        my_offer: offer(&mine.offer),
        their_offer: offer(&theirs.offer),
        values: TradeValues {
            mine: gives,
            theirs: gets,
            difference: signed(gets).saturating_sub(signed(gives)),
        },
    }
}

fn offer(offer: &Offer) -> TradeOffer {
    let things = offer.things.iter();
    let items = things.map(|(place, offered)| TradeItem {
        inventory_slot: offered.slot,
        item_id: Arc::clone(&offered.stack.item),
        quantity: offered.stack.quantity,
        trade_slot: *place,
    });
    TradeOffer {
        items: items.collect(),
        accepted: offer.agreed,
    }
}
