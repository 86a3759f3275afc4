//! Trades: their refusals, their steps for the audit, and what the gateway must know of them.

use bytes::Bytes;
use proto::{
    client::{ServerEvent, exchange::TradeError, session::Ack},
    rpc::zone::v1::{Encounter, Input, Private},
};
use serde::Deserialize;
use world::{
    CharacterId, EntityId, Screen, TradeEnd, TradeStep,
    trade::{
        Event,
        told::{
            TradeAck, TradeCancelled, TradeCompleted, TradeConfirmScreen, TradeStarted,
            TradeUpdated,
        },
    },
};

use super::{Refused, for_gateway, private};

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
pub(crate) fn asked(ack: &TradeAck) -> Private {
    Private {
        event: Ack::NAME.to_owned(),
        data: proto::encode::json(ack).into(),
        encounter: Some(lasts(&ack.trade_id)),
        only_answers: true,
        ..Private::default()
    }
}

/// Returns the encounter that an event concerns, if the gateway must know its progress. `account`
/// returns the account of the one who asks.
pub(crate) fn encounter(
    event: &Event,
    account: impl FnOnce(&CharacterId) -> String,
) -> Option<Encounter> {
    match event {
        Event::Incoming(_, told) => Some(Encounter {
            asking_account: account(&told.from_player_id),
            ..lasts(&told.trade_id)
        }),
        Event::Started(_, told) => Some(lasts(&told.trade_id)),
        Event::Completed(_, TradeCompleted { trade_id, .. })
        | Event::Cancelled(_, TradeCancelled { trade_id, .. }) => Some(Encounter {
            id: trade_id.to_string(),
            over: true,
            ..Encounter::default()
        }),
        // Its answer carries the encounter.
        Event::Asked { .. } => None,
        Event::Updated(..) | Event::Confirms(..) => None,
    }
}

/// Returns an encounter for a trade, or a request for one, that ends if this run is lost.
fn lasts(trade: &EntityId) -> Encounter {
    let lost = TradeCancelled {
        trade_id: trade.clone(),
        reason: TradeEnd::Server,
        message: "this part of the world was lost; the pack shows what it left".to_owned(),
    };
    Encounter {
        id: trade.to_string(),
        if_lost: Some(for_gateway(&lost)),
        ..Encounter::default()
    }
}

/// Returns the answer to a refused request of a trade.
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

/// Returns the audit's name of a step.
pub(crate) fn step(step: TradeStep) -> &'static str {
    match step {
        TradeStep::Asked => "request",
        TradeStep::Began => "start",
        TradeStep::Offered => "offer",
        TradeStep::Withdrew => "withdraw",
        TradeStep::Agreed(Screen::Offer) => "accept_offer",
        TradeStep::Agreed(Screen::Confirm) => "accept_confirm",
        TradeStep::RevokedAcceptance => "take_back",
        TradeStep::Gave => "gave",
        TradeStep::Ended(why) => why.name(),
        TradeStep::Refused(_) => "refused",
    }
}

#[cfg(test)]
mod tests {
    use proto::client::{ErrorCode, Refusal};

    use super::*;

    #[test]
    fn failures_name_their_trade_in_capitals() {
        let why = Refused {
            code: ErrorCode::Refused(Refusal::TooFar),
            words: String::new(),
        };
        let told = error(br#"{"tradeId":"trade:1-2"}"#, Bytes::new(), why);
        let data = String::from_utf8(told.data.to_vec()).unwrap();
        let expected = r#"{"code":"TOO_FAR","message":"","tradeId":"trade:1-2"}"#;
        assert_eq!((&*told.event, &*data), ("tradeError", expected));
    }
}
