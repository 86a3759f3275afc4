//! Requests as clients send them: each event's data are read strictly, and mean one intent.

use world::trade::Screen;
use world::{
    Arrange, BadRequest, EntityId, InPack, Intent, RecipeKind, Refusal, bank, combat, death,
    dialogue, duel, examine, ground_items, home_teleport, movement, prayer, skilling, trade,
    unresolved, use_item,
};

fn read(event: &str, data: &str) -> Result<Intent, BadRequest> {
    Intent::read(event, data.as_bytes(), Screen::Offer)
}

#[test]
fn no_client_can_ask_for_an_intent_without_a_wire_name() {
    for event in [
        "Teleport", "Walk", "Make", "Arrange", "Attack", "Intent", "",
    ] {
        let refused = read(event, r#"{"to":{"x":1,"z":1}}"#);
        assert_eq!(refused, Err(BadRequest::UnknownEvent), "{event}");
    }
    for event in Intent::events() {
        let first = event.chars().next().expect("a name");
        assert!(first.is_ascii_lowercase(), "{event}");
    }
}

#[test]
fn no_event_has_two_meanings() {
    let mut events = Intent::events();
    let all = events.len();
    assert!(all > 50, "only {all}");
    events.sort_unstable();
    events.dedup();
    assert_eq!(events.len(), all);
}

#[test]
fn each_event_is_described_with_words() {
    let mut generator = schemars::SchemaGenerator::default();
    let described = Intent::described(&mut generator);
    let names: Vec<&str> = described.iter().map(|it| it.event.as_str()).collect();
    for event in Intent::events() {
        assert!(names.contains(&event), "{event}");
    }
    assert_eq!(names.len(), Intent::events().len());
    for request in described {
        let about = request.data["description"].as_str();
        assert!(
            about.is_some_and(|about| !about.is_empty()),
            "{}",
            request.event
        );
        assert_eq!(
            request.data["additionalProperties"], false,
            "{}",
            request.event
        );
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list")]
fn data_out_of_bounds_are_refused_in_words() {
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
        let Err(BadRequest::Data(words)) = read(event, data) else {
            panic!("{event} {data} is taken");
        };
        assert!(words.contains(why), "{event} {data}: {words}");
        assert!(!words.contains(" at line "), "{words}");
    }
}

#[test]
fn a_move_names_a_goal_a_pace_or_a_stop() {
    let to = world::Tile { x: -3, z: 9 };
    let walk = read("player:move", r#"{"target":{"x":-3,"z":9},"run":true}"#);
    let run = Some(true);
    assert_eq!(walk, Ok(movement::Intent::Walk { to, run }.into()));
    let stop = read("player:move", r#"{"stop":true}"#);
    assert_eq!(stop, Ok(movement::Intent::Stop.into()));
    let pace = read("player:move", r#"{"run":false}"#);
    assert_eq!(pace, Ok(movement::Intent::Run(false).into()));
    for (data, why) in [
        ("{}", "one of target, run and stop"),
        (
            r#"{"stop":true,"target":{"x":1,"z":1}}"#,
            "exclude each other",
        ),
        (r#"{"target":{"x":1.5,"z":0}}"#, "expected i32"),
        (r#"{"target":{"x":1,"z":0,"y":0}}"#, "unknown field"),
        (r#"{"target":{"x":10001,"z":0}}"#, "coordinates go from"),
    ] {
        let Err(BadRequest::Data(words)) = read("player:move", data) else {
            panic!("{data} is taken");
        };
        assert!(words.contains(why), "{data}: {words}");
    }
}

#[test]
fn requests_without_data_take_none() {
    assert_eq!(read("bank:close", "{}"), Ok(bank::Intent::Close.into()));
    let data = read("bank:close", r#"{"now":true}"#);
    assert!(matches!(data, Err(BadRequest::Data(_))), "{data:?}");
}

#[test]
fn an_item_is_used_for_itself_with_another_or_on_something() {
    let alone = use_item::Intent::Use {
        slot: 5,
        skill: None,
    };
    assert_eq!(read("inventory:use", r#"{"slot":5}"#), Ok(alone.into()));
    let with = skilling::Intent::UseWith { slot: 5, other: 27 };
    let used = read("inventory:use", r#"{"slot":5,"target":27}"#);
    assert_eq!(used, Ok(with.into()));
    let target = EntityId::from("fire:1");
    let on = skilling::Intent::UseOn { slot: 5, target };
    let used = read("inventory:use", r#"{"slot":5,"target":"fire:1"}"#);
    assert_eq!(used, Ok(on.into()));
}

#[test]
fn the_bank_is_put_in_order_in_five_ways() {
    let arranged = |how| Ok(Intent::Bank(bank::Intent::Arrange(how)));
    let (item, other) = (|| "coal".into(), || "logs".into());
    let moved = read("bank:move", r#"{"itemId":"coal","with":"logs"}"#);
    assert_eq!(
        moved,
        arranged(Arrange::Swap {
            item: item(),
            with: other()
        })
    );
    let moved = read("bank:move", r#"{"itemId":"coal","before":"logs"}"#);
    assert_eq!(
        moved,
        arranged(Arrange::Before {
            item: item(),
            other: other()
        })
    );
    let tab = read("bank:tab", r#"{"itemId":"coal","tab":5}"#);
    assert_eq!(
        tab,
        arranged(Arrange::Tab {
            item: item(),
            tab: 5
        })
    );
    let keep = read("bank:placeholder", r#"{"keep":true}"#);
    assert_eq!(keep, arranged(Arrange::Placeholders(true)));
    let release = read("bank:placeholder", r#"{"releaseAll":true}"#);
    assert_eq!(release, arranged(Arrange::Release(None)));
}

#[test]
fn an_agreement_without_a_screen_is_to_the_one_that_was_shown() {
    let agreed = |data: &str, shown| {
        let intent = Intent::read("tradeAccept", data.as_bytes(), shown);
        let Ok(Intent::Trade(trade::Intent::Accept { seen, .. })) = intent else {
            panic!("{intent:?}");
        };
        seen
    };
    let bare = r#"{"tradeId":"t"}"#;
    assert_eq!(agreed(bare, Screen::Offer), Screen::Offer);
    assert_eq!(agreed(bare, Screen::Confirm), Screen::Confirm);
    let said = r#"{"tradeId":"t","screen":"offer"}"#;
    assert_eq!(agreed(said, Screen::Confirm), Screen::Offer);
}

#[test]
fn numbers_of_an_exchange_that_are_out_of_bounds_get_its_codes() {
    let slot = |slot: i64| {
        read(
            "tradeAddItem",
            &format!(r#"{{"tradeId":"t","inventorySlot":{slot}}}"#),
        )
    };
    for wrong in [-1, 28, 256, i64::MAX] {
        let refused = slot(wrong);
        assert_eq!(
            refused,
            Err(BadRequest::Refused(Refusal::InvalidSlot)),
            "{wrong}"
        );
    }
    let many = |many: &str| {
        let data = format!(r#"{{"duelId":"d","inventorySlot":27,"quantity":{many}}}"#);
        read("duel:add:stake", &data)
    };
    for wrong in ["0", "-1", "2147483648", "4294967296"] {
        let refused = many(wrong);
        assert_eq!(
            refused,
            Err(BadRequest::Refused(Refusal::InvalidQuantity)),
            "{wrong}"
        );
    }
    assert!(many("2147483647").is_ok());
    for wrong in ["1.0", "\"5\"", "[1]", "{}", "true", "18446744073709551616"] {
        assert!(matches!(many(wrong), Err(BadRequest::Data(_))), "{wrong}");
    }
}

#[test]
fn words_that_no_duel_has_get_its_codes() {
    let rule = |rule: &str| {
        read(
            "duel:toggle:rule",
            &format!(r#"{{"duelId":"d","rule":"{rule}"}}"#),
        )
    };
    assert_eq!(
        rule("noFun"),
        Err(BadRequest::Refused(Refusal::InvalidRule))
    );
    assert!(rule("noFood").is_ok());
    let bare = |slot: &str| {
        read(
            "duel:toggle:equipment",
            &format!(r#"{{"duelId":"d","slot":"{slot}"}}"#),
        )
    };
    assert_eq!(bare("tail"), Err(BadRequest::Refused(Refusal::InvalidSlot)));
    assert_eq!(bare("head"), bare("helmet"));
    assert_eq!(bare("ammo"), bare("arrows"));
}

#[test]
fn an_exchange_has_an_id_of_some_length() {
    let cancel = |id: &str| read("tradeCancel", &format!(r#"{{"tradeId":"{id}"}}"#));
    assert!(cancel("").is_err() && cancel(&"t".repeat(65)).is_err());
    let trade = EntityId::from("t".repeat(64));
    assert_eq!(
        cancel(&"t".repeat(64)),
        Ok(trade::Intent::Cancel { trade }.into())
    );
    let duel = read("duel:accept:final", r#"{"duelId":""}"#);
    assert!(matches!(duel, Err(BadRequest::Data(_))), "{duel:?}");
}

fn act(action: &str, option: Option<&str>) -> Result<Intent, BadRequest> {
    let option = option.map_or(String::new(), |option| format!(r#","option":"{option}""#));
    let data = format!(r#"{{"action":"{action}","target":"there"{option}}}"#);
    read("player:action", &data)
}

/// All that the protocol lists, in its order.
#[test]
fn each_word_of_an_action_has_its_meaning() {
    let target = || EntityId::from("there");
    let what = || InPack::Item("bones".into());
    let table: [(&str, Intent); 13] = [
        ("attack", combat::Intent::Attack { target: target() }.into()),
        (
            "gather",
            skilling::Intent::Gather { target: target() }.into(),
        ),
        ("talk", dialogue::Intent::Talk { target: target() }.into()),
        (
            "use",
            unresolved::Intent::Use {
                what: what(),
                target: Some(target()),
            }
            .into(),
        ),
        (
            "pickup",
            ground_items::Intent::Pickup { target: target() }.into(),
        ),
        (
            "follow",
            movement::Intent::Follow { target: target() }.into(),
        ),
        ("trade", trade::Intent::Ask { target: target() }.into()),
        (
            "examine",
            examine::Intent::Examine { target: target() }.into(),
        ),
        (
            "pray-altar",
            prayer::Intent::PrayAt { target: target() }.into(),
        ),
        ("open", unresolved::Intent::Open { target: target() }.into()),
        ("bury", unresolved::Intent::Bury { what: what() }.into()),
        ("home-teleport", home_teleport::Intent::Begin.into()),
        ("respawn", death::Intent::Respawn.into()),
    ];
    for (word, meaning) in table {
        assert_eq!(act(word, Some("bones")), Ok(meaning), "{word}");
    }
    for trade in RecipeKind::ALL {
        let made = skilling::Intent::Make {
            trade: *trade,
            what: Some("bones".into()),
            target: Some(target()),
            quantity: None,
        };
        assert_eq!(act(trade.name(), Some("bones")), Ok(made.into()));
    }
    assert_eq!(
        act("juggle", None),
        Err(BadRequest::Refused(Refusal::Unsupported))
    );
}

#[test]
fn an_item_of_an_action_is_named_by_its_slot_or_as_an_item() {
    let bury = |what| Ok(unresolved::Intent::Bury { what }.into());
    assert_eq!(act("bury", Some("0")), bury(InPack::Slot(0)));
    assert_eq!(act("bury", Some("27")), bury(InPack::Slot(27)));
    assert_eq!(
        act("bury", Some("bones")),
        bury(InPack::Item("bones".into()))
    );
    for wrong in [None, Some(""), Some("28"), Some("99999999999")] {
        let refused = act("bury", wrong);
        assert!(matches!(refused, Err(BadRequest::Data(_))), "{wrong:?}");
    }
}

#[test]
fn both_players_of_a_duel_agree_to_what_they_see() {
    let agreed = |event: &str| {
        let Ok(Intent::Duel(duel::Intent::Agree { seen, .. })) = read(event, r#"{"duelId":"d"}"#)
        else {
            panic!("{event}");
        };
        seen
    };
    assert_eq!(agreed("duel:accept:rules"), world::DuelStage::Rules);
    assert_eq!(agreed("duel:accept:stakes"), world::DuelStage::Stakes);
    assert_eq!(agreed("duel:accept:final"), world::DuelStage::Confirming);
}
