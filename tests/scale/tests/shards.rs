//! The script that counts transactions of several shards, over a log that is written here.

use std::{fs, path::Path, process::Command};

/// Ids of characters that have different shards of four.
const HERE: &str = "00000000-0000-4000-8000-000000000001";
const THERE: &str = "00000000-0000-4000-8000-000000000003";

/// Returns the record of a statement with its parameters, as PostgreSQL logs it.
fn statement(transaction: u32, sql: &str, parameters: &str) -> String {
    let head = format!("\u{1}t1|7|3/{transaction}|");
    format!("{head}LOG:  execute s1: {sql}\n{head}DETAIL:  parameters: {parameters}\n")
}

fn counts(log: &str) -> String {
    let name = format!("shards-{}-{}.log", std::process::id(), log.len());
    let file = std::env::temp_dir().join(name);
    fs::write(&file, log).expect("write the log");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("shards");
    let mut python = Command::new("python3");
    let output = python.arg(script).arg("--log").arg(&file).output();
    let output = output.expect("python3");
    fs::remove_file(&file).expect("remove the log");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("a text")
}

#[test]
fn a_batch_counts_by_the_shards_of_its_characters() {
    let born = format!("$1 = '{{{HERE},{THERE}}}'");
    let mut log = statement(1, "INSERT INTO characters AS c SELECT * FROM x", &born);
    for (n, who) in [(2, HERE.to_owned()), (3, format!("{HERE},{THERE}"))] {
        log += &statement(n, "UPDATE runs SET until = $1", "$1 = '5'");
        log += &statement(n, "SELECT 1 FROM regions FOR SHARE", "$1 = '5'");
        let rows = format!("$1 = '{{{who}}}'");
        log += &statement(n, "UPDATE characters c SET x = $1", &rows);
    }
    log += &statement(4, "SELECT version FROM directory", "");
    let table = counts(&log);
    for row in [
        "| transactions | 2 | 1 | 1 |",
        "| name characters of one of 4 shards | 1 | 0 | 0 |",
        "| name characters of several shards | 1 | 1 | 0 |",
        "| touch runs and their leases | 2 | 0 | 0 |",
        "| touch rows that the world has once | 0 | 0 | 1 |",
    ] {
        assert!(table.contains(row), "{row} is missing:\n{table}");
    }
}
