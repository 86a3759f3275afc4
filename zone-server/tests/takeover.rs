//! Regions whose zone falls or stops: the next one goes on with the state that was saved.

#![allow(clippy::unwrap_used)]

use std::{sync::Arc, time::Duration};

use proto::rpc::zone::v1::Shown;
use serde_json::{Value, json};
use world::{Content, EntityId, Field, Region, Rules, Tick, World};

use crate::{
    border::scene_of,
    stage::{
        Zone,
        gateway::Gateway,
        npc,
        store::{Rows, Store, rpc},
        until,
    },
};

const KEEPER: &str = "granny_sump";
const GOODS: &str = "toad_legs";
const BOSS: &str = "thunderhonk";

/// One zone that plays the land of one NPC, and ann, who stands there and has coins.
struct Scene {
    store: Store,
    zone: Zone,
    gateway: Gateway,
    run: u64,
    region: Region,
    npc: EntityId,
}

async fn beside(kind: &str, change: impl FnOnce(&mut zone_server::Config)) -> Scene {
    let (npc, tile, region) = npc(kind);
    let store = Store::start().await;
    store.log_in("ann", tile);
    store.change(|state| {
        let ann = &mut state.characters.get_mut("ann").unwrap().record;
        ann.coins = 1_000;
    });
    // She hits what she strikes, and it does not kill her.
    store.master("ann");
    let zone = Zone::start(&store.address, |config| {
        config.tick_ms = 150;
        change(config);
    })
    .await;
    until("the zone registers", || {
        store.run_at(&zone.address).is_some()
    })
    .await;
    let run = store.run_at(&zone.address).unwrap();
    store.assign(region, run);
    let gateway = Gateway::new("g");
    gateway.link(run, &zone.address, 1, &[region]).await;
    gateway.enter(run, "ann").await;
    Scene {
        store,
        zone,
        gateway,
        run,
        region,
        npc,
    }
}

impl Scene {
    /// Fences the run as one that fell, and gives its region to the next run of the process.
    async fn falls(&self) -> (u64, Gateway) {
        self.store.change(|state| state.fenced.push(self.run));
        let next = || self.store.run_at(&self.zone.address);
        until("a new run", || next().is_some_and(|next| next > self.run)).await;
        let next = next().unwrap();
        self.store.assign(self.region, next);
        let heir = Gateway::new("heir");
        heir.link(next, &self.zone.address, 1, &[self.region]).await;
        (next, heir)
    }

    async fn opens_the_shop(&self, gateway: &Gateway, run: u64, number: u64) -> u32 {
        let open = json!({"target": self.npc.as_str()}).to_string();
        gateway.input(run, "ann", number, "shop:open", open).await;
        until("the shop is shown", || stock(gateway).is_some()).await;
        stock(gateway).unwrap()
    }

    /// Returns the health of the NPC in the state that the store has; `None`: it has none.
    fn saved_health(&self) -> Option<i64> {
        let saved = self
            .store
            .read(|state| state.states.get(&self.region).cloned())?;
        health(&saved, self.region, &self.npc)
    }
}

/// Returns the number of goods that a player was shown last.
fn stock(gateway: &Gateway) -> Option<u32> {
    let told = gateway.messages("ann").into_iter().rev();
    let mut shown = told.filter(|message| message.event == "shop:state");
    let shop: Value = serde_json::from_slice(&shown.next()?.data).unwrap();
    let goods = shop["items"].as_array()?.iter();
    let mut goods = goods.filter(|item| item["itemId"] == GOODS);
    goods.next()?["stock"].as_u64()?.try_into().ok()
}

fn health(saved: &[u8], region: Region, npc: &EntityId) -> Option<i64> {
    let content: Arc<Content> = Content::embedded();
    let mut world = World::new(content, Rules::default(), 1, 1);
    let unfit = world.region_saved_in(region, Tick(1), Tick(1), saved);
    assert_eq!(unfit.unwrap(), Vec::<String>::new());
    match world.look(npc)?.field("health")? {
        Field::Int(health) => Some(*health),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn goods_and_the_stock_that_is_left_are_one_batch_and_outlive_the_zone() {
    let scene = beside(KEEPER, |_| {}).await;
    let (store, gateway) = (&scene.store, &scene.gateway);
    let usual = scene.opens_the_shop(gateway, scene.run, 1).await;
    let buy = json!({"itemId": GOODS, "quantity": 6}).to_string();
    gateway.input(scene.run, "ann", 2, "shop:buy", buy).await;
    let acknowledged = |message: &proto::rpc::zone::v1::Private| &*message.re == b"2";
    until("the deal is done", || {
        gateway.messages("ann").iter().any(acknowledged)
    })
    .await;
    let sold = |rows: &&Rows| rows.ledger.iter().any(|row| row.cause == "shop_buy");
    let kept = store.read(|state| state.kept.clone());
    let deal = kept.iter().find(sold).expect("the deal is in a batch");
    let states: Vec<_> = deal.states.iter().map(|state| state.region).collect();
    assert_eq!(states, [Some(rpc(scene.region))]);

    let (next, heir) = scene.falls().await;
    heir.enter(next, "ann").await;
    let left = scene.opens_the_shop(&heir, next, 1).await;
    // One may have come back meanwhile.
    assert!((usual - 6..usual - 4).contains(&left), "{left} of {usual}");
    scene.zone.stop().await;
    assert_eq!(
        store.read(|state| state.problems.clone()),
        Vec::<String>::new()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hurt_npc_is_still_hurt_when_its_zone_falls() {
    let scene = beside(BOSS, |config| {
        config.region_save_interval = Duration::from_millis(300);
    })
    .await;
    until("the region is saved", || scene.saved_health().is_some()).await;
    let whole = scene.saved_health().unwrap();
    let attack = json!({"action": "attack", "target": scene.npc.as_str()}).to_string();
    let gateway = &scene.gateway;
    gateway
        .input(scene.run, "ann", 1, "player:action", attack)
        .await;
    until("the wound is saved", || scene.saved_health() < Some(whole)).await;
    scene.store.change(|state| state.fenced.push(scene.run));
    let hurt = scene.saved_health().unwrap();
    let (next, heir) = scene.falls().await;
    until("the next run shows the boss", || {
        heir.read(|seen| seen.entered.contains(scene.npc.as_str()))
    })
    .await;
    let states = || {
        let epoch = scene.store.read(|state| state.owners[&scene.region].1);
        scene.store.read(|state| {
            let mut kept = state.kept.iter().flat_map(|rows| &rows.states);
            kept.rfind(|row| row.epoch == epoch).cloned()
        })
    };
    until("the next run saves the region", || states().is_some()).await;
    let now = health(&states().unwrap().state, scene.region, &scene.npc).unwrap();
    assert!(
        now < whole && now <= hurt + 2,
        "{hurt} of {whole}, then {now} in {next}"
    );
    scene.zone.stop().await;
}

/// Returns the place that the gateway was shown of a character last. Those of some are wrong: too
/// far, of a time to come, or older than the store's word.
fn offer_of(gateway: &Gateway, name: &str) -> Shown {
    let seen = gateway.read(|seen| seen.words[name].clone());
    let mut placed = seen.iter().rev().filter(|word| word.position.is_some());
    let last = placed.next().unwrap();
    let (mut position, mut tick) = (last.position.unwrap(), last.tick);
    match name {
        "bob" => position.x += 150,
        "cid" => tick += 1_000,
        "dan" => tick = 1,
        _ => {}
    }
    Shown {
        position: Some(position),
        tick,
    }
}

/// The store has their places as they came. The zone dies before it has saved a step.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_was_shown_further_on_stands_there_and_a_wrong_offer_changes_nothing() {
    let names = ["ann", "bob", "cid", "dan"];
    let scene = scene_of(&names, false, |_| {}).await;
    let (store, west) = (&scene.store, crate::stage::border().0);
    let saved = || store.read(|state| state.played.contains_key(&west));
    until("they are saved where they came", saved).await;
    store.change(|state| state.faults.commits_held = true);
    for name in names {
        scene.gateway.walk(scene.run_a, name, 1, scene.to).await;
    }
    let far = |name: &&str| {
        scene
            .gateway
            .position(name)
            .is_some_and(|at| at.x >= scene.from.x + 4)
    };
    until("all have walked", || names.iter().all(far)).await;
    store.change(|state| state.fenced.push(scene.run_a));
    store.change(|state| state.faults.commits_held = false);
    store.assign(west, scene.run_b);
    let heir = Gateway::new("heir");
    heir.link(scene.run_b, &scene.b.address, 1, &[west, scene.east])
        .await;
    let offers = names.map(|name| (name, offer_of(&scene.gateway, name)));
    let mut attach = 1;
    while heir.read(|seen| seen.attached.len()) < names.len() {
        attach += 1;
        for (name, shown) in &offers {
            heir.offer(scene.run_b, name, (1, attach), Some(*shown))
                .await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for (name, shown) in offers {
        let (_, attached) = heir.read(|seen| seen.attached[name].clone());
        let row = store.read(|state| state.characters[name].record.clone());
        let expected = if name == "ann" {
            shown.position.unwrap().x
        } else {
            scene.from.x
        };
        assert_eq!(
            attached.position.unwrap().x,
            expected,
            "{name}: {shown:?}, {row:?}"
        );
    }
    until("the store has ann there", || {
        let x = offers[0].1.position.unwrap().x;
        store.read(|state| state.characters["ann"].record.x == x)
    })
    .await;
    scene.a.stop().await;
    scene.b.stop().await;
}

/// No other zone is there to take the region. Without its deals the store would have no state yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zone_that_stops_saves_its_regions() {
    let scene = beside(KEEPER, |_| {}).await;
    assert_eq!(scene.store.read(|state| state.states.len()), 0);
    scene.zone.stop().await;
    assert!(
        scene
            .store
            .read(|state| state.states.contains_key(&scene.region))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_that_is_given_away_is_saved_with_the_give() {
    let scene = scene_of(&["ann"], true, |_| {}).await;
    let west = crate::stage::border().0;
    scene
        .store
        .change(|state| state.wanted.insert(west, scene.run_b));
    until("the region is given", || {
        !scene.store.read(|state| state.gives.is_empty())
    })
    .await;
    let kept = scene.store.read(|state| state.kept.clone());
    let given = kept.iter().find(|rows| !rows.gives.is_empty()).unwrap();
    let states: Vec<_> = given.states.iter().map(|state| state.region).collect();
    assert!(states.contains(&Some(rpc(west))), "{states:?}");
    scene.a.stop().await;
    scene.b.stop().await;
}
