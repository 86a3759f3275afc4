//! Rows as both databases answer them, so that one function reads each kind of row.

use rusqlite::types::FromSql;
use tokio_postgres::types::FromSqlOwned;

use super::model::Region;

/// Value read from a row, or the error of its database.
pub(crate) type Read<T, R> = Result<T, <R as Row>::Error>;

/// One row of an answer.
pub(crate) trait Row {
    /// Error of the database.
    type Error;

    /// Returns the value of the column `at`, counted from 0.
    fn column<T: FromSql + FromSqlOwned>(&self, at: usize) -> Result<T, Self::Error>;

    /// Returns the region whose place stands in the column `at` and the next.
    fn region(&self, at: usize) -> Result<Region, Self::Error> {
        Ok(Region {
            x: self.column(at)?,
            z: self.column(at + 1)?,
        })
    }

    /// Returns the value of the `REAL` column `at`. PostgreSQL keeps 32 bits of it, SQLite 64.
    fn real(&self, at: usize) -> Result<f64, Self::Error>;
}

impl Row for tokio_postgres::Row {
    type Error = tokio_postgres::Error;

    fn column<T: FromSql + FromSqlOwned>(&self, at: usize) -> Result<T, Self::Error> {
        self.try_get(at)
    }

    fn real(&self, at: usize) -> Result<f64, Self::Error> {
        self.try_get(at).map(|value: f32| f64::from(value))
    }
}

impl Row for rusqlite::Row<'_> {
    type Error = rusqlite::Error;

    fn column<T: FromSql + FromSqlOwned>(&self, at: usize) -> Result<T, Self::Error> {
        self.get(at)
    }

    fn real(&self, at: usize) -> Result<f64, Self::Error> {
        self.get(at)
    }
}

/// Value that the store reads from one row.
pub(crate) trait FromRow: Sized {
    /// Reads the columns of `row`, in the order of the value's own query.
    fn from_row<R: Row>(row: &R) -> Read<Self, R>;
}

/// Reads a row of two columns.
impl<A: FromSql + FromSqlOwned, B: FromSql + FromSqlOwned> FromRow for (A, B) {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok((row.column(0)?, row.column(1)?))
    }
}
