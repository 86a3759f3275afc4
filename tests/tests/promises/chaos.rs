//! Faults of every kind, one after the other, under bots that drop, pick up, cross borders, log out
//! and in.

use std::time::Duration;

use anyhow::Result;
use proto::client::{ErrorCode, Format, Refusal};
use serde_json::json;
use tests::{
    alerts,
    bot::{Payload, Player},
    chaos::{
        fault::{AWAY_MS, Fault, Step},
        restore::{self, Recovery},
        story::{self, Cast, Stage},
        timeline::Timeline,
    },
    cluster::{Kind, Plan},
    load::{Acting, Scenario},
};
use tokio::time::sleep;

pub(super) fn cast(players: usize, seed: u64) -> Cast {
    Cast {
        players,
        ramp: Duration::from_secs(2),
        scenario: Scenario::Border,
        acting: Acting {
            actions: true,
            leave_every: Some(Duration::from_secs(40)),
            ..Acting::NONE
        },
        seed,
    }
}

pub(super) fn step(fault: Fault, lasts_ms: u64) -> Step {
    Step {
        after: Duration::from_millis(1_000),
        fault,
        lasts: Duration::from_millis(lasts_ms),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_postgresql_for_a_minute_the_world_goes_on_and_nothing_is_lost() {
    let mut plan = Plan::new("chaos_minute").of(1, 2, 1);
    plan.breakable = true;
    let mut cast = cast(20, 13);
    // A player who leaves cannot come back before the store does.
    cast.acting.leave_every = None;
    // Longer than the alert waits.
    let away = Step {
        after: Duration::from_secs(15),
        ..step(Fault::KillDatabase, AWAY_MS + 20_000)
    };
    let mut stage = Stage::set(plan, cast, Timeline::new(true)).await.unwrap();
    let prometheus = alerts::watch(&stage.cluster).await.unwrap();
    let gateway = stage.cluster.gateway(0);
    let meanwhile = async {
        sleep(away.after + away.lasts / 3).await;
        newcomer(&gateway).await
    };
    let (suffered, newcomer) = tokio::join!(stage.suffer(away), meanwhile);
    suffered.unwrap();
    assert_eq!(
        newcomer.unwrap(),
        Some(ErrorCode::Refused(Refusal::StorageUnavailable))
    );
    // The one that should, and no other.
    let fired = alerts::fired(&prometheus).await.unwrap();
    assert_eq!(fired, ["TilesteadStorageUnavailable".to_owned()].into());
    let summary = stage.judge().await.unwrap();
    eprintln!("{summary}");
    let refused = summary.errors.get("storage_unavailable").copied();
    assert!(refused > Some(0), "{:?}", summary.errors);
}

/// Lets somebody new come in; returns the reason of a refusal.
async fn newcomer(gateway: &str) -> Result<Option<ErrorCode>> {
    let player = Player::connect(gateway, Format::Json).await?;
    Ok(match player.ask("authenticate", &json!({})).await? {
        Payload::Error(error) => Some(error.code),
        _ => None,
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn players_of_a_gateway_that_dies_go_on_at_another() {
    let mut plan = Plan::new("chaos_gateways").of(2, 2, 1);
    plan.breakable = true;
    let steps = [
        step(Fault::Kill((Kind::Gateway, 0)), 3_000),
        step(Fault::Stop((Kind::Gateway, 1)), 3_000),
        step(Fault::Freeze((Kind::Gateway, 0)), 3_000),
    ];
    let summary = story::play(plan, cast(30, 12), steps, Timeline::new(true)).await;
    eprintln!("{}", summary.unwrap());
}

/// The standby has every batch that the store acknowledged, and no run of before goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promoted_standby_has_every_exchange_that_was_acknowledged() {
    let mut plan = Plan::new("chaos_promote").of(1, 2, 2);
    plan.breakable = true;
    let steps = [step(Fault::Promote, 500)];
    let summary = story::play(plan, cast(30, 16), steps, Timeline::new(true)).await;
    eprintln!("{}", summary.unwrap());
}

/// Everybody has what they had at that moment, and no number comes again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_database_is_restored_to_a_moment_and_play_goes_on_from_there() {
    let wanted = Recovery {
        lasts: Duration::from_secs(20),
        complete: false,
    };
    let played = restore::restore(cast(20, 18), wanted, Timeline::new(true)).await;
    eprintln!("{}", played.unwrap());
}

/// The log was at another place before a player was told of anything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_whose_log_was_received_is_restored_with_every_exchange() {
    let wanted = Recovery {
        lasts: Duration::from_secs(16),
        complete: true,
    };
    let played = restore::restore(cast(20, 19), wanted, Timeline::new(true)).await;
    eprintln!("{}", played.unwrap());
}

/// No task runs, and the connections stay: its peers notice by their keep-alive, the platform by the
/// end of the process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_whose_tasks_stand_still_ends_itself() {
    let mut plan = Plan::new("chaos_tasks").of(2, 2, 2);
    plan.breakable = true;
    let steps = [
        step(Fault::WedgeTasks((Kind::Persistence, 0)), 500),
        step(Fault::WedgeTasks((Kind::Gateway, 0)), 500),
    ];
    let summary = story::play(plan, cast(30, 15), steps, Timeline::new(true)).await;
    eprintln!("{}", summary.unwrap());
}
