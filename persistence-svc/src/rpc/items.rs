//! A page of the catalogue of items: model ⇄ store.

use proto::rpc::persistence::v1 as wire;

use super::malformed;
use super::model::{Checked, number, small, text};
use crate::store::items::{ITEMS_MAX, ItemPage, ItemRow};

/// The longest name, description or JSON text, in bytes.
const WORDS_MAX: usize = 16 * 1024;

/// Reads a page of items, and checks its order.
pub(crate) fn page(ask: wire::MirrorItemsRequest) -> Checked<ItemPage> {
    if ask.items.len() > ITEMS_MAX {
        return Err(malformed(format!("items: at most {ITEMS_MAX}")));
    }
    if !ask.last && ask.items.is_empty() {
        return Err(malformed("items: only the last page has none"));
    }
    let items = ask.items.into_iter().map(item);
    let items = items.collect::<Checked<Vec<ItemRow>>>()?;
    let mut before = ask.after.as_str();
    for item in &items {
        if item.id.as_str() <= before {
            return Err(malformed("items: by id, and after `after`"));
        }
        before = &item.id;
    }
    Ok(ItemPage {
        run: number("run_id", ask.run_id)?,
        after: words("after", ask.after)?,
        items,
        last: ask.last,
    })
}

fn item(row: wire::ItemRow) -> Checked<ItemRow> {
    if serde_json::from_str::<serde_json::Value>(&row.stats).is_err() {
        return Err(malformed("stats must be JSON"));
    }
    Ok(ItemRow {
        id: text("id", row.id)?,
        name: words("name", row.name)?,
        sort: words("type", row.r#type)?,
        description: words("description", row.description)?,
        value: small("value", row.value)?,
        weight_grams: row.weight_grams,
        stackable: row.stackable,
        tradeable: row.tradeable,
        stats: words("stats", row.stats)?,
    })
}

fn words(field: &str, value: String) -> Checked<String> {
    // No database takes a zero byte; JSON may hold one as an escape.
    if value.len() > WORDS_MAX || value.contains('\0') || value.contains("\\u0000") {
        return Err(malformed(format!(
            "{field} must have at most {WORDS_MAX} bytes, and no zero among them"
        )));
    }
    Ok(value)
}
