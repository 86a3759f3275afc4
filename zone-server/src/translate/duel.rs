//! Duels: their refusals, and what the gateway must know of them.

use bytes::Bytes;
use proto::{
    client::{ErrorCode, Refusal, exchange::DuelError},
    rpc::zone::v1::{Encounter, Private},
};
use serde::Deserialize;
use world::{
    CharacterId, DuelEnd,
    duel::{
        Event,
        told::{DuelCancelled, DuelCompleted},
    },
};

use super::{Refused, for_gateway, private};

/// Returns whether its failures are told as `duelError`.
pub(crate) fn is_about_duel(event: &str) -> bool {
    event.starts_with("duel:")
}

/// Returns the answer to a refused request.
pub(crate) fn error(data: &[u8], re: Bytes, why: Refused) -> Private {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named {
        duel_id: String,
    }
    let named = serde_json::from_slice::<Named>(data).ok();
    let code = match why.code {
        ErrorCode::Refused(Refusal::SelfTrade) => ErrorCode::Refused(Refusal::SelfDuel),
        code => code.of_exchange(),
    };
    let error = DuelError {
        code,
        message: why.words,
        duel_id: named.map(|named| named.duel_id),
    };
    private(&error, re)
}

/// Returns the encounter that an event concerns, if the gateway must know its progress. `account`
/// returns the account of the one who asks.
pub(crate) fn encounter(
    event: &Event,
    account: impl FnOnce(&CharacterId) -> String,
) -> Option<Encounter> {
    let (id, asking_account, over, if_lost) = match event {
        Event::Incoming(_, told) => {
            let asks = account(&told.from_player_id);
            (&told.challenge_id, asks, false, None)
        }
        Event::Declined(_, told) => (&told.challenge_id, String::new(), true, None),
        Event::Started(_, told) => {
            let lost = DuelCancelled {
                duel_id: told.duel_id.clone(),
                reason: DuelEnd::Server,
                message: "this part of the world was lost; stakes come back".to_owned(),
                cancelled_by: None,
            };
            (
                &told.duel_id,
                String::new(),
                false,
                Some(for_gateway(&lost)),
            )
        }
        Event::Completed(_, DuelCompleted { duel_id, .. })
        | Event::Cancelled(_, DuelCancelled { duel_id, .. }) => {
            (duel_id, String::new(), true, None)
        }
        Event::Challenged(..)
        | Event::Rules(..)
        | Event::Equipment(..)
        | Event::Stakes(..)
        | Event::Agreed(..)
        | Event::Stage(..)
        | Event::Entered(..)
        | Event::Counted(..)
        | Event::Fight(..)
        | Event::OpponentAway(..)
        | Event::OpponentBack(..) => return None,
    };
    Some(Encounter {
        id: id.to_string(),
        over,
        if_lost,
        asking_account,
    })
}

#[cfg(test)]
mod tests {
    use proto::client::ErrorCode;

    use super::*;

    #[test]
    fn failures_name_their_duel_in_capitals() {
        let why = Refused {
            code: ErrorCode::Refused(Refusal::TooFar),
            words: String::new(),
        };
        let told = error(br#"{"duelId":"duel:1-2"}"#, Bytes::new(), why);
        let data = String::from_utf8(told.data.to_vec()).unwrap();
        let expected = r#"{"code":"TOO_FAR","message":"","duelId":"duel:1-2"}"#;
        assert_eq!((&*told.event, &*data), ("duelError", expected));
    }
}
