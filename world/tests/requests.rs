//! Stories about many who want to trade or fight with one person at the same time.

use crate::stage;

use stage::{Land, Stage};

/// Puts players around ann, and returns their names.
fn players_around(stage: &mut Stage, many: usize) -> Vec<String> {
    let names: Vec<String> = (0..many).map(|n| format!("s{n:02}")).collect();
    let places = names.iter().enumerate();
    let joins = places.map(|(n, who)| format!("{who} joins at {} {}", 1 + n % 2, n % 3));
    let all: Vec<String> = joins.chain(["ann joins at 0 0".to_owned()]).collect();
    stage.play(&all.join(" / "));
    names
}

/// Lets each of them ask in a tick of its own. Returns the story.
fn ask(stage: &mut Stage, names: &[String], what: &str) -> String {
    let lines: Vec<String> = names
        .iter()
        .map(|who| format!("{who} {what} ann"))
        .collect();
    stage.play(&lines.join("\n"))
}

#[test]
fn however_many_ask_for_a_trade_one_more_is_heard_and_the_oldest_request_ends() {
    let mut stage = Stage::new(&Land::default());
    let names = players_around(&mut stage, 18);
    let told = ask(&mut stage, &names, "trades");
    assert!(!told.contains("refused"), "{told}");
    assert_eq!(told.matches("ann hears").count(), 18, "{told}");
    let ended: Vec<&str> = ["s00 lost t1 Timeout", "s01 lost t2 Timeout", "s02 lost"]
        .into_iter()
        .filter(|line| told.contains(line))
        .collect();
    assert_eq!(
        ended,
        ["s00 lost t1 Timeout", "s01 lost t2 Timeout"],
        "{told}"
    );
    let told = stage.play("ann agrees to trade");
    assert!(told.contains("began"), "{told}");
}

#[test]
fn each_asks_for_one_trade_at_a_time() {
    let mut stage = Stage::new(&Land::default());
    players_around(&mut stage, 2);
    let told = stage.play("s00 trades ann\ns00 trades s01\ns00 trades ann");
    assert_eq!(told.matches("s00 refused InTrade").count(), 2, "{told}");
}

#[test]
fn however_many_challenge_one_more_is_heard_and_the_oldest_challenge_ends() {
    let mut stage = Stage::new(&Land::default().rings());
    let names = players_around(&mut stage, 17);
    let told = ask(&mut stage, &names, "challenges");
    assert!(!told.contains("refused"), "{told}");
    assert_eq!(told.matches("ann hears").count(), 17, "{told}");
    assert!(
        told.contains("s00 unchallenged") && !told.contains("s01 unchallenged"),
        "{told}"
    );
}
