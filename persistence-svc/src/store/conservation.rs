//! Checks that all holdings agree with the ledger, and that everything has one owner. The queries
//! are the same for both stores.
//!
//! Always: the database makes the sums, over one moment; the check lists only differences. Of the
//! ledger it reads the balances of the closed months and the rows since then. A full check also
//! reads all rows of the closed months and compares them with the balances.

use super::archive::{Month, Table};
use super::model::RegionReport;
use super::row::{FromRow, Read, Row};

/// Findings of the check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conservation {
    /// Each item in holdings or in the ledger, by name.
    pub totals: Vec<Total>,
    /// Each fault as a sentence; empty: all is well.
    pub differences: Vec<String>,
}

/// The amount of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Total {
    /// Name of the item; coins in pouches count as `coins`.
    pub item: String,
    /// Amount in packs, equipment, stakes, banks and pouches and on the ground.
    pub held: i64,
    /// Sum of its rows in the ledger.
    pub ledger: i64,
}

/// Reads a row of [`totals`].
impl FromRow for Total {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Total {
            item: row.column(0)?,
            held: row.column(1)?,
            ledger: row.column(2)?,
        })
    }
}

/// Holdings by holder and item; the ground is ''.
const HELD: &str = r#"SELECT holder, item, CAST(sum(amount) AS bigint) AS amount FROM (
   SELECT "playerId" AS holder, "itemId" AS item, quantity AS amount FROM inventory
   UNION ALL SELECT "playerId", "itemId", quantity FROM equipment
   UNION ALL SELECT "playerId", "itemId", quantity FROM bank WHERE quantity <> 0
   UNION ALL SELECT "playerId", "itemId", quantity FROM stakes
   UNION ALL SELECT id, 'coins', coins FROM characters WHERE coins <> 0
   UNION ALL SELECT '', item_id, quantity FROM ground_items) all_of_it
 GROUP BY holder, item"#;
/// Sums of the closed months.
const BALANCES: &str =
    "SELECT character_id AS holder, item_id AS item, amount FROM ledger_balances";

/// Returns the query for the sums of the ledger's rows under a condition.
fn written(condition: &str) -> String {
    format!(
        "SELECT coalesce(character_id, '') AS holder, item_id AS item,
           CAST(sum(delta) AS bigint) AS amount FROM ledger WHERE {condition} GROUP BY 1, 2"
    )
}

/// Returns the query for all that the ledger says; `edge`: the end of the last closed month.
fn said(edge: i64) -> String {
    let since = written(&format!("at >= {edge}"));
    format!("{BALANCES} UNION ALL SELECT holder, item, amount FROM ({since}) since")
}

/// Returns the query for the totals: item, held, ledger.
pub(crate) fn totals(edge: i64) -> String {
    let said = said(edge);
    format!(
        "SELECT item, CAST(sum(held) AS bigint), CAST(sum(ledger) AS bigint) FROM (
           SELECT item, amount AS held, 0 AS ledger FROM ({HELD}) h
           UNION ALL SELECT item, 0, amount FROM ({said}) l) both_sides
         GROUP BY item ORDER BY item"
    )
}

/// Returns the query for the differences: holder, item, held, ledger, where the last two differ.
pub(crate) fn differences(edge: i64) -> String {
    unequal(HELD, &said(edge))
}

/// Returns the query for the differences between the closed months' rows and their balances:
/// holder, item, rows, balance.
pub(crate) fn closed_differences(edge: i64) -> String {
    unequal(&written(&format!("at < {edge}")), BALANCES)
}

/// Returns the query for holder, item and the two sums of two queries, where these differ.
fn unequal(one: &str, other: &str) -> String {
    format!(
        "SELECT holder, item, CAST(sum(one) AS bigint), CAST(sum(other) AS bigint) FROM (
           SELECT holder, item, amount AS one, 0 AS other FROM ({one}) o
           UNION ALL SELECT holder, item, 0, amount FROM ({other}) t) both_sides
         GROUP BY holder, item HAVING sum(one) <> sum(other) ORDER BY holder, item"
    )
}

/// Returns a difference as one sentence.
pub(crate) fn difference(holder: &str, item: &str, held: i64, ledger: i64) -> String {
    let who = match holder {
        "" => "the ground has".to_owned(),
        id => format!("character {id} has"),
    };
    format!("{who} {held} of {item}, the ledger says {ledger}")
}

/// Returns a difference between the rows of the closed months and their balance as one sentence.
pub(crate) fn closed_difference(holder: &str, item: &str, rows: i64, balance: i64) -> String {
    let who = match holder {
        "" => "the ground".to_owned(),
        id => format!("character {id}"),
    };
    format!("the closed months give {who} {rows} of {item}, their balance says {balance}")
}

/// Returns whether a full check counts the rows of a month.
pub(crate) fn counted(month: &Month) -> bool {
    month.kind == Table::Ledger.kind() && month.closed.is_some() && month.dropped.is_none()
}

/// Returns the sentence for a closed month of the ledger that lost or gained rows.
pub(crate) fn month_difference(month: &Month, rows: i64) -> Option<String> {
    let then = month.rows.unwrap_or_default();
    let name = &month.month;
    (then != rows).then(|| format!("month {name} of the ledger has {rows} rows, it closed with {then}"))
}

/// Checks that must find nothing: a sentence, and the query that gives its rows.
pub(crate) const NEVER: [(&str, &str); 4] = [
    (
        "is in the world in a region that does not exist: character",
        r#"SELECT id FROM characters c WHERE online AND NOT EXISTS
             (SELECT 1 FROM regions WHERE region_x = c."regionX" AND region_z = c."regionZ")
           ORDER BY id"#,
    ),
    (
        "has more than one open session: character",
        r#"SELECT "playerId" FROM "playerSessions" WHERE logout IS NULL
           GROUP BY "playerId" HAVING count(*) > 1 ORDER BY 1"#,
    ),
    (
        "lies in a region that does not exist: ground item",
        "SELECT id FROM ground_items g WHERE NOT EXISTS
           (SELECT 1 FROM regions WHERE region_x = g.region_x AND region_z = g.region_z)
         ORDER BY id",
    ),
    (
        "belongs to a run that is fenced or not known: region",
        "SELECT region_x || ',' || region_z FROM regions r WHERE run_id <> 0 AND NOT EXISTS
           (SELECT 1 FROM runs WHERE runs.id = r.run_id AND runs.state <> 'fenced')
         ORDER BY 1",
    ),
];

/// Regions as operators see them, in order.
pub(crate) const REGIONS: &str = "SELECT r.region_x, r.region_z, r.run_id, r.epoch,
   coalesce(o.address, ''), CAST(r.cost_us AS bigint), CAST(r.players AS bigint), r.wanted_run_id,
   (SELECT count(*) FROM region_faults f
    WHERE f.region_x = r.region_x AND f.region_z = r.region_z), r.paused
 FROM regions r LEFT JOIN runs o ON o.id = r.run_id ORDER BY r.region_x, r.region_z";

/// Reads a row of [`REGIONS`].
impl FromRow for RegionReport {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(RegionReport {
            region: row.region(0)?,
            run: row.column(2)?,
            epoch: row.column(3)?,
            address: row.column(4)?,
            cost_us: row.column(5)?,
            players: row.column(6)?,
            wanted: row.column(7)?,
            faults: row.column(8)?,
            paused: row.column(9)?,
        })
    }
}
