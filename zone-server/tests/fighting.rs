//! Fights in a zone: the saved part of a kill, and the stay of a player whose socket is lost in
//! one.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use proto::rpc::{
    persistence::v1::{ChunkRow, Slot, Worn},
    zone::v1::{Detach, to_zone},
};
use world::{EntityId, Region};

use crate::stage::{Zone, gateway::Gateway, npc, store::Store, until};

const BOSS: &str = "thunderhonk";

/// One zone that plays the land of one beast, and ann, who is strong, well armed and there.
struct Scene {
    store: Store,
    zone: Zone,
    gateway: Gateway,
    run: u64,
    region: Region,
    beast: EntityId,
}

async fn beside(beast: &str, change: impl FnOnce(&mut zone_server::Config)) -> Scene {
    let (beast, tile, region) = npc(beast);
    let store = Store::start().await;
    store.log_in("ann", tile);
    store.master("ann");
    store.change(|state| {
        let ann = &mut state.characters.get_mut("ann").unwrap().record;
        ann.equipment = vec![Worn {
            slot: "weapon".to_owned(),
            item_id: "starglass_greatsword".to_owned(),
            quantity: 1,
        }];
        let slots = ["tinderbox", "logs"].into_iter().enumerate();
        let slots = slots.map(|(slot, item)| Slot {
            slot: slot as u32,
            item_id: item.to_owned(),
            quantity: 1,
        });
        ann.inventory = slots.collect();
    });
    let zone = Zone::start(&store.address, change).await;
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
        beast,
    }
}

impl Scene {
    async fn acts(&self, number: u64, action: &str) {
        let data = format!(r#"{{"action":{action}}}"#);
        let gateway = &self.gateway;
        let event = "player:action";
        gateway.input(self.run, "ann", number, event, data).await;
    }

    async fn attacks(&self, number: u64) {
        let attack = format!(r#""attack","target":"{}""#, self.beast);
        self.acts(number, &attack).await;
    }

    /// Fences the run, as one that fell silent, and gives its region to the next run of the
    /// process. Returns that run and a gateway.
    async fn another_run(&self) -> (u64, Gateway) {
        self.store.change(|state| state.fenced.push(self.run));
        let next = || self.store.run_at(&self.zone.address);
        until("a new run", || next().is_some_and(|next| next > self.run)).await;
        let next = next().unwrap();
        self.store.assign(self.region, next);
        let heir = Gateway::new("heir");
        heir.link(next, &self.zone.address, 1, &[self.region]).await;
        until("ann stands in the world again", || {
            heir.read(|seen| seen.entered.contains("ann"))
        })
        .await;
        (next, heir)
    }
}

/// Returns whether `field` of a chunk's row (stumps, fires or the dead) names `what`.
fn lasts(row: &ChunkRow, field: &str, what: &str) -> bool {
    let data: serde_json::Value = serde_json::from_str(&row.data).unwrap();
    data[field].to_string().contains(what)
}

/// It is dead for 200 ticks, and leaves a golden egg each time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_boss_stays_dead_when_its_zone_falls_and_its_loot_and_its_death_are_one() {
    let scene = beside(BOSS, |config| config.tick_ms = 150).await;
    let dead = |row: &ChunkRow| lasts(row, "dead", scene.beast.as_str());
    scene.attacks(1).await;
    until("the store knows of the death", || {
        scene.store.read(|state| state.chunks.values().any(dead))
    })
    .await;
    let kept = scene.store.read(|state| state.kept.clone());
    let batch = kept.iter().find(|rows| rows.chunks.iter().any(dead));
    let batch = batch.unwrap();
    let kills = batch.characters.iter().flat_map(|row| &row.kills);
    let kills: Vec<(&str, u32)> = kills.map(|k| (&*k.npc_id, k.count)).collect();
    assert_eq!(kills, [(BOSS, 1)]);
    let egg = batch.ground.iter().find(|it| it.item_id == "golden_egg");
    let egg = egg.expect("the loot is in the batch").id.clone();
    let made = batch.ledger.iter().filter(|e| e.item_id == "golden_egg");
    assert_eq!(made.map(|entry| entry.delta).sum::<i64>(), 1);

    let (_, heir) = scene.another_run().await;
    heir.read(|seen| {
        assert!(seen.entered.contains(&egg), "its loot lies there");
        assert!(
            !seen.entered.contains(scene.beast.as_str()),
            "it is dead still"
        );
    });
    let kept = scene.store.read(|state| state.kept.clone());
    let rows = kept.iter().flat_map(|rows| &rows.characters);
    let kills = rows.flat_map(|row| &row.kills).map(|kill| kill.count);
    assert_eq!(kills.sum::<u32>(), 1);
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fire_burns_on_when_its_zone_falls_and_is_saved_with_its_logs() {
    let scene = beside("field_rat", |_| {}).await;
    let burns = |row: &ChunkRow| lasts(row, "fires", "ann");
    scene.acts(1, r#""light","option":"logs""#).await;
    until("the store knows of the fire", || {
        scene.store.read(|state| state.chunks.values().any(burns))
    })
    .await;
    let kept = scene.store.read(|state| state.kept.clone());
    let batch = kept.iter().find(|rows| rows.chunks.iter().any(burns));
    let burnt = batch.unwrap().ledger.iter();
    let burnt = burnt.filter(|entry| entry.item_id == "logs");
    assert_eq!(burnt.map(|entry| entry.delta).sum::<i64>(), -1);

    let (_, heir) = scene.another_run().await;
    heir.read(|seen| {
        let mut entered = seen.entered.iter();
        assert!(entered.any(|id| id.starts_with("fire:")), "{entered:?}");
    });
    scene.zone.stop().await;
}

/// Three ticks without a fight, ten in one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_loses_its_socket_in_a_fight_stays_longer() {
    let scene = beside("field_rat", |config| {
        config.linger = Duration::from_millis(900);
        config.linger_in_combat = Duration::from_millis(3_000);
    })
    .await;
    scene.attacks(1).await;
    let hit = || {
        let told = scene.gateway.messages("ann");
        told.iter().any(|message| message.event == "combat:hit")
    };
    until("a blow lands", hit).await;
    let stands = || {
        scene.gateway.read(|seen| {
            let ticks = seen.standing[&scene.run].iter().rev();
            let mut ticks = ticks.filter(|(_, players)| players.contains("ann"));
            ticks.next().map(|(tick, _)| *tick).unwrap()
        })
    };
    let lost = stands();
    let (_, attached) = scene.gateway.read(|seen| seen.attached["ann"].clone());
    let detach = Detach {
        session_id: "session-ann".to_owned(),
        character_id: "ann".to_owned(),
        session_epoch: 1,
        attach: attached.attach,
    };
    let detach = to_zone::Message::Detach(detach);
    scene.gateway.say(scene.run, detach).await;
    until("ann is logged out", || {
        !scene.store.read(|state| state.characters["ann"].online)
    })
    .await;
    let stayed = stands() - lost;
    assert!((8..=16).contains(&stayed), "{stayed} ticks");
    scene.zone.stop().await;
}
