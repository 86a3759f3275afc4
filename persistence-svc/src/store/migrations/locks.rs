//! The locks that a statement of PostgreSQL takes, and what they keep waiting.
//!
//! Always: a statement that is not known counts as one that keeps everything waiting.

use std::fmt;

use super::sql::one_line;

/// Modes of a lock on a table, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    AccessShare,
    RowExclusive,
    ShareUpdateExclusive,
    Share,
    ShareRowExclusive,
    AccessExclusive,
}

impl Mode {
    /// Says what goes on beside the lock.
    pub(crate) fn effect(self) -> &'static str {
        match self {
            Mode::AccessShare | Mode::RowExclusive | Mode::ShareUpdateExclusive => {
                "reads and writes go on"
            }
            Mode::Share | Mode::ShareRowExclusive => "reads go on, writes wait",
            Mode::AccessExclusive => "reads and writes wait",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::AccessShare => "ACCESS SHARE",
            Mode::RowExclusive => "ROW EXCLUSIVE",
            Mode::ShareUpdateExclusive => "SHARE UPDATE EXCLUSIVE",
            Mode::Share => "SHARE",
            Mode::ShareRowExclusive => "SHARE ROW EXCLUSIVE",
            Mode::AccessExclusive => "ACCESS EXCLUSIVE",
        })
    }
}

/// A lock on a table or index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lock {
    pub(crate) mode: Mode,
    /// Table, or index, as the statement names it; `None`: the statement is not known.
    pub(crate) on: Option<String>,
}

/// Returns the table that a statement makes.
pub(crate) fn made_table(statement: &str) -> Option<String> {
    let words = words(statement);
    let mut words = words.iter().map(String::as_str);
    if words.next() != Some("CREATE") {
        return None;
    }
    let mut next = words.next();
    if matches!(next, Some("TEMP" | "TEMPORARY" | "UNLOGGED")) {
        next = words.next();
    }
    if next != Some("TABLE") {
        return None;
    }
    named(&mut words)
}

/// Returns the locks that a statement takes on what is there already. Of a new table there are
/// none.
pub(crate) fn locks(statement: &str) -> Vec<Lock> {
    let words = words(statement);
    let all: Vec<&str> = words.iter().map(String::as_str).collect();
    let has = |word: &str| all.contains(&word);
    let after = |word: &str| {
        let at = all.iter().position(|found| *found == word)?;
        named(&mut all[at + 1..].iter().copied())
    };
    let one = |mode, on: Option<String>| vec![Lock { mode, on }];
    let every = |mode, word: &str| -> Vec<Lock> {
        let places = all.iter().enumerate().filter(|(_, found)| **found == word);
        let on = places.filter_map(|(at, _)| named(&mut all[at + 1..].iter().copied()));
        on.map(|on| Lock { mode, on: Some(on) }).collect()
    };
    match all.as_slice() {
        ["CREATE", "INDEX" | "UNIQUE", ..] => {
            let mode = if has("CONCURRENTLY") {
                Mode::ShareUpdateExclusive
            } else {
                Mode::Share
            };
            one(mode, after("ON"))
        }
        ["DROP", "INDEX", "CONCURRENTLY", rest @ ..] => {
            one(Mode::ShareUpdateExclusive, named(&mut rest.iter().copied()))
        }
        ["DROP", "TABLE" | "INDEX", rest @ ..] => {
            one(Mode::AccessExclusive, named(&mut rest.iter().copied()))
        }
        ["CREATE", "TRIGGER" | "CONSTRAINT", ..] | ["CREATE", "OR", "REPLACE", "TRIGGER", ..] => {
            one(Mode::ShareRowExclusive, after("ON"))
        }
        ["ALTER", "TABLE", rest @ ..] => {
            let foreign = has("FOREIGN") || has("REFERENCES");
            let mode = if has("VALIDATE") || has("ATTACH") || has("STATISTICS") {
                Mode::ShareUpdateExclusive
            } else if foreign && has("CONSTRAINT") && !has("COLUMN") {
                Mode::ShareRowExclusive
            } else {
                Mode::AccessExclusive
            };
            let mut found = one(mode, named(&mut rest.iter().copied()));
            found.extend(every(Mode::ShareRowExclusive, "REFERENCES"));
            found
        }
        ["CREATE", "TABLE" | "UNLOGGED" | "TEMP" | "TEMPORARY", ..] => {
            let mut found = every(Mode::ShareRowExclusive, "REFERENCES");
            let own = made_table(statement);
            found.retain(|lock| lock.on != own);
            if has("PARTITION") && has("OF") {
                found.extend(every(Mode::AccessExclusive, "OF"));
            }
            found
        }
        [
            "CREATE",
            "FUNCTION" | "PROCEDURE" | "VIEW" | "TYPE" | "SEQUENCE" | "DOMAIN",
            ..,
        ]
        | [
            "CREATE",
            "OR",
            "REPLACE",
            "FUNCTION" | "PROCEDURE" | "VIEW",
            ..,
        ]
        | ["COMMENT", ..] => Vec::new(),
        ["UPDATE", rest @ ..] => one(Mode::RowExclusive, named(&mut rest.iter().copied())),
        ["DELETE", ..] => one(Mode::RowExclusive, after("FROM")),
        ["INSERT", ..] => {
            let mut found = one(Mode::RowExclusive, after("INTO"));
            found.extend(every(Mode::AccessShare, "FROM"));
            found
        }
        ["WITH", ..] => {
            let mut found = every(Mode::RowExclusive, "UPDATE");
            found.extend(every(Mode::RowExclusive, "INTO"));
            let reads = if has("DELETE") {
                Mode::RowExclusive
            } else {
                Mode::AccessShare
            };
            found.extend(every(reads, "FROM"));
            found
        }
        ["ANALYZE", rest @ ..] | ["VACUUM", rest @ ..] => {
            one(Mode::ShareUpdateExclusive, named(&mut rest.iter().copied()))
        }
        _ => one(Mode::AccessExclusive, None),
    }
}

/// Returns whether a statement changes every row of a table that was there before.
pub(crate) fn changes_whole_table(statement: &str) -> bool {
    let words = words(statement);
    let has = |word: &str| words.iter().any(|found| found == word);
    matches!(
        words.first().map(String::as_str),
        Some("UPDATE" | "DELETE" | "WITH")
    ) && (has("UPDATE") || has("DELETE"))
        && !has("WHERE")
}

/// Returns the words of a statement. All migrations write keywords in capitals, names in small
/// letters.
fn words(statement: &str) -> Vec<String> {
    let line = one_line(statement);
    let parts = line.split(|c: char| c.is_whitespace() || "(),;".contains(c));
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

/// Returns the name that comes next.
fn named<'w>(words: &mut impl Iterator<Item = &'w str>) -> Option<String> {
    let ours =
        words.find(|word| !matches!(*word, "IF" | "NOT" | "EXISTS" | "ONLY" | "CONCURRENTLY"));
    ours.map(|name| name.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locks_of_a_statement_are_told() {
        for (statement, expected) in [
            ("CREATE TABLE a (b int)", ""),
            (
                "CREATE TABLE a (b int REFERENCES c (d), e int REFERENCES a)",
                "SHARE ROW EXCLUSIVE on c",
            ),
            ("CREATE INDEX a ON b (c)", "SHARE on b"),
            ("CREATE UNIQUE INDEX a ON b(c)", "SHARE on b"),
            (
                "CREATE INDEX CONCURRENTLY a ON b (c)",
                "SHARE UPDATE EXCLUSIVE on b",
            ),
            (
                "ALTER TABLE ONLY b ADD COLUMN c int",
                "ACCESS EXCLUSIVE on b",
            ),
            (
                "ALTER TABLE b VALIDATE CONSTRAINT c",
                "SHARE UPDATE EXCLUSIVE on b",
            ),
            (
                "ALTER TABLE b ADD CONSTRAINT c FOREIGN KEY (d) REFERENCES e",
                "SHARE ROW EXCLUSIVE on b, SHARE ROW EXCLUSIVE on e",
            ),
            ("DROP TABLE IF EXISTS b", "ACCESS EXCLUSIVE on b"),
            (
                "DROP INDEX CONCURRENTLY IF EXISTS i",
                "SHARE UPDATE EXCLUSIVE on i",
            ),
            ("UPDATE b SET c = 1", "ROW EXCLUSIVE on b"),
            ("DELETE FROM b WHERE c", "ROW EXCLUSIVE on b"),
            (
                "INSERT INTO b SELECT c FROM d",
                "ROW EXCLUSIVE on b, ACCESS SHARE on d",
            ),
            (
                "CREATE TRIGGER t AFTER UPDATE ON b EXECUTE FUNCTION f()",
                "SHARE ROW EXCLUSIVE on b",
            ),
            ("CREATE FUNCTION f() RETURNS trigger AS $$x$$", ""),
            ("DO $$ anything $$", "ACCESS EXCLUSIVE on ?"),
        ] {
            let told: Vec<String> = locks(statement)
                .iter()
                .map(|lock| format!("{} on {}", lock.mode, lock.on.as_deref().unwrap_or("?")))
                .collect();
            assert_eq!(told.join(", "), expected, "{statement}");
        }
    }

    #[test]
    fn a_change_of_every_row_is_seen() {
        assert!(changes_whole_table("UPDATE a SET b = 1"));
        assert!(changes_whole_table(
            "WITH gone AS (DELETE FROM a RETURNING b) INSERT INTO c SELECT b FROM gone"
        ));
        assert!(!changes_whole_table("UPDATE a SET b = 1 WHERE c"));
        assert!(!changes_whole_table("INSERT INTO a VALUES (1)"));
    }
}
