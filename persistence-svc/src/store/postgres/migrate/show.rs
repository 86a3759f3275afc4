//! Shows what a migration would do, and changes nothing.

use std::collections::BTreeMap;

use super::Postgres;
use super::state::{Plan, State};
use crate::store::error::Result;
use crate::store::migrations::locks::{Lock, changes_whole_table, locks, made_table};
use crate::store::migrations::sql::{short, statements};
use crate::store::migrations::steps::Way;
use crate::store::migrations::{Migration, beside};
use crate::store::postgres::session::GenericClient;

/// Size of a table.
struct Size {
    bytes: i64,
    /// Estimate of the server; none: it has never counted.
    rows: Option<i64>,
}

/// Returns a line for each layout, step, statement and lock that `list` would bring.
///
/// # Errors
/// The store does not answer, or a newer version made the tables and does not allow this one.
pub(in crate::store::postgres) async fn show(
    store: &Postgres,
    list: &[Migration],
) -> Result<Vec<String>> {
    let mut client = store.own_client().await?;
    let moment = client.moment(true).await?;
    let plan = State::look(&moment).await?.plan(list)?;
    let mut sizes = BTreeMap::new();
    for lock in all_locks(&plan) {
        let Some(name) = lock.on else { continue };
        if sizes.contains_key(&name) {
            continue;
        }
        let query = "SELECT pg_total_relation_size(oid), reltuples::int8
            FROM pg_class WHERE oid = to_regclass(quote_ident($1))";
        let row = moment.query_opt(query, &[&name]).await?;
        let size = row.map(|row| -> Result<Size> {
            let rows: i64 = row.try_get(1)?;
            Ok(Size {
                bytes: row.try_get(0)?,
                rows: (rows >= 0).then_some(rows),
            })
        });
        sizes.insert(name, size.transpose()?);
    }
    Ok(lines(&plan, &sizes))
}

fn all_locks(plan: &Plan<'_>) -> Vec<Lock> {
    let steps = plan.layouts.iter().flat_map(|layout| &layout.steps);
    let all = steps.flat_map(|step| statements(step.step.text));
    all.flat_map(locks).collect()
}

fn lines(plan: &Plan<'_>, sizes: &BTreeMap<String, Option<Size>>) -> Vec<String> {
    let mut lines = Vec::new();
    if plan.is_empty() {
        lines.push("nothing is missing".to_owned());
    }
    let once = plan.is_one_transaction() && !plan.is_empty();
    if once {
        lines.push("all of it in one transaction".to_owned());
    }
    for layout in &plan.layouts {
        lines.push(format!(
            "layout {}: {}",
            layout.version,
            beside(layout.oldest, layout.version)
        ));
        let all = layout
            .steps
            .iter()
            .flat_map(|step| statements(step.step.text));
        let made: Vec<String> = all.filter_map(made_table).collect();
        for step in &layout.steps {
            let done = if step.done { ": is done already" } else { "" };
            let count = layout.steps.len();
            lines.push(format!(
                "  step {} of {count} ({}){done}",
                step.number, step.step.way
            ));
            for statement in statements(step.step.text) {
                lines.push(format!("    {}", short(statement)));
                let locks = locks(statement);
                let old = |lock: &&Lock| lock.on.as_ref().is_none_or(|on| !made.contains(on));
                lines.extend(locks.iter().filter(old).map(|lock| line(lock, sizes)));
                if step.step.way != Way::Batches && changes_whole_table(statement) {
                    lines.push("      changes every row at once".to_owned());
                }
            }
        }
    }
    lines
}

fn line(lock: &Lock, sizes: &BTreeMap<String, Option<Size>>) -> String {
    let (mode, effect) = (lock.mode, lock.mode.effect());
    let Some(name) = &lock.on else {
        return format!("      the locks are not known: at worst {mode}, {effect}");
    };
    let size = match sizes.get(name) {
        Some(Some(size)) => {
            let rows = size.rows.map(|rows| format!("about {rows} rows"));
            let rows = rows.unwrap_or_else(|| "rows never counted".to_owned());
            format!("{}, {rows}", proportion(size.bytes))
        }
        Some(None) | None => "not there yet".to_owned(),
    };
    format!("      {mode} on {name} ({size}): {effect}")
}

/// Returns a number of bytes in the largest unit that fits.
fn proportion(bytes: i64) -> String {
    const UNITS: [(&str, i64); 3] = [("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)];
    let unit = UNITS.iter().find(|(_, size)| bytes >= *size);
    unit.map_or_else(
        || format!("{bytes} bytes"),
        |(name, size)| format!("{} {name}", bytes / size),
    )
}
