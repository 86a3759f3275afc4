//! Stories about talking with people.

use crate::stage;

use insta::assert_snapshot;
use serde_json::{Value, json};
use stage::{Land, Stage};

/// Returns Tom, who keeps a bank, heals, and has a secret for those who bring a candle.
fn tom() -> Value {
    json!({"entryNodeId": "hello", "nodes": [
        {"id": "hello", "text": "Hello. What is it?", "responses": [
            {"text": "My things, please.", "effect": "openBank", "nextNodeId": "end"},
            {"text": "What is new?", "nextNodeId": "news"},
            {"text": "I have a candle.", "nextNodeId": "secret",
                "condition": "hasItem:candle:2"},
            {"text": "I am a novice.", "condition": "!hasLevel:agility:2"},
            {"text": "Goodbye.", "nextNodeId": "end"},
        ]},
        {"id": "news", "text": "Nothing ever is.", "effect": "heal"},
        {"id": "secret", "text": "Then you can see.", "responses": [{"text": "So I can."}]},
    ]})
}

fn land() -> Land {
    Land::default().speaker("tom", (4, 0), tom()).npc(
        "mute",
        (0, 4),
        json!({"type": "stationary"}),
        0,
    )
}

const TOM: &str = "npc:field:tom";

fn played(script: &str) -> String {
    let told = Stage::new(&land()).play(script);
    let lines = told.lines().filter(|line| line.len() > 3);
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn one_walks_up_to_somebody_and_walks_off_again() {
    let told = played(&format!(
        "ann joins at 9 0
         ann talks to {TOM}
         wait 4
         ann walks to 12 0
         wait 4
         ann talks to npc:field:mute
         ann talks to nobody"
    ));
    assert_snapshot!(told, @r#"
      1 ann joined; ann 9,0; npc:field:mute 0,4; npc:field:tom 4,0
      2 ann 7,0
      3 ann hears tom: Hello. What is it? [0 My things, please.] [1 What is new?] [3 I am a novice.] [4 Goodbye.]; ann 5,0
      7 ann closed Dialogue { node: "hello" }; ann 7,0
      8 ann 9,0
      9 ann 11,0
     10 ann 12,0
     12 ann refused Unsupported
     13 ann refused NotFound
    "#);
}

#[test]
fn answers_lead_on_and_those_that_are_not_true_are_not_to_be_given() {
    let told = played(&format!(
        "ann joins at 4 1
         ann answers 0
         ann talks to {TOM}
         ann answers 2
         ann answers 9
         ann goes on
         ann answers 3
         ann talks to {TOM}
         ann answers 4
         bob joins at 4 2 with candle 2
         bob talks to {TOM}
         bob answers 2
         bob answers 0"
    ));
    assert_snapshot!(told, @r#"
      1 ann joined; ann 4,1; npc:field:mute 0,4; npc:field:tom 4,0
      2 ann refused NotOpen
      3 ann hears tom: Hello. What is it? [0 My things, please.] [1 What is new?] [3 I am a novice.] [4 Goodbye.]
      4 ann refused NotFound
      5 ann refused NotFound
      6 ann refused Unsupported
      7 ann closed Dialogue { node: "hello" }
      8 ann hears tom: Hello. What is it? [0 My things, please.] [1 What is new?] [3 I am a novice.] [4 Goodbye.]
      9 ann closed Dialogue { node: "hello" }
     10 bob joined; bob 4,2
     11 bob hears tom: Hello. What is it? [0 My things, please.] [1 What is new?] [2 I have a candle.] [3 I am a novice.] [4 Goodbye.]
     12 bob hears tom: Then you can see. [0 So I can.]
     13 bob closed Dialogue { node: "secret" }
    "#);
}

#[test]
fn what_is_said_has_effects_when_it_is_heard_to_its_end() {
    let told = played(&format!(
        "ann joins at 4 1 health 3
         ann talks to {TOM}
         ann answers 1
         ann ends talk
         ann ends talk
         ann talks to {TOM}
         ann answers 1
         ann goes on
         ann goes on
         ann talks to {TOM}
         ann answers 0
         ann answers 0
         ann ends talk
         ann closes bank"
    ));
    assert_snapshot!(told, @r#"
      1 ann joined; ann 4,1; npc:field:mute 0,4; npc:field:tom 4,0
      2 ann hears tom: Hello. What is it? [0 My things, please.] [1 What is new?] [3 I am a novice.] [4 Goodbye.]
      3 ann hears tom: Nothing ever is.
      4 ann closed Dialogue { node: "news" }
      5 ann refused NotOpen
      6 ann hears tom: Hello. What is it? [0 My things, please.] [1 What is new?] [3 I am a novice.] [4 Goodbye.]
      7 ann hears tom: Nothing ever is.
      8 ann closed Dialogue { node: "news" }; ann 4,1
      9 ann refused NotOpen
     10 ann hears tom: Hello. What is it? [0 My things, please.] [1 What is new?] [3 I am a novice.] [4 Goodbye.]
     11 ann closed Dialogue { node: "hello" }; ann opened Bank
     12 ann refused NotOpen
     13 ann refused NotOpen
     14 ann closed Bank
    "#);
}

#[test]
fn who_listens_stands_still_and_goes_on_after() {
    let land = Land::default().beasts("goat", (0, 0), 1, 9);
    let mut says = land.files();
    let text = says["npcs.json"].replace(
        r#""name":"goat""#,
        r#""name":"goat","dialogue":{"greeting":"Baa."}"#,
    );
    says.insert("npcs.json".to_owned(), text);
    let mut stage = Stage::of(&says);
    let goat = stage.npcs().pop().expect("a goat");
    let at = |stage: &Stage| stage.world.look(&goat).expect("it is there").tile;
    stage.play("ann joins at 0 0");
    let mut heard = String::new();
    for _ in 0..40 {
        heard = stage.play(&format!("ann talks to {goat}"));
        heard += &stage.play("wait 2");
        if heard.contains("Baa.") {
            break;
        }
    }
    assert!(heard.contains("Baa."), "{heard}");
    let stands = at(&stage);
    stage.play("wait 100");
    assert_eq!(at(&stage), stands, "it listens");
    stage.play("ann ends talk\nwait 200");
    assert_ne!(at(&stage), stands, "it goes on");
}

#[test]
fn a_talk_may_open_a_shop_or_set_a_tanner_to_work() {
    let says = |effect: &str| {
        json!({"entryNodeId": "hello", "nodes": [{"id": "hello", "text": "Yes?", "responses": [
            {"text": "Please.", "effect": effect, "nextNodeId": "end"}]}]})
    };
    let land = Land::default()
        .shop("stall", (4, 0), &[("logs", 4, 9)])
        .kind(json!({"id": "stall_keeper", "name": "Stan", "dialogue": says("openStore")}))
        .tanner("ellis", (0, 4))
        .kind(json!({"id": "ellis", "name": "Ellis", "dialogue": says("openTanner")}))
        .speaker("tom", (4, 4), says("openStore"));
    let mut stage = Stage::new(&land);
    let told = stage.play(
        "ann joins at 3 0 pouch 20 / bob joins at 0 3 pouch 20 with hide 1 hide 1 / cid joins at 4 3
         ann talks to npc:field:stall_keeper / bob talks to npc:field:ellis / cid talks to npc:field:tom
         ann answers 0 / bob answers 0 / cid answers 0
         ann buys 1 logs
         wait 3",
    );
    assert!(told.contains("ann sees stall: 9 logs at 4"), "{told}");
    assert!(told.contains("ann 0=logs 1"), "{told}");
    assert!(told.contains("bob closed Dialogue"), "{told}");
    assert!(told.contains("0=leather 1 1=leather 1"), "{told}");
    assert_eq!(told.matches("refused").count(), 1, "{told}");
    assert!(told.contains("cid refused Unsupported"), "tom keeps none");
}

/// Gives coins and candles to all who ask, and a sword to those who hear him to the end.
fn giver() -> Value {
    json!({"entryNodeId": "hello", "nodes": [
        {"id": "hello", "text": "Take.", "responses": [
            {"text": "Coins.", "effect": "giveItem:coins:7", "nextNodeId": "hello"},
            {"text": "Candles.", "effect": "giveItem:candle:3", "nextNodeId": "more"},
            {"text": "Swords.", "effect": "giveItem:sword:2", "nextNodeId": "more"},
        ]},
        {"id": "more", "text": "And this.", "effect": "giveItem:sword"},
    ]})
}

#[test]
fn what_is_given_in_a_talk_is_written_down() {
    let mut stage = Stage::new(&Land::default().speaker("tom", (4, 0), giver()));
    let told = stage.play(&format!(
        "ann joins at 4 1
         ann talks to {TOM}
         ann answers 0
         ann answers 1"
    ));
    assert_snapshot!(told, @r#"
    1 ann joined; ann 4,1; npc:field:tom 4,0
    2 ann hears tom: Take. [0 Coins.] [1 Candles.] [2 Swords.]
    3 ann coins 7; ann hears tom: Take. [0 Coins.] [1 Candles.] [2 Swords.]
    4 ann 0=candle 3; ann hears tom: And this.
    "#);
    let mut inbox = world::Inbox::default();
    stage.command("ann goes on", &mut inbox);
    let outcome = stage.step(inbox);
    let given = outcome.changes.ledger.iter();
    let given: Vec<_> = given.map(|e| (&*e.item, e.cause, e.delta)).collect();
    assert_eq!(given, [("sword", world::Cause::Gift, 1)]);
    let ann = stage.world.record(&"ann".into()).unwrap();
    assert_eq!(ann.coins, 7);
    assert_eq!(ann.inventory.len(), 2);
}

#[test]
fn for_what_has_no_room_nothing_is_given_and_the_talk_stays_where_it_is() {
    let mut stage = Stage::new(&Land::default().speaker("tom", (4, 0), giver()));
    let swords = ["sword 1"; 27].join(" ");
    let told = stage.play(&format!(
        "ann joins at 4 1 with {swords}
         ann talks to {TOM}
         ann answers 2
         ann answers 1
         ann goes on
         ann drops 0
         ann goes on"
    ));
    let told: Vec<&str> = told.lines().skip(2).collect();
    assert_snapshot!(told.join("\n"), @r#"
    3 ann refused InventoryFull
    4 ann 27=candle 3; ann hears tom: And this.
    5 ann refused InventoryFull
    6 ann 0=nothing; #1 4,1 sword 1 ann
    7 ann 0=sword 1; ann closed Dialogue { node: "more" }
    "#);
}

#[test]
fn a_gift_that_cannot_be_is_none() {
    let wrong = ["candle:0", "candle:many", "candle:1:2", "bell"];
    for wrong in wrong.map(|about| format!("giveItem:{about}")) {
        let says = json!({"entryNodeId": "hello", "nodes": [
            {"id": "hello", "text": "Take.", "effect": wrong}]});
        let mut files = Land::default().files();
        let npcs = json!([{"id": "tom", "name": "tom", "dialogue": says}]);
        files.insert("npcs.json".to_owned(), npcs.to_string());
        let loaded = world::Content::load(&files).unwrap();
        assert_eq!(loaded.warnings.len(), 1, "{wrong}: {:?}", loaded.warnings);
    }
}
