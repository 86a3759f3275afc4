//! The run tells nobody of value before the store has it.

use proto::rpc::persistence::v1::{CharacterRecord, Slot};
use proto::rpc::queries::v1::{CrowdReply, CrowdRequest, live_queries_client::LiveQueriesClient};
use serde_json::{Value, json};

use super::*;
use crate::mutants::Mutants;

/// One zone with ann, who has five logs in her first slot.
struct Game {
    scene: Scene,
    gateway: Gateway,
    run: u64,
    stop: CancellationToken,
}

async fn game(mutants: Mutants) -> Game {
    game_with(mutants, |_| None, |_, _| {}).await
}

/// Starts a zone as [`game`] does. Ann stands at the tile of `place`, and `change` adds to her
/// record.
async fn game_with(
    mutants: Mutants,
    place: impl Fn(&world::Content) -> Option<world::Tile>,
    change: impl Fn(&world::Content, &mut CharacterRecord),
) -> Game {
    let (trap, store) = (Trap::at(Phase::Npcs), FakeStore::start().await);
    let server = trapped(&store, &trap, |config| {
        config.tick_ms = 100;
        config.mutants = mutants;
    })
    .await;
    let content = world::Content::embedded();
    let at = place(&content).unwrap_or(content.spawn());
    let scene = Scene {
        address: server.address().to_string(),
        region: Region::from(at),
        at,
        store,
    };
    scene.store.log_in("ann", at);
    scene.store.change(|state| {
        let ann = state.characters.get_mut("ann").unwrap();
        let logs = Slot {
            slot: 0,
            item_id: "logs".to_owned(),
            quantity: 5,
        };
        ann.record.inventory.push(logs);
        change(&content, &mut ann.record);
    });
    let stop = CancellationToken::new();
    tokio::spawn(server.run(stop.clone()));
    let run = || scene.store.run_at(&scene.address);
    until("the run", || run().is_some()).await;
    let run = run().unwrap();
    let gateway = scene.ann_plays(run, 1).await;
    Game {
        scene,
        gateway,
        run,
        stop,
    }
}

impl Game {
    fn hold(&self, held: bool) {
        let store = &self.scene.store;
        store.change(|state| state.faults.commits_held = held);
    }

    async fn asks(&self, number: u64, event: &str, data: Value) {
        let (run, data) = (self.run, data.to_string());
        self.gateway.input(run, "ann", number, event, data).await;
    }

    async fn drops(&self, number: u64) {
        let data = json!({"slot": 0, "quantity": 2});
        self.asks(number, "inventory:drop", data).await;
    }

    /// Returns the answers to the request of this number: codes, or `ack`.
    fn answers(&self, number: u64) -> Vec<String> {
        let messages = self.gateway.messages("ann").into_iter();
        let answers = messages.filter(|m| *m.re == *number.to_string().as_bytes());
        let code = |data: &[u8]| {
            let data: Value = serde_json::from_slice(data).unwrap();
            data["code"].as_str().unwrap_or("ack").to_owned()
        };
        answers.map(|m| code(&m.data)).collect()
    }

    fn told(&self, event: &str) -> Vec<Value> {
        let messages = self.gateway.messages("ann").into_iter();
        let told = messages.filter(|m| m.event == event);
        told.map(|m| serde_json::from_slice(&m.data).unwrap())
            .collect()
    }

    fn items(&self) -> usize {
        let items = |seen: &gateway::Seen| seen.items.get(&self.run).map_or(0, |all| all.len());
        self.gateway.read(items)
    }

    fn tick(&self) -> u64 {
        let last = |word: &gateway::Word| word.tick;
        self.gateway.read(|seen| {
            seen.words
                .get("ann")
                .and_then(|all| all.last())
                .map_or(0, last)
        })
    }

    async fn ticks(&self, count: u64) {
        let end = self.tick() + count;
        until("ticks pass", || self.tick() >= end).await;
    }

    async fn commit_comes(&self) {
        let come = || self.scene.store.read(|state| state.commits_come);
        let before = come();
        until("a commit comes", || come() > before).await;
    }

    /// Returns the run's answer to a gateway that asks how full it is.
    async fn crowd(&self) -> CrowdReply {
        let address = format!("http://{}", self.scene.address);
        let endpoint = tonic::transport::Endpoint::from_shared(address).unwrap();
        let mut client = LiveQueriesClient::new(endpoint.connect_lazy());
        let run_id = self.run;
        let reply = client.crowd(CrowdRequest { run_id }).await;
        reply.unwrap().into_inner()
    }

    fn shown_in_first_slot(&self) -> Value {
        let sync = self
            .gateway
            .read(|seen| seen.attached["ann"].1.sync.clone());
        let sync: Value = serde_json::from_slice(&sync).unwrap();
        sync["inventory"][0]["quantity"].clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drop_is_told_and_shown_at_once_when_the_store_has_it_and_not_before() {
    let game = game(Mutants::default()).await;
    assert_eq!(game.shown_in_first_slot(), 5);
    game.hold(true);
    game.drops(1).await;
    game.commit_comes().await;
    // Walking does not wait.
    game.gateway.walk(game.run, "ann", 2, game.scene.at).await;
    until("the walk is answered", || game.answers(2) == ["ack"]).await;
    assert_eq!(game.answers(1), [""; 0]);
    assert!(game.told("inventory:update").is_empty());
    assert_eq!(game.items(), 0);

    // The run shows a session that comes in between the state that the store has acknowledged.
    game.gateway.attach(game.run, "ann", 1, 2).await;
    let again = |seen: &gateway::Seen| seen.attached["ann"].1.attach == 2;
    until("ann is attached again", || game.gateway.read(again)).await;
    assert_eq!(game.shown_in_first_slot(), 5);
    game.ticks(2).await;
    assert_eq!((game.items(), game.answers(1).len()), (0, 0));

    game.hold(false);
    until("the drop is answered", || game.answers(1) == ["ack"]).await;
    let update = &game.told("inventory:update")[0];
    assert_eq!(update["slots"][0]["item"]["quantity"], 3);
    assert_eq!(game.items(), 1);
    let sync = game.told("player:sync").pop().unwrap();
    assert_eq!(sync["inventory"][0]["quantity"], 3);
    let extras = game.gateway.read(|seen| seen.extras.clone());
    let (items, events) = &extras[0];
    assert_eq!(items.len(), 1, "together, between two ticks");
    assert!(events.contains(&"ack".to_owned()), "{events:?}");
    assert!(
        events.contains(&"inventory:update".to_owned()),
        "{events:?}"
    );
    let problems = game.scene.store.read(|state| state.problems.clone());
    assert_eq!(problems, Vec::<String>::new());
    game.stop.cancel();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn value_is_refused_while_the_store_does_not_answer_and_not_afterwards() {
    let game = game(Mutants::default()).await;
    game.hold(true);
    game.drops(1).await;
    game.commit_comes().await;
    game.ticks(crate::commit::bounds::WAIT_TICKS_MAX + 1).await;
    game.drops(2).await;
    // The refusal shows no holdings, and need not wait.
    until("the second is refused", || {
        game.answers(2) == ["storage_unavailable"]
    })
    .await;
    assert_eq!(game.answers(1), [""; 0]);
    game.hold(false);
    until("the first is answered", || game.answers(1) == ["ack"]).await;
    game.ticks(1).await;
    game.drops(3).await;
    until("the third is answered", || game.answers(3) == ["ack"]).await;
    assert_eq!(game.items(), 2);
    game.stop.cancel();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_broken_variant_tells_before_the_store_has_it() {
    let game = game(Mutants {
        ack_before_commit: true,
        ..Mutants::default()
    })
    .await;
    game.hold(true);
    game.drops(1).await;
    until("the drop is answered", || game.answers(1) == ["ack"]).await;
    let has = |state: &store::State| state.characters["ann"].record.inventory[0].quantity;
    assert_eq!(
        game.scene.store.read(has),
        5,
        "and the store has nothing of it"
    );
    game.stop.cancel();
}

/// Returns a bank, and a tile from which it can be reached.
fn bank(content: &world::Content) -> Option<(world::EntityId, world::Tile)> {
    let regions = content.regions().into_iter();
    let fixtures = regions.flat_map(|region| content.fixtures_in(region).collect::<Vec<_>>());
    let mut banks = fixtures.filter(|fixture| &*fixture.sort == "bank");
    banks.find_map(|bank| {
        let near = [(0, 2), (2, 0), (0, -2), (-2, 0)];
        let near = near.map(|(x, z)| world::Tile {
            x: bank.tile.x + x,
            z: bank.tile.z + z,
        });
        let here = near.into_iter().find(|tile| {
            Region::from(*tile) == Region::from(bank.tile) && content.terrain().walkable(*tile)
        })?;
        Some((bank.id.clone(), here))
    })
}

/// Returns something that anybody may wear.
fn wearable(content: &world::Content) -> String {
    let mut kinds = content.items().iter();
    let kind = kinds
        .find(|kind| kind.equip_slot.is_some() && kind.requires.values().all(|level| *level <= 1));
    kind.expect("something to wear").id.to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_worn_and_banked_is_told_when_the_store_has_it_and_not_before() {
    let place = |content: &world::Content| bank(content).map(|(_, tile)| tile);
    let dressed = |content: &world::Content, ann: &mut CharacterRecord| {
        ann.inventory.push(Slot {
            slot: 1,
            item_id: wearable(content),
            quantity: 1,
        });
    };
    let game = game_with(Mutants::default(), place, dressed).await;
    let (target, _) = bank(&world::Content::embedded()).unwrap();
    game.asks(1, "bank:open", json!({"target": target.as_str()}))
        .await;
    until("the bank is open", || game.told("bank:state").len() == 1).await;
    assert_eq!(game.told("bank:state")[0]["full"], true);
    game.hold(true);
    game.asks(2, "inventory:equip", json!({"slot": 1})).await;
    let five = json!({"slot": 0, "quantity": 5});
    game.asks(3, "bank:deposit", five).await;
    game.commit_comes().await;
    game.ticks(2).await;
    assert_eq!((game.answers(2).len(), game.answers(3).len()), (0, 0));
    assert!(game.told("equipment:update").is_empty());
    assert_eq!(game.told("bank:state").len(), 1);

    // The run shows a session that comes in between the state that the store has acknowledged.
    game.gateway.attach(game.run, "ann", 1, 2).await;
    let again = |seen: &gateway::Seen| seen.attached["ann"].1.attach == 2;
    until("ann is attached again", || game.gateway.read(again)).await;
    assert_eq!(game.shown_in_first_slot(), 5);
    until("the bank is shown again", || {
        game.told("bank:state").len() == 2
    })
    .await;
    assert_eq!(game.told("bank:state")[1].get("items"), None);

    game.hold(false);
    until("both are answered", || {
        game.answers(2) == ["ack"] && game.answers(3) == ["ack"]
    })
    .await;
    until("all is shown", || !game.told("player:sync").is_empty()).await;
    let has = |state: &store::State| {
        let record = &state.characters["ann"].record;
        let banked = record.bank.iter().map(|i| (i.item_id.clone(), i.quantity));
        (record.equipment.len(), banked.collect::<Vec<_>>())
    };
    let stored = game.scene.store.read(has);
    assert_eq!(stored, (1, vec![("logs".to_owned(), 5)]));
    let worn = game.told("equipment:update");
    assert_eq!(worn[0]["slots"][0]["item"]["quantity"], 1);
    let problems = game.scene.store.read(|state| state.problems.clone());
    assert_eq!(problems, Vec::<String>::new());
    game.stop.cancel();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_run_tells_the_mean_times_of_ticks_and_of_commits_that_were_answered() {
    let game = game(Mutants::default()).await;
    game.drops(1).await;
    until("the first drop is answered", || game.answers(1) == ["ack"]).await;
    let before = game.crowd().await;
    assert!((1..600_000).contains(&before.tick_us), "{before:?}");
    assert!(before.commit_us > 0, "{before:?}");
    let attempts = || game.scene.store.read(|state| state.commits_come);
    game.hold(true);
    game.drops(2).await;
    game.commit_comes().await;
    let first = attempts();
    until("a second attempt at the batch", || attempts() > first).await;
    game.hold(false);
    until("the second drop is answered", || game.answers(2) == ["ack"]).await;
    let after = game.crowd().await;
    // An attempt without an answer takes two seconds: an eighth of that would show.
    assert!(after.commit_us < 200_000, "{before:?} {after:?}");
    game.stop.cancel();
}
