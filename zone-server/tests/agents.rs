//! Agents in a zone: they live without a session, do what the store has and what they are told,
//! and rest while somebody plays them.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use proto::rpc::{
    agents::v1::{
        LookReply, LookRequest, Orders, SayReply, SayRequest, TellRequest,
        zone_agents_client::ZoneAgentsClient,
    },
    persistence::v1::Slot,
    zone::v1::{Detach, to_zone},
};
use tonic::transport::Channel;
use world::Tile;

use crate::stage;
use stage::{TIMEOUT, Zone, agents::orders, border, gateway::Gateway, store::Store, until};

struct Scene {
    store: Store,
    zone: Zone,
    run: u64,
    from: Tile,
}

/// Time after which a player without a session leaves.
const LINGER: Duration = Duration::from_secs(4);

/// Starts one zone with one region, in which the agent `ann` is.
async fn scene(orders: Orders) -> Scene {
    let (.., from, _) = border();
    let store = Store::start().await;
    store.log_in("ann", from);
    store.change(|state| {
        state.agents_version = orders.version;
        state.agents.insert("ann".to_owned(), orders);
    });
    let (zone, run) = started(&store).await;
    Scene {
        store,
        zone,
        run,
        from,
    }
}

async fn started(store: &Store) -> (Zone, u64) {
    let (west, ..) = border();
    let zone = Zone::start(&store.address, |config| {
        config.linger = LINGER;
    })
    .await;
    until("the zone registers", || {
        store.run_at(&zone.address).is_some()
    })
    .await;
    let run = store.run_at(&zone.address).unwrap();
    store.assign(west, run);
    (zone, run)
}

impl Scene {
    fn client(&self) -> ZoneAgentsClient<Channel> {
        ZoneAgentsClient::new(crate::stage::gateway::channel(&self.zone.address))
    }

    async fn look(&self) -> LookReply {
        let ask = LookRequest {
            to_run_id: self.run,
            character_id: "ann".to_owned(),
        };
        let begun = std::time::Instant::now();
        loop {
            // A run is registered a moment before it can be asked.
            match self.client().look(ask.clone()).await {
                Ok(reply) => return reply.into_inner(),
                Err(status) => assert!(begun.elapsed() < TIMEOUT, "{status}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Looks until something holds.
    async fn sees(&self, what: &str, holds: impl Fn(&LookReply) -> bool) -> LookReply {
        let begun = std::time::Instant::now();
        loop {
            let seen = self.look().await;
            if holds(&seen) {
                return seen;
            }
            assert!(begun.elapsed() < TIMEOUT, "never: {what}: {seen:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Changes the store's orders and tells the zone.
    async fn ordered(&self, change: impl FnOnce(&mut Orders)) {
        let orders = self.store.change(|state| {
            state.agents_version += 1;
            let version = state.agents_version;
            let orders = state.agents.get_mut("ann").unwrap();
            change(orders);
            orders.version = version;
            orders.clone()
        });
        let ask = TellRequest {
            to_run_id: self.run,
            orders: Some(orders),
        };
        assert!(self.client().tell(ask).await.unwrap().into_inner().here);
    }

    async fn say(&self, text: &str) -> SayReply {
        let ask = SayRequest {
            to_run_id: self.run,
            character_id: "ann".to_owned(),
            text: text.to_owned(),
            message_id: "m".to_owned(),
            from_account_id: "account-ann".to_owned(),
            from_name: "Dashboard".to_owned(),
            at: "2026-01-01T00:00:00.000Z".to_owned(),
        };
        self.client().say(ask).await.unwrap().into_inner()
    }

    /// Checks that the agent does not move for some ticks.
    async fn stands(&self) -> LookReply {
        let first = self.look().await;
        let last = self.sees("ticks go by", |seen| seen.tick >= first.tick + 8);
        let last = last.await;
        assert_eq!(last.position, first.position, "{last:?}");
        last
    }
}

fn away(seen: &LookReply, from: Tile) -> bool {
    let at = seen.position.unwrap();
    from.steps_to(Tile { x: at.x, z: at.z }) > 6
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_told_what_is_about_it_and_what_it_carries() {
    let (.., from, _) = border();
    let store = Store::start().await;
    store.log_in("ann", from);
    store.change(|state| {
        let mut orders = orders("ann");
        orders.paused = true;
        state.agents_version = orders.version;
        state.agents.insert("ann".to_owned(), orders);
        let ann = &mut state.characters.get_mut("ann").unwrap().record;
        ann.inventory = [(2, "bronze_hatchet", 1), (5, "bread", 1), (9, "coins", 70)]
            .map(|(slot, item, quantity)| Slot {
                slot,
                item_id: item.to_owned(),
                quantity,
            })
            .into();
    });
    let (zone, run) = started(&store).await;
    let scene = Scene {
        store,
        zone,
        run,
        from,
    };
    let seen = scene.sees("things about it", |seen| !seen.nearby.is_empty());
    let seen = seen.await;
    let carried = seen.inventory.iter();
    let carried: Vec<_> = carried
        .map(|c| (c.slot, &*c.name, c.quantity, c.can_equip, c.can_use))
        .collect();
    assert_eq!(
        carried,
        [
            (2, "Bronze hatchet", 1, true, false),
            (5, "Bread", 1, false, true),
            (9, "Coins", 70, false, false),
        ]
    );
    let distances: Vec<u32> = seen.nearby.iter().map(|place| place.distance).collect();
    assert!(distances.is_sorted(), "{distances:?}");
    for place in &seen.nearby {
        let at = place.tile.unwrap();
        let far = from.steps_to(Tile { x: at.x, z: at.z });
        assert_eq!(far, place.distance, "{place:?}");
        assert!(
            !place.sort.is_empty() && !place.name.is_empty(),
            "{place:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_without_a_session_lives_walks_stops_and_the_stop_survives_its_zone() {
    let mut scene = scene(orders("ann")).await;
    let from = scene.from;
    let seen = scene.sees("ann goes somewhere", |seen| seen.here && away(seen, from));
    let seen = seen.await;
    assert!(seen.goal.clone().is_some_and(|goal| goal.automatic) && !seen.played);
    assert!(!seen.available.is_empty() && !seen.recent_actions.is_empty());
    scene.ordered(|orders| orders.paused = true).await;
    scene.sees("it has stopped", |seen| seen.version == 2).await;
    let stopped = scene.stands().await;
    assert_eq!(stopped.goal, None);
    // Nobody plays it, and it is still there long after anybody else would have left.
    let long = seen.tick + LINGER.as_millis() as u64 / stage::TICK_MS + 5;
    scene.sees("time goes by", |seen| seen.tick >= long).await;
    assert!(scene.store.read(|state| state.characters["ann"].online));
    scene.zone.stop().await;
    (scene.zone, scene.run) = started(&scene.store).await;
    scene
        .sees("it is back", |seen| seen.here && seen.version == 2)
        .await;
    let stands = scene.stands().await;
    assert_eq!((stands.position, stands.goal), (stopped.position, None));
    let problems = scene.store.read(|state| state.problems.clone());
    assert_eq!(problems, Vec::<String>::new());
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_that_no_gateway_brought_come_from_the_store() {
    let scene = scene(Orders {
        paused: true,
        ..orders("ann")
    })
    .await;
    scene.sees("it is known", |seen| seen.version == 1).await;
    scene.store.change(|state| {
        state.agents_version = 2;
        let orders = state.agents.get_mut("ann").unwrap();
        orders.version = 2;
        orders.paused = false;
        orders.goal_id = "rest".to_owned();
    });
    let seen = scene.sees("it rests", |seen| seen.version == 2).await;
    assert_eq!(seen.goal.unwrap().id, "rest");
    until("the store hears how it does", || {
        let reported = |state: &stage::store::State| {
            let mut reports = state.reports.iter();
            reports.any(|r| r.version == 2 && r.character_id == "ann")
        };
        scene.store.read(reported)
    })
    .await;
    // It is an agent no more: then it leaves, because nobody plays it.
    scene.store.change(|state| {
        state.agents_version = 3;
        state.agents.clear();
    });
    until("it has left", || {
        !scene.store.read(|state| state.characters["ann"].online)
    })
    .await;
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chat_works_while_goals_are_paused_and_a_player_hears_it_instead() {
    let scene = scene(Orders {
        paused: true,
        ..orders("ann")
    })
    .await;
    scene.sees("it is known", |seen| seen.version == 1).await;
    let morning = scene.say("good morning").await;
    assert!(morning.here && morning.understood.is_empty() && morning.refused.is_empty());
    for taught in ["stop", "go to the bank"] {
        assert!(
            morning.known.iter().any(|known| known == taught),
            "{taught}"
        );
    }
    let nobody = scene.say("follow me").await;
    assert!(!nobody.refused.is_empty() && nobody.understood.is_empty());
    let (x, z) = (scene.from.x + 5, scene.from.z);
    let told = scene.say(&format!("Go to {x}, {z}!")).await;
    assert!(told.here && !told.heard && !told.understood.is_empty());
    scene
        .sees("it went there", |seen| {
            let at = seen.position.unwrap();
            Tile::new(at.x, at.z).steps_to(Tile::new(x, z)) <= 3
        })
        .await;
    let gateway = Gateway::new("g");
    let (west, ..) = border();
    gateway
        .link(scene.run, &scene.zone.address, 1, &[west])
        .await;
    gateway.attach(scene.run, "ann", 1, 1).await;
    scene.sees("somebody plays it", |seen| seen.played).await;
    scene.ordered(|orders| orders.paused = false).await;
    let stands = scene.stands().await;
    assert!(stands.played, "goals rest while somebody plays it");
    let told = scene.say("explore").await;
    assert!(told.heard && told.understood.is_empty());
    until("the player hears it", || {
        let heard = gateway.messages("ann");
        heard.iter().any(|m| m.event == "chat:message")
    })
    .await;
    let detach = Detach {
        session_id: "session-ann".to_owned(),
        character_id: "ann".to_owned(),
        session_epoch: 1,
        attach: 1,
    };
    gateway
        .say(scene.run, to_zone::Message::Detach(detach))
        .await;
    let at = stands.position;
    scene
        .sees("it gets on by itself again", |seen| {
            seen.here && !seen.played && seen.position != at
        })
        .await;
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_told_about_whom_this_run_does_not_play() {
    let scene = scene(orders("ann")).await;
    scene.sees("ann is here", |seen| seen.here).await;
    let mut client = scene.client();
    for (to_run_id, who) in [(scene.run, "nobody"), (scene.run + 1, "ann")] {
        let look = LookRequest {
            to_run_id,
            character_id: who.to_owned(),
        };
        assert!(!client.look(look).await.unwrap().into_inner().here);
        let tell = TellRequest {
            to_run_id,
            orders: Some(orders(who)),
        };
        assert!(!client.tell(tell).await.unwrap().into_inner().here);
    }
    let nothing = TellRequest {
        to_run_id: scene.run,
        orders: None,
    };
    assert!(!client.tell(nothing).await.unwrap().into_inner().here);
    scene.zone.stop().await;
}
