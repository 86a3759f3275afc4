//! Shops: what is asked of them, and what is told.

use proto::client::shop::{ShopBuy, ShopItem, ShopOpen, ShopSell, ShopState};
use world::{Intent, ShopShown, Shopping};

/// `shop:open`.
pub(crate) fn open(asked: &ShopOpen) -> Intent {
    Intent::Shop(Shopping::Open {
        target: asked.target.as_str().into(),
    })
}

/// `shop:buy`.
pub(crate) fn buy(asked: &ShopBuy) -> Intent {
    Intent::Shop(Shopping::Buy {
        item: asked.item_id.as_str().into(),
        quantity: asked.quantity,
    })
}

/// `shop:sell`.
pub(crate) fn sell(asked: &ShopSell) -> Intent {
    Intent::Shop(Shopping::Sell {
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
