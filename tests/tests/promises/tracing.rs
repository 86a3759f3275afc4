//! One player's action is one trace.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use proto::client::Format;
use serde_json::json;
use tests::{
    bot::{Payload, Player},
    cluster::{Cluster, Plan},
    collector::{Collector, Span},
    journey::Atlas,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_is_one_trace_from_the_gateway_through_the_zones_tick_back_to_the_socket() {
    let collector = Collector::start().await.unwrap();
    let plan = Plan::new("tracing")
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint())
        .env("OTEL_BSP_SCHEDULE_DELAY", "200");
    let cluster = Cluster::start(plan.clone()).await.unwrap();
    story(&cluster, &plan, &collector).await.unwrap();
}

async fn story(cluster: &Cluster, plan: &Plan, collector: &Collector) -> Result<()> {
    let atlas = Atlas::of(cluster, plan).await?;
    let ann = Player::arrive(&cluster.gateway(0), Format::Json, "Ann").await?;
    let at = ann.position()?;
    let ways = atlas.terrain.ways_to(at);
    let there = [(1, 0), (-1, 0), (0, 1), (0, -1)]
        .map(|(dx, dz)| (at.0 + dx, at.1 + dz))
        .into_iter()
        .find(|tile| ways.far(*tile) == Some(1))
        .context("walled in")?;
    let data = json!({ "target": { "x": there.0, "z": there.1 } });
    let answer = ann.ask("player:move", &data).await?;
    ensure!(matches!(answer, Payload::Ack(_)), "{answer:?}");

    let spans = collector
        .until("whole trace", Duration::from_secs(30), whole)
        .await?;
    let root = spans
        .iter()
        .find(|s| s.name.contains("player:move"))
        .context("root")?;
    ensure!(
        root.parent.is_empty(),
        "the gateway's span begins the trace: {root:?}"
    );
    Ok(())
}

/// Returns the spans of a trace that has all that it must have, if there is one.
fn whole(spans: &[Span]) -> Option<Vec<Span>> {
    let receiving = spans
        .iter()
        .filter(|s| s.service == "gateway" && s.name == "ws.receive player:move");
    receiving.into_iter().find_map(|root| {
        let trace: Vec<Span> = spans
            .iter()
            .filter(|s| s.trace == root.trace)
            .cloned()
            .collect();
        let in_zone = trace
            .iter()
            .find(|s| s.service == "zone-server" && s.parent == root.id)?;
        // The tick serves many players: it is a trace of its own, and linked.
        let ticked = in_zone.links.iter().any(|(trace, id)| {
            *trace != root.trace
                && spans
                    .iter()
                    .any(|s| s.id == *id && s.service == "zone-server" && s.name.contains("tick"))
        });
        let sent = trace
            .iter()
            .any(|s| s.service == "gateway" && s.name == "ws.send");
        (ticked && sent).then_some(trace)
    })
}
