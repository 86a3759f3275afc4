//! The world's refusals as codes and words.

use proto::client::ErrorCode;
use world::Refusal;

use super::Refused;

/// A refusal as a client reads it.
pub(crate) fn refused(refusal: Refusal) -> Refused {
    let (code, words) = match refusal {
        Refusal::Unreachable => (ErrorCode::Unreachable, "there is no way to that place"),
        Refusal::TooFar => (ErrorCode::TooFar, "that is too far away"),
        Refusal::Unsupported => (ErrorCode::Unsupported, "that is not possible here"),
        Refusal::NotFound => (ErrorCode::NotFound, "there is no such thing here"),
        Refusal::Busy => (ErrorCode::Busy, "something else must end first"),
    };
    Refused {
        code,
        words: words.to_owned(),
    }
}
