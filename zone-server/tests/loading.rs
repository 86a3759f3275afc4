//! Requests for a character whose region the zone has not got yet.

use std::time::Duration;

use crate::stage;

use stage::{
    Zone, border,
    gateway::Gateway,
    store::{Faults, Store},
    until,
};
use world::Region;

/// A zone that owns nothing yet, with its run and a gateway. Ann belongs to `west`, which the store
/// assigns to nobody until the test lets it.
struct Scene {
    store: Store,
    zone: Zone,
    run: u64,
    gateway: Gateway,
    west: Region,
}

async fn scene(faults: impl FnOnce(&mut Faults)) -> Scene {
    let (west, _, from, _) = border();
    let store = Store::start().await;
    store.log_in("ann", from);
    store.change(|state| {
        state.faults.regions_held = true;
        faults(&mut state.faults);
    });
    let zone = Zone::start(&store.address, |_| {}).await;
    let run = || store.run_at(&zone.address);
    until("the zone registers", || run().is_some()).await;
    let run = run().unwrap();
    let gateway = Gateway::new("g");
    gateway.link(run, &zone.address, 1, &[west]).await;
    Scene {
        store,
        zone,
        run,
        gateway,
        west,
    }
}

/// The gateway that asks must not take the character for gone, because nobody else has it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_resumes_while_its_region_is_on_its_way_is_told_to_try_again() {
    let Scene {
        store,
        zone,
        run,
        gateway,
        west,
    } = scene(|_| {}).await;
    let resume = async || {
        let asked = gateway.read(|seen| seen.refused.len());
        gateway.resume(run, "ann").await;
        let code = || gateway.read(|seen| seen.refused.get(asked).map(|(_, r)| r.code.clone()));
        let has = || gateway.read(|seen| seen.attached.contains_key("ann"));
        until("an answer", || code().is_some() || has()).await;
        code().unwrap_or_else(|| "attached".to_owned())
    };
    assert_eq!(
        resume().await,
        "not_here",
        "it has nothing and expects nothing"
    );
    store.assign(west, run);
    let begun = std::time::Instant::now();
    while resume().await == "not_here" {
        assert!(begun.elapsed() < stage::TIMEOUT, "the region is on its way");
    }
    assert_eq!(resume().await, "busy");
    store.change(|state| state.faults.regions_held = false);
    while resume().await != "attached" {
        assert!(begun.elapsed() < stage::TIMEOUT, "the region came");
    }
    zone.stop().await;
}

/// The store answers for many at once, so a zone does not ask for a few at a time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_who_come_at_once_are_asked_of_the_store_together() {
    let Scene {
        store,
        zone,
        run,
        gateway,
        west,
    } = scene(|faults| {
        faults.regions_held = false;
        faults.characters_held = true;
    })
    .await;
    store.assign(west, run);
    // She comes with her region.
    gateway.enter(run, "ann").await;
    let names: Vec<String> = (0..100).map(|n| format!("p{n}")).collect();
    let from = border().2;
    for name in &names {
        store.log_in(name, from);
        gateway.attach(run, name, 1, 1).await;
    }
    let asked = || {
        let all = |state: &stage::store::State| {
            let asked = |name: &&String| state.asked.contains(name);
            names.iter().filter(asked).count()
        };
        store.read(all)
    };
    until("the store is asked for all of them", || asked() == 100).await;
    store.change(|state| state.faults.characters_held = false);
    until("all play", || {
        gateway.read(|seen| names.iter().all(|name| seen.attached.contains_key(name)))
    })
    .await;
    zone.stop().await;
}

/// All whose zone has died ask at once, and again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_attaches_while_its_region_is_loaded_is_not_asked_of_the_store_as_well() {
    let Scene {
        store,
        zone,
        run,
        gateway,
        west,
    } = scene(|_| {}).await;
    store.assign(west, run);
    until("the region is asked for", || {
        store.read(|state| state.regions_asked > 0)
    })
    .await;
    for attach in 1..=3 {
        gateway.attach(run, "ann", 1, attach).await;
    }
    let codes = || {
        gateway.read(|seen| {
            let codes = seen.refused.iter().map(|(_, refused)| refused.code.clone());
            codes.collect::<Vec<_>>()
        })
    };
    until("each is answered", || codes().len() == 3).await;
    assert_eq!(codes(), ["busy"; 3]);
    store.change(|state| state.faults.regions_held = false);
    let mut attach = 3;
    let begun = std::time::Instant::now();
    while !gateway.read(|seen| seen.attached.contains_key("ann")) {
        attach += 1;
        gateway.attach(run, "ann", 1, attach).await;
        assert!(begun.elapsed() < stage::TIMEOUT, "the region came");
        until("an answer", || {
            let refused = codes().len() as u64 == attach;
            refused || gateway.read(|seen| seen.attached.contains_key("ann"))
        })
        .await;
    }
    assert_eq!(
        store.read(|state| state.asked.clone()),
        Vec::<String>::new()
    );
    zone.stop().await;
}

/// The store read the row before the logout, and it comes behind it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_logged_out_is_not_brought_back_by_a_row_that_comes_late() {
    let Scene {
        store,
        zone,
        run,
        gateway,
        west,
    } = scene(|faults| faults.characters_late = true).await;
    // While it loads a region it would not ask.
    gateway.attach(run, "ann", 1, 1).await;
    until("the zone asks for ann", || {
        store.read(|state| state.asked == ["ann"])
    })
    .await;
    // She comes with her region, and leaves.
    store.assign(west, run);
    store.change(|state| state.faults.regions_held = false);
    let standing = || {
        let last = |seen: &stage::gateway::Seen| {
            let (_, players) = seen.standing.get(&run)?.last_key_value()?;
            Some(players.contains("ann"))
        };
        gateway.read(last) == Some(true)
    };
    until("ann stands in the world", standing).await;
    gateway.attach(run, "ann", 1, 2).await;
    until("ann is attached", || {
        gateway.read(|seen| seen.attached.contains_key("ann"))
    })
    .await;
    let leave = ("world:leave", "{}".to_owned());
    gateway.input(run, "ann", 1, leave.0, leave.1).await;
    until("ann has left", || {
        gateway.read(|seen| !seen.left.is_empty())
    })
    .await;
    until("she stands nowhere", || !standing()).await;
    store.change(|state| state.faults.characters_late = false);
    until("the first attach is answered", || {
        gateway.read(|seen| seen.refused.iter().any(|(_, refused)| refused.attach == 1))
    })
    .await;
    let ticks = || gateway.read(|seen| seen.standing[&run].len());
    let heard = ticks();
    until("three ticks have passed", || ticks() >= heard + 3).await;
    assert!(!standing(), "she is back");
    assert!(!store.read(|state| state.characters["ann"].online));
    zone.stop().await;
}

/// A damaged document is for an operator: the store keeps the character out. A document of a newer
/// version waits for an owner that can read it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_plays_a_character_whose_document_cannot_be_read() {
    let read = world::CharacterState::default().to_document();
    let newer = [&[99], &read[1..]].concat();
    let damaged = read[..read.len() - 1].to_vec();
    for (document, kept_out) in [(damaged, true), (Vec::new(), true), (newer, false)] {
        let scene = scene(|faults| faults.regions_held = false).await;
        let (store, gateway) = (&scene.store, &scene.gateway);
        let ann = |store: &Store| store.read(|state| state.characters["ann"].clone());
        store.change(|state| {
            let ann = state.characters.get_mut("ann").unwrap();
            ann.record.state = document.clone().into();
        });
        store.assign(scene.west, scene.run);
        let begun = std::time::Instant::now();
        let mut attach = 0;
        while gateway.read(|seen| seen.refused.iter().all(|(_, r)| r.code != "busy")) {
            attach += 1;
            gateway.attach(scene.run, "ann", 1, attach).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert!(begun.elapsed() < stage::TIMEOUT, "it is refused");
        }
        until("the store hears", || ann(store).online != kept_out).await;
        assert!(gateway.read(|seen| seen.attached.is_empty()));
        assert_eq!(ann(store).record.state, document, "nothing was written");

        // Once its document can be read, it plays.
        store.change(|state| {
            let ann = state.characters.get_mut("ann").unwrap();
            ann.online = true;
            ann.record.state = read.clone().into();
        });
        while gateway.read(|seen| seen.attached.is_empty()) {
            attach += 1;
            gateway.attach(scene.run, "ann", 1, attach).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert!(begun.elapsed() < stage::TIMEOUT, "it plays");
        }
        scene.zone.stop().await;
    }
}
