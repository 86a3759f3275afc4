//! An OTLP collector that keeps the spans that it is sent, and of metrics their names.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Result, bail};
use futures::future::BoxFuture;
use opentelemetry_proto::tonic::{
    collector::{
        metrics::v1::{
            ExportMetricsServiceRequest, ExportMetricsServiceResponse,
            metrics_service_server::{MetricsService, MetricsServiceServer},
        },
        trace::v1::{
            ExportTraceServiceRequest, ExportTraceServiceResponse,
            trace_service_server::{TraceService, TraceServiceServer},
        },
    },
    common::v1::{KeyValue, any_value::Value},
    resource::v1::Resource,
};
use tokio::{net::TcpListener, time::Instant};
use tonic::{Request, Response, Status, transport::server::TcpIncoming};

/// Spans that are kept at most; later ones are not.
const SPANS_MAX: usize = 200_000;

/// A span as it was sent, and by whom.
#[derive(Debug, Clone)]
pub struct Span {
    /// `service.name`
    pub service: String,
    /// Its name.
    pub name: String,
    /// 32 hexadecimal digits.
    pub trace: String,
    /// 16 hexadecimal digits.
    pub id: String,
    /// Its parent's id; empty: none.
    pub parent: String,
    /// Trace and span of each of its links.
    pub links: Vec<(String, String)>,
    /// Its attributes, as text.
    pub attributes: BTreeMap<String, String>,
}

impl Span {
    /// Returns the value of an attribute; empty: the span has none of this name.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

/// All that services have sent.
#[derive(Default)]
struct Kept {
    spans: Vec<Span>,
    /// Names of metrics, each with the service that sent it.
    metrics: BTreeSet<(String, String)>,
}

/// The collector; it ends when dropped.
pub struct Collector {
    kept: Arc<Mutex<Kept>>,
    address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Collector {
    /// Starts one on a free port.
    pub fn start() -> BoxFuture<'static, Result<Self>> {
        Box::pin(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let address = listener.local_addr()?;
            let kept = Arc::default();
            let keeper = Keeper(Arc::clone(&kept));
            let server = tonic::transport::Server::builder()
                .add_service(TraceServiceServer::new(keeper.clone()))
                .add_service(MetricsServiceServer::new(keeper));
            let task = tokio::spawn(async move {
                if let Err(e) = server
                    .serve_with_incoming(TcpIncoming::from(listener))
                    .await
                {
                    eprintln!("collector: {e}");
                }
            });
            Ok(Self {
                kept,
                address,
                task,
            })
        })
    }

    /// Returns the value for `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns all spans so far.
    pub fn spans(&self) -> Vec<Span> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.spans.clone()
    }

    /// Returns the names of the metrics that a service has sent so far.
    pub fn metrics(&self, service: &str) -> BTreeSet<String> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = kept.metrics.iter().filter(|(by, _)| by == service);
        sent.map(|(_, name)| name.clone()).collect()
    }

    /// Waits until the spans answer.
    pub async fn until<T>(
        &self,
        what: &str,
        time_limit: Duration,
        mut test: impl FnMut(&[Span]) -> Option<T>,
    ) -> Result<T> {
        let deadline = Instant::now() + time_limit;
        loop {
            let spans = self.spans();
            if let Some(found) = test(&spans) {
                return Ok(found);
            }
            if Instant::now() > deadline {
                let mut names: Vec<_> = spans
                    .iter()
                    .map(|s| format!("{} {}", s.service, s.name))
                    .collect();
                names.sort();
                names.dedup();
                bail!(
                    "no {what} in {time_limit:?} among {} spans: {names:?}",
                    spans.len()
                );
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

#[derive(Clone)]
struct Keeper(Arc<Mutex<Kept>>);

#[tonic::async_trait]
impl TraceService for Keeper {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for resource in request.into_inner().resource_spans {
            let service = service(resource.resource);
            for span in resource
                .scope_spans
                .into_iter()
                .flat_map(|scope| scope.spans)
            {
                if kept.spans.len() >= SPANS_MAX {
                    break;
                }
                let links = span
                    .links
                    .iter()
                    .map(|l| (hex(&l.trace_id), hex(&l.span_id)));
                kept.spans.push(Span {
                    service: service.clone(),
                    name: span.name,
                    trace: hex(&span.trace_id),
                    id: hex(&span.span_id),
                    parent: hex(&span.parent_span_id),
                    links: links.collect(),
                    attributes: span.attributes.into_iter().map(text).collect(),
                });
            }
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl MetricsService for Keeper {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for resource in request.into_inner().resource_metrics {
            let service = service(resource.resource);
            let scopes = resource.scope_metrics.into_iter();
            let metrics = scopes.flat_map(|scope| scope.metrics);
            let names = metrics.map(|metric| (service.clone(), metric.name));
            kept.metrics.extend(names);
        }
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}

/// Returns the name of the service that sent something.
fn service(resource: Option<Resource>) -> String {
    let attributes = resource.map(|r| r.attributes).unwrap_or_default();
    let mut named = attributes.into_iter().map(text);
    let service = named.find(|(name, _)| name == "service.name");
    service.map(|(_, name)| name).unwrap_or_default()
}

/// Returns an attribute's name, and its value as text.
fn text(attribute: KeyValue) -> (String, String) {
    let value = match attribute.value.and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    };
    (attribute.key, value)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
