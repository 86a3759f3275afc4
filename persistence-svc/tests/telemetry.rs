//! A commit as operators see it: its place in the trace of the tick, and the metrics.

#![allow(clippy::unwrap_used)]

use crate::stage;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use opentelemetry::trace::{Span as _, Tracer as _};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_part::Part;
use proto::rpc::persistence::v1::runs_client::RunsClient;
use service_runtime::config::{Env, Reader};
use service_runtime::telemetry::{CONTEXTS_MAX, Telemetry, TelemetryConfig};
use stage::{serve_with, telemetry_to, temporary_folder, until};
use test_servers::{Authority, Certified};
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Identity, ServerTlsConfig};
use tonic::{Request, Response, Status, async_trait};

/// Keeps every span that it is sent.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Span>>>);

impl Collector {
    async fn start(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let server = tonic::transport::Server::builder()
            .add_service(TraceServiceServer::new(self.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(server);
        endpoint
    }

    /// Starts it with TLS only.
    async fn start_secured(&self, own: &Certified) -> String {
        service_runtime::run::install_crypto();
        let read = |path| std::fs::read(path).unwrap();
        let identity = Identity::from_pem(read(&own.cert), read(&own.key));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!(
            "https://localhost:{}",
            listener.local_addr().unwrap().port()
        );
        let server = tonic::transport::Server::builder()
            .tls_config(ServerTlsConfig::new().identity(identity))
            .unwrap()
            .add_service(TraceServiceServer::new(self.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(server);
        endpoint
    }
}

#[async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let spans = request.into_inner().resource_spans.into_iter();
        let spans = spans.flat_map(|resource| resource.scope_spans);
        let spans = spans.flat_map(|scope| scope.spans);
        self.0.lock().unwrap().extend(spans);
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn spans_go_by_tls_to_a_collector_of_the_named_ca_and_to_no_other() {
    let (ca, other) = (Authority::new(), Authority::new());
    for (trusted, expected) in [(ca.ca(), 1), (other.ca(), 0)] {
        let collector = Collector::default();
        let endpoint = collector.start_secured(&ca.certify(&["localhost"])).await;
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint),
            (
                "OTEL_EXPORTER_OTLP_CERTIFICATE",
                trusted.display().to_string(),
            ),
        ];
        let mut reader = Reader::new(Env::from_pairs(variables));
        let config = TelemetryConfig::read(&mut reader);
        reader.finish().unwrap();
        let telemetry = Telemetry::new("persistence-svc", &config).unwrap();
        telemetry.tracer().start("a span").end();
        telemetry.shutdown().await;
        assert_eq!(collector.0.lock().unwrap().len(), expected);
    }
}

/// Returns the trace context of a sampled tick.
fn tick(number: u64) -> String {
    format!("00-{number:032x}-{number:016x}-01")
}

/// Returns the trace context of a sampled span, as the collector heard of it.
fn context(trace: &[u8], span: &[u8]) -> String {
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("{b:02x}")).collect() };
    format!("00-{}-{}-01", hex(trace), hex(span))
}

fn named<'a>(spans: &'a [Span], name: &'a str) -> impl Iterator<Item = &'a Span> {
    spans.iter().filter(move |span| span.name.contains(name))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_commit_is_part_of_its_first_ticks_trace_linked_to_the_others_and_counted() {
    let collector = Collector::default();
    let telemetry = telemetry_to(&collector.start().await);
    let folder = temporary_folder();
    let settings = BTreeMap::from([
        ("PERSISTENCE_LISTEN", "127.0.0.1:0".to_owned()),
        ("DATA_DIR", folder.display().to_string()),
    ]);
    let replica = serve_with(&settings, telemetry.clone()).await;
    let mut runs = RunsClient::new(replica.channel.clone());
    let run = until("the run is registered", async || {
        let ask = wire::RegisterRequest {
            address: "127.0.0.1:1".to_owned(),
            content_hash: "content".to_owned(),
            ..wire::RegisterRequest::default()
        };
        let reply = runs.register(ask).await.ok()?;
        Some(reply.into_inner().run_id)
    })
    .await;
    // A zone of 0.2.0 names one tick. A newer one names all, here more than a batch may carry.
    let older = wire::CommitHeader {
        run_id: run,
        sequence: 1,
        tick: 1,
        traceparent: tick(1),
        ..wire::CommitHeader::default()
    };
    let most = u64::try_from(CONTEXTS_MAX).unwrap();
    let newer = wire::CommitHeader {
        sequence: 2,
        tick: 2,
        traceparent: tick(2),
        traceparents: (2..most + 4).map(tick).collect(),
        traceparents_left_out: 5,
        ..older.clone()
    };
    for header in [older, newer] {
        let part = wire::CommitPart {
            part: Some(Part::Header(header)),
        };
        runs.commit(tokio_stream::iter([part])).await.unwrap();
    }
    until("the months to come are made", async || {
        let metrics = telemetry.render_metrics();
        let three =
            |line: &str| line.starts_with("persistence_months_ahead") && line.ends_with(" 3");
        metrics.lines().any(three).then_some(())
    })
    .await;
    replica.end().await;
    let metrics = telemetry.render_metrics();
    let counted = metrics.lines().any(|line| {
        line.starts_with("persistence_commit_seconds")
            && line.contains("_count")
            && line.contains(r#"outcome="done""#)
            && line.ends_with(" 2")
    });
    assert!(counted, "{metrics}");
    telemetry.shutdown().await;

    let spans = collector.0.lock().unwrap().clone();
    let commits: Vec<_> = named(&spans, "Runs/Commit").collect();
    assert_eq!(commits.len(), 2);
    for (commit, number) in commits.into_iter().zip([1, 2]) {
        assert_eq!(
            context(&commit.trace_id, &commit.parent_span_id),
            tick(number)
        );
        let of_it = |sql: &&Span| sql.parent_span_id == commit.span_id;
        let sql = named(&spans, "BATCH").find(of_it).unwrap();
        assert_eq!(sql.trace_id, commit.trace_id);
        assert!(sql.attributes.iter().any(|one| one.key == "db.system"));
        let links = commit.links.iter();
        let links: Vec<_> = links
            .map(|link| context(&link.trace_id, &link.span_id))
            .collect();
        let (others, left_out) = match number {
            1 => (Vec::new(), 0),
            _ => ((3..most + 2).map(tick).collect(), 5 + 2),
        };
        assert_eq!(links, others);
        let said = commit.attributes.iter();
        let said = said.filter(|one| one.key == "tilestead.ticks_left_out");
        let said: Vec<_> = said.filter_map(|one| one.value.clone()?.value).collect();
        assert_eq!(said, [Value::IntValue(left_out)]);
    }
    std::fs::remove_dir_all(folder).unwrap();
}
