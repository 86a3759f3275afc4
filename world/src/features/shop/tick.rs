//! Shops: purchases and sales, and the players that hear of them.
//!
//! Always: a shop's stock belongs to the region of its keeper; all players that have the shop open
//! see it change.

use std::sync::Arc;

use super::rules::{self, Shop};
use super::{Intent, Shelves, told};
use crate::content::Store;
use crate::entity::ids::{CharacterId, EntityId};
use crate::event::Event;
use crate::features::quests::Achievement;
use crate::features::shop;
use crate::features::visit::Interface;
use crate::geometry::tile::Region;
use crate::item::ledger::Cause;
use crate::refusal::Refusal;
use crate::request::{Answer, Asked};
use crate::tick::Outcome;
use crate::world::World;

impl World {
    /// Answers a request to a shop.
    pub(crate) fn answer_shop(
        &mut self,
        Asked { who, number }: Asked<'_>,
        intent: Intent,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::Open { target } => {
                return self.visit(
                    Asked { who, number },
                    target,
                    Interface::Shop,
                    searches_end,
                    out,
                );
            }
            Intent::Close => self.shut(who, &Interface::Shop, out)?,
            Intent::Buy { item, quantity } => {
                let (region, store) = self.shop_of(who).ok_or(Refusal::NotOpen)?;
                let player = self.players.get(who).ok_or(Refusal::NotFound)?;
                let (record, content) = (player.record(), &*self.content);
                let shop = Shop {
                    store: &store,
                    shelves: self.shelves(region, &store),
                };
                let deal = rules::buy(record, content, shop, &item, quantity)?;
                self.transfer(Some(Cause::ShopBuy), &deal.legs, out)?;
                self.stock(region, &store, deal.stock, out);
            }
            Intent::Sell { slot, quantity } => {
                let (region, store) = self.shop_of(who).ok_or(Refusal::NotOpen)?;
                let player = self.players.get(who).ok_or(Refusal::NotFound)?;
                let (record, content) = (player.record(), &*self.content);
                let shop = Shop {
                    store: &store,
                    shelves: self.shelves(region, &store),
                };
                let deal = rules::sell(record, content, shop, slot, quantity)?;
                let item = record
                    .inventory
                    .get(&slot)
                    .map(|stack| Arc::clone(&stack.item));
                self.transfer(Some(Cause::ShopSell), &deal.legs, out)?;
                self.stock(region, &store, deal.stock, out);
                if let Some(item) = item {
                    self.did(who, Achievement::Sold(&item, rules::sold(&deal.legs)), out);
                }
            }
        }
        Ok(Answer::Done { value: true })
    }

    /// Returns the shop that `who` has open, and the region of its keeper.
    fn shop_of(&self, who: &CharacterId) -> Option<(Region, Arc<Store>)> {
        let open = self.players.get(who)?.open.as_ref()?;
        if open.what != Interface::Shop {
            return None;
        }
        let (region, store) = self.shop_at(&open.with)?;
        Some((region, Arc::clone(store)))
    }

    /// Returns the shop that somebody keeps.
    pub(crate) fn shop_at(&self, keeper: &EntityId) -> Option<(Region, &Arc<Store>)> {
        let npc = self.npcs.get(keeper)?;
        let store = npc.placement.store.as_ref()?;
        Some((npc.region, self.content.stores().get(store)?))
    }

    fn shelves(&self, region: Region, store: &Store) -> &Shelves {
        static USUAL: Shelves = Shelves::new();
        let key = (region, Arc::clone(&store.id));
        self.shops.get(&key).unwrap_or(&USUAL)
    }

    fn stock(
        &mut self,
        region: Region,
        store: &Store,
        changed: Option<(Arc<str>, u32)>,
        out: &mut Outcome,
    ) {
        let Some((item, count)) = changed else { return };
        let key = (region, Arc::clone(&store.id));
        let shelves = self.shops.entry(key.clone()).or_default();
        rules::put(store, shelves, item, count, self.now);
        if shelves.is_empty() {
            self.shops.remove(&key);
        }
        out.changes.shops.insert(region);
        self.show_shop(region, &store.id, out);
    }

    /// Shows the shop as it is now to all players that have it open.
    fn show_shop(&self, region: Region, store: &Arc<str>, out: &mut Outcome) {
        let shops = self.players.keys().filter(|who| {
            let of = self.shop_of(who);
            of.is_some_and(|(at, of)| at == region && of.id == *store)
        });
        out.events
            .extend(shops.filter_map(|who| self.shop_shown(who)));
    }

    /// Returns the shop that `who` has open, as it is now.
    pub fn shop_shown(&self, who: &CharacterId) -> Option<Event> {
        let (region, store) = self.shop_of(who)?;
        let shelves = self.shelves(region, &store);
        let state = told::state(&store, shelves, &self.content);
        Some(shop::Event::Shown(who.clone(), state).into())
    }

    /// Brings stocks nearer to the usual.
    pub(crate) fn play_shops(&mut self, out: &mut Outcome) {
        let content = Arc::clone(&self.content);
        let now = self.now;
        let mut changed = Vec::new();
        for ((region, id), shelves) in &mut self.shops {
            // If the content does not know a shop any more, nothing of it is left.
            let Some(store) = content.stores().get(id) else {
                shelves.clear();
                continue;
            };
            if rules::restock(store, shelves, now) {
                changed.push((*region, Arc::clone(id)));
            }
        }
        self.shops.retain(|_, shelves| !shelves.is_empty());
        for (region, id) in changed {
            self.show_shop(region, &id, out);
        }
    }
}
