//! An OTLP collector that keeps the spans that it is sent, and takes metrics without keeping them.

use std::{
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
    common::v1::any_value::Value,
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
}

/// The collector; it ends when dropped.
pub struct Collector {
    spans: Arc<Mutex<Vec<Span>>>,
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
            let spans = Arc::new(Mutex::new(Vec::new()));
            let keeper = Keeper(Arc::clone(&spans));
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
                spans,
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
        self.spans
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
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
struct Keeper(Arc<Mutex<Vec<Span>>>);

#[tonic::async_trait]
impl TraceService for Keeper {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for resource in request.into_inner().resource_spans {
            let attributes = resource.resource.map(|r| r.attributes).unwrap_or_default();
            let service = attributes
                .into_iter()
                .find(|attribute| attribute.key == "service.name")
                .and_then(|attribute| attribute.value?.value)
                .map_or(String::new(), |value| match value {
                    Value::StringValue(text) => text,
                    other => format!("{other:?}"),
                });
            for span in resource
                .scope_spans
                .into_iter()
                .flat_map(|scope| scope.spans)
            {
                if kept.len() >= SPANS_MAX {
                    break;
                }
                let links = span
                    .links
                    .iter()
                    .map(|l| (hex(&l.trace_id), hex(&l.span_id)));
                kept.push(Span {
                    service: service.clone(),
                    name: span.name,
                    trace: hex(&span.trace_id),
                    id: hex(&span.span_id),
                    parent: hex(&span.parent_span_id),
                    links: links.collect(),
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
        _: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
