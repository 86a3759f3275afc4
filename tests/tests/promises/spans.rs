//! HTTP requests, logins, handovers, moves of regions and takeovers, each as one trace over all
//! processes that take part.

use std::time::Duration;

use anyhow::{Result, ensure};
use bytes::Bytes;
use hyper::Method;
use proto::client::Format;
use tests::{
    bot::Player,
    cluster::{Cluster, Kind, Plan},
    collector::{Collector, Span},
    http,
    journey::Atlas,
};

/// Time until the spans of what has happened are at the collector.
const SOON: Duration = Duration::from_secs(30);
/// Trace of a client's own, which it would like to be the parent.
const OUTSIDE: (&str, &str) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_logins_handovers_region_moves_and_takeovers_are_traces() {
    let collector = Collector::start().await.unwrap();
    let plan = Plan::new("spans")
        .of(1, 2, 1)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint())
        .env("OTEL_BSP_SCHEDULE_DELAY", "200");
    let mut cluster = Cluster::start(plan.clone()).await.unwrap();
    story(&mut cluster, &plan, &collector).await.unwrap();
}

async fn story(cluster: &mut Cluster, plan: &Plan, collector: &Collector) -> Result<()> {
    requests(cluster, collector).await?;
    let atlas = Atlas::of(cluster, plan).await?;
    let ann = Player::arrive(&cluster.gateway(0), Format::Json, "Ann").await?;
    logins(collector).await?;
    handover(&ann, &atlas, collector).await?;
    drop(ann);
    // A zone server that stops gives its regions away; one that is killed has them taken.
    cluster.stop((Kind::Zone, 1)).await?;
    region_move(collector).await?;
    cluster.launch((Kind::Zone, 1))?;
    cluster.ready().await?;
    let before = named(&collector.spans(), LOAD).count();
    cluster.kill((Kind::Zone, 0))?;
    takeover(collector, before).await
}

/// Span of a region that a zone server loads from the store.
const LOAD: &str = "zone.region_load";

fn below<'s>(spans: &'s [Span], parent: &Span, service: &str, name: &str) -> Option<&'s Span> {
    spans.iter().find(|span| {
        let within = span.trace == parent.trace && span.parent == parent.id;
        within && span.service == service && span.name == name
    })
}

fn named<'s>(spans: &'s [Span], name: &'s str) -> impl Iterator<Item = &'s Span> {
    spans.iter().filter(move |span| span.name == name)
}

async fn requests(cluster: &Cluster, collector: &Collector) -> Result<()> {
    let traceparent = format!("00-{}-{}-01", OUTSIDE.0, OUTSIDE.1);
    let headers = [("traceparent", traceparent.as_str())];
    let gateway = cluster.gateway(0);
    let path = "/world/terrain/0/0";
    let answer = http::send(&gateway, Method::GET, path, &headers, Bytes::new()).await?;
    ensure!(answer.status == 200, "{}", answer.text());
    http::get(&gateway, "/nowhere/at/all").await?;
    let found = |spans: &[Span]| {
        let known = named(spans, "GET /world/terrain/{x}/{z}").next()?.clone();
        let unknown = spans.iter().find(|span| span.name == "GET")?.clone();
        Some((known, unknown, named(spans, "GET /readyz").count()))
    };
    let (known, unknown, probes) = collector.until("span of a request", SOON, found).await?;
    ensure!(known.service == "gateway" && known.parent.is_empty());
    ensure!(
        known.trace != OUTSIDE.0,
        "a client decides about our traces"
    );
    let link = (OUTSIDE.0.to_owned(), OUTSIDE.1.to_owned());
    ensure!(known.links == [link], "{:?}", known.links);
    for (name, value) in [
        ("http.request.method", "GET"),
        ("http.route", "/world/terrain/{x}/{z}"),
        ("http.response.status_code", "200"),
        ("url.scheme", "http"),
    ] {
        ensure!(known.attribute(name) == value, "{known:?}");
    }
    ensure!(unknown.attribute("http.response.status_code") == "404");
    ensure!(unknown.attribute("http.route").is_empty());
    ensure!(probes == 0, "somebody follows probes");
    Ok(())
}

async fn logins(collector: &Collector) -> Result<()> {
    let whole = |spans: &[Span]| {
        let login = named(spans, "session.login").find(|span| {
            let store = "tilestead.persistence.v1.Accounts/SignIn";
            below(spans, span, "persistence-svc", store).is_some()
        })?;
        let enter = named(spans, "session.enter").find(|span| {
            let store = "tilestead.persistence.v1.Accounts/OpenSession";
            below(spans, span, "persistence-svc", store).is_some()
        })?;
        Some((login.clone(), enter.clone()))
    };
    let (login, enter) = collector.until("login", SOON, whole).await?;
    ensure!(login.attribute("outcome") == "passed", "{login:?}");
    ensure!(enter.attribute("outcome") == "entered", "{enter:?}");
    Ok(())
}

async fn handover(ann: &Player, atlas: &Atlas, collector: &Collector) -> Result<()> {
    let crossing = atlas.crossings[0];
    atlas.travel(ann, crossing.low).await?;
    ann.walk(crossing.high, false, Duration::from_secs(30))
        .await?;
    let whole = |spans: &[Span]| {
        named(spans, "zone.handover").find(|span| {
            let call = |method: &str| {
                let name = format!("tilestead.zone.v1.Handover/{method}");
                below(spans, span, "zone-server", &name).is_some()
            };
            let saved = spans.iter().any(|commit| {
                let linked = commit
                    .links
                    .contains(&(span.trace.clone(), span.id.clone()));
                let below = commit.trace == span.trace && commit.parent == span.id;
                commit.name == "zone.commit" && (linked || below)
            });
            call("Prepare") && call("Complete") && saved && span.attribute("outcome") == "done"
        })?;
        Some(())
    };
    collector.until("whole handover", SOON, whole).await
}

async fn region_move(collector: &Collector) -> Result<()> {
    let whole = |spans: &[Span]| {
        let mut moves = named(spans, "zone.region_move");
        moves.find(|span| {
            let call = |method: &str| {
                let name = format!("tilestead.zone.v1.Handover/{method}");
                below(spans, span, "zone-server", &name).is_some()
            };
            let given = span.attribute("outcome") == "given";
            given && call("PrepareRegion") && call("CompleteRegion")
        })?;
        Some(())
    };
    collector.until("whole move of a region", SOON, whole).await
}

/// Checks that the store's plan is there, and a load of a region that links to it; `before` loads
/// were there before.
async fn takeover(collector: &Collector, before: usize) -> Result<()> {
    let whole = |spans: &[Span]| {
        let taken = named(spans, "placement.takeover").next()?;
        let key = |span: &Span| (span.trace.clone(), span.id.clone());
        // The runs that are there take the regions at once, or a later plan gives them.
        let mut plans = spans
            .iter()
            .filter(|span| span.name.starts_with("placement."));
        let plan = plans.find(|plan| {
            let regions: usize = plan.attribute("tilestead.regions").parse().unwrap_or(0);
            regions > 0 && (plan.id == taken.id || plan.links.contains(&key(taken)))
        })?;
        named(spans, LOAD).skip(before).find(|span| {
            let store = "tilestead.persistence.v1.Runs/LoadRegion";
            let asked = below(spans, span, "persistence-svc", store);
            let planned = asked.is_some_and(|load| load.links.contains(&key(plan)));
            planned && span.attribute("outcome") == "played"
        })?;
        Some(())
    };
    collector.until("takeover", SOON, whole).await
}
