//! Trades: their requests, and the notifications to both sides.

use bytes::Bytes;
use proto::{
    client::{
        ServerEvent,
        session::Ack,
        trade::{
            TradeAck, TradeCancelled, TradeCompleted, TradeConfirmScreen, TradeError,
            TradeIncoming, TradeItem, TradeOffer, TradeReceived, TradeStarted, TradeUpdated,
            TradeValues,
        },
    },
    rpc::zone::v1::{Encounter, Input, Private},
};
use serde::Deserialize;
use world::{
    CharacterId, EntityId, Offer, Screen, TradeEnd, TradeNotification, TradeStep, trade::Event,
};

use super::{Refused, Told, for_gateway, private};

/// Returns whether `tradeError` tells its failure.
pub(crate) fn is_about_trade(input: &Input) -> bool {
    #[derive(Deserialize)]
    struct Action {
        action: String,
    }
    let acts = input.event == "player:action";
    let action = acts.then(|| serde_json::from_slice::<Action>(&input.data).ok());
    input.event.starts_with("trade")
        || action
            .flatten()
            .is_some_and(|asked| asked.action == "trade")
}

/// Returns whether a message leaves its reader with the confirmation screen, if it says so.
pub(crate) fn shows_confirm(message: &Private) -> Option<bool> {
    match &*message.event {
        TradeConfirmScreen::NAME => Some(true),
        TradeStarted::NAME | TradeUpdated::NAME | TradeCompleted::NAME | TradeCancelled::NAME => {
            Some(false)
        }
        _ => None,
    }
}

/// Returns the answer to a request for a trade.
pub(crate) fn asked(trade: &EntityId, re: Bytes) -> Private {
    let trade_id = trade.to_string();
    Private {
        event: Ack::NAME.to_owned(),
        data: proto::encode::json(&TradeAck { trade_id }).into(),
        re,
        encounter: Some(lasts(trade)),
        only_answers: true,
        ..Private::default()
    }
}

/// The encounter that a notification is about, if the gateway must know how far that is. `account`
/// names that of somebody who asks.
pub(crate) fn encounter(
    event: &Event,
    account: impl FnOnce(&CharacterId) -> String,
) -> Option<Encounter> {
    let told = match event {
        Event::Told { told, .. } => told,
        // Its answer carries the encounter.
        Event::Asked { .. } => return None,
    };
    match told {
        TradeNotification::Incoming { trade, from, .. } => Some(Encounter {
            asking_account: account(from),
            ..lasts(trade)
        }),
        TradeNotification::Started { trade, .. } => Some(lasts(trade)),
        TradeNotification::Shown { .. } => None,
        TradeNotification::Completed { trade, .. } | TradeNotification::Ended { trade, .. } => {
            Some(Encounter {
                id: trade.to_string(),
                over: true,
                ..Encounter::default()
            })
        }
    }
}

/// A trade, or a request for one, that ends if this run is lost.
fn lasts(trade: &EntityId) -> Encounter {
    let trade_id = trade.to_string();
    let lost = TradeCancelled {
        trade_id: trade_id.clone(),
        reason: "server".to_owned(),
        message: "this part of the world was lost; the pack shows what it left".to_owned(),
    };
    Encounter {
        id: trade_id,
        if_lost: Some(for_gateway(&lost)),
        ..Encounter::default()
    }
}

/// The answer to what was refused.
pub(crate) fn error(data: &[u8], re: Bytes, why: Refused) -> Private {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named {
        trade_id: String,
    }
    let named = serde_json::from_slice::<Named>(data).ok();
    let error = TradeError {
        code: why.code.of_exchange(),
        message: why.words,
        trade_id: named.map(|named| named.trade_id),
    };
    private(&error, re)
}

/// Returns the message for a player, and whether it waits until its subject is saved.
fn notification(told: &TradeNotification) -> (Private, bool) {
    let now = Bytes::new;
    match told {
        TradeNotification::Incoming {
            trade,
            from,
            name,
            level,
        } => {
            let incoming = TradeIncoming {
                trade_id: trade.to_string(),
                from_player_id: from.to_string(),
                from_player_name: name.clone(),
                from_player_level: *level,
            };
            (private(&incoming, now()), false)
        }
        TradeNotification::Started {
            trade,
            partner,
            name,
            level,
            partner_free_slots,
        } => {
            let started = TradeStarted {
                trade_id: trade.to_string(),
                partner_id: partner.to_string(),
                partner_name: name.clone(),
                partner_level: *level,
                partner_free_slots: *partner_free_slots,
            };
            (private(&started, now()), true)
        }
        TradeNotification::Shown { .. } => (shown(told), true),
        TradeNotification::Completed { trade, received } => {
            let received = received.iter().map(|stack| TradeReceived {
                item_id: stack.item.to_string(),
                quantity: stack.quantity.into(),
            });
            let completed = TradeCompleted {
                trade_id: trade.to_string(),
                received_items: received.collect(),
            };
            (private(&completed, now()), true)
        }
        TradeNotification::Ended { trade, why } => {
            let (reason, message) = reason(*why);
            let cancelled = TradeCancelled {
                trade_id: trade.to_string(),
                reason: reason.to_owned(),
                message: message.to_owned(),
            };
            (private(&cancelled, now()), true)
        }
    }
}

/// A screen.
fn shown(told: &TradeNotification) -> Private {
    let TradeNotification::Shown {
        trade,
        screen,
        mine,
        theirs,
        partner_free_slots,
        worth,
    } = told
    else {
        return Private::default();
    };
    let (trade_id, my_offer, their_offer) = (trade.to_string(), items(mine), items(theirs));
    match screen {
        Screen::Offer => {
            let updated = TradeUpdated {
                trade_id,
                my_offer,
                their_offer,
                partner_free_slots: *partner_free_slots,
            };
            private(&updated, Bytes::new())
        }
        Screen::Confirm => {
            let [mine, theirs] = *worth;
            let signed = |worth: u64| i64::try_from(worth).unwrap_or(i64::MAX);
            let confirm = TradeConfirmScreen {
                trade_id,
                my_offer,
                their_offer,
                values: TradeValues {
                    mine,
                    theirs,
                    difference: signed(theirs).saturating_sub(signed(mine)),
                },
            };
            private(&confirm, Bytes::new())
        }
    }
}

fn items(offer: &Offer) -> TradeOffer {
    let things = offer.things.iter();
    TradeOffer {
        items: things
            .map(|(place, offered)| TradeItem {
                inventory_slot: offered.slot,
                item_id: offered.stack.item.to_string(),
                quantity: offered.stack.quantity,
                trade_slot: *place,
            })
            .collect(),
        accepted: offer.agreed,
    }
}

/// Why a trade came to nothing, for programs and for people.
fn reason(why: TradeEnd) -> (&'static str, &'static str) {
    match why {
        TradeEnd::Declined => ("declined", "the trade was declined"),
        TradeEnd::Timeout => (
            "timeout",
            "nobody did anything about the trade for too long",
        ),
        TradeEnd::Cancelled => ("cancelled", "the trade was given up"),
        TradeEnd::Disconnected => ("disconnected", "the other has left the world"),
        TradeEnd::PlayerDied => ("player_died", "one of you has died"),
        TradeEnd::TooFar => (
            "too_far",
            "you are too far apart; within two tiles one trades",
        ),
        TradeEnd::InvalidItems => ("invalid_items", "what was offered is not there any more"),
        TradeEnd::Server => ("server", "this part of the world has moved; ask again"),
    }
}

/// A step as the audit names it.
pub(crate) fn step(step: TradeStep) -> &'static str {
    match step {
        TradeStep::Asked => "request",
        TradeStep::Began => "start",
        TradeStep::Offered => "offer",
        TradeStep::Withdrew => "withdraw",
        TradeStep::Agreed(Screen::Offer) => "accept_offer",
        TradeStep::Agreed(Screen::Confirm) => "accept_confirm",
        TradeStep::Doubted => "take_back",
        TradeStep::Gave => "gave",
        TradeStep::Ended(why) => reason(why).0,
        TradeStep::Refused(_) => "refused",
    }
}

/// Returns what a player is told of a trade.
pub(crate) fn told(event: &Event) -> Told {
    match event {
        Event::Asked { number, trade, .. } => Told::Answered {
            number: *number,
            message: asked(trade, Bytes::new()),
        },
        Event::Told { told, .. } => {
            let (message, value) = notification(told);
            Told::Message { message, value }
        }
    }
}

#[cfg(test)]
mod tests {
    use proto::client::ErrorCode;

    use super::*;

    #[test]
    fn failures_name_their_trade_in_capitals() {
        let why = Refused {
            code: ErrorCode::TooFar,
            words: String::new(),
        };
        let told = error(br#"{"tradeId":"trade:1-2"}"#, Bytes::new(), why);
        let data = String::from_utf8(told.data.to_vec()).unwrap();
        let expected = r#"{"code":"TOO_FAR","message":"","tradeId":"trade:1-2"}"#;
        assert_eq!((&*told.event, &*data), ("tradeError", expected));
    }
}
