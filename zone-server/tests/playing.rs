//! One zone, one gateway: entering, walking, answers, leaving, and the saved state after each.

#![allow(clippy::unwrap_used)]

use crate::{border::scene_of, stage};

use bytes::Bytes;
use proto::rpc::{
    common::v1 as common,
    persistence::v1::Slot,
    zone::v1::{Detach, DumpRequest, Recall, inspect_client::InspectClient, to_zone},
};
use stage::{Zone, border, gateway::Gateway, store::Store, until};
use world::{Region, Tile};

struct Scene {
    store: Store,
    zone: Zone,
    gateway: Gateway,
    run: u64,
    from: Tile,
}

/// Starts one zone that owns one region, with a linked gateway and `names` logged in.
async fn scene(names: &[&str], change: impl FnOnce(&mut zone_server::Config)) -> Scene {
    let (west, _, from, _) = border();
    let store = Store::start().await;
    for name in names {
        store.log_in(name, from);
    }
    let zone = Zone::start(&store.address, change).await;
    until("the zone registers", || {
        store.run_at(&zone.address).is_some()
    })
    .await;
    let run = store.run_at(&zone.address).unwrap();
    store.assign(west, run);
    let gateway = Gateway::new("g");
    gateway.link(run, &zone.address, 1, &[west]).await;
    Scene {
        store,
        zone,
        gateway,
        run,
        from,
    }
}

impl Scene {
    async fn enter(&self, who: &str) {
        self.gateway.enter(self.run, who).await;
    }

    fn answers(&self, who: &str) -> Vec<(String, String)> {
        let messages = self.gateway.messages(who).into_iter();
        let answers = messages.filter(|m| m.event == "ack" || m.event == "error");
        answers
            .map(|m| {
                let code = serde_json::from_slice::<serde_json::Value>(&m.data).unwrap();
                let code = code["code"].as_str().unwrap_or("ack").to_owned();
                (String::from_utf8(m.re.to_vec()).unwrap(), code)
            })
            .collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_player_enters_walks_and_is_where_it_was_when_it_comes_back() {
    let scene = scene(&["ann"], |_| {}).await;
    scene.enter("ann").await;
    let (_, attached) = scene.gateway.read(|seen| seen.attached["ann"].clone());
    assert_eq!(
        attached.position.map(|p| (p.x, p.z)),
        Some((scene.from.x, scene.from.z))
    );
    let sync: serde_json::Value = serde_json::from_slice(&attached.sync).unwrap();
    assert_eq!(sync["character"]["name"], "ann");

    let to = Tile {
        x: scene.from.x + 5,
        ..scene.from
    };
    scene.gateway.walk(scene.run, "ann", 1, to).await;
    until("ann is there", || {
        scene.gateway.position("ann").is_some_and(|p| p.x == to.x)
    })
    .await;
    assert_eq!(scene.answers("ann"), [("1".to_owned(), "ack".to_owned())]);
    scene
        .gateway
        .input(scene.run, "ann", 2, "world:leave", "{}".to_owned())
        .await;
    until("ann has left", || {
        !scene.gateway.read(|seen| seen.left.is_empty())
    })
    .await;
    let (_, left) = scene.gateway.read(|seen| seen.left[0].clone());
    assert_eq!((&*left.reason, &*left.re), ("left", &b"2"[..]));
    let ann = scene.store.read(|state| state.characters["ann"].clone());
    assert!(!ann.online);
    assert_eq!((ann.record.x, ann.record.z), (to.x, to.z));
    assert_eq!(ann.record.account_id, "account-ann");

    scene.store.change(|state| {
        let ann = state.characters.get_mut("ann").unwrap();
        ann.online = true;
        ann.record.session_epoch = 2;
    });
    scene.gateway.seen.lock().unwrap().attached.clear();
    scene.gateway.attach(scene.run, "ann", 2, 1).await;
    until("ann is back", || {
        scene.gateway.read(|seen| seen.attached.contains_key("ann"))
    })
    .await;
    let (_, attached) = scene.gateway.read(|seen| seen.attached["ann"].clone());
    assert_eq!(attached.position.map(|p| p.x), Some(to.x));
    assert_eq!(
        scene.store.read(|state| state.problems.clone()),
        Vec::<String>::new()
    );
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_input_is_answered_once_and_in_order() {
    let scene = scene(&["ann"], |_| {}).await;
    scene.enter("ann").await;
    let (run, gateway) = (scene.run, &scene.gateway);
    let fly = r#"{"action":"fly"}"#.to_owned();
    gateway.input(run, "ann", 2, "player:action", fly).await;
    gateway
        .input(run, "ann", 3, "player:move", "{}".to_owned())
        .await;
    gateway
        .input(run, "ann", 1, "player:move", r#"{"run":true}"#.to_owned())
        .await;
    gateway
        .input(run, "ann", 1, "player:move", r#"{"run":true}"#.to_owned())
        .await;
    let far = r#"{"target":{"x":9999,"z":9999}}"#.to_owned();
    gateway.input(run, "ann", 4, "player:move", far).await;
    until("four answers", || scene.answers("ann").len() >= 4).await;
    let mut answers = scene.answers("ann");
    answers.sort();
    let answers: Vec<(&str, &str)> = answers.iter().map(|(a, b)| (&**a, &**b)).collect();
    assert_eq!(
        answers[..3],
        [("1", "ack"), ("2", "unsupported"), ("3", "invalid_data")]
    );
    assert!(
        ["unreachable", "too_far"].contains(&answers[3].1),
        "{answers:?}"
    );
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_inputs_at_once_are_refused_and_disturb_nobody() {
    let scene = scene(&["ann"], |_| {}).await;
    scene.enter("ann").await;
    for number in 1..=100 {
        let stop = r#"{"stop":true}"#.to_owned();
        scene
            .gateway
            .input(scene.run, "ann", number, "player:move", stop)
            .await;
    }
    until("all are answered", || scene.answers("ann").len() == 100).await;
    let busy = scene
        .answers("ann")
        .iter()
        .filter(|(_, code)| code == "busy")
        .count();
    assert!(busy > 0 && busy < 100, "{busy} of 100");
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_socket_lingers_and_an_older_session_gets_nothing() {
    let scene = scene(&["ann"], |config| {
        config.linger = std::time::Duration::from_millis(900)
    });
    let scene = scene.await;
    scene.enter("ann").await;
    let (_, attached) = scene.gateway.read(|seen| seen.attached["ann"].clone());
    scene
        .gateway
        .attach(scene.run, "ann", 1, attached.attach)
        .await;
    until("it is older", || {
        let older =
            |seen: &stage::gateway::Seen| seen.refused.iter().any(|r| r.1.code == "elsewhere");
        scene.gateway.read(older)
    })
    .await;
    scene
        .gateway
        .detach(scene.run, "ann", attached.attach)
        .await;
    until("ann is logged out", || {
        !scene.store.read(|s| s.characters["ann"].online)
    })
    .await;
    let reason = scene.store.read(|s| s.characters["ann"].logout.clone());
    assert_eq!(reason.as_deref(), Some("disconnected"));
    scene.zone.stop().await;
}

/// Starts a zone that plays its region and removes a player 900 ms after its session ended. Zoe
/// comes online and `g` asks for her; the store does not answer until the test lets it.
async fn zoe_is_on_her_way() -> Scene {
    let scene = scene(&["ann"], |config| {
        config.linger = std::time::Duration::from_millis(900)
    });
    let scene = scene.await;
    scene.enter("ann").await;
    scene
        .store
        .change(|state| state.faults.characters_held = true);
    scene.store.log_in("zoe", scene.from);
    scene.gateway.attach(scene.run, "zoe", 1, 1).await;
    until("zoe is asked for", || {
        let asked = |state: &stage::store::State| state.asked.iter().any(|who| who == "zoe");
        scene.store.read(asked)
    })
    .await;
    scene
}

impl Scene {
    async fn zoe_comes_and_goes(&self) {
        self.store
            .change(|state| state.faults.characters_held = false);
        until("zoe is logged out", || {
            !self.store.read(|state| state.characters["zoe"].online)
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_goes_before_the_store_has_answered_does_not_stay_for_ever() {
    let scene = zoe_is_on_her_way().await;
    let detach = Detach {
        session_id: "session-zoe".to_owned(),
        character_id: "zoe".to_owned(),
        session_epoch: 1,
        attach: 1,
    };
    scene
        .gateway
        .say(scene.run, to_zone::Message::Detach(detach))
        .await;
    // Heard in order: when ann's step is answered, the detach was heard.
    scene.gateway.walk(scene.run, "ann", 1, scene.from).await;
    until("ann is answered", || !scene.answers("ann").is_empty()).await;
    scene.zoe_comes_and_goes().await;
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_for_the_store_when_its_gateway_dies_does_not_stay_for_ever() {
    let scene = zoe_is_on_her_way().await;
    scene.gateway.unlink(scene.run);
    until("the link is over", || {
        scene.gateway.read(|seen| seen.closed.contains(&scene.run))
    })
    .await;
    scene.zoe_comes_and_goes().await;
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_its_gateway_does_not_know_lingers() {
    let scene = scene(&["ann"], |config| {
        config.linger = std::time::Duration::from_millis(900)
    });
    let scene = scene.await;
    scene.enter("ann").await;
    let unknown = |session_id: &str| Detach {
        session_id: session_id.to_owned(),
        character_id: "ann".to_owned(),
        ..Detach::default()
    };
    let other = Gateway::new("other");
    other.link(scene.run, &scene.zone.address, 1, &[]).await;
    let own = to_zone::Message::Detach(unknown("session-ann"));
    other.say(scene.run, own.clone()).await;
    let another = to_zone::Message::Detach(unknown("another"));
    scene.gateway.say(scene.run, another).await;
    let words = || {
        let words = |seen: &stage::gateway::Seen| seen.words.get("ann").map_or(0, Vec::len);
        scene.gateway.read(words)
    };
    let before = words();
    until("she is shown for longer than she would linger", || {
        words() > before + 5
    })
    .await;
    assert!(scene.store.read(|s| s.characters["ann"].online));
    scene.gateway.say(scene.run, own).await;
    until("ann is logged out", || {
        !scene.store.read(|s| s.characters["ann"].online)
    })
    .await;
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_input_of_a_session_that_is_not_attached_any_more_is_not_dropped_in_silence() {
    let scene = scene(&["ann"], |_| {}).await;
    scene.enter("ann").await;
    let detach = Detach {
        session_id: "session-ann".to_owned(),
        character_id: "ann".to_owned(),
        session_epoch: 1,
        // Of an attach that was sent elsewhere and fenced the one that is here.
        attach: 1_000,
    };
    let detach = to_zone::Message::Detach(detach);
    scene.gateway.say(scene.run, detach).await;
    scene.gateway.walk(scene.run, "ann", 1, scene.from).await;
    until("the gateway is told to attach again", || {
        let told = |seen: &stage::gateway::Seen| {
            let mut refused = seen.refused.iter().map(|(_, refused)| refused);
            refused.any(|r| r.session_id == "session-ann" && r.attach == 0 && r.code == "not_here")
        };
        scene.gateway.read(told)
    })
    .await;
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_out_of_the_world_is_told_so_and_not_to_ask_elsewhere() {
    let scene = scene(&["ann"], |_| {}).await;
    scene.enter("ann").await;
    scene.gateway.attach(scene.run, "nobody", 1, 1).await;
    until("refused", || {
        let refused = |seen: &stage::gateway::Seen| {
            let mut refused = seen.refused.iter().map(|(_, refused)| refused);
            refused.any(|r| r.character_id == "nobody" && r.code == "not_in_world")
        };
        scene.gateway.read(refused)
    })
    .await;
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_with_nobody_to_take_over_saves_everybody_and_logs_nobody_out() {
    let scene = scene(&["ann", "bob"], |_| {}).await;
    scene.enter("ann").await;
    scene.enter("bob").await;
    let to = Tile {
        x: scene.from.x + 2,
        ..scene.from
    };
    scene.gateway.walk(scene.run, "ann", 1, to).await;
    until("ann is there", || {
        scene.gateway.position("ann").is_some_and(|p| p.x == to.x)
    })
    .await;
    scene.zone.stop().await;
    let ann = scene.store.read(|state| state.characters["ann"].clone());
    assert_eq!((ann.online, ann.record.x), (true, to.x));
    assert_eq!(ann.logout, None);
    assert_eq!(
        scene.store.read(|state| state.released.clone()),
        [scene.run]
    );
    until("the link ends", || {
        scene.gateway.read(|seen| seen.closed.contains(&scene.run))
    })
    .await;
    // The next run plays them on; the gateway keeps their sockets until then.
    assert_eq!(scene.gateway.read(|seen| seen.left.len()), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fenced_run_drops_everything_and_a_new_one_begins() {
    let scene = scene(&["ann"], |_| {}).await;
    scene.enter("ann").await;
    scene.store.change(|state| state.fenced.push(scene.run));
    until("a new run", || {
        scene
            .store
            .run_at(&scene.zone.address)
            .is_some_and(|run| run > scene.run)
    })
    .await;
    until("the link is closed", || {
        scene.gateway.read(|seen| seen.closed.contains(&scene.run))
    })
    .await;
    assert!(scene.store.read(|state| state.characters["ann"].online));
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_online_here_is_loaded_without_anybody_asking() {
    let scene = scene(&[], |_| {}).await;
    until("frames come", || {
        scene.gateway.read(|seen| !seen.standing.is_empty())
    })
    .await;
    scene.store.log_in("zoe", scene.from);
    until("zoe stands in the world", || {
        let seen = |seen: &stage::gateway::Seen| {
            let last = seen
                .standing
                .get(&scene.run)
                .and_then(|ticks| ticks.last_key_value());
            last.is_some_and(|(_, players)| players.contains("zoe"))
        };
        scene.gateway.read(seen)
    })
    .await;
    assert_eq!(Region::from(scene.from), border().0);
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dump_shows_what_was_published_at_its_tick() {
    let scene = scene(&["ann", "bob"], |config| config.dump_ticks = 50).await;
    scene.enter("ann").await;
    let walked = Tile {
        x: scene.from.x + 4,
        ..scene.from
    };
    scene.gateway.walk(scene.run, "ann", 1, walked).await;
    let there = || {
        let position = scene.gateway.position("ann");
        position.is_some_and(|p| p.x == walked.x)
    };
    until("ann is there", there).await;
    let words = scene.gateway.read(|seen| seen.words["ann"].clone());
    let region = Region::from(scene.from);
    let chunks = (0..64).map(|i| common::Chunk {
        x: region.x * 8 + i % 8,
        z: region.z * 8 + i / 8,
    });
    let chunks: Vec<common::Chunk> = chunks.collect();
    let channel = crate::stage::gateway::channel(&scene.zone.address);
    let mut inspect = InspectClient::new(channel).max_decoding_message_size(64 << 20);
    for word in words {
        let request = DumpRequest {
            tick: word.tick,
            chunks: chunks.clone(),
        };
        let dump = inspect.dump(request).await.unwrap().into_inner();
        assert_eq!(dump.chunks.len(), chunks.len());
        let all = dump.chunks.iter().flat_map(|chunk| &chunk.enter);
        let ann = all
            .filter(|e| e.id == "ann")
            .map(|e| (e.x, e.z))
            .collect::<Vec<_>>();
        let position = word.position.unwrap();
        assert_eq!(ann, [(position.x, position.z)], "at {}", word.tick);
    }
    let unknown = DumpRequest { tick: 1, chunks };
    let status = inspect.dump(unknown).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::NotFound);
    scene.zone.stop().await;
}

/// The socket at the other gateway may be there still, and nobody else would tell it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_goes_on_at_another_gateway_is_over_at_the_first() {
    let scene = scene(&["ann"], |_| {}).await;
    scene.enter("ann").await;
    let (_, attached) = scene.gateway.read(|seen| seen.attached["ann"].clone());
    let other = Gateway::new("other");
    let west = Region::from(scene.from);
    let address = &scene.zone.address;
    other.link(scene.run, address, 1, &[west]).await;
    let numbered = || other.read(|seen| seen.attached.get("ann").map(|(_, a)| a.attach));
    other.resume(scene.run, "ann").await;
    until("the first gateway hears of it", || {
        scene.gateway.read(|seen| !seen.left.is_empty())
    })
    .await;
    let (_, left) = scene.gateway.read(|seen| seen.left[0].clone());
    assert_eq!((&*left.reason, left.session_epoch), ("replaced", 1));
    until("the other one plays", || numbered().is_some()).await;
    let number = numbered().unwrap();
    // Asked of several runs, it may have gone over from one that has answered to this one.
    other.seen.lock().unwrap().attached.clear();
    other.resume(scene.run, "ann").await;
    until("it is answered again", || numbered().is_some()).await;
    assert_eq!(numbered(), Some(number), "by the same number");
    // Until the first gateway hears of that, all its messages are old.
    for late in 1..=5 {
        let attach = attached.attach + late;
        scene.gateway.attach(scene.run, "ann", 1, attach).await;
        scene.gateway.detach(scene.run, "ann", attach).await;
    }
    let refused = || scene.gateway.read(|seen| seen.refused.clone());
    let last = || refused().last().map(|(_, refused)| refused.attach);
    until("all are refused", || last() == Some(attached.attach + 5)).await;
    let refused = refused();
    let late = refused.iter().rev().take(5);
    assert_eq!(late.filter(|(_, r)| r.code == "elsewhere").count(), 5);
    // Attached once more where it is, it is not over anywhere.
    other.attach(scene.run, "ann", 1, number + 1).await;
    until("it is attached anew", || numbered() == Some(number + 1)).await;
    assert!(other.read(|seen| seen.left.is_empty()));
    scene.zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_nobody_will_answer_is_said_to_be_lost_when_it_is_asked_for() {
    let scene = scene_of(&["ann"], false, |store| {
        store.change(|state| {
            let ann = state.characters.get_mut("ann").unwrap();
            ann.record.inventory = vec![Slot {
                slot: 0,
                item_id: "logs".to_owned(),
                quantity: 1,
            }];
        });
    })
    .await;
    scene.store.change(|state| state.faults.commits_held = true);
    let answers = |who: &str| {
        let told = scene.gateway.messages(who).into_iter();
        let told = told.map(|message| String::from_utf8(message.re.to_vec()).unwrap());
        told.filter(|re| !re.is_empty()).collect::<Vec<String>>()
    };
    let (run, logs) = (scene.run_a, r#"{"slot":0}"#.to_owned());
    // Its answer waits for the store.
    scene
        .gateway
        .input(run, "ann", 1, "inventory:drop", logs)
        .await;
    scene.gateway.walk(run, "ann", 2, scene.from).await;
    until("the step is answered", || !answers("ann").is_empty()).await;
    let recall = |session_epoch| {
        to_zone::Message::Recall(Recall {
            session_id: "session-ann".to_owned(),
            character_id: "ann".to_owned(),
            session_epoch,
            ids: vec![Bytes::from("1"), Bytes::from("never passed on")],
        })
    };
    // Another login's requests are nobody's here.
    scene.gateway.say(run, recall(7)).await;
    scene.gateway.say(run, recall(1)).await;
    until("one is lost", || {
        scene.gateway.read(|seen| !seen.lost.is_empty())
    })
    .await;
    scene
        .store
        .change(|state| state.faults.commits_held = false);
    until("the other is answered", || {
        answers("ann").contains(&"1".to_owned())
    })
    .await;
    scene.gateway.read(|seen| {
        let lost: Vec<&[u8]> = seen.lost.iter().map(|(_, lost)| &*lost.id).collect();
        assert_eq!(lost, [b"never passed on"]);
        assert_eq!(seen.lost[0].1.session_epoch, 1);
    });
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_gateway_is_told_fields_as_it_reads_them() {
    let scene = scene(&["ann"], |_| {}).await;
    let (west, ..) = border();
    let old = Gateway::of_release_0_2_0("old");
    old.link(scene.run, &scene.zone.address, 1, &[west]).await;
    scene.enter("ann").await;
    for gateway in [&scene.gateway, &old] {
        until("ann is shown", || {
            gateway.read(|seen| seen.entered.contains("ann"))
        })
        .await;
    }
    assert_eq!(scene.gateway.read(|seen| seen.fields), (false, true));
    assert_eq!(old.read(|seen| seen.fields), (true, false));
    scene.zone.stop().await;
}
