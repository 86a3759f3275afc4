//! Trades: their requests, and the notifications to both sides.

use bytes::Bytes;
use proto::{
    client::{
        ErrorCode, ServerEvent,
        session::Ack,
        trade::{
            TradeAccept, TradeAck, TradeAddItem, TradeCancelled, TradeCompleted,
            TradeConfirmScreen, TradeError, TradeIncoming, TradeItem, TradeOffer, TradeReceived,
            TradeRef, TradeRemoveItem, TradeRequest, TradeRequestRespond, TradeScreen,
            TradeSetItemQuantity, TradeStarted, TradeUpdated, TradeValues,
        },
    },
    rpc::zone::v1::{Encounter, Input, Private},
};
use serde::Deserialize;
use world::{
    CharacterId, EntityId, Intent, Offer, Screen, TradeEnd, TradeNotification, TradeStep,
    item::SLOTS, trade, trade::Event,
};

use super::{Refused, Told, for_gateway, private};

const ACCEPT: &str = "tradeAccept";

/// Returns whether its failures are told as `tradeError`.
pub(crate) fn is_about_trade(event: &str) -> bool {
    event.starts_with("trade")
}

/// `tradeRequest`.
pub(crate) fn ask(asked: &TradeRequest) -> Intent {
    Intent::Trade(trade::Intent::Ask {
        target: asked.target_player_id.as_str().into(),
    })
}

/// `tradeRequestRespond`.
pub(crate) fn answer(asked: &TradeRequestRespond) -> Intent {
    Intent::Trade(trade::Intent::Answer {
        trade: asked.trade_id.as_str().into(),
        accept: asked.accept,
    })
}

/// `tradeAddItem`.
pub(crate) fn offer(asked: &TradeAddItem) -> Result<Intent, Refused> {
    Ok(Intent::Trade(trade::Intent::Offer {
        trade: asked.trade_id.as_str().into(),
        slot: slot("inventorySlot", asked.inventory_slot)?,
        quantity: asked.quantity.map(quantity).transpose()?,
    }))
}

/// `tradeSetItemQuantity`.
pub(crate) fn change(asked: &TradeSetItemQuantity) -> Result<Intent, Refused> {
    Ok(Intent::Trade(trade::Intent::Change {
        trade: asked.trade_id.as_str().into(),
        place: slot("tradeSlot", asked.trade_slot)?,
        quantity: quantity(asked.quantity)?,
    }))
}

/// `tradeRemoveItem`.
pub(crate) fn withdraw(asked: &TradeRemoveItem) -> Result<Intent, Refused> {
    Ok(Intent::Trade(trade::Intent::Withdraw {
        trade: asked.trade_id.as_str().into(),
        place: slot("tradeSlot", asked.trade_slot)?,
    }))
}

/// `tradeAccept`; one that names no screen was given one by [`name_screen`].
pub(crate) fn accept(asked: &TradeAccept) -> Intent {
    Intent::Trade(trade::Intent::Accept {
        trade: asked.trade_id.as_str().into(),
        seen: match asked.screen {
            Some(TradeScreen::Confirm) => Screen::Confirm,
            Some(TradeScreen::Offer) | None => Screen::Offer,
        },
    })
}

/// `tradeCancelAccept`.
pub(crate) fn doubt(asked: &TradeRef) -> Intent {
    Intent::Trade(trade::Intent::Doubt {
        trade: asked.trade_id.as_str().into(),
    })
}

/// `tradeCancel`.
pub(crate) fn cancel(asked: &TradeRef) -> Intent {
    Intent::Trade(trade::Intent::Cancel {
        trade: asked.trade_id.as_str().into(),
    })
}

fn slot(name: &str, slot: i64) -> Result<u8, Refused> {
    let slot = u8::try_from(slot).ok().filter(|slot| *slot < SLOTS);
    slot.ok_or_else(|| Refused {
        code: ErrorCode::InvalidSlot,
        words: format!("{name}: 0 to {}", SLOTS - 1),
    })
}

fn quantity(quantity: i64) -> Result<u32, Refused> {
    let many = u32::try_from(quantity).ok();
    let many = many.filter(|many| (1..=world::item::QUANTITY_MAX).contains(many));
    many.ok_or_else(|| Refused {
        code: ErrorCode::InvalidQuantity,
        words: "quantity: 1 up to what lies there".to_owned(),
    })
}

/// An agreement that names no screen is one to the screen that its player was shown last when it
/// was received: one made before the confirmation screen was sent never counts for that.
pub(crate) fn name_screen(input: &mut Input, shows_confirm: bool) {
    if input.event != ACCEPT {
        return;
    }
    let Ok(mut asked) = serde_json::from_slice::<TradeAccept>(&input.data) else {
        return;
    };
    asked.screen.get_or_insert(if shows_confirm {
        TradeScreen::Confirm
    } else {
        TradeScreen::Offer
    });
    input.data = proto::encode::json(&asked).into();
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
    use super::*;

    fn input(data: &'static str) -> Input {
        Input {
            event: ACCEPT.to_owned(),
            data: Bytes::from_static(data.as_bytes()),
            ..Input::default()
        }
    }

    #[test]
    fn an_agreement_without_a_screen_is_to_the_one_that_was_shown_when_it_came() {
        let named = |data, confirm| {
            let mut input = input(data);
            name_screen(&mut input, confirm);
            let asked: TradeAccept = serde_json::from_slice(&input.data).unwrap();
            asked.screen
        };
        let bare = r#"{"tradeId":"t"}"#;
        assert_eq!(named(bare, false), Some(TradeScreen::Offer));
        assert_eq!(named(bare, true), Some(TradeScreen::Confirm));
        let said = r#"{"tradeId":"t","screen":"offer"}"#;
        assert_eq!(named(said, true), Some(TradeScreen::Offer));
    }

    #[test]
    fn what_cannot_be_read_stays_as_it_is() {
        let mut input = input(r#"{"tradeId":7}"#);
        name_screen(&mut input, true);
        assert_eq!(&*input.data, br#"{"tradeId":7}"#);
    }

    #[test]
    fn numbers_out_of_bounds_are_refused_with_the_code_of_a_trade() {
        let offer = |inventory_slot, quantity| {
            let trade_id = "t".to_owned();
            let asked = TradeAddItem {
                trade_id,
                inventory_slot,
                quantity,
            };
            super::offer(&asked).map_err(|why| why.code)
        };
        for slot in [-1, 28, 256, i64::MAX] {
            assert_eq!(offer(slot, None), Err(ErrorCode::InvalidSlot), "{slot}");
        }
        for many in [0, -1, 1 << 31, 1 << 32, i64::MIN] {
            let got = offer(0, Some(many));
            assert_eq!(got, Err(ErrorCode::InvalidQuantity), "{many}");
        }
        assert!(offer(27, Some((1 << 31) - 1)).is_ok());
    }

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
