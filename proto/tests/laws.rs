//! Laws of the decoder over random messages and random bytes.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use proto::client::{
    ClientMessage, Format, RequestId,
    action::PlayerAction,
    chat, coins, decode, encode_request, inventory,
    movement::{PlayerMove, Target},
    session,
};
use serde_json::{Value, json};

fn id() -> impl Strategy<Value = Option<RequestId>> {
    prop_oneof![
        Just(None),
        any::<u64>().prop_map(|n| Some(RequestId::Number(n.into()))),
        any::<i64>().prop_map(|n| Some(RequestId::Number(n.into()))),
        "\\PC{0,16}".prop_map(|text| Some(RequestId::Text(text))),
    ]
}

fn message() -> impl Strategy<Value = ClientMessage> {
    let tile = (-10_000..=10_000_i32, -10_000..=10_000_i32);
    let option = || proptest::option::of("\\PC{0,16}");
    prop_oneof![
        (option(), option()).prop_map(|(token, device_key)| {
            ClientMessage::Authenticate(session::Authenticate { token, device_key })
        }),
        ("\\PC{0,64}", any::<u64>()).prop_map(|(resume_token, last_seq)| {
            ClientMessage::Resume(session::Resume {
                resume_token,
                last_seq,
            })
        }),
        (-1e300..1e300).prop_map(|t| ClientMessage::Ping(session::Ping { t })),
        Just(ClientMessage::WorldLeave(session::Nothing {})),
        "\\PC{0,40}"
            .prop_map(|name| { ClientMessage::CharacterCreate(session::CharacterCreate { name }) }),
        (tile, any::<Option<bool>>()).prop_map(|((x, z), run)| {
            ClientMessage::Move(PlayerMove {
                target: Some(Target { x, z }),
                run,
                stop: false,
            })
        }),
        ("[a-z-]{1,32}", option()).prop_map(|(action, target)| {
            ClientMessage::Action(PlayerAction {
                action,
                target,
                option: None,
                quantity: None,
            })
        }),
        (0..28_u8, proptest::option::of(1..=2_147_483_647_u32)).prop_map(|(slot, quantity)| {
            ClientMessage::Drop(inventory::InventoryDrop { slot, quantity })
        }),
        (0..27_u8).prop_map(|from| {
            ClientMessage::MoveSlot(inventory::InventoryMove { from, to: 27 })
        }),
        (1..=2_147_483_647_u32)
            .prop_map(|amount| ClientMessage::WithdrawCoins(coins::CoinsWithdraw { amount })),
        proptest::option::of(1..=2_147_483_647_u32)
            .prop_map(|amount| ClientMessage::DepositCoins(coins::CoinsDeposit { amount })),
        ("[^ \\p{C}]\\PC{0,199}", option()).prop_map(|(message, to)| {
            let channel = match to {
                Some(_) => chat::Channel::Private,
                None => chat::Channel::Global,
            };
            ClientMessage::Chat(chat::PlayerChat {
                message,
                channel,
                to,
            })
        }),
    ]
}

/// Any JSON value of at most `depth` levels.
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
    let names = proptest::sample::select(ClientMessage::NAMES);
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
    fn what_was_written_is_read_back(id in id(), message in message()) {
        for format in [Format::Json, Format::MessagePack] {
            let request = decode(format, &encode_request(format, id.as_ref(), &message)).unwrap();
            prop_assert_eq!(&request.id, &id);
            prop_assert_eq!(&request.message, &message);
        }
    }

    #[test]
    fn both_encodings_are_judged_alike(envelope in envelope()) {
        let json = decode(Format::Json, &serde_json::to_vec(&envelope).unwrap());
        let msgpack = decode(Format::MessagePack, &rmp_serde::to_vec_named(&envelope).unwrap());
        match (json, msgpack) {
            (Err(json), Err(msgpack)) => {
                prop_assert_eq!(json.code, msgpack.code);
                prop_assert_eq!(json.why, msgpack.why);
                // Where the nesting ends a MessagePack text, what follows is not read.
                if json.code != proto::client::ErrorCode::Malformed {
                    prop_assert_eq!((json.id, json.event), (msgpack.id, msgpack.event));
                }
            }
            (json, msgpack) => prop_assert_eq!(json, msgpack),
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        let _ = decode(Format::Json, &bytes);
        let _ = decode(Format::MessagePack, &bytes);
    }

    #[test]
    fn no_damage_to_a_message_makes_it_panic(
        message in message(),
        at in any::<proptest::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<proptest::sample::Index>(),
    ) {
        for format in [Format::Json, Format::MessagePack] {
            let mut bytes = encode_request(format, None, &message);
            let index = at.index(bytes.len());
            bytes[index] = byte;
            let _ = decode(format, &bytes);
            let _ = decode(format, &bytes[..cut.index(bytes.len())]);
        }
    }
}
