//! The steps of a migration of PostgreSQL.
//!
//! A comment line begins each: `-- step: transaction` (the default), `-- step: alone` or
//! `-- step: batches`. See CONTRIBUTING.md, "Adding a migration".
//!
//! Always: a step may be carried out a second time, because a process can die before it has noted
//! that a step is done. A transaction notes that by itself; the reader refuses other statements
//! that cannot be repeated.

use std::fmt;

use super::sql::{one_line, short, statements};
use crate::store::error::{Result, StoreError};

const MARK: &str = "-- step:";

/// How PostgreSQL carries a step out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// All statements in one transaction.
    Transaction,
    /// One statement outside a transaction.
    Alone,
    /// One statement, each time in a short transaction, until it changes nothing.
    Batches,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Transaction => "transaction",
            Way::Alone => "alone",
            Way::Batches => "batches",
        })
    }
}

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step<'m> {
    pub(crate) way: Way,
    /// The statement; of a transaction all of them.
    pub(crate) text: &'m str,
}

impl Step<'_> {
    /// Says in one line what the step does.
    pub(crate) fn summary(&self) -> String {
        let all = statements(self.text);
        let line = all.first().map(|first| short(first)).unwrap_or_default();
        match all.len().saturating_sub(1) {
            0 => line,
            more => format!("{line} (and {more} more)"),
        }
    }
}

/// Reads the steps of a file; each statement of `alone` is a step by itself.
///
/// # Errors
/// The file names an unknown kind of step, or one has statements that do not fit.
pub(crate) fn steps(text: &str) -> Result<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    let (mut way, mut from, mut marked) = (Way::Transaction, 0, false);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.trim().strip_prefix(MARK) {
            add(&mut steps, way, &text[from..at], marked)?;
            way = match name.trim() {
                "transaction" => Way::Transaction,
                "alone" => Way::Alone,
                "batches" => Way::Batches,
                other => return Err(broken(format!("there is no step {other:?}"))),
            };
            (from, marked) = (at + line.len(), true);
        }
        at += line.len();
    }
    add(&mut steps, way, &text[from..], marked)?;
    if steps.is_empty() {
        return Err(broken("it has no statement".to_owned()));
    }
    Ok(steps)
}

/// Refuses step lines in a file of SQLite, where all is one transaction.
///
/// # Errors
/// The file has one.
pub(crate) fn refuse_steps(text: &str) -> Result<()> {
    match text.lines().find(|line| line.trim().starts_with(MARK)) {
        None => Ok(()),
        Some(line) => Err(broken(format!("SQLite has no steps, but it has {line:?}"))),
    }
}

fn add<'m>(steps: &mut Vec<Step<'m>>, way: Way, text: &'m str, marked: bool) -> Result<()> {
    let all = statements(text);
    if all.is_empty() {
        // What stands before the first mark may be comments only.
        return if marked {
            Err(broken(format!("a step {way} has no statement")))
        } else {
            Ok(())
        };
    }
    match way {
        Way::Transaction => steps.push(Step { way, text }),
        Way::Batches => {
            if all.len() > 1 {
                return Err(broken("a step batches has one statement".to_owned()));
            }
            steps.push(Step { way, text: all[0] });
        }
        Way::Alone => {
            for text in all {
                if !is_repeatable(text) {
                    let why = format!("a step alone must be repeatable: {}", one_line(text));
                    return Err(broken(why));
                }
                steps.push(Step { way, text });
            }
        }
    }
    Ok(())
}

/// Returns whether a statement outside a transaction may run a second time.
fn is_repeatable(statement: &str) -> bool {
    let line = one_line(statement).to_uppercase();
    let begins = ["ANALYZE", "VACUUM", "REINDEX"];
    Index::read(statement).is_some()
        || line.contains(" IF EXISTS ")
        || line.contains(" IF NOT EXISTS ")
        || line.contains(" VALIDATE CONSTRAINT ")
        || begins.iter().any(|word| line.starts_with(word))
}

fn broken(why: String) -> StoreError {
    StoreError::Broken(format!("a migration cannot be read: {why}"))
}

/// An index that a statement builds beside reads and writes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Index {
    /// Name as the statement writes it.
    pub(crate) name: String,
    /// Table as the statement writes it.
    pub(crate) table: String,
}

impl Index {
    /// Returns the index of `CREATE [UNIQUE] INDEX CONCURRENTLY [IF NOT EXISTS] name ON table`.
    pub(crate) fn read(statement: &str) -> Option<Index> {
        let line = one_line(statement);
        let mut words = line.split([' ', '(']).peekable();
        let mut take = |word: &str| {
            words
                .next_if(|next| next.eq_ignore_ascii_case(word))
                .is_some()
        };
        if !take("CREATE") {
            return None;
        }
        take("UNIQUE");
        if !(take("INDEX") && take("CONCURRENTLY")) {
            return None;
        }
        if take("IF") && !(take("NOT") && take("EXISTS")) {
            return None;
        }
        let name = words.next()?.to_owned();
        let on = words.next()?;
        let table = words.next()?.to_owned();
        on.eq_ignore_ascii_case("ON")
            .then_some(Index { name, table })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_divided_into_its_steps() {
        let text = "-- Why.
CREATE TABLE a (b int);
ALTER TABLE c ADD COLUMN d int;
-- step: alone
CREATE INDEX CONCURRENTLY e ON c (d);
-- Another one.
ALTER TABLE c VALIDATE CONSTRAINT f;
  -- step: batches
UPDATE c SET d = 1 WHERE b IN (SELECT b FROM c WHERE d IS NULL LIMIT 1000);
-- step: transaction
ALTER TABLE c ALTER COLUMN d SET NOT NULL;
";
        let found = steps(text).unwrap();
        let told: Vec<String> = found
            .iter()
            .map(|step| format!("{} {}", step.way, step.summary()))
            .collect();
        assert_eq!(
            told,
            [
                "transaction CREATE TABLE a (b int) (and 1 more)",
                "alone CREATE INDEX CONCURRENTLY e ON c (d)",
                "alone ALTER TABLE c VALIDATE CONSTRAINT f",
                "batches UPDATE c SET d = 1 WHERE b IN (SELECT b FROM c WHERE d IS NULL LIMIT 1000)",
                "transaction ALTER TABLE c ALTER COLUMN d SET NOT NULL",
            ]
        );
    }

    #[test]
    fn a_file_that_cannot_be_carried_out_is_refused() {
        for (text, why) in [
            ("-- nothing", "no statement"),
            ("SELECT 1;\n-- step: alone\n", "a step alone has no"),
            ("-- step: quick\nSELECT 1", "no step \"quick\""),
            (
                "-- step: batches\nDELETE FROM a; DELETE FROM b",
                "one statement",
            ),
            (
                "-- step: alone\nUPDATE a SET b = b + 1",
                "must be repeatable",
            ),
        ] {
            let refused = steps(text).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
        refuse_steps("SELECT 1; -- a step: no").unwrap();
        refuse_steps("-- step: alone\nSELECT 1").unwrap_err();
    }

    #[test]
    fn an_index_is_read_from_its_statement() {
        let named = |text| Index::read(text).map(|index| format!("{} {}", index.name, index.table));
        for (text, index) in [
            ("CREATE INDEX CONCURRENTLY a ON b (c)", Some("a b")),
            (
                "create unique index concurrently if not exists a\n on b(c)",
                Some("a b"),
            ),
            ("CREATE INDEX a ON b (c)", None),
            ("CREATE INDEX CONCURRENTLY ON b (c)", None),
        ] {
            assert_eq!(named(text).as_deref(), index, "{text}");
        }
    }
}
