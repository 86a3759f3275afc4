//! The layouts of the tables, written once for both stores: a layout for each migration, numbered
//! from 1.
//!
//! Always: a program uses tables of its own layout, and of a newer one that allows it. The
//! database itself says from which layout on that is.

pub(crate) mod locks;
pub(crate) mod sql;
pub(crate) mod steps;

use super::error::{Result, StoreError};

/// Hears what a migration does, a line at a time.
pub(crate) type Told<'t> = &'t (dyn Fn(&str) + Send + Sync);

/// Files that bring the tables to the next layout.
pub(crate) struct Migration {
    /// Layout of the oldest programs that may use the tables from here on.
    pub(crate) oldest: u32,
    /// Statements for PostgreSQL, in [`steps`].
    pub(crate) postgres: &'static str,
    /// Statements for SQLite.
    pub(crate) sqlite: &'static str,
}

/// Reads the files of one layout: in the folder of each store, by the same name.
macro_rules! layout {
    ($file:literal, oldest: $oldest:literal) => {
        Migration {
            oldest: $oldest,
            postgres: include_str!(concat!("../../migrations/postgres/", $file)),
            sqlite: include_str!(concat!("../../migrations/sqlite/", $file)),
        }
    };
}

/// All layouts, in order. A released one never changes.
pub(crate) const MIGRATIONS: &[Migration] = &[
    layout!("0001_world.sql", oldest: 1),
    layout!("0002_operators.sql", oldest: 1),
    layout!("0003_people.sql", oldest: 1),
    layout!("0004_partitions.sql", oldest: 1),
    layout!("0005_towns.sql", oldest: 1),
    layout!("0006_passwords.sql", oldest: 1),
    layout!("0007_looks.sql", oldest: 1),
];

/// Layout of the tables of a database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Number of the last migration; 0: there are no tables yet.
    pub(crate) applied: u32,
    /// Layout of the oldest programs that may use them.
    pub(crate) oldest: u32,
}

/// Returns the migrations of `list` that a database lacks, with their numbers. Newer tables that allow this
/// program lack nothing.
///
/// # Errors
/// The tables are newer and do not allow this program.
pub(crate) fn missing(
    list: &[Migration],
    layout: Layout,
) -> Result<impl Iterator<Item = (u32, &Migration)> + Send> {
    let own = list.iter().zip(1..).map(|(_, number)| number);
    let own: u32 = own.last().unwrap_or(0);
    let Layout { applied, oldest } = layout;
    if applied > own {
        if oldest > own {
            return Err(StoreError::Broken(format!(
                "a newer version made the tables: they have layout {applied}, which programs from \
                 layout {oldest} on may use, and this one has layout {own}"
            )));
        }
        tracing::info!(
            applied,
            own,
            "the tables are newer than this program, and allow it"
        );
    }
    let all = (1..).zip(list);
    Ok(all.filter(move |(number, _)| *number > applied))
}

/// Says which programs may run beside tables of a layout.
pub(crate) fn beside(oldest: u32, layout: u32) -> String {
    if oldest == layout {
        format!(
            "only programs that know layout {layout} may use the tables: end all older ones first"
        )
    } else {
        format!("programs that know layout {oldest} or a later one may run beside it")
    }
}

#[cfg(test)]
mod tests {
    use super::locks::{changes_whole_table, locks, made_table};
    use super::sql::statements;
    use super::steps::{Way, refuse_steps, steps};
    use super::*;

    /// Layouts that were released before there were steps.
    const EXEMPT: usize = 2;

    /// The layout that this program knows.
    const OWN: u32 = MIGRATIONS.len() as u32;

    fn numbers(applied: u32, oldest: u32) -> Result<Vec<u32>> {
        let missing = missing(MIGRATIONS, Layout { applied, oldest })?;
        Ok(missing.map(|(number, _)| number).collect())
    }

    #[test]
    fn an_old_layout_lacks_the_newer_ones() {
        assert_eq!(numbers(0, 0).unwrap(), (1..=OWN).collect::<Vec<_>>());
        assert_eq!(numbers(1, 1).unwrap(), (2..=OWN).collect::<Vec<_>>());
        assert_eq!(numbers(OWN, 1).unwrap(), Vec::<u32>::new());
    }

    #[test]
    fn a_program_runs_beside_newer_tables_only_if_they_allow_it() {
        assert_eq!(numbers(OWN + 3, OWN).unwrap(), Vec::<u32>::new());
        let refused = numbers(OWN + 3, OWN + 1).unwrap_err().to_string();
        let needed = format!("from layout {} on", OWN + 1);
        assert!(refused.contains(&needed), "{refused}");
    }

    /// Returns a statement that takes something away. A table may get another name if it becomes the
    /// first partition of the table that takes its name, with all of its columns: then each
    /// statement of older programs means what it meant.
    fn takes(earlier: &str, text: &str) -> Option<String> {
        const TAKES: [&str; 3] = ["DROP ", "RENAME ", "ALTER COLUMN "];
        let lines = text.lines().filter(|line| !line.trim().starts_with("--"));
        let text = lines.map(|line| format!("{line}\n")).collect::<String>();
        let mut first_partitions = Vec::new();
        for statement in text.split(';') {
            let words: Vec<&str> = statement.split_whitespace().collect();
            match words[..] {
                ["ALTER", "TABLE", name, "RENAME", "TO", part]
                    if becomes_partition(earlier, &text, name, part) =>
                {
                    first_partitions.push(part);
                }
                // The table with its name gives the numbers from now on.
                [
                    "ALTER",
                    "TABLE",
                    part,
                    "ALTER",
                    "COLUMN",
                    "id",
                    "DROP",
                    "IDENTITY",
                ] if first_partitions.contains(&part) => {}
                _ => {
                    let all = statement.to_uppercase();
                    if TAKES.iter().any(|taking| all.contains(taking)) {
                        return Some(words.join(" "));
                    }
                }
            }
        }
        None
    }

    fn becomes_partition(earlier: &str, text: &str, name: &str, part: &str) -> bool {
        let attach =
            format!("ALTER TABLE {name} ATTACH PARTITION {part} FOR VALUES FROM (MINVALUE)");
        let (had, has) = (columns(earlier, name), columns(text, name));
        let partitioned = text
            .split(';')
            .filter(|statement| statement.contains(&format!("CREATE TABLE {name} (")))
            .all(|statement| statement.contains(") PARTITION BY RANGE ("));
        text.contains(&attach) && partitioned && !had.is_empty() && had == has
    }

    /// Returns the names and types of a table's columns, in order.
    fn columns(text: &str, table: &str) -> Vec<(String, String)> {
        const NO_COLUMN: [&str; 4] = ["--", "PRIMARY", "UNIQUE", "CHECK"];
        let mut lines = text.lines();
        let begin = format!("CREATE TABLE {table} (");
        lines.find(|line| line.trim() == begin);
        let inside = lines.take_while(|line| !line.starts_with(')'));
        let column = |line: &str| {
            let mut words = line.split_whitespace();
            let (name, kind) = (words.next()?, words.next()?);
            let kind = kind.trim_end_matches(',');
            (!NO_COLUMN.contains(&name)).then(|| (name.to_owned(), kind.to_owned()))
        };
        inside.filter_map(column).collect()
    }

    #[test]
    fn a_table_gets_another_name_only_to_become_a_partition_of_its_heir() {
        let earlier = "CREATE TABLE a (\n  id bigint NOT NULL,\n  b text\n);";
        let heir = "ALTER TABLE a RENAME TO a_first;
            CREATE TABLE a (\n  id bigint NOT NULL,\n  b text\n) PARTITION BY RANGE (id);
            ALTER TABLE a_first ALTER COLUMN id DROP IDENTITY;
            ALTER TABLE a ATTACH PARTITION a_first FOR VALUES FROM (MINVALUE) TO (7)";
        assert_eq!(takes(earlier, heir), None);
        for (from, to) in [
            ("ATTACH PARTITION a_first", "ATTACH PARTITION a_second"),
            ("PARTITION BY RANGE (id)", "WITH (fillfactor = 80)"),
            ("  b text\n", "  c text\n"),
            ("  b text\n", "  b bytea\n"),
            (
                "  id bigint NOT NULL,\n  b text\n",
                "  id bigint NOT NULL\n",
            ),
            ("FROM (MINVALUE)", "FROM (3)"),
            (
                "ALTER COLUMN id DROP IDENTITY",
                "ALTER COLUMN b DROP DEFAULT",
            ),
            ("ALTER TABLE a_first ALTER", "ALTER TABLE other ALTER"),
            ("RENAME TO a_first", "RENAME COLUMN b TO c"),
            ("ALTER TABLE a RENAME", "DROP TABLE d; ALTER TABLE a RENAME"),
        ] {
            let worse = heir.replace(from, to);
            assert_ne!(worse, heir);
            assert!(takes(earlier, &worse).is_some(), "{worse}");
        }
    }

    /// The release before must be able to use the tables. So a migration that takes something away
    /// says that older programs may not use them, and comes a release after the last use.
    #[test]
    fn a_migration_that_takes_something_away_allows_no_older_program() {
        let mut earlier = String::new();
        for (number, migration) in (1..).zip(MIGRATIONS) {
            assert!((1..=number).contains(&migration.oldest), "{number}");
            for text in [migration.postgres, migration.sqlite] {
                let takes = takes(&earlier, text);
                assert!(
                    takes.is_none() || migration.oldest == number,
                    "{number}: {takes:?}"
                );
            }
            earlier.push_str(migration.postgres);
        }
        let falls = MIGRATIONS
            .windows(2)
            .any(|pair| pair[0].oldest > pair[1].oldest);
        assert!(!falls, "a later layout allows what an earlier one does not");
    }

    /// Returns why a migration would keep play waiting.
    fn fault(postgres: &str) -> Option<String> {
        let all = steps(postgres).unwrap();
        let every = all.iter().flat_map(|step| statements(step.text));
        let made: Vec<String> = every.filter_map(made_table).collect();
        for step in &all {
            for statement in statements(step.text) {
                let line = sql::one_line(statement);
                let taken = locks(statement).into_iter().filter_map(|lock| lock.on);
                let old = taken.filter(|on| !made.contains(on)).count() > 0;
                let plain = line.starts_with("CREATE INDEX") || line.starts_with("CREATE UNIQUE");
                if plain && old && !line.contains(" CONCURRENTLY ") {
                    return Some(format!("build it CONCURRENTLY, in a step alone: {line}"));
                }
                if step.way != Way::Batches && old && changes_whole_table(statement) {
                    return Some(format!("change rows in a step of batches: {line}"));
                }
            }
        }
        None
    }

    #[test]
    fn every_file_of_a_migration_can_be_read() {
        for migration in MIGRATIONS {
            steps(migration.postgres).unwrap();
            refuse_steps(migration.sqlite).unwrap();
        }
    }

    #[test]
    fn a_migration_keeps_no_play_waiting() {
        for migration in &MIGRATIONS[EXEMPT..] {
            assert_eq!(fault(migration.postgres), None);
        }
        for (text, words) in [
            ("CREATE INDEX a ON characters (b)", "CONCURRENTLY"),
            ("CREATE UNIQUE INDEX a ON characters (b)", "CONCURRENTLY"),
            ("UPDATE characters SET a = 1", "batches"),
            ("ALTER TABLE a ADD COLUMN b int; DELETE FROM a", "batches"),
        ] {
            assert!(fault(text).is_some_and(|why| why.contains(words)), "{text}");
        }
        for text in [
            "CREATE TABLE a (b int); CREATE INDEX c ON a (b); UPDATE a SET b = 1",
            "-- step: alone\nCREATE INDEX CONCURRENTLY a ON characters (b)",
            "-- step: batches\nUPDATE a SET b = 1 WHERE b IS NULL",
        ] {
            assert_eq!(fault(text), None, "{text}");
        }
    }
}
