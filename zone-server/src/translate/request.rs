//! Answers to requests.

use proto::{client::error::Error, rpc::zone::v1::Private};
use world::{Refusal, request::Event};

use super::{Told, private, refusal};

/// Returns the answer to a player's input.
pub(crate) fn told(event: &Event) -> Told {
    match event {
        Event::Done { number, value, .. } => Told::Done {
            number: *number,
            value: *value,
        },
        Event::Refused {
            number,
            refusal,
            value,
            ..
        } => Told::Refused {
            number: *number,
            why: refusal::refused(*refusal),
            value: *value && !refusal::of_all_value(*refusal),
        },
        Event::Failed { refusal, value, .. } => Told::Message {
            message: failed(*refusal),
            value: *value && !refusal::of_all_value(*refusal),
        },
        Event::Elsewhere { number, target, .. } => Told::Elsewhere {
            number: *number,
            target: target.clone(),
        },
        Event::Deferred { number, .. } => Told::Deferred { number: *number },
    }
}

/// Returns the error for an accepted request that has come to nothing.
fn failed(refusal: Refusal) -> Private {
    let why = refusal::refused(refusal);
    let error = Error {
        code: why.code,
        message: why.words,
        event: None,
        retry_after_ms: None,
    };
    private(&error, bytes::Bytes::new())
}
