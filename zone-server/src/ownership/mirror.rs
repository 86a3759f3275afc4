//! Copies the items of a run's content to the store, so that the table `items` is the catalogue of
//! the world.
//!
//! Always: it delays nothing; as long as the store is away it is tried again.

use std::sync::Arc;

use proto::rpc::persistence::v1::{ItemRow, MirrorItemsRequest};
use serde_json::json;
use tonic::Code;
use world::content::ItemKind;
use world::{Content, Skill};

use crate::store::Store;

/// Items in one page.
const PAGE: usize = 256;

/// Sends all pages, one after the other. Safe to drop midway: each page stands by itself.
pub(crate) async fn items(store: Store, run_id: u64, content: Arc<Content>) {
    let mut backoff = service_runtime::rpc::Backoff::new();
    let mut changed = 0;
    for page in pages(run_id, &content) {
        loop {
            let call = service_runtime::rpc::bounded(async {
                let mut client = store.runs();
                client.mirror_items(page.clone()).await
            });
            match call.await {
                Ok(reply) => {
                    changed += reply.changed;
                    break;
                }
                Err(status) if crate::store::unreachable(&status) => {
                    backoff.wait().await;
                }
                Err(status) => {
                    // A store of an older version does not know of it, and a fenced run ends.
                    if !matches!(status.code(), Code::Unimplemented | Code::PermissionDenied) {
                        tracing::error!(run = run_id, %status, "the store takes no catalogue");
                    }
                    return;
                }
            }
        }
    }
    tracing::info!(
        run = run_id,
        changed,
        "the store has the catalogue of items"
    );
}

/// Returns the catalogue, by id, in pages.
fn pages(run_id: u64, content: &Content) -> Vec<MirrorItemsRequest> {
    let mut rows: Vec<ItemRow> = content.items().iter().map(|item| row(item)).collect();
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    let count = rows.len().div_ceil(PAGE).max(1);
    let mut rows = rows.into_iter();
    let mut after = String::new();
    let pages = (1..=count).map(|number| {
        let items: Vec<ItemRow> = rows.by_ref().take(PAGE).collect();
        let end = items.last().map(|item| item.id.clone());
        MirrorItemsRequest {
            run_id,
            after: std::mem::replace(&mut after, end.unwrap_or_default()),
            items,
            last: number == count,
        }
    });
    pages.collect()
}

fn row(item: &ItemKind) -> ItemRow {
    let requires = item.requires.iter();
    let requires: std::collections::BTreeMap<&str, u8> = requires
        .map(|(skill, level)| (Skill::name(*skill), *level))
        .collect();
    let weapon = item
        .weapon
        .as_ref()
        .map(|weapon| json!({"speedTicks": weapon.speed_ticks, "rangeTiles": weapon.range_tiles}));
    let stats = json!({
        "equipSlot": item.equip_slot.map(world::content::EquipSlot::name),
        "twoHanded": item.two_handed,
        "requires": requires,
        "bonuses": item.bonuses,
        "weapon": weapon,
        "heals": item.heals,
        "rarity": &*item.rarity,
        "tier": &*item.tier,
    });
    ItemRow {
        id: item.id.to_string(),
        name: item.name.to_string(),
        r#type: item.sort.name().to_owned(),
        description: item.examine.to_string(),
        value: u32::try_from(item.value).map_or(i32::MAX as u32, |v| v.min(i32::MAX as u32)),
        weight_grams: item.weight_grams,
        stackable: item.stackable,
        tradeable: item.tradeable,
        stats: stats.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_told_in_pages_by_id() {
        let content = Content::embedded();
        let pages = pages(7, &content);
        let mut end = String::new();
        for (number, page) in pages.iter().enumerate() {
            assert_eq!((page.run_id, &page.after), (7, &end));
            assert!(!page.items.is_empty() && page.items.len() <= PAGE);
            assert!(page.items.is_sorted_by(|a, b| a.id < b.id));
            assert_eq!(page.last, number + 1 == pages.len());
            end = page.items.last().unwrap().id.clone();
        }
        let all: Vec<&ItemRow> = pages.iter().flat_map(|page| &page.items).collect();
        assert_eq!(all.len(), content.items().len());
        let coins = all.iter().find(|item| item.id == "coins").unwrap();
        assert!(coins.stackable && coins.value == 1, "{coins:?}");
    }
}
