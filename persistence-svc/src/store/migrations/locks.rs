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

/// A statement in words.
struct Words<'s> {
    all: Vec<&'s str>,
}

impl Words<'_> {
    fn has(&self, word: &str) -> bool {
        self.all.contains(&word)
    }

    /// Returns the name that stands at a place.
    fn name_at(&self, at: usize) -> Option<String> {
        named(&mut self.all.iter().skip(at).copied())
    }

    /// Returns a lock on what stands at a place.
    fn on(&self, mode: Mode, at: usize) -> Vec<Lock> {
        let on = self.name_at(at);
        vec![Lock { mode, on }]
    }

    /// Returns a lock on what stands behind the first such word.
    fn behind(&self, mode: Mode, word: &str) -> Vec<Lock> {
        let at = self.all.iter().position(|found| *found == word);
        let on = at.and_then(|at| self.name_at(at + 1));
        vec![Lock { mode, on }]
    }

    /// Returns a lock for each such word, on what stands behind it.
    fn each(&self, mode: Mode, word: &str) -> Vec<Lock> {
        let places = self.all.iter().enumerate();
        let places = places.filter(|(_, found)| **found == word);
        let on = places.filter_map(|(at, _)| self.name_at(at + 1));
        on.map(|on| Lock { mode, on: Some(on) }).collect()
    }

    /// Returns the locks of a statement that changes the form of tables, or that the list does not
    /// know.
    fn of_forms(&self, made: Option<&str>) -> Vec<Lock> {
        match self.all.as_slice() {
            ["CREATE", "INDEX" | "UNIQUE", ..] if self.has("CONCURRENTLY") => {
                self.behind(Mode::ShareUpdateExclusive, "ON")
            }
            ["CREATE", "INDEX" | "UNIQUE", ..] => self.behind(Mode::Share, "ON"),
            ["DROP", "INDEX", "CONCURRENTLY", ..] => self.on(Mode::ShareUpdateExclusive, 3),
            ["DROP", "TABLE" | "INDEX", ..] => self.on(Mode::AccessExclusive, 2),
            ["CREATE", "TRIGGER" | "CONSTRAINT", ..]
            | ["CREATE", "OR", "REPLACE", "TRIGGER", ..] => {
                self.behind(Mode::ShareRowExclusive, "ON")
            }
            ["ALTER", "TABLE", ..] => self.of_alter(),
            ["CREATE", "TABLE" | "UNLOGGED" | "TEMP" | "TEMPORARY", ..] => {
                let mut found = self.each(Mode::ShareRowExclusive, "REFERENCES");
                found.retain(|lock| lock.on.as_deref() != made);
                if self.has("PARTITION") && self.has("OF") {
                    found.extend(self.each(Mode::AccessExclusive, "OF"));
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
            ["ANALYZE" | "VACUUM", ..] => self.on(Mode::ShareUpdateExclusive, 1),
            _ => vec![Lock {
                mode: Mode::AccessExclusive,
                on: None,
            }],
        }
    }

    fn of_alter(&self) -> Vec<Lock> {
        let foreign = self.has("FOREIGN") || self.has("REFERENCES");
        let mode = if self.has("VALIDATE") || self.has("ATTACH") || self.has("STATISTICS") {
            Mode::ShareUpdateExclusive
        } else if foreign && self.has("CONSTRAINT") && !self.has("COLUMN") {
            Mode::ShareRowExclusive
        } else {
            Mode::AccessExclusive
        };
        let mut found = self.on(mode, 2);
        found.extend(self.each(Mode::ShareRowExclusive, "REFERENCES"));
        found
    }
}

/// Returns the locks that a statement takes on what is there already. Of a new table there are
/// none.
pub(crate) fn locks(statement: &str) -> Vec<Lock> {
    let made = made_table(statement);
    let words = words(statement);
    let words = Words {
        all: words.iter().map(String::as_str).collect(),
    };
    match words.all.as_slice() {
        ["UPDATE", ..] => words.on(Mode::RowExclusive, 1),
        ["DELETE", ..] => words.behind(Mode::RowExclusive, "FROM"),
        ["INSERT", ..] => {
            let mut found = words.behind(Mode::RowExclusive, "INTO");
            found.extend(words.each(Mode::AccessShare, "FROM"));
            found
        }
        ["WITH", ..] => {
            let mut found = words.each(Mode::RowExclusive, "UPDATE");
            found.extend(words.each(Mode::RowExclusive, "INTO"));
            let reads = if words.has("DELETE") {
                Mode::RowExclusive
            } else {
                Mode::AccessShare
            };
            found.extend(words.each(reads, "FROM"));
            found
        }
        _ => words.of_forms(made.as_deref()),
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
