//! Shops: their requests and notifications.

use proto::client::shop::{ShopItem, ShopState};
use world::{ShopShown, shop::Event};

use super::Told;

/// `shop:state`.
pub(crate) fn state(shop: &ShopShown) -> ShopState {
    let goods = shop.goods.iter().map(|good| ShopItem {
        item_id: good.item.to_string(),
        price: good.price,
        stock: good.stock,
        category: good.category.to_string(),
    });
    ShopState {
        open: true,
        store_id: shop.id.to_string(),
        name: shop.name.to_string(),
        buys: shop.buys,
        pays_percent: shop.pays_thousandths / 10,
        items: goods.collect(),
    }
}

/// Returns what a player is told of a shop.
pub(crate) fn told(event: &Event) -> Told {
    match event {
        Event::Shown { shop, .. } => Told::of_value(&state(shop)),
    }
}
