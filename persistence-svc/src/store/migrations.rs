//! The versions of the tables, written once for both stores.

/// Files that bring the tables to the next version.
pub(crate) struct Migration {
    /// Statements for PostgreSQL.
    pub(crate) postgres: &'static str,
    /// Statements for SQLite.
    pub(crate) sqlite: &'static str,
}

/// Reads the files of one version: in the folder of each store, by the same name.
macro_rules! version {
    ($file:literal) => {
        Migration {
            postgres: include_str!(concat!("../../migrations/postgres/", $file)),
            sqlite: include_str!(concat!("../../migrations/sqlite/", $file)),
        }
    };
}

/// All versions, in order. A released one never changes.
pub(crate) const MIGRATIONS: &[Migration] =
    &[version!("0001_world.sql"), version!("0002_operators.sql")];
