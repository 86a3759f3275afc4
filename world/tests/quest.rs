//! Stories about quests.

use crate::stage;

use insta::assert_snapshot;
use serde_json::{Value, json};
use stage::{Land, Stage};

const TOM: &str = "npc:field:tom";
const EVE: &str = "npc:field:eve";

/// Returns the quest of tom, who wants logs, a visit to a place, and a word with eve.
fn errand() -> Value {
    json!({"id": "errand", "name": "An Errand", "description": "Logs.", "difficulty": "novice",
        "questPoints": 2, "startNpc": "tom",
        "onStart": {"items": [{"itemId": "tinderbox", "quantity": 1}]},
        "stages": [
            {"id": "ask", "type": "dialogue", "description": "Ask Tom.", "npcId": "tom"},
            {"id": "logs", "type": "gather", "description": "Get logs.", "target": "logs",
                "count": 2},
            {"id": "there", "type": "travel", "description": "Look there.",
                "location": {"x": 12, "y": 0, "z": 0, "radius": 1}},
            {"id": "eve", "type": "dialogue", "description": "Tell Eve.", "npcId": "eve"},
            {"id": "back", "type": "dialogue", "description": "Tell Tom.", "npcId": "tom"},
        ],
        "rewards": {"questPoints": 2, "xp": {"cooking": 100}, "items": [
            {"itemId": "coins", "quantity": 40}, {"itemId": "cake", "quantity": 2}]}})
}

/// Returns a quest that comes after the first, and takes a level and a candle.
fn second() -> Value {
    json!({"id": "second", "name": "Second", "startNpc": "tom", "questPoints": 1,
        "requirements": {"quests": ["errand"], "skills": {"cooking": 2}, "items": ["candle"]},
        "stages": [{"id": "s", "type": "travel", "description": "Go.",
            "location": {"x": 4, "y": 0, "z": 1, "radius": 9}}]})
}

fn tom() -> Value {
    json!({"entryNodeId": "hello", "nodes": [
            {"id": "hello", "text": "Help me?", "responses": [
                {"text": "Yes.", "effect": "startQuest:errand"},
                {"text": "More?", "effect": "startQuest:second"}]},
            {"id": "well", "text": "Well?", "responses": [{"text": "Not yet."}]},
            {"id": "done", "text": "Thank you!", "effect": "completeQuest:errand"},
            {"id": "later", "text": "You again.", "responses": [
                {"text": "More?", "effect": "startQuest:second"},
                {"text": "Again?", "effect": "startQuest:errand"}]}],
        "questOverrides": {"errand": {"in_progress": "well", "ready_to_complete": "done",
            "completed": "later"}}})
}

/// Returns a stage on which coins are a thing, too.
fn stage() -> Stage {
    let mut files = land().files();
    let items = files.get_mut("items.json").unwrap();
    let coins = r#"[{"id":"coins","name":"Coins","stackable":true},"#;
    *items = items.replacen('[', coins, 1);
    Stage::of(&files)
}

fn land() -> Land {
    let eve = json!({"greeting": "Oh!"});
    let quests = json!({"errand": errand(), "second": second()});
    let land = Land::default().speaker("tom", (4, 0), tom());
    land.speaker("eve", (0, 4), eve).quests(quests)
}

/// Returns the story without the lines in which somebody only walks.
fn played(stage: &mut Stage, script: &str) -> String {
    let told = stage.play(script);
    let lines = told.lines().filter(|line| {
        let parts = line.get(3..).unwrap_or_default().split("; ");
        parts.filter(|part| part.split(' ').count() > 2).count() > 0
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_quest_is_played_to_its_end() {
    let mut stage = stage();
    let told = played(
        &mut stage,
        &format!(
            "ann joins at 4 1 / bob joins at 4 1 with logs 1 logs 1
             ann talks to {TOM}
             ann accepts errand
             ann answers 0
             ann accepts second
             ann accepts errand
             bob drops 0 / bob drops 1
             wait 110
             ann takes #1
             ann drops 1
             ann takes #3
             ann takes #2
             ann walks to 11 0
             wait 6
             ann completes errand
             ann talks to {EVE}
             wait 16
             ann completes errand
             ann talks to {TOM}
             wait 6
             ann goes on
             ann talks to {TOM}
             ann answers 1
             ann answers 0
             ann ends talk
             ann lists quests / ann reads errand / ann reads nothing"
        ),
    );
    assert_snapshot!(told, @r#"
      2 ann hears tom: Help me? [0 Yes.] [1 More?]
      3 ann refused NotOpen
      4 ann closed Dialogue { node: "hello" }; ann opened Offer { quest: "errand" }
      5 ann refused NotOpen
      6 ann 0=tinderbox 1; ann closed Offer { quest: "errand" }; ann errand: InProgress logs
      7 bob 0=nothing; bob 1=nothing; #1 4,1 logs 1 bob; #2 4,1 logs 1 bob
     107 #1 4,1 logs 1; #2 4,1 logs 1
     118 ann 1=logs 1; ann errand: InProgress logs logs=1; #1 gone
     119 ann 1=nothing; #3 4,1 logs 1 ann
     120 ann 1=logs 1; #3 gone
     121 ann 2=logs 1; ann errand: InProgress there logs=2; #2 gone
     122 ann 6,0
     123 ann 8,0
     124 ann 10,0
     125 ann errand: InProgress eve logs=2 there=1; ann 11,0
     129 ann refused TooFar
     130 ann 9,2
     131 ann 7,4
     132 ann 5,4
     133 ann 3,4
     134 ann errand: ReadyToComplete back eve=1 logs=2 there=1; ann hears eve: Oh!; ann 1,4
     147 ann refused TooFar
     148 ann closed Dialogue { node: "greeting" }; ann hears tom: Thank you!; ann 3,2
     155 ann 3=cake 1 4=cake 1; ann coins 40; ann errand: Completed -; ann completes errand; ann cooking +100.0=100.0 level 2!; ann closed Dialogue { node: "done" }
     156 ann hears tom: You again. [0 More?] [1 Again?]
     157 ann refused QuestStage
     158 ann refused QuestLocked
     159 ann closed Dialogue { node: "later" }
     160 ann sees quests; ann sees errand; ann refused NotFound
    "#);
    let ann = stage.world.player(&"ann".into()).unwrap().record();
    assert_eq!(ann.coins, 40);
}

#[test]
fn an_offer_ends_when_one_walks_off_and_what_is_given_up_gives_nothing_again() {
    let told = played(
        &mut stage(),
        &format!(
            "ann joins at 4 1
             ann abandons errand
             ann talks to {TOM}
             ann answers 0
             ann ends talk
             ann accepts errand
             ann talks to {TOM}
             ann answers 0
             ann accepts errand
             ann abandons errand
             ann abandons errand
             ann talks to {TOM}
             ann answers 0
             ann accepts errand
             ann completes errand"
        ),
    );
    assert_snapshot!(told, @r#"
      2 ann refused QuestStage
      3 ann hears tom: Help me? [0 Yes.] [1 More?]
      4 ann closed Dialogue { node: "hello" }; ann opened Offer { quest: "errand" }
      5 ann closed Offer { quest: "errand" }
      6 ann refused NotOpen
      7 ann hears tom: Help me? [0 Yes.] [1 More?]
      8 ann closed Dialogue { node: "hello" }; ann opened Offer { quest: "errand" }
      9 ann 0=tinderbox 1; ann closed Offer { quest: "errand" }; ann errand: InProgress logs
     10 ann errand: NotStarted -
     11 ann refused QuestStage
     12 ann hears tom: Help me? [0 Yes.] [1 More?]
     13 ann closed Dialogue { node: "hello" }; ann opened Offer { quest: "errand" }
     14 ann closed Offer { quest: "errand" }; ann errand: InProgress logs
     15 ann refused QuestStage
    "#);
}

#[test]
fn a_quest_takes_what_comes_before_it() {
    let told = played(
        &mut stage(),
        &format!(
            "ann joins at 4 1 trained cooking=8300 with candle 1
             ann talks to {TOM}
             ann answers 1"
        ),
    );
    assert_snapshot!(told, @r#"
      2 ann hears tom: Help me? [0 Yes.] [1 More?]
      3 ann refused QuestLocked
    "#);
}

#[test]
fn full_packs_get_their_reward_in_the_bank_and_full_banks_none() {
    let things = "logs 1 ".repeat(27);
    let told = played(
        &mut stage(),
        &format!(
            "ann joins at 4 1 with {things}
             ann talks to {TOM}
             ann answers 0
             x may not save / ann accepts errand
             ann accepts errand
             ann walks to 11 0
             wait 6
             ann talks to {EVE}
             wait 16
             ann talks to {TOM}
             wait 6
             x may not trade / ann goes on
             ann goes on"
        ),
    );
    assert_snapshot!(told, @r#"
      2 ann hears tom: Help me? [0 Yes.] [1 More?]
      3 ann closed Dialogue { node: "hello" }; ann opened Offer { quest: "errand" }
      4 ann refused StorageUnavailable
      5 ann 27=tinderbox 1; ann closed Offer { quest: "errand" }; ann errand: InProgress there logs=2; ann errand: InProgress there logs=2
      9 ann errand: InProgress eve logs=2 there=1; ann 11,0
     17 ann errand: ReadyToComplete back eve=1 logs=2 there=1; ann hears eve: Oh!; ann 1,4
     30 ann closed Dialogue { node: "greeting" }; ann hears tom: Thank you!; ann 3,2
     37 ann refused ExchangesFrozen
     38 ann banks cake=2 0:0; ann coins 40; ann errand: Completed -; ann completes errand; ann cooking +100.0=100.0 level 2!; ann closed Dialogue { node: "done" }
    "#);
}

/// Progress in a quest is to be saved in the tick in which it happens.
#[test]
fn progress_is_saved_with_what_made_it() {
    let mut stage = stage();
    stage.play(&format!(
        "ann joins at 4 1\nann talks to {TOM}\nann answers 0"
    ));
    let mut inbox = world::Inbox::default();
    stage.command("ann accepts errand", &mut inbox);
    let outcome = stage.step(inbox);
    let quests = &outcome.changes.quests[&"ann".into()];
    assert!(quests.contains("errand"));
    let given: Vec<_> = outcome
        .changes
        .ledger
        .iter()
        .map(|e| (&*e.item, e.cause))
        .collect();
    assert_eq!(given, [("tinderbox", world::Cause::Quest)]);
}

#[test]
fn a_reward_that_a_full_pouch_cannot_take_lies_in_the_pack() {
    for (pouch, packed) in [(2_147_483_607_u64, false), (2_147_483_608, true)] {
        let mut stage = stage();
        let told = stage.play(&format!(
            "ann joins at 4 1 pouch {pouch} with logs 1 logs 1
             ann talks to {TOM}
             ann answers 0
             ann accepts errand
             ann walks to 11 0
             wait 6
             ann talks to {EVE}
             wait 16
             ann talks to {TOM}
             wait 6
             ann goes on"
        ));
        let coins = stage
            .world
            .record(&world::CharacterId::from("ann"))
            .unwrap()
            .coins;
        assert!(told.contains("ann completes errand"), "{told}");
        assert_eq!(told.contains("=coins 40"), packed, "{told}");
        assert_eq!(coins, pouch + if packed { 0 } else { 40 }, "{told}");
    }
}

/// Returns each way in which something counts: a beast killed, logs cut, a trout cooked, a fire
/// lit.
fn chores() -> Value {
    let stage = |id: &str, kind: &str, target: &str, count: u32| json!({"id": id, "type": kind, "description": id, "target": target, "count": count});
    json!({"id": "chores", "name": "Chores", "startNpc": "tom", "questPoints": 1,
        "stages": [
            stage("rats", "kill", "rat", 1),
            stage("elm", "gather", "elm_logs", 2),
            stage("trout", "interact", "trout", 1),
            stage("warm", "interact", "fire", 1),
            {"id": "back", "type": "dialogue", "description": "Tell Tom.", "npcId": "tom"}]})
}

/// Asked for until there is a log.
const CUTS: &str = "ann gathers res:thicket:6,2";

#[test]
fn what_is_killed_cut_cooked_and_lit_counts() {
    let asks = json!({"entryNodeId": "hello", "nodes": [
        {"id": "hello", "text": "Help me?", "responses": [
            {"text": "Yes.", "effect": "startQuest:chores"}]}]});
    let beast = |id: &str| {
        json!({"id": id, "name": id, "stats": {"level": 1, "health": 1},
            "combat": {"attackable": true, "retaliates": false}})
    };
    let land = Land::default()
        .speaker("tom", (4, 0), asks)
        .quests(json!({"chores": chores()}))
        .beast(beast("rat"), (4, 4))
        .beast(beast("mole"), (0, 4))
        .resource("tree", "thicket", (6, 2))
        .station("range", (8, 0));
    let mut stage = Stage::new(&land);
    let skills = "attack=50000000,strength=50000000,firemaking=503390";
    stage.play(&format!(
        "ann joins at 4 1 trained {skills} with bronze_hatchet 1 raw_trout 1 logs 1 tinderbox 1
         ann talks to {TOM}
         ann answers 0
         ann accepts chores"
    ));
    let counts = |stage: &Stage| {
        let record = stage.world.player(&"ann".into()).unwrap().record();
        let state = &record.quests["chores"];
        let counts = state.counts.iter().map(|(of, n)| format!(" {of}={n}"));
        format!("{:?}{}", state.status(), counts.collect::<String>())
    };
    for (script, counted) in [
        ("ann attacks npc:field:mole:0,4:0\nwait 40", "InProgress"),
        (
            "ann attacks npc:field:rat:4,4:0\nwait 40",
            "InProgress rats=1",
        ),
        // She cuts and drops them again: the cutting still counts.
        (CUTS, "InProgress elm=1 rats=1"),
        (CUTS, "InProgress elm=2 rats=1"),
        (
            "ann cook raw_trout at sta:field:range times 1\nwait 12",
            "InProgress elm=2 rats=1 trout=1",
        ),
        (
            "ann light logs times 1\nwait 9",
            "ReadyToComplete elm=2 rats=1 trout=1 warm=1",
        ),
    ] {
        let mut told = stage.play(script);
        for _ in 0..40 {
            if script != CUTS || told.contains("4=elm_logs 1") {
                break;
            }
            told.push_str(&stage.play("wait 1"));
        }
        told.push_str(&stage.play("ann stops / ann drops 4"));
        assert_eq!(counts(&stage), counted, "{script}: {told}");
    }
}

/// Another quest, a level and a thing, all of which ann has; and all but the thing.
#[test]
fn a_quest_begins_for_one_who_has_all_that_it_takes() {
    for (candles, begins) in [("candle 1", true), ("cake 1", false)] {
        let told = played(
            &mut stage(),
            &format!(
                "ann joins at 4 1 with logs 1 logs 1 {candles}
                 ann talks to {TOM}
                 ann answers 0
                 ann accepts errand
                 ann walks to 11 0
                 wait 6
                 ann talks to {EVE}
                 wait 16
                 ann talks to {TOM}
                 wait 6
                 ann goes on
                 ann talks to {TOM}
                 ann answers 0
                 ann accepts second"
            ),
        );
        assert!(told.contains("ann completes errand"), "{told}");
        assert_eq!(told.contains("ann second: "), begins, "{told}");
        assert_eq!(told.contains("ann refused QuestLocked"), !begins, "{told}");
    }
}
