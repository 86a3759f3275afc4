//! What is taken, what is refused, and what a refusal says.

use super::*;

fn json(text: &str) -> Result<Request, Malformed> {
    decode(Format::Json, text.as_bytes())
}

fn msgpack(bytes: &[u8]) -> Result<Request, Malformed> {
    decode(Format::MessagePack, bytes)
}

/// `{"event":"ping","id":7,"data":` and the bytes given.
fn ping_with(data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x83\xa5event\xa4ping\xa2id\x07\xa4data".to_vec();
    bytes.extend_from_slice(data);
    bytes
}

fn seven() -> Option<RequestId> {
    Some(RequestId::Number(7.into()))
}

#[test]
fn a_refusal_says_what_is_wrong() {
    let table = [
        ("", "EOF"),
        ("hello", "expected value"),
        ("\u{feff}{}", "expected value"),
        ("[\"ping\"]", "an object with event, id and data"),
        ("{}", "event is missing"),
        (r#"{"event":1}"#, "event: must be a string"),
        (r#"{"event":"ping","event":"ping"}"#, "event stands twice"),
        (
            r#"{"event":"ping","\u0065vent":"ping"}"#,
            "event stands twice",
        ),
        (
            r#"{"event":"ping","data":{},"data":{}}"#,
            "data stands twice",
        ),
        (r#"{"event":"ping","extra":1}"#, "unknown key \"extra\""),
        (
            r#"{"event":"ping","id":true}"#,
            "id: must be a string or a number",
        ),
        (
            r#"{"event":"ping","id":[1]}"#,
            "id: must be a string or a number",
        ),
        (
            r#"{"event":"ping","id":18446744073709551616}"#,
            "id: a whole number",
        ),
        (r#"{"event":"ping"} x"#, "trailing characters"),
        (r#"{"event":"ping"}{"event":"ping"}"#, "trailing characters"),
    ];
    for (text, why) in table {
        let refused = json(text).unwrap_err();
        assert_eq!(refused.code, ErrorCode::Malformed, "{text}");
        assert!(refused.why.contains(why), "{text}: {}", refused.why);
    }
}

#[test]
fn data_that_do_not_fit_are_named_without_a_misleading_position() {
    let table = [
        (r#"{"event":"ping","data":[1]}"#, "data: must be an object"),
        (
            r#"{"event":"ping","data":{"t":1,"t":2}}"#,
            "duplicate field `t`",
        ),
        (r#"{"event":"ping","data":{"u":1}}"#, "unknown field `u`"),
        (
            r#"{"event":"ping","data":{"t":"x"}}"#,
            "expected a finite number",
        ),
        (
            r#"{"event":"player:move","data":{}}"#,
            "one of target, run and stop",
        ),
        (
            r#"{"event":"player:move","data":{"target":{"x":1.5,"z":0}}}"#,
            "expected i32",
        ),
        (
            r#"{"event":"player:chat","data":{"message":"a\u0007b"}}"#,
            "no control characters",
        ),
        (
            r#"{"event":"player:chat","data":{"message":"\ud800"}}"#,
            "hex escape",
        ),
    ];
    for (text, why) in table {
        let refused = json(text).unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidData, "{text}");
        assert!(refused.why.contains(why), "{text}: {}", refused.why);
        assert!(!refused.why.contains(" at line "), "{}", refused.why);
        assert!(refused.event.is_some());
    }
}

#[test]
fn a_refusal_keeps_the_id_and_the_event_that_could_be_read() {
    for text in [
        r#"{"event":"ping","id":7,"data":{"t":"x"}}"#,
        r#"{"event":"ping","id":7,"extra":1}"#,
        r#"{"id":7,"event":"ping","data":"#,
        r#"{"extra":{},"id":7,"event":"ping"}"#,
    ] {
        let refused = json(text).unwrap_err();
        assert_eq!(
            (refused.id, refused.event.as_deref()),
            (seven(), Some("ping")),
            "{text}"
        );
    }
    let refused = json(r#"{"event":"fly","id":7}"#).unwrap_err();
    assert_eq!(refused.code, ErrorCode::UnknownEvent);
    assert_eq!(
        (refused.id, refused.event.as_deref()),
        (seven(), Some("fly"))
    );
    let refused = msgpack(&ping_with(&[0x81, 0xa1, b't', 0xc4, 0])).unwrap_err();
    assert_eq!(
        (refused.id, refused.event.as_deref()),
        (seven(), Some("ping"))
    );
}

#[test]
fn an_id_is_at_most_64_bytes_and_comes_back_as_it_was() {
    let with = |id: &str| json(&format!(r#"{{"event":"ping","id":{id}}}"#));
    let longest = "x".repeat(64);
    assert_eq!(
        with(&format!("\"{longest}\"")).unwrap().id,
        Some(RequestId::Text(longest))
    );
    let refused = with(&format!("\"{}\"", "x".repeat(65))).unwrap_err();
    assert_eq!((refused.id, refused.event.as_deref()), (None, Some("ping")));
    assert!(refused.why.contains("64 bytes"));
    for id in [
        "0",
        "-9223372036854775808",
        "18446744073709551615",
        "1.5",
        "8.822531265052908e+299",
        "\"a\\\"b\"",
    ] {
        let read = with(id).unwrap().id.unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), id);
    }
    assert_eq!(with("null").unwrap().id, None);
}

#[test]
fn a_long_event_or_explanation_is_not_repeated() {
    let long = "x".repeat(2_000);
    let refused = json(&format!(r#"{{"event":"{long}"}}"#)).unwrap_err();
    assert_eq!(
        (refused.event, refused.code),
        (None, ErrorCode::UnknownEvent)
    );
    let refused = json(&format!(r#"{{"event":"ping","data":{{"{long}":1}}}}"#)).unwrap_err();
    assert!(
        refused.why.chars().count() <= WHY_CHARS_MAX + 1,
        "{}",
        refused.why
    );
}

#[test]
fn nothing_is_nested_deeper_than_sixteen_levels() {
    for (depth, deep) in [(16, false), (17, true), (5_000, true)] {
        let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
        let text = format!(r#"{{"event":"ping","id":7,"data":{open}{close}}}"#);
        let refused = json(&text).unwrap_err();
        assert_eq!(
            refused.why.contains("deeper"),
            deep,
            "{depth}: {}",
            refused.why
        );
        assert_eq!(refused.id, seven());
        let refused = msgpack(&ping_with(&vec![0x91; depth - 1])).unwrap_err();
        assert_eq!(
            refused.why.contains("deeper"),
            deep,
            "{depth}: {}",
            refused.why
        );
        assert_eq!(refused.id, seven());
    }
    let brackets = format!(
        r#"{{"event":"player:chat","data":{{"message":"{}"}}}}"#,
        "[\\\"".repeat(60)
    );
    assert!(json(&brackets).is_ok());
}

#[test]
fn message_pack_is_as_strict_as_json() {
    let table: [(&[u8], &str); 13] = [
        (&[], "ends too early"),
        (&[0xc1], "0xc1"),
        (&[0x01, 0x02], "something follows"),
        (&[0x81, 0x01, 0x02], "a key must be a string"),
        (
            &[0x82, 0xa1, b'a', 0x01, 0xa1, b'a', 0x02],
            "\"a\" stands twice",
        ),
        (&[0x81, 0xa1, b'a', 0xc4, 0x00], "binary"),
        (&[0x81, 0xa1, b'a', 0xd4, 0x00, 0x00], "extension"),
        (&[0x81, 0xa1, b'a', 0xc7, 0x00, 0x00], "extension"),
        (&[0x81, 0xa1, b'a', 0xca, 0x7f, 0xc0, 0, 0], "finite"),
        (
            &[0x81, 0xa1, b'a', 0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0],
            "finite",
        ),
        (&[0x81, 0xa1, 0xff, 0x01], "UTF-8"),
        (&[0xdf, 0xff, 0xff, 0xff, 0xff], "ends too early"),
        (&[0xdb, 0xff, 0xff, 0xff, 0xff], "ends too early"),
    ];
    for (bytes, why) in table {
        let refused = msgpack(bytes).unwrap_err();
        assert_eq!(refused.code, ErrorCode::Malformed);
        assert!(refused.why.contains(why), "{bytes:02x?}: {}", refused.why);
    }
    assert!(msgpack(&ping_with(&[0x81, 0xa1, b't', 0x05])).is_ok());
    let mut followed = ping_with(&[0x80]);
    followed.push(0xc0);
    let refused = msgpack(&followed).unwrap_err();
    assert!(refused.why.contains("something follows") && refused.id == seven());
}

#[test]
fn a_message_has_at_most_16_kib() {
    let text = format!(
        r#"{{"event":"ping"{}}}"#,
        " ".repeat(CLIENT_MESSAGE_BYTES_MAX - 16)
    );
    assert_eq!(text.len(), CLIENT_MESSAGE_BYTES_MAX);
    assert!(json(&text).is_ok());
    assert!(
        json(&(text + " "))
            .unwrap_err()
            .why
            .contains("at most 16384 bytes")
    );
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list")]
fn slots_quantities_and_coins_have_limits() {
    let table = [
        ("inventory:drop", r#"{"slot":28}"#, "slot: 0 to 27"),
        ("inventory:drop", r#"{"slot":-1}"#, "expected u8"),
        (
            "inventory:drop",
            r#"{"slot":1,"quantity":0}"#,
            "quantity: 1 to",
        ),
        (
            "inventory:drop",
            r#"{"slot":1,"quantity":2147483648}"#,
            "quantity: 1 to 2147483647",
        ),
        (
            "inventory:drop",
            r#"{"slot":1,"item":"logs"}"#,
            "unknown field `item`",
        ),
        ("inventory:drop", "{}", "missing field `slot`"),
        ("inventory:move", r#"{"from":28,"to":1}"#, "from: 0 to 27"),
        ("inventory:move", r#"{"from":1,"to":28}"#, "to: 0 to 27"),
        ("inventory:move", r#"{"from":1,"to":1}"#, "the same slot"),
        ("inventory:use", r#"{"slot":28}"#, "slot: 0 to 27"),
        (
            "inventory:use",
            r#"{"slot":1,"skill":""}"#,
            "skill: 1 to 32 bytes",
        ),
        (
            "inventory:use",
            r#"{"slot":1,"skill":"mining","target":2}"#,
            "skill: only without target",
        ),
        ("inventory:equip", r#"{"slot":28}"#, "slot: 0 to 27"),
        ("equipment:remove", r#"{"slot":"tail"}"#, "unknown variant"),
        ("bank:open", r#"{"target":""}"#, "target: 1 to 64 bytes"),
        ("bank:deposit", r#"{"slot":1,"quantity":0}"#, "quantity: 1"),
        (
            "bank:deposit",
            r#"{"slot":1,"quantity":1,"tab":9}"#,
            "tab: 0 to 8",
        ),
        ("bank:depositAll", r#"{"tab":-1}"#, "expected u8"),
        (
            "bank:withdraw",
            r#"{"itemId":"coal","quantity":2147483648}"#,
            "quantity: 1 to 2147483647",
        ),
        ("bank:move", r#"{"itemId":"coal"}"#, "with or before"),
        (
            "bank:move",
            r#"{"itemId":"coal","with":"a","before":"b"}"#,
            "with or before",
        ),
        ("bank:tab", r#"{"itemId":"coal","tab":9}"#, "tab: 0 to 8"),
        ("bank:placeholder", "{}", "one of keep"),
        (
            "bank:placeholder",
            r#"{"keep":true,"releaseAll":true}"#,
            "one of keep",
        ),
        ("bank:coins", r#"{"amount":0}"#, "amount: 1 to"),
        ("coins:withdraw", "{}", "missing field `amount`"),
        ("coins:withdraw", r#"{"amount":0}"#, "amount: 1 to"),
        ("coins:withdraw", r#"{"amount":2147483648}"#, "amount: 1 to"),
        ("coins:deposit", r#"{"amount":0}"#, "amount: 1 to"),
        ("coins:deposit", r#"{"amount":1.5}"#, "expected u32"),
    ];
    for (event, data, why) in table {
        let refused = json(&format!(r#"{{"event":"{event}","data":{data}}}"#)).unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidData, "{event} {data}");
        assert!(refused.why.contains(why), "{event} {data}: {}", refused.why);
    }
}
