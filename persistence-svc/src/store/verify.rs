//! Checks of a whole copy of the database: whether a world can be played from it. They read only,
//! and look at the tables as the database has them; the rules of the game know nothing of them.
//!
//! Always: a part that cannot be checked is named, and a fault is one sentence.

use super::error::{Result, StoreError};
use super::row::{FromRow, Read, Row};

/// Faults of one part that are named, at most; the others are counted.
const FAULTS_MAX: usize = 20;

/// A part of the copy that the database itself can check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Every page of every table.
    Pages,
    /// Every index, against the rows that it should have.
    Indexes,
    /// Every rule of the tables, for the rows as they are.
    Rules,
    /// Every counter, against the numbers that rows have.
    Counters,
}

impl Part {
    /// All of them, in the order in which a fault explains those that follow.
    pub(crate) const ALL: [Part; 4] = [Part::Pages, Part::Indexes, Part::Rules, Part::Counters];

    /// Returns the name that an operator reads.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Part::Pages => "pages",
            Part::Indexes => "indexes",
            Part::Rules => "rules of tables",
            Part::Counters => "counters",
        }
    }
}

/// Findings in one part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Number of things that were looked at.
    pub(crate) looked: u64,
    /// Faults, each a sentence.
    pub(crate) faults: Vec<String>,
    /// Number of further faults.
    pub(crate) more: u64,
    /// Reasons why something was not checked.
    pub(crate) unchecked: Vec<String>,
}

impl Findings {
    /// Adds a fault.
    pub(crate) fn fault(&mut self, sentence: String) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(sentence);
        } else {
            self.more += 1;
        }
    }

    /// Takes the value of a query about one thing. An answer that only a broken database gives is a
    /// fault.
    ///
    /// # Errors
    /// The database does not answer.
    pub(crate) fn take<T>(&mut self, what: &str, answer: Result<T>) -> Result<Option<T>> {
        match answer {
            Ok(value) => Ok(Some(value)),
            Err(StoreError::Broken(why)) => {
                self.fault(format!("{what}: {why}"));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Hears how far a part is: things that were looked at, of all.
pub(crate) type Progress<'a> = &'a (dyn Fn(u64, u64) + Send + Sync);

/// A database as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Copy {
    /// The incarnation of its world.
    pub(crate) incarnation: i64,
    /// Runs that are not fenced.
    pub(crate) living: i64,
    /// Sentences that an operator should read, though they are no faults.
    pub(crate) notes: Vec<String>,
}

/// Incarnation, and number of runs that are not fenced.
pub(crate) const COPY: &str = "SELECT value,
   (SELECT count(*) FROM runs WHERE state <> 'fenced') FROM incarnation";

/// The saved document of a character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    /// The character.
    pub(crate) id: String,
    /// Whether it ever stood in the world, so that it must have a document.
    pub(crate) placed: bool,
    /// The document.
    pub(crate) state: Vec<u8>,
}

/// Documents after a character ?1, at most ?2, by id.
pub(crate) const DOCUMENTS: &str =
    "SELECT id, placed, state FROM characters WHERE id > ?1 ORDER BY id LIMIT ?2";

/// Reads a row of [`DOCUMENTS`].
impl FromRow for Document {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Document {
            id: row.column(0)?,
            placed: row.column(1)?,
            state: row.column(2)?,
        })
    }
}

/// The saved state of a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegionDocument {
    /// The region's place.
    pub(crate) region: super::model::Region,
    /// The bytes.
    pub(crate) state: Vec<u8>,
}

/// States of regions after the place ?1,?2, at most ?3, by place.
pub(crate) const REGION_DOCUMENTS: &str = "SELECT region_x, region_z, state FROM region_states
 WHERE region_x > ?1 OR region_x = ?1 AND region_z > ?2 ORDER BY region_x, region_z LIMIT ?3";

/// Reads a row of [`REGION_DOCUMENTS`].
impl FromRow for RegionDocument {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(RegionDocument {
            region: row.region(0)?,
            state: row.column(2)?,
        })
    }
}

/// Numbers that are counted in a row of their own: the name, the count, and the greatest number that
/// is in use.
pub(crate) const COUNTERS: [(&str, &str, &str); 3] = [
    (
        "the version of sanctions",
        "SELECT version FROM identity",
        "SELECT coalesce(max(version), 0) FROM sanctions",
    ),
    (
        "the number of orders to agents",
        "SELECT last FROM agent_orders",
        "SELECT coalesce(max(version), 0) FROM agent_mappings",
    ),
    (
        "the number of the store's own operations",
        "SELECT last FROM operations",
        "SELECT coalesce(max(sequence), 0) FROM ledger WHERE run_id = 0",
    ),
];

/// The greatest number of a run that anything names.
pub(crate) const LAST_RUN: &str = "SELECT coalesce(max(number), 0) FROM (
   SELECT max(id) AS number FROM runs UNION ALL SELECT max(run_id) FROM regions
   UNION ALL SELECT max(run_id) FROM commits UNION ALL SELECT max(run_id) FROM ledger) named";

/// Returns the sentence for a counter that has fallen back, or `None`.
pub(crate) fn fallen(what: &str, count: i64, used: i64) -> Option<String> {
    (count < used).then(|| format!("{what} is at {count}, though {used} is in use"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named_up_to_a_bound_and_then_counted() {
        let mut findings = Findings::default();
        for number in 0..FAULTS_MAX + 3 {
            findings.fault(number.to_string());
        }
        assert_eq!((findings.faults.len(), findings.more), (FAULTS_MAX, 3));
    }

    #[test]
    fn a_database_that_is_away_is_no_fault() {
        let mut findings = Findings::default();
        let away = StoreError::Away("gone".to_owned());
        assert!(findings.take::<()>("pages", Err(away)).is_err());
        let broken = StoreError::Broken("torn".to_owned());
        assert!(findings.take::<()>("pages", Err(broken)).unwrap().is_none());
        assert_eq!(findings.faults, ["pages: torn"]);
    }
}
