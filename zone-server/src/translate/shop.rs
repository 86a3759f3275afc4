//! Shops: their requests and notifications.

use proto::client::shop::{ShopBuy, ShopItem, ShopOpen, ShopSell, ShopState};
use world::{Intent, ShopShown, shop, shop::Event};

use super::Told;

/// `shop:open`.
pub(crate) fn open(asked: &ShopOpen) -> Intent {
    Intent::Shop(shop::Intent::Open {
        target: asked.target.as_str().into(),
    })
}

/// `shop:buy`.
pub(crate) fn buy(asked: &ShopBuy) -> Intent {
    Intent::Shop(shop::Intent::Buy {
        item: asked.item_id.as_str().into(),
        quantity: asked.quantity,
    })
}

/// `shop:sell`.
pub(crate) fn sell(asked: &ShopSell) -> Intent {
    Intent::Shop(shop::Intent::Sell {
        slot: asked.slot,
        quantity: asked.quantity,
    })
}

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
