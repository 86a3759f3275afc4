//! The exemplars of histograms as a real Prometheus has read them.

use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use test_servers::Prometheus;

use crate::http;

/// Age of the oldest exemplar that counts.
const LATELY: Duration = Duration::from_secs(600);

#[derive(Deserialize)]
struct Answer {
    data: Vec<Series>,
}

#[derive(Deserialize)]
struct Series {
    exemplars: Vec<Exemplar>,
}

#[derive(Deserialize)]
struct Exemplar {
    labels: Labels,
}

#[derive(Deserialize)]
struct Labels {
    trace_id: String,
}

/// Returns the traces, as hexadecimal digits, that the buckets of a histogram have named lately.
///
/// # Errors
/// If Prometheus does not answer as it should.
pub async fn traces(prometheus: &Prometheus, histogram: &str) -> Result<BTreeSet<String>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let path = format!(
        "/api/v1/query_exemplars?query={histogram}_bucket&start={}&end={}",
        now - LATELY.as_secs(),
        now + 1
    );
    let answer = http::get(&prometheus.address(), &path).await?;
    ensure!(answer.status == 200, "{}: {}", answer.status, answer.text());
    let read: Answer = serde_json::from_str(&answer.text()).context("the answer of Prometheus")?;
    let exemplars = read.data.into_iter().flat_map(|series| series.exemplars);
    Ok(exemplars.map(|one| one.labels.trace_id).collect())
}
