//! Writing our own values as JSON or MessagePack.
//!
//! Always: a value that cannot be written is a fault of its type, never of what somebody sent. It
//! is logged as an error, with its type, and written as `null`, which no reader takes for a value.

use std::{any::type_name, fmt::Display};

use serde::Serialize;

/// Returns a value as JSON text.
pub fn json<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|why| {
        complain::<T>(&why);
        b"null".to_vec()
    })
}

/// Returns a value as JSON text.
pub fn json_text<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|why| {
        complain::<T>(&why);
        "null".to_owned()
    })
}

/// Returns a value as MessagePack, with fields by their names.
pub fn message_pack<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    /// `nil`.
    const NIL: u8 = 0xc0;
    rmp_serde::to_vec_named(value).unwrap_or_else(|why| {
        complain::<T>(&why);
        vec![NIL]
    })
}

fn complain<T: ?Sized>(why: &dyn Display) {
    tracing::error!(of = type_name::<T>(), %why, "a value cannot be written");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_cannot_be_written_is_null_and_not_nothing() {
        let keyed_by_lists = BTreeMap::from([(vec![1], 1)]);
        assert_eq!(json(&keyed_by_lists), b"null");
        assert_eq!(json_text(&keyed_by_lists), "null");
        assert_eq!(json(&BTreeMap::from([("a", 1)])), br#"{"a":1}"#);
        assert_eq!(message_pack(&[1, 2]), [0x92, 1, 2]);
    }
}
