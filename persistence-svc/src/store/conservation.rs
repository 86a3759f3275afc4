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

/// Reads a row of [`Sides::totals`].
impl FromRow for Total {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Total {
            item: row.column(0)?,
            held: row.column(1)?,
            ledger: row.column(2)?,
        })
    }
}

/// All that is held, by holder and item; the ground is ''.
const HELD: &str = r#"SELECT "playerId" AS holder, "itemId" AS item,
     CAST(quantity AS bigint) AS amount FROM inventory
   UNION ALL SELECT "playerId", "itemId", CAST(quantity AS bigint) FROM equipment
   UNION ALL SELECT "playerId", "itemId", CAST(quantity AS bigint) FROM bank WHERE quantity <> 0
   UNION ALL SELECT "playerId", "itemId", CAST(quantity AS bigint) FROM stakes
   UNION ALL SELECT id, 'coins', CAST(coins AS bigint) FROM characters WHERE coins <> 0
   UNION ALL SELECT '', item_id, CAST(quantity AS bigint) FROM ground_items"#;
/// Sums of the closed months.
const BALANCES: &str =
    "SELECT character_id AS holder, item_id AS item, amount FROM ledger_balances";

/// Returns the query for the ledger's rows under a condition.
fn written(condition: &str) -> String {
    format!(
        "SELECT coalesce(character_id, '') AS holder, item_id AS item, delta AS amount
         FROM ledger WHERE {condition}"
    )
}

/// Two queries for holder, item and amount, whose sums must be equal by holder and item.
pub(crate) struct Sides {
    one: String,
    other: String,
}

impl Sides {
    /// All holdings, and all that the ledger says. `edge`: the end of its last closed month.
    pub(crate) fn whole(edge: i64) -> Sides {
        let since = written(&format!("at >= {edge}"));
        Sides {
            one: HELD.to_owned(),
            other: format!("{BALANCES} UNION ALL {since}"),
        }
    }

    /// The rows of the closed months, and their balances.
    pub(crate) fn closed(edge: i64) -> Sides {
        Sides {
            one: written(&format!("at < {edge}")),
            other: BALANCES.to_owned(),
        }
    }

    fn together(&self) -> String {
        let Sides { one, other } = self;
        format!(
            "(SELECT holder, item, amount AS one, CAST(0 AS bigint) AS other FROM ({one}) o
              UNION ALL SELECT holder, item, CAST(0 AS bigint), amount FROM ({other}) t) both_sides"
        )
    }

    /// Returns the query for item, the two sums, and one more value of the rows of an item.
    pub(crate) fn totals(&self, more: &str) -> String {
        let both = self.together();
        format!(
            "SELECT item, CAST(sum(one) AS bigint), CAST(sum(other) AS bigint), {more}
             FROM {both} GROUP BY item ORDER BY item"
        )
    }

    /// Returns the query for the differences under a condition: holder, item, the two sums.
    pub(crate) fn differences(&self, condition: &str) -> String {
        let both = self.together();
        format!(
            "SELECT holder, item, CAST(sum(one) AS bigint), CAST(sum(other) AS bigint) FROM {both}
             WHERE {condition}
             GROUP BY holder, item HAVING sum(one) <> sum(other) ORDER BY holder, item"
        )
    }
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
    (then != rows)
        .then(|| format!("month {name} of the ledger has {rows} rows, it closed with {then}"))
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
