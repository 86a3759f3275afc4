//! Laws of the decoder over random messages and random bytes.
#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use proptest::prelude::*;
use proto::client::{ClientMessage, Format, Malformed, Message, RequestId, data_json, decode};
use serde_json::{Value, json};
use world::{BadRequest, Intent, Screen};

fn id() -> impl Strategy<Value = Option<RequestId>> {
    prop_oneof![
        Just(None),
        any::<u64>().prop_map(|n| Some(RequestId::Number(n.into()))),
        any::<i64>().prop_map(|n| Some(RequestId::Number(n.into()))),
        "\\PC{0,16}".prop_map(|text| Some(RequestId::Text(text))),
    ]
}

/// Returns a well-formed message: its event and its data.
fn message() -> impl Strategy<Value = (&'static str, Value)> {
    let coordinate = || -10_000..=10_000_i32;
    let quantity = || 1..=2_147_483_647_u32;
    let word = || "\\PC{0,16}";
    prop_oneof![
        (word(), word()).prop_map(|(token, key)| {
            ("authenticate", json!({"token": token, "deviceKey": key}))
        }),
        ("\\PC{0,64}", any::<u64>()).prop_map(|(token, seq)| {
            (
                "session:resume",
                json!({"resumeToken": token, "lastSeq": seq}),
            )
        }),
        (-1e300..1e300).prop_map(|t| ("ping", json!({"t": t}))),
        Just(("world:leave", json!({}))),
        (coordinate(), coordinate(), any::<bool>()).prop_map(|(x, z, run)| {
            (
                "player:move",
                json!({"target": {"x": x, "z": z}, "run": run}),
            )
        }),
        (0..28_u8, quantity()).prop_map(|(slot, quantity)| {
            (
                "inventory:drop",
                json!({"slot": slot, "quantity": quantity}),
            )
        }),
        (0..27_u8).prop_map(|from| ("inventory:move", json!({"from": from, "to": 27}))),
        quantity().prop_map(|amount| ("coins:withdraw", json!({"amount": amount}))),
        any::<i64>().prop_map(|slot| {
            (
                "tradeAddItem",
                json!({"tradeId": "t", "inventorySlot": slot}),
            )
        }),
        ("[^ \\p{C}]\\PC{0,199}", word()).prop_map(|(message, to)| {
            (
                "player:chat",
                json!({"message": message, "channel": "private", "to": to}),
            )
        }),
    ]
}

/// Returns a message in an encoding.
fn written(format: Format, id: Option<&RequestId>, message: &(&str, Value)) -> Bytes {
    let mut whole = json!({"event": message.0, "data": message.1});
    if let Some(id) = id {
        whole["id"] = json!(id);
    }
    match format {
        Format::Json => serde_json::to_vec(&whole).unwrap().into(),
        Format::MessagePack | Format::Compact => rmp_serde::to_vec_named(&whole).unwrap().into(),
    }
}

/// The gateway's judgement of a message, and for a zone's request the zone's.
#[derive(Debug, PartialEq)]
enum Judged {
    Gateway(proto::client::Request),
    Zone(Option<RequestId>, Result<Intent, BadRequest>),
}

fn judged(format: Format, bytes: &Bytes) -> Result<Judged, Malformed> {
    let request = decode(format, bytes)?;
    let Message::Zone(asked) = &request.message else {
        return Ok(Judged::Gateway(request));
    };
    let data = data_json(asked.format, asked.data.clone()).unwrap();
    let intent = Intent::read(asked.event, &data, Screen::Offer);
    Ok(Judged::Zone(request.id, intent))
}

/// Returns any JSON value of at most `depth` levels.
fn value(depth: u32) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    let key = prop_oneof!["[a-z]{1,4}", Just("event".to_owned()), Just("t".to_owned())];
    leaf.prop_recursive(depth, 64, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn envelope() -> impl Strategy<Value = Value> {
    let zones = Intent::events().into_iter();
    let names: Vec<&str> = ClientMessage::NAMES.iter().copied().chain(zones).collect();
    let names = proptest::sample::select(names);
    let event = prop_oneof![names.prop_map(Value::from), value(1)];
    (event, value(1), value(20))
        .prop_map(|(event, id, data)| json!({"event": event, "id": id, "data": data}))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn well_formed_messages_are_taken_with_their_ids(id in id(), message in message()) {
        for format in [Format::Json, Format::MessagePack] {
            match judged(format, &written(format, id.as_ref(), &message)).unwrap() {
                Judged::Gateway(request) => prop_assert_eq!(&request.id, &id),
                Judged::Zone(read, intent) => {
                    prop_assert_eq!(&read, &id);
                    let taken = matches!(intent, Ok(_) | Err(BadRequest::Refused(_)));
                    prop_assert!(taken, "{:?}", intent);
                }
            }
        }
    }

    #[test]
    fn both_encodings_are_judged_alike(envelope in envelope()) {
        let json = judged(Format::Json, &serde_json::to_vec(&envelope).unwrap().into());
        let packed = rmp_serde::to_vec_named(&envelope).unwrap();
        let msgpack = judged(Format::MessagePack, &packed.into());
        match (json, msgpack) {
            (Err(json), Err(msgpack)) => {
                prop_assert_eq!(json.code, msgpack.code);
                prop_assert_eq!(json.why, msgpack.why);
                // If the nesting ends a MessagePack text, the reader does not read the rest.
                if json.code != proto::client::ErrorCode::Malformed {
                    prop_assert_eq!((json.id, json.event), (msgpack.id, msgpack.event));
                }
            }
            (json, msgpack) => prop_assert_eq!(json, msgpack),
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        let bytes = Bytes::from(bytes);
        let _ = judged(Format::Json, &bytes);
        let _ = judged(Format::MessagePack, &bytes);
    }

    #[test]
    fn no_damage_to_a_message_makes_it_panic(
        message in message(),
        at in any::<proptest::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<proptest::sample::Index>(),
    ) {
        for format in [Format::Json, Format::MessagePack] {
            let mut bytes = written(format, None, &message).to_vec();
            let index = at.index(bytes.len());
            bytes[index] = byte;
            let bytes = Bytes::from(bytes);
            let _ = judged(format, &bytes);
            let _ = judged(format, &bytes.slice(..cut.index(bytes.len())));
        }
    }
}
