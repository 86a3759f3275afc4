//! Placement over both stores: fenced runs and their witnesses, move requests, paused regions, and
//! the news for watchers.

#![allow(clippy::unwrap_used)]

use crate::stage;

use proto::rpc::common::v1::Region;
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::RunState;
use proto::rpc::persistence::v1::commit_part::Part;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use proto::rpc::persistence::v1::directory_client::DirectoryClient;
use stage::{Kind, Stage, Zone, refused, region, until};
use test_servers::Postgres;
use tonic::{Code, Status};

/// The quiet time is one lease; after it, leases are made long by hand.
const SHORT: &[(&str, &str)] = &[("LEASE_MS", "1000")];

async fn suspect(stage: &Stage, run: u64, witness: &str) -> Result<(), Status> {
    let ask = wire::SuspectRequest {
        run_id: run,
        witness: witness.to_owned(),
    };
    stage.directories().suspect(ask).await.map(|_| ())
}

async fn state(stage: &Stage, run: u64) -> String {
    let query = format!("SELECT state FROM runs WHERE id = {run}");
    stage.ask(&query).await.remove(0)
}

/// Makes every lease last from now on.
fn hold_leases(stage: &Stage) {
    let hold = "UPDATE runs SET until = 9000000000000 WHERE state <> 'fenced'";
    stage.sql(hold, hold);
}

/// Registers a live run without regions of its own, whose lease does not end.
async fn bystander(stage: &Stage) -> u64 {
    let run = stage.register(&[]).await.run_id;
    hold_leases(stage);
    run
}

/// Starts a run that owns a region, and another one. No lease ends. The quiet time is over: the
/// store has fenced a run that both witnesses named.
async fn scene(kind: Kind) -> (Stage, Zone, u64) {
    let stage = Stage::with(kind, SHORT).await;
    let heir = bystander(&stage).await;
    let known = bystander(&stage).await;
    until("the quiet time is over", async || {
        suspect(&stage, known, "gateway:one").await.unwrap();
        suspect(&stage, known, "gateway:two").await.unwrap();
        (state(&stage, known).await == "fenced").then_some(())
    })
    .await;
    let place = region(0, 0);
    stage.register(&[place]).await;
    hold_leases(&stage);
    let owner = until("the region is owned", async || {
        let owner = stage.owner(place).await;
        (owner.run_id > 0).then_some(owner)
    })
    .await;
    let runs = stage.directory().await.runs;
    let other = runs.iter().find(|run| run.run_id != owner.run_id).unwrap();
    assert!(owner.run_id == heir || other.run_id == heir);
    let zone = Zone {
        run: owner.run_id,
        place,
        epoch: owner.epoch,
    };
    (stage, zone, other.run_id)
}

/// Waits until whoever plans has certainly looked at all that was said before.
async fn looked(stage: &Stage) {
    let place = region(50, i32::try_from(stage::unique()).unwrap());
    stage.release(stage.register(&[place]).await.run_id).await;
    until("a new region is given out", async || {
        (stage.owner(place).await.run_id > 0).then_some(())
    })
    .await;
}

async fn two_witnesses_take_over_a_run_whose_lease_still_holds(kind: Kind) {
    let (stage, victim, heir) = scene(kind).await;
    suspect(&stage, victim.run, "gateway:one").await.unwrap();
    suspect(&stage, victim.run, &format!("run:{heir}"))
        .await
        .unwrap();
    let owner = until("the region goes on", async || {
        let owner = stage.owner(victim.place).await;
        (owner.run_id == heir).then_some(owner)
    })
    .await;
    assert_eq!(owner.epoch, victim.epoch + 1);
    assert_eq!(stage.renew(victim.run).await, RunState::Fenced);
    // Nobody needs to say it again, and it does no harm.
    suspect(&stage, victim.run, "gateway:one").await.unwrap();
    assert_eq!(stage.owner(victim.place).await, owner);
}

async fn one_witness_is_none_however_often_it_speaks(kind: Kind) {
    let (stage, victim, _) = scene(kind).await;
    for _ in 0..5 {
        suspect(&stage, victim.run, "gateway:one").await.unwrap();
        looked(&stage).await;
    }
    assert_eq!(state(&stage, victim.run).await, "live");
    assert_eq!(stage.owner(victim.place).await.epoch, victim.epoch);
}

async fn what_a_witness_said_long_ago_counts_no_more(kind: Kind) {
    let (stage, victim, _) = scene(kind).await;
    let now = "SELECT until FROM runs ORDER BY id DESC LIMIT 1";
    let run = stage.register(&[]).await.run_id;
    let now: i64 = stage.ask(now).await[0].parse::<i64>().unwrap() - 1_000;
    let ages = [("gateway:one", 3_100), ("gateway:two", 60_000)];
    for (witness, age) in ages {
        let old = format!(
            "INSERT INTO witnesses (run_id, witness, at) VALUES ({}, '{witness}', {})",
            victim.run,
            now - age
        );
        stage.sql(&old, &old);
    }
    suspect(&stage, victim.run, "gateway:three").await.unwrap();
    stage.release(run).await;
    looked(&stage).await;
    assert_eq!(state(&stage, victim.run).await, "live");
    // The same witness again is fresh.
    until("it is fenced", async || {
        suspect(&stage, victim.run, "gateway:three").await.unwrap();
        suspect(&stage, victim.run, "gateway:two").await.unwrap();
        (state(&stage, victim.run).await == "fenced").then_some(())
    })
    .await;
}

async fn who_speaks_and_of_whom_is_checked(kind: Kind) {
    let (stage, victim, heir) = scene(kind).await;
    let long = format!("gateway:{}", "x".repeat(129));
    let itself = format!("run:{}", victim.run);
    let twice = format!("run:0{heir}");
    for witness in [
        "",
        "gateway",
        "gateway:",
        "gateway:a b",
        "zone:1",
        "run:",
        "run:-1",
        "run:x",
        &long,
        &itself,
        &twice,
    ] {
        let answer = suspect(&stage, victim.run, witness).await;
        refused(answer, Code::InvalidArgument);
    }
    refused(
        suspect(&stage, u64::MAX, "gateway:one").await,
        Code::InvalidArgument,
    );
    refused(suspect(&stage, 4_711, "gateway:one").await, Code::NotFound);
    // The store does not listen to a fenced run.
    let fenced = stage.register(&[]).await.run_id;
    stage.release(fenced).await;
    for witness in [format!("run:{fenced}"), "run:4711".to_owned()] {
        let answer = suspect(&stage, victim.run, &witness).await;
        refused(answer, Code::PermissionDenied);
    }
    let said = format!(
        "SELECT count(*) FROM witnesses WHERE run_id = {}",
        victim.run
    );
    assert_eq!(stage.ask(&said).await, ["0"]);
    suspect(&stage, fenced, "gateway:one").await.unwrap();
}

/// Gives the zone's region to another run in a commit of its own.
async fn give(stage: &Stage, zone: &Zone, to: u64) -> Outcome {
    let header = wire::CommitHeader {
        run_id: zone.run,
        sequence: 1,
        tick: 1,
        rows: 1,
        ..wire::CommitHeader::default()
    };
    let rows = wire::CommitRows {
        gives: vec![wire::RegionGive {
            region: Some(zone.place),
            epoch: zone.epoch,
            to_run_id: to,
        }],
        ..wire::CommitRows::default()
    };
    let parts = [Part::Header(header), Part::Rows(rows)];
    let parts = parts.map(|part| wire::CommitPart { part: Some(part) });
    let reply = stage.runs().commit(tokio_stream::iter(parts)).await;
    reply.unwrap().into_inner().outcome()
}

async fn a_move_request_is_pushed_and_gone_once_it_is_fulfilled(kind: Kind) {
    let stage = Stage::new(kind).await;
    let places = [region(0, 0), region(1, 0)];
    let busy = stage.register(&places).await.run_id;
    until("it owns both", async || {
        let owners = stage.directory().await.regions;
        let mine = owners.iter().filter(|owner| owner.run_id == busy);
        (mine.count() == 2).then_some(())
    })
    .await;
    let idle = stage.register(&[]).await.run_id;
    let mut updates = stage.watch().await;
    let requested = loop {
        let update = updates.message().await.unwrap().unwrap();
        let mut owners = update.regions.into_iter();
        if let Some(owner) = owners.find(|owner| owner.wanted_run_id > 0) {
            break owner;
        }
    };
    assert_eq!((requested.run_id, requested.wanted_run_id), (busy, idle));
    let zone = Zone {
        run: busy,
        place: requested.region.unwrap(),
        epoch: requested.epoch,
    };
    assert_eq!(give(&stage, &zone, idle).await, Outcome::Done);
    let owner = until("the new owner is pushed", async || {
        let owner = stage.owner(zone.place).await;
        (owner.run_id == idle).then_some(owner)
    })
    .await;
    assert_eq!((owner.epoch, owner.wanted_run_id), (zone.epoch + 1, 0));
}

async fn a_move_request_is_withdrawn_when_its_target_ends(kind: Kind) {
    let stage = Stage::new(kind).await;
    let busy = stage.register(&[region(0, 0), region(1, 0)]).await.run_id;
    until("it owns both", async || {
        let owners = stage.directory().await.regions;
        let mine = owners.iter().filter(|owner| owner.run_id == busy);
        (mine.count() == 2).then_some(())
    })
    .await;
    let idle = stage.register(&[]).await.run_id;
    let move_requests = async || {
        let owners = stage.directory().await.regions;
        owners
            .iter()
            .filter(|one| one.wanted_run_id == idle)
            .count()
    };
    until("one is requested", async || {
        (move_requests().await == 1).then_some(())
    })
    .await;
    stage.release(idle).await;
    until("none is requested", async || {
        (move_requests().await == 0).then_some(())
    })
    .await;
    let owners = stage.directory().await.regions;
    assert!(
        owners
            .iter()
            .all(|owner| owner.run_id == busy && owner.epoch == 1)
    );
}

/// Writes a panic in a region, as the store notes it.
fn fault(stage: &Stage, place: Region, number: u32) {
    let fault = |now: &str| {
        format!(
            "INSERT INTO region_faults (region_x, region_z, run_id, at)
             VALUES ({}, {}, {number}, {now})",
            place.x, place.z
        )
    };
    let sqlite = fault("CAST(unixepoch('subsec') * 1000 AS integer)");
    stage.sql(&sqlite, &fault("tilestead_now_ms()"));
}

async fn a_region_of_three_faults_is_nobodys_until_an_operator_says_so(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (bad, good) = (
        stage.zone(region(0, 0)).await,
        stage.zone(region(9, 0)).await,
    );
    for number in 1..=3 {
        fault(&stage, bad.place, number);
    }
    stage.release(bad.run).await;
    let paused = until("it is paused", async || {
        let owner = stage.owner(bad.place).await;
        owner.paused.then_some(owner)
    })
    .await;
    assert_eq!(paused.run_id, 0);
    looked(&stage).await;
    assert_eq!(stage.owner(bad.place).await, paused);
    assert_eq!(stage.owner(good.place).await.epoch, good.epoch);
    let resume = "UPDATE regions SET paused = false; DELETE FROM region_faults;
                  UPDATE directory SET version = version + 1";
    stage.sql(resume, resume);
    let owner = until("it is played again", async || {
        let owner = stage.owner(bad.place).await;
        (owner.run_id == good.run).then_some(owner)
    })
    .await;
    assert!(!owner.paused && owner.epoch == paused.epoch + 1);
}

async fn a_freeze_is_pushed(kind: Kind) {
    let stage = Stage::new(kind).await;
    let mut updates = stage.watch().await;
    assert!(!updates.message().await.unwrap().unwrap().frozen);
    let freeze = "UPDATE switches SET frozen = true;
                  UPDATE directory SET version = version + 1";
    stage.sql(freeze, freeze);
    loop {
        let update = updates.message().await.unwrap().unwrap();
        if !update.unchanged {
            assert!(update.frozen);
            break;
        }
    }
}

macro_rules! both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::$name(super::Kind::Sqlite).await;
                }
            )+
        }
        mod postgres {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::$name(super::Kind::Postgres).await;
                }
            )+
        }
    };
}

both!(
    two_witnesses_take_over_a_run_whose_lease_still_holds,
    one_witness_is_none_however_often_it_speaks,
    what_a_witness_said_long_ago_counts_no_more,
    who_speaks_and_of_whom_is_checked,
    a_move_request_is_pushed_and_gone_once_it_is_fulfilled,
    a_move_request_is_withdrawn_when_its_target_ends,
    a_region_of_three_faults_is_nobodys_until_an_operator_says_so,
    a_freeze_is_pushed,
);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_commits_at_that_moment_is_left_alone_until_it_is_done() {
    let (stage, victim, heir) = scene(Kind::Postgres).await;
    let commit = stage.postgres().await;
    let lock = format!(
        "BEGIN; UPDATE runs SET players = 1 WHERE id = {}",
        victim.run
    );
    commit.batch_execute(&lock).await.unwrap();
    suspect(&stage, victim.run, "gateway:one").await.unwrap();
    suspect(&stage, victim.run, "gateway:two").await.unwrap();
    looked(&stage).await;
    assert_eq!(state(&stage, victim.run).await, "live");
    commit.batch_execute("COMMIT").await.unwrap();
    until("it is fenced after all", async || {
        suspect(&stage, victim.run, "gateway:one").await.unwrap();
        suspect(&stage, victim.run, "gateway:two").await.unwrap();
        (stage.owner(victim.place).await.run_id == heir).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn witnesses_may_speak_to_a_replica_that_does_not_plan() {
    let (stage, victim, heir) = scene(Kind::Postgres).await;
    let other = stage.another().await;
    let mut directories = DirectoryClient::new(other.channel.clone());
    for witness in ["gateway:one", "gateway:two"] {
        let ask = wire::SuspectRequest {
            run_id: victim.run,
            witness: witness.to_owned(),
        };
        until("the replica is ready", async || {
            directories.suspect(ask.clone()).await.ok()
        })
        .await;
    }
    until("the region goes on", async || {
        (stage.owner(victim.place).await.run_id == heir).then_some(())
    })
    .await;
    other.end().await;
}

/// A replica that lost the store shows nobody what it knew before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_to_watch_while_the_store_is_away_is_refused() {
    let mut server = tokio::task::spawn_blocking(Postgres::start).await.unwrap();
    let settings = std::collections::BTreeMap::from([
        ("PERSISTENCE_LISTEN", "127.0.0.1:0".to_owned()),
        ("DATABASE_URL", server.url()),
    ]);
    let replica = stage::serve(&settings).await;
    let mut before = stage::watch(replica.channel.clone()).await;
    assert!(!before.message().await.unwrap().unwrap().unchanged);
    server.stop();
    let mut directories = DirectoryClient::new(replica.channel.clone());
    let ask = wire::WatchRequest {
        client: "test".to_owned(),
    };
    // A failure with a cause on this side is the end of the connection, and no refusal.
    let refusal = |status: &tonic::Status| std::error::Error::source(status).is_none();
    let status = until("it is refused", async || {
        directories.watch(ask.clone()).await.err().filter(refusal)
    })
    .await;
    assert_eq!(status.code(), Code::Unavailable);
    let server = tokio::task::spawn_blocking(move || {
        server.restart();
        server
    });
    let server = server.await.unwrap();
    let mut after = stage::watch(replica.channel.clone()).await;
    assert!(!after.message().await.unwrap().unwrap().unchanged);
    replica.end().await;
    drop(server);
}
