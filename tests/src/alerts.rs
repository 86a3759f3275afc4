//! The alerts that a real Prometheus raises about a cluster, by the rules that ship.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use test_servers::Prometheus;

use crate::{
    cluster::{Cluster, Member, process::workspace},
    http,
};

/// The query for all alerts that fired in the last ten minutes, as it stands in an address:
/// `max_over_time(ALERTS{alertstate="firing"}[10m])`.
const FIRED: &str =
    "/api/v1/query?query=max_over_time%28ALERTS%7Balertstate%3D%22firing%22%7D%5B10m%5D%29";

#[derive(Deserialize)]
struct Answer {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    result: Vec<Series>,
}

#[derive(Deserialize)]
struct Series {
    metric: Labels,
}

#[derive(Deserialize)]
struct Labels {
    alertname: String,
}

/// Starts a Prometheus that asks all processes of a cluster every second.
///
/// # Errors
/// If it does not come up.
pub async fn watch(cluster: &Cluster) -> Result<Prometheus> {
    let target = |member: Member| anyhow::Ok((member.0.binary(), cluster.probes(member)?));
    let targets: Result<Vec<_>> = cluster.members().into_iter().map(target).collect();
    let targets = targets?;
    let rules = workspace().join("deploy/observability/rules/tilestead.yaml");
    let started = tokio::task::spawn_blocking(move || Prometheus::start(&rules, &targets));
    started.await?.map_err(anyhow::Error::msg)
}

/// Returns the names of all alerts that fired in the last ten minutes.
///
/// # Errors
/// If Prometheus does not answer as it should.
pub async fn fired(prometheus: &Prometheus) -> Result<BTreeSet<String>> {
    let answer = http::get(&prometheus.address(), FIRED).await?;
    ensure!(answer.status == 200, "{}: {}", answer.status, answer.text());
    let read: Answer = serde_json::from_str(&answer.text()).context("the answer of Prometheus")?;
    let names = read.data.result.into_iter();
    Ok(names.map(|series| series.metric.alertname).collect())
}
