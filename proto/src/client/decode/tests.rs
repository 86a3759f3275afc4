//! Each test shows which messages the decoder takes or refuses, and the words of its refusals.

use super::*;

fn json(text: &str) -> Result<Request, Malformed> {
    decode(Format::Json, &text.to_owned().into())
}

fn msgpack(bytes: &[u8]) -> Result<Request, Malformed> {
    decode(Format::MessagePack, &bytes.to_vec().into())
}

/// Returns `{"event":"ping","id":7,"data":` and these bytes.
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
            r#"{"event":"player:move","data":[]}"#,
            "data: must be an object",
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
fn the_data_of_a_zones_request_are_passed_on_as_they_came() {
    let zone = |request: Result<Request, Malformed>| match request.unwrap().message {
        Message::Zone(request) => request,
        Message::Gateway(message) => panic!("{message:?} is the gateway's"),
    };
    let text = r#"{"event":"inventory:drop","id":7,"data":{ "slot" : "x" }}"#;
    let asked = zone(json(text));
    assert_eq!(asked.event, "inventory:drop");
    assert_eq!(&*asked.data, br#"{ "slot" : "x" }"#);
    assert_eq!(asked.format, Format::Json);
    let bytes = b"\x82\xa5event\xaeinventory:drop\xa4data\x81\xa4slot\xd2\x00\x00\x00\x03";
    let asked = zone(msgpack(bytes));
    assert_eq!(&*asked.data, b"\x81\xa4slot\xd2\x00\x00\x00\x03");
    let read = data_json(asked.format, asked.data).unwrap();
    assert_eq!(&*read, br#"{"slot":3}"#);
    for without in [
        r#"{"event":"bank:close"}"#,
        r#"{"event":"bank:close","data":null}"#,
    ] {
        assert_eq!(&*zone(json(without)).data, b"{}");
    }
    let asked = zone(msgpack(b"\x82\xa5event\xaabank:close\xa4data\xc0"));
    assert_eq!((&*asked.data, asked.format), (&b"{}"[..], Format::Json));
}
