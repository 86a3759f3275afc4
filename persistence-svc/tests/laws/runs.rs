//! Leases, fencing, placement and the directory.

use std::time::Duration;

use proto::rpc::common::v1::Region;
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::RunState;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use tokio::time::sleep;
use tonic::Code;

use crate::stage::{Kind, Stage, Zone, at, refused, region, stay, until};

/// Leases so short that a test can wait until they end.
const LEASE: Duration = Duration::from_millis(400);
const SHORT: &[(&str, &str)] = &[("LEASE_MS", "400")];

/// Renews `live` until the region of `dead` has another owner; that owner.
async fn taken_over(stage: &Stage, live: &Zone, dead: &Zone) -> wire::RegionOwner {
    until("the dead run's region is taken over", async || {
        assert_eq!(stage.renew(live.run).await, RunState::Live);
        let owner = stage.owner(dead.place).await;
        (owner.run_id != dead.run).then_some(owner)
    })
    .await
}

/// Starts a zone that owns a place, and renews its lease and that of `other` until it does: a busy
/// machine may take longer for that than a lease lasts.
async fn renewed(stage: &Stage, place: Region, other: Option<u64>) -> Zone {
    until("a run owns its region", async || {
        let run = stage.register(&[place]).await.run_id;
        for _ in 0..100 {
            if let Some(other) = other {
                assert_eq!(stage.renew(other).await, RunState::Live);
            }
            stage.renew(run).await;
            let owner = stage.owner(place).await;
            if owner.run_id == run {
                let epoch = owner.epoch;
                return Some(Zone { run, place, epoch });
            }
            sleep(Duration::from_millis(20)).await;
        }
        None
    })
    .await
}

/// Starts a zone that keeps its lease, and one with a player that has stopped doing so.
async fn survivor_and_victim(stage: &Stage) -> (Zone, Zone) {
    let victim = renewed(stage, region(0, 0), None).await;
    let survivor = renewed(stage, region(9, 0), Some(victim.run)).await;
    (survivor, victim)
}

pub(crate) async fn a_dead_run_is_fenced_and_its_regions_go_on(kind: Kind) {
    let stage = Stage::with(kind, SHORT).await;
    let (survivor, victim) = survivor_and_victim(&stage).await;
    let player = stage.player().await;
    let owner = taken_over(&stage, &survivor, &victim).await;
    assert_eq!(
        (owner.run_id, owner.epoch),
        (survivor.run, victim.epoch + 1)
    );
    let directory = stage.directory().await;
    let runs: Vec<u64> = directory.runs.iter().map(|run| run.run_id).collect();
    assert_eq!(runs, [survivor.run]);
    let heir = Zone {
        epoch: owner.epoch,
        place: victim.place,
        ..survivor
    };
    let loaded = stage.load_region(&heir).await.unwrap();
    assert_eq!(loaded.characters.len(), 1);
    assert_eq!(loaded.characters[0].id, player.id);
}

pub(crate) async fn a_fenced_run_is_refused_for_ever(kind: Kind) {
    let stage = Stage::with(kind, SHORT).await;
    let (survivor, victim) = survivor_and_victim(&stage).await;
    let player = stage.player().await;
    let record = stage.load(victim.run, &player.id).await.unwrap();
    taken_over(&stage, &survivor, &victim).await;
    assert_eq!(stage.renew(victim.run).await, RunState::Fenced);
    for sequence in [1, 2] {
        let rows = vec![stay(at(&record, 40, 40))];
        let reply = stage.commit(victim.run, sequence, rows).await;
        assert_eq!(reply.outcome(), Outcome::Fenced);
    }
    refused(stage.load_region(&victim).await, Code::PermissionDenied);
    let load = stage.load(victim.run, &player.id).await;
    refused(load, Code::PermissionDenied);
    let ask = wire::OnlineCharactersRequest { run_id: victim.run };
    let online = stage.runs().online_characters(ask).await;
    refused(online, Code::PermissionDenied);
    stage.release(victim.run).await;
    assert_eq!(stage.renew(victim.run).await, RunState::Fenced);
    let record = stage.load(survivor.run, &player.id).await.unwrap();
    assert_eq!((record.x, record.z), (0, 0));
}

pub(crate) async fn a_lapsed_lease_renews_when_nobody_took_over(kind: Kind) {
    let stage = Stage::with(kind, SHORT).await;
    let zone = stage.zone(region(0, 0)).await;
    // Its lease ends, and some rounds of placement with it.
    sleep(LEASE * 3).await;
    assert_eq!(stage.renew(zone.run).await, RunState::Live);
    let reply = stage.commit(zone.run, 1, Vec::new()).await;
    assert_eq!(reply.outcome(), Outcome::Done);
    assert_eq!(stage.owner(zone.place).await.epoch, zone.epoch);
}

pub(crate) async fn a_commit_renews_the_lease(kind: Kind) {
    let stage = Stage::with(kind, SHORT).await;
    let (survivor, busy) = survivor_and_victim(&stage).await;
    let begun = std::time::Instant::now();
    let mut sequence = 0;
    while begun.elapsed() < LEASE * 4 {
        sequence += 1;
        let reply = stage.commit(busy.run, sequence, Vec::new()).await;
        assert_eq!(reply.outcome(), Outcome::Done);
        stage.renew(survivor.run).await;
        sleep(LEASE / 10).await;
    }
    assert_eq!(stage.owner(busy.place).await.run_id, busy.run);
}

pub(crate) async fn a_released_run_leaves_its_regions_to_others(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (one, two) = (
        stage.zone(region(0, 0)).await,
        stage.zone(region(9, 0)).await,
    );
    stage.release(one.run).await;
    assert_eq!(stage.renew(one.run).await, RunState::Fenced);
    let owner = until("the region goes to the other run", async || {
        let owner = stage.owner(one.place).await;
        (owner.run_id == two.run).then_some(owner)
    })
    .await;
    // To nobody, and from nobody.
    assert_eq!(owner.epoch, one.epoch + 2);
    stage.release(two.run).await;
    until("nobody owns anything", async || {
        let directory = stage.directory().await;
        let nobody = directory.regions.iter().all(|owner| owner.run_id == 0);
        (nobody && directory.runs.is_empty()).then_some(())
    })
    .await;
}

pub(crate) async fn an_unknown_run_is_fenced(kind: Kind) {
    let stage = Stage::new(kind).await;
    assert_eq!(stage.renew(4_711).await, RunState::Fenced);
    let reply = stage.commit(4_711, 1, Vec::new()).await;
    assert_eq!(reply.outcome(), Outcome::Fenced);
}

pub(crate) async fn a_region_is_loaded_only_at_its_epoch(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let loaded = stage.load_region(&zone).await.unwrap();
    assert!(loaded.characters.is_empty() && loaded.state.is_empty());
    for wrong in [
        Zone {
            epoch: zone.epoch + 1,
            ..zone
        },
        Zone {
            epoch: zone.epoch - 1,
            ..zone
        },
        Zone {
            place: region(5, 5),
            ..zone
        },
    ] {
        refused(stage.load_region(&wrong).await, Code::PermissionDenied);
    }
}

pub(crate) async fn online_characters_are_those_of_the_runs_regions(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (here, there) = (
        stage.zone(region(0, 0)).await,
        stage.zone(region(9, 0)).await,
    );
    let (one, two) = (stage.player().await, stage.player().await);
    stage.create(&one.account, "Asleep").await.unwrap();
    let online = async |run| {
        let ask = wire::OnlineCharactersRequest { run_id: run };
        let reply = stage.runs().online_characters(ask).await.unwrap();
        reply.into_inner().characters
    };
    let here_now = online(here.run).await;
    let ids: Vec<&str> = here_now
        .iter()
        .map(|one| one.character_id.as_str())
        .collect();
    let mut expected = [one.id.as_str(), two.id.as_str()];
    expected.sort_unstable();
    assert_eq!(ids, expected);
    assert!(
        here_now
            .iter()
            .all(|one| one.run_id == here.run && one.region_epoch == here.epoch)
    );
    assert!(online(there.run).await.is_empty());
}

pub(crate) async fn the_directory_is_pushed_and_shows_life(kind: Kind) {
    let stage = Stage::new(kind).await;
    let mut updates = stage.watch().await;
    let first = updates.message().await.unwrap().unwrap();
    assert!(!first.unchanged && first.runs.is_empty() && first.incarnation == 1);
    let registered = stage.register(&[region(0, 0), region(1, 0)]).await;
    assert!(registered.store_time_ms > 1_700_000_000_000);
    assert_eq!((registered.lease_ms, registered.incarnation), (60_000, 1));
    let mut version = first.version;
    let owned = loop {
        let update = updates.message().await.unwrap().unwrap();
        assert!(update.unchanged || update.version > version);
        version = update.version;
        let all = |owner: &wire::RegionOwner| owner.run_id == registered.run_id;
        if !update.regions.is_empty() && update.regions.iter().all(all) {
            break update;
        }
    };
    assert_eq!(owned.regions.len(), 2);
    assert!(owned.regions.iter().all(|owner| owner.epoch == 1));
    assert_eq!(owned.runs[0].state(), RunState::Live);
    assert_eq!(owned.runs[0].content_hash, "content");
    let life = updates.message().await.unwrap().unwrap();
    assert!(life.unchanged && life.runs.is_empty() && life.regions.is_empty());
    assert_eq!(life.version, owned.version);
}

pub(crate) async fn a_promoted_store_ends_every_run_and_repeats_no_number(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let renew = async |run_id| {
        let ask = wire::RenewRequest {
            run_id,
            ..wire::RenewRequest::default()
        };
        stage.runs().renew(ask).await.unwrap().into_inner()
    };
    let before = renew(zone.run).await;
    assert_eq!((before.incarnation, before.state()), (1, RunState::Live));
    let player = stage.player().await;
    let mut updates = stage.watch().await;
    let first = updates.message().await.unwrap().unwrap();
    let (mut run, mut last) = (zone.run, first.incarnation);
    for _ in 0..2 {
        let (code, said) = stage.command(&["promoted"]).await;
        assert_eq!(code, 0, "{said}");
        let told = loop {
            let update = updates.message().await.unwrap().unwrap();
            if update.incarnation > last {
                break update;
            }
        };
        last = told.incarnation;
        // An older copy of the database gives a greater number at a later time, too.
        assert!(last > before.store_time_ms * 1_024, "{last}");
        assert!(said.contains(&format!("incarnation {last}")), "{said}");
        assert!(told.regions.iter().all(|owner| owner.run_id == 0));
        let ended = renew(run).await;
        assert_eq!((ended.incarnation, ended.state()), (last, RunState::Fenced));
        let next = stage.zone(region(0, 0)).await;
        assert!(next.run > last && next.epoch > last, "{next:?} {last}");
        run = next.run;
        let opened = stage.open(&player, "session").await;
        assert!(opened.session_epoch >= last, "{opened:?} {last}");
    }
    let (code, said) = stage.command(&["promoted", "perhaps"]).await;
    assert_eq!(code, 64, "{said}");
}

/// A restored copy has lower numbers than those that gateways and zones remember. Here the numbers
/// that they remember are any that a store can have given until now.
pub(crate) async fn whoever_remembers_a_later_number_takes_a_promoted_store_for_newer(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let player = stage.player().await;
    let before = stage.load(zone.run, &player.id).await.unwrap();
    let (code, said) = stage.command(&["promoted"]).await;
    assert_eq!(code, 0, "{said}");
    let life: u64 = stage.ask("SELECT value FROM incarnation").await[0]
        .parse()
        .unwrap();
    for (what, query) in [
        ("the directory", "SELECT version FROM directory"),
        ("sanctions", "SELECT version FROM identity"),
        ("orders to agents", "SELECT last FROM agent_orders"),
        ("the store's own ledger", "SELECT last FROM operations"),
        ("epochs of regions", "SELECT min(epoch) FROM regions"),
        (
            "characters in the world",
            r#"SELECT min("ownershipSequence") FROM characters WHERE online"#,
        ),
    ] {
        let number: u64 = stage.ask(query).await[0].parse().unwrap();
        assert!(number >= life, "{what}: {number} {life}");
    }
    // The run that takes over says the higher sequence to gateways.
    let next = stage.zone(region(0, 0)).await;
    let now = stage.load(next.run, &player.id).await.unwrap();
    assert!(now.ownership_sequence > life && before.ownership_sequence < life);
}

pub(crate) async fn the_store_goes_on_after_a_restart(kind: Kind) {
    let mut stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let player = stage.player().await;
    let secret = stage.secret("tokens").await.unwrap();
    let record = stage.load(zone.run, &player.id).await.unwrap();
    stage
        .commit(zone.run, 1, vec![stay(at(&record, 17, 18))])
        .await;
    stage.restart().await;
    assert_eq!(stage.secret("tokens").await.unwrap(), secret);
    assert_eq!(stage.renew(zone.run).await, RunState::Live);
    let record = stage.load(zone.run, &player.id).await.unwrap();
    assert_eq!((record.x, record.z), (17, 18));
    let reply = stage.commit(zone.run, 1, Vec::new()).await;
    assert_eq!(reply.outcome(), Outcome::Done);
}
