//! Borders between zones, as players meet them.

use std::time::Duration;

use anyhow::{Result, ensure};
use proto::client::Format;
use tests::{
    bot::{Payload, Phase, Player},
    cluster::{Cluster, Plan},
    journey::{Atlas, replay, track},
    terrain::Crossing,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn walk_over_a_border_without_reconnecting() {
    let plan = Plan::new("walk_over_a_border");
    let mut cluster = Cluster::start(plan.clone()).await.unwrap();
    story(&mut cluster, &plan).await.unwrap();
}

async fn story(cluster: &mut Cluster, plan: &Plan) -> Result<()> {
    let atlas = Atlas::of(cluster, plan).await?;
    let crossing = atlas.crossings[0];
    let ann = Player::arrive(&cluster.gateway(0), Format::Json, "Ann").await?;
    let bob = Player::arrive(&cluster.gateway(0), Format::MessagePack, "Bob").await?;
    atlas.travel(&ann, crossing.low).await?;
    atlas.travel(&bob, middle(crossing)).await?;
    let id = ann.id()?;
    bob.until("Ann in sight", Duration::from_secs(10), |view| {
        view.map.entity(&id).map(|_| ())
    })
    .await?;

    let before = sequence(cluster, &id).await?;
    let (mark_ann, mark_bob) = (ann.mark(), bob.mark());
    for _ in 0..2 {
        ann.walk(crossing.high, false, Duration::from_secs(30))
            .await?;
        handed_over(cluster, &id, before).await?;
        ann.walk(crossing.low, false, Duration::from_secs(30))
            .await?;
    }
    let after = sequence(cluster, &id).await?;
    ensure!(
        after >= before + 3,
        "handed over only {} times",
        after - before
    );

    ann.check()?;
    bob.check()?;
    ensure!(ann.look(|view| view.phase == Phase::World));
    no_tick_missed(&ann, &id, mark_ann)?;
    never_blinked(&bob, &id, mark_bob)?;
    said_nothing_else(&ann, mark_ann)
}

fn middle(crossing: Crossing) -> (i32, i32) {
    let ((ax, az), (bx, bz)) = (crossing.low, crossing.high);
    (i32::midpoint(ax, bx), i32::midpoint(az, bz))
}

async fn sequence(cluster: &Cluster, id: &str) -> Result<i64> {
    let rows = cluster.store().await?.characters().await?;
    let row = rows.into_iter().find(|row| row.id == id);
    Ok(row.map_or(0, |row| row.ownership_sequence))
}

/// Checks that a character 8 tiles past the border has been handed over, or soon is.
async fn handed_over(cluster: &Cluster, id: &str, before: i64) -> Result<()> {
    for _ in 0..50 {
        if sequence(cluster, id).await? > before {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    anyhow::bail!("past the border and not handed over after 5 s")
}

/// Checks that the walking character advances in every tick, also in the one of the handover.
fn no_tick_missed(player: &Player, id: &str, mark: usize) -> Result<()> {
    let log = player.log();
    let from = log.get(mark).map_or(0, |message| message.seq);
    let first_tick = log
        .iter()
        .filter(|message| message.seq >= from)
        .find_map(|message| match &message.payload {
            Payload::Update(update) => Some(update.tick),
            _ => None,
        })
        .unwrap_or(0);
    let steps: Vec<_> = track(&log, id)
        .into_iter()
        .filter(|s| s.0 >= first_tick)
        .collect();
    let mut stood = 0;
    for pair in steps.windows(2) {
        let ((tick_a, a), (tick_b, b)) = (pair[0], pair[1]);
        let moved = (a.0 - b.0).abs().max((a.1 - b.1).abs());
        ensure!(
            moved <= 2,
            "{moved} tiles between ticks {tick_a} and {tick_b}"
        );
        if moved > 0 && tick_b > tick_a + 1 {
            stood += 1;
        }
    }
    // Four walks: between two of them it stands.
    ensure!(
        stood <= 4,
        "stood still {stood} times on the way: {steps:?}"
    );
    Ok(())
}

/// Checks that the walker, from the first sight on, is on the watcher's map after every update.
fn never_blinked(watcher: &Player, id: &str, mark: usize) -> Result<()> {
    let log = watcher.log();
    let from = log.get(mark).map_or(0, |message| message.seq);
    let (mut unseen, mut looked) = (Vec::new(), 0);
    replay(&log, |view| {
        if view.seq >= from {
            looked += 1;
            if view.map.entity(id).is_none() {
                unseen.push(view.tick);
            }
        }
    });
    ensure!(looked > 10, "the watcher saw only {looked} updates");
    ensure!(
        unseen.is_empty(),
        "not on the watcher's map at ticks {unseen:?}"
    );
    Ok(())
}

/// Checks that a crossing shows itself by nothing: no resume, no synchronisation, no error.
fn said_nothing_else(player: &Player, mark: usize) -> Result<()> {
    for message in player.log().into_iter().skip(mark) {
        let expected = matches!(
            message.payload,
            Payload::Update(_) | Payload::Ack(_) | Payload::Vitals(_) | Payload::Pong(_)
        );
        ensure!(expected, "{message:?}");
    }
    Ok(())
}
