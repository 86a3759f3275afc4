//! One player's action is one trace.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::future::{try_join, try_join_all};
use proto::client::Format;
use serde_json::json;
use tests::{
    alerts,
    bot::{Payload, Player, forager::Forager},
    cluster::{Cluster, Plan},
    collector::{Collector, Span},
    exemplars,
    journey::Atlas,
};
use tokio::time::{Instant, sleep};

/// Players of the story in which few actions are sampled.
const FORAGERS: u64 = 24;
/// Time in which one of their drops is sampled. They ask for some twenty things a second, most of
/// them drops, so that of a hundred times this long not one passes without a sampled one.
const SAMPLED_WITHIN: Duration = Duration::from_secs(180);
/// Times that two players move at once.
const TOGETHER: usize = 30;

fn plan(name: &'static str, collector: &Collector) -> Plan {
    Plan::new(name)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint())
        .env("OTEL_BSP_SCHEDULE_DELAY", "200")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_is_one_trace_from_the_gateway_through_tick_and_database_back_to_the_socket() {
    let collector = Collector::start().await.unwrap();
    let plan = plan("tracing", &collector);
    let cluster = Cluster::start(plan.clone()).await.unwrap();
    story(&cluster, &plan, &collector).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sampled_drop_is_one_whole_trace_when_one_action_in_a_hundred_is_sampled() {
    let collector = Collector::start().await.unwrap();
    let plan = plan("sampled", &collector).env("OTEL_TRACES_SAMPLER_ARG", "0.01");
    let cluster = Cluster::start(plan).await.unwrap();
    sampled_story(&cluster, &collector).await.unwrap();
}

/// Returns the tile where a player stands, and one beside it.
fn step(player: &Player, atlas: &Atlas) -> Result<[(i32, i32); 2]> {
    let at = player.position()?;
    let ways = atlas.terrain.ways_to(at);
    let there = [(1, 0), (-1, 0), (0, 1), (0, -1)]
        .map(|(dx, dz)| (at.0 + dx, at.1 + dz))
        .into_iter()
        .find(|tile| ways.far(*tile) == Some(1))
        .context("walled in")?;
    Ok([there, at])
}

async fn moves(player: &Player, (x, z): (i32, i32)) -> Result<()> {
    let data = json!({ "target": { "x": x, "z": z } });
    let answer = player.ask("player:move", &data).await?;
    ensure!(matches!(answer, Payload::Ack(_)), "{answer:?}");
    Ok(())
}

async fn story(cluster: &Cluster, plan: &Plan, collector: &Collector) -> Result<()> {
    let atlas = Atlas::of(cluster, plan).await?;
    let ann = Player::arrive(&cluster.gateway(0), Format::Json, "Ann").await?;
    let anns = step(&ann, &atlas)?;
    moves(&ann, anns[0]).await?;
    let whole = |spans: &[Span]| whole(spans, "player:move").then_some(());
    collector
        .until("whole trace", Duration::from_secs(30), whole)
        .await?;

    let bob = Player::arrive(&cluster.gateway(0), Format::Json, "Bob").await?;
    let bobs = step(&bob, &atlas)?;
    for number in 0..TOGETHER {
        let side = (number + 1) % 2;
        try_join(moves(&ann, anns[side]), moves(&bob, bobs[side])).await?;
        if collector.spans().iter().any(plays_several) {
            break;
        }
    }
    let linked = |spans: &[Span]| {
        let mut ticks = spans.iter().filter(|span| plays_several(span));
        ticks.find_map(|tick| linked_both_ways(spans, tick))
    };
    let linked = collector
        .until("tick of two inputs", Duration::from_secs(10), linked)
        .await?;
    ensure!(
        linked,
        "an input does not link to its tick in another trace"
    );
    histograms_name_traces(cluster, collector).await
}

/// Waits until Prometheus knows a trace of a bucket of each histogram on the way of an action.
async fn histograms_name_traces(cluster: &Cluster, collector: &Collector) -> Result<()> {
    let prometheus = alerts::watch(cluster).await?;
    for histogram in [
        "gateway_http_request_seconds",
        "zone_tick_seconds",
        "zone_commit_seconds",
        "persistence_commit_seconds",
    ] {
        let begun = Instant::now();
        loop {
            let named = exemplars::traces(&prometheus, histogram).await?;
            let spans = collector.spans();
            if spans.iter().any(|span| named.contains(&span.trace)) {
                break;
            }
            ensure!(
                begun.elapsed() < Duration::from_secs(30),
                "{histogram} names no trace of the collector: {named:?}"
            );
            sleep(Duration::from_millis(200)).await;
        }
    }
    Ok(())
}

/// Returns whether a span is of a tick that played more than one sampled input.
fn plays_several(span: &Span) -> bool {
    span.name == "zone.tick" && !span.links.is_empty()
}

/// Returns whether each input to which a tick links is of another trace and links to the tick.
/// Returns `None` while one of them has not come.
fn linked_both_ways(spans: &[Span], tick: &Span) -> Option<bool> {
    let mut both = true;
    for (trace, id) in &tick.links {
        let input = spans.iter().find(|span| span.id == *id)?;
        let back = input.links.contains(&(tick.trace.clone(), tick.id.clone()));
        both &= back && input.trace == *trace && *trace != tick.trace;
        both &= input.name.starts_with("zone.input");
    }
    Some(both)
}

async fn sampled_story(cluster: &Cluster, collector: &Collector) -> Result<()> {
    let mut players = Vec::new();
    for number in 0..FORAGERS {
        let name = format!("Ann {number}");
        let player = Player::arrive(&cluster.gateway(0), Format::MessagePack, &name).await?;
        players.push((player, Forager::new(number)));
    }
    let begun = Instant::now();
    let mut asked = 0;
    while !whole(&collector.spans(), "inventory:drop") {
        ensure!(
            begun.elapsed() < SAMPLED_WITHIN,
            "no whole trace of a drop after {asked} requests: {:?}",
            collector.spans()
        );
        let tick = players[0].0.look(|view| view.tick);
        let acts = players.iter_mut().map(async |(player, forager)| {
            match player.look(|view| forager.choose(view)) {
                // Somebody else may have taken a thing first.
                Some(action) => player.act(action).await.map(|_| 1),
                None => anyhow::Ok(0),
            }
        });
        asked += try_join_all(acts).await?.into_iter().sum::<usize>();
        let next = |view: &tests::bot::View| (view.tick > tick).then_some(());
        players[0]
            .0
            .until("the next tick", Duration::from_secs(10), next)
            .await?;
    }
    let received = collector.spans();
    let received = received
        .iter()
        .filter(|span| span.name.starts_with("ws.receive"));
    let received = received.count();
    // Less than one in a hundred is likely only while there are few.
    ensure!(
        received < 10 + asked / 20,
        "{received} of {asked} are sampled"
    );
    Ok(())
}

/// Returns whether there is a trace of this event that goes on from each part to the next.
fn whole(spans: &[Span], event: &str) -> bool {
    let child = |parent: &Span, service: &str, name: &str| {
        let of_it = |span: &&Span| span.trace == parent.trace && span.parent == parent.id;
        let mut children = spans.iter().filter(of_it);
        children.find(|span| span.service == service && span.name.starts_with(name))
    };
    let received = format!("ws.receive {event}");
    let mut roots = spans
        .iter()
        .filter(|span| span.name == received && span.parent.is_empty());
    let all = |root| {
        let input = child(root, "zone-server", "zone.input")?;
        child(input, "gateway", "ws.send")?;
        let tick = child(input, "zone-server", "zone.tick")?;
        let sent = child(tick, "zone-server", "zone.commit")?;
        let commit = child(
            sent,
            "persistence-svc",
            "tilestead.persistence.v1.Runs/Commit",
        )?;
        child(commit, "persistence-svc", "BATCH")
    };
    roots.any(|root| all(root).is_some())
}
