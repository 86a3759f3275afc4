//! The world's refusals as codes and words.

use proto::client::{ErrorCode, shortened};
use world::{BadRequest, Refusal};

use super::Refused;

/// Returns a refusal for a client.
pub(crate) fn refused(refusal: Refusal) -> Refused {
    Refused {
        code: refusal.into(),
        words: refusal.sentence().to_owned(),
    }
}

/// Returns the refusal of a request that the world could not read or always refuses.
pub(super) fn bad_request(why: BadRequest) -> Refused {
    match why {
        BadRequest::Refused(refusal) => refused(refusal),
        BadRequest::Data(words) => Refused {
            code: ErrorCode::InvalidData,
            words: shortened(words),
        },
        BadRequest::UnknownEvent => Refused {
            code: ErrorCode::UnknownEvent,
            words: "there is no such event".to_owned(),
        },
    }
}

/// Returns whether it is said of everything of value alike, and so tells nobody what anybody has.
pub(crate) fn of_all_value(refusal: Refusal) -> bool {
    matches!(
        refusal,
        Refusal::ExchangesFrozen | Refusal::StorageUnavailable
    )
}
