//! Faults after which the bots' times and shares are judged.

use std::time::Duration;

use tests::{
    chaos::{
        exercise,
        fault::{BLINK, Fault, Step},
        replicas, story,
        timeline::Timeline,
    },
    cluster::{Kind, Plan},
};

use crate::chaos::{cast, step};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_dies_nothing_is_lost_and_nobody_is_dropped() {
    let mut plan = Plan::new("chaos_short").of(2, 3, 2);
    (plan.breakable, plan.alone) = (true, true);
    let steps = [
        step(Fault::Kill((Kind::Zone, 0)), 2_000),
        Step {
            lasts: BLINK,
            ..step(Fault::Freeze((Kind::Zone, 2)), 0)
        },
        step(Fault::Freeze((Kind::Zone, 1)), 6_000),
        step(Fault::LoseCommit, 1_000),
        step(Fault::Kill((Kind::Persistence, 0)), 1_000),
        step(Fault::KillDatabase, 2_000),
        step(Fault::FreezeDatabase, 3_000),
        step(Fault::HangDatabase, 2_000),
        step(Fault::Freeze((Kind::Persistence, 1)), 2_000),
        step(Fault::CutOff((Kind::Zone, 2)), 5_000),
        step(Fault::Isolate(0), 4_000),
        step(Fault::HangRedis, 2_000),
        step(Fault::WipeRedis, 500),
        step(Fault::Stop((Kind::Zone, 2)), 500),
    ];
    let summary = story::play(plan, cast(40, 11), steps, Timeline::new(true)).await;
    eprintln!("{}", summary.unwrap());
}

/// Whoever a killed zone server played stands, two ticks of running aside, where it was shown last.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_zone_server_moves_nobody_back() {
    let mut cast = cast(30, 17);
    cast.acting.leave_every = None;
    let summary = exercise::kills(cast, 3, Timeline::new(true)).await;
    eprintln!("{}", summary.unwrap());
}

/// A caller has one call at most at a replica that is cut off. New replicas get their share.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_behind_one_name_share_the_calls_and_one_without_postgresql_costs_no_lease() {
    let lasts = Duration::from_secs(15);
    let played = replicas::one_name(cast(20, 17), 2, lasts, Timeline::new(true));
    eprintln!("{}", played.await.unwrap());
}

/// The process of a tick that stands still answers its probes and holds its connections, so nobody
/// can take it for dead but itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn players_of_a_tick_that_stands_still_move_again_within_six_seconds() {
    // One of two zone servers has players, whatever placement does.
    let mut plan = Plan::new("chaos_wedge").of(1, 2, 1);
    (plan.breakable, plan.alone) = (true, true);
    let steps = [
        step(Fault::WedgeTick(0), 500),
        step(Fault::WedgeTick(1), 500),
    ];
    let summary = story::play(plan, cast(30, 14), steps, Timeline::new(true)).await;
    eprintln!("{}", summary.unwrap());
}
