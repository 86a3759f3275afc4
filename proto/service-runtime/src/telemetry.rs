//! Traces, metrics and logs.
//!
//! Always: each service instance has its own providers and its own Prometheus registry, so that
//! several may live in one process. Without an endpoint it sends nothing. Nothing here ever blocks
//! its caller on a collector.

mod context;
mod exemplars;
mod lines;
mod process;
mod sample;
mod settings;

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use opentelemetry::{
    KeyValue,
    metrics::{Meter, MeterProvider as _},
    trace::TracerProvider as _,
};
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig, WithTonicConfig};
use opentelemetry_sdk::{
    Resource,
    metrics::{PeriodicReader, SdkMeterProvider},
    trace::{Sampler, SdkTracerProvider},
};
use prometheus::{Encoder, Registry, TextEncoder};
use tonic::transport::{Certificate, ClientTlsConfig, Identity};

use exemplars::Exemplars;

pub use context::{CONTEXTS_MAX, parse_traceparent, trace_id, traceparent};
pub use sample::sampled;
pub use settings::{LogFormat, TelemetryConfig, init_logs, revision};

/// Makes spans.
pub type Tracer = opentelemetry_sdk::trace::SdkTracer;

/// Time that one export may take.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(3);
/// Time that the last export may take when the process ends.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);
/// Time between two exports of metrics.
const METRICS_INTERVAL: Duration = Duration::from_secs(15);

/// The traces and metrics of one service instance. Clones share them.
#[derive(Clone)]
pub struct Telemetry(Arc<Shared>);

struct Shared {
    service: &'static str,
    tracing: bool,
    traces: SdkTracerProvider,
    metrics: SdkMeterProvider,
    registry: Registry,
    exemplars: Exemplars,
}

impl Telemetry {
    /// Makes the providers. Call it inside a runtime with at least two workers; sends by OTLP
    /// only when the configuration names an endpoint.
    pub fn new(service: &'static str, config: &TelemetryConfig) -> anyhow::Result<Self> {
        let instance = format!("{:016x}", rand::random::<u64>());
        let resource = Resource::builder()
            .with_service_name(service)
            .with_attribute(KeyValue::new("service.instance.id", instance))
            .build();
        let registry = Registry::new();
        let exporter = opentelemetry_prometheus::exporter()
            .with_registry(registry.clone())
            .without_units()
            .without_counter_suffixes()
            .scope_info_enabled(false)
            .build()
            .context("make the Prometheus exporter")?;
        let mut metrics = SdkMeterProvider::builder()
            .with_resource(resource.clone())
            .with_reader(exporter);
        let mut traces = SdkTracerProvider::builder().with_resource(resource);
        if let Some(endpoint) = &config.endpoint {
            let spans = SpanExporter::builder().with_tonic().with_endpoint(endpoint);
            let spans = secured(spans, config)
                .with_timeout(EXPORT_TIMEOUT)
                .build()
                .context("make the OTLP span exporter")?;
            let ratio = Sampler::TraceIdRatioBased(config.ratio);
            traces = traces
                .with_sampler(Sampler::ParentBased(Box::new(ratio)))
                .with_batch_exporter(spans);
            let values = MetricExporter::builder()
                .with_tonic()
                .with_endpoint(endpoint);
            let values = secured(values, config)
                .with_timeout(EXPORT_TIMEOUT)
                .build()
                .context("make the OTLP metric exporter")?;
            let reader = PeriodicReader::builder(values).with_interval(METRICS_INTERVAL);
            metrics = metrics.with_reader(reader.build());
        } else {
            traces = traces.with_sampler(Sampler::AlwaysOff);
        }
        let telemetry = Self(Arc::new(Shared {
            service,
            tracing: config.endpoint.is_some(),
            traces: traces.build(),
            metrics: metrics.build(),
            registry,
            exemplars: Exemplars::default(),
        }));
        process::observe(&telemetry.meter(), service, config.revision.as_deref());
        Ok(telemetry)
    }

    /// Returns the maker of instruments. Their names appear in `/metrics` unchanged: counters end
    /// in `_total`, durations in `_seconds`.
    pub fn meter(&self) -> Meter {
        let meter = self.0.metrics.meter(self.0.service);
        self.0.exemplars.before(meter)
    }

    /// Returns the maker of spans; they go nowhere unless tracing is on.
    pub fn tracer(&self) -> Tracer {
        self.0.traces.tracer(self.0.service)
    }

    /// Returns whether the process exports spans.
    pub fn tracing_enabled(&self) -> bool {
        self.0.tracing
    }

    /// Returns all metrics in the Prometheus text format.
    pub fn render_metrics(&self) -> String {
        let mut out = Vec::new();
        if let Err(error) = TextEncoder::new().encode(&self.0.registry.gather(), &mut out) {
            tracing::warn!(%error, "render metrics");
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Returns all metrics as OpenMetrics 1.0, in which buckets of histograms name traces.
    pub fn render_open_metrics(&self) -> String {
        let rendered = self.0.exemplars.render(&self.0.registry.gather());
        rendered.unwrap_or_else(|error| {
            tracing::warn!(%error, "render metrics");
            "# EOF\n".to_owned()
        })
    }

    /// Sends all waiting spans and metrics, within a bounded time. Afterwards it records nothing.
    pub async fn shutdown(&self) {
        let shared = Arc::clone(&self.0);
        // The exporters need a worker of the runtime while this thread blocks.
        let work = tokio::task::spawn_blocking(move || {
            let spans = shared.traces.shutdown_with_timeout(SHUTDOWN_TIMEOUT);
            (
                spans,
                shared.metrics.shutdown_with_timeout(SHUTDOWN_TIMEOUT),
            )
        });
        let done = crate::drain::within(SHUTDOWN_TIMEOUT * 2, "telemetry", work).await;
        if let Some(Ok((spans, metrics))) = done {
            for error in [spans.err(), metrics.err()].into_iter().flatten() {
                tracing::warn!(service = self.0.service, %error, "flush telemetry");
            }
        }
    }
}

/// Adds TLS for an endpoint with `https://`.
fn secured<T: WithTonicConfig>(exporter: T, config: &TelemetryConfig) -> T {
    let https = |endpoint: &String| endpoint.starts_with("https://");
    if !config.endpoint.as_ref().is_some_and(https) {
        return exporter;
    }
    crate::run::install_crypto();
    let files = &config.collector;
    let tls = match files.ca_pem() {
        Some(ca) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(ca)),
        None => ClientTlsConfig::new().with_native_roots(),
    };
    exporter.with_tls_config(match files.identity() {
        Some(own) => tls.identity(Identity::from_pem(&own.cert, &own.key)),
        None => tls,
    })
}

impl std::fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Telemetry")
            .field("service", &self.0.service)
            .field("tracing", &self.0.tracing)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn metrics_render_under_the_names_they_were_given() {
        let telemetry = Telemetry::new("gateway", &TelemetryConfig::default()).unwrap();
        let meter = telemetry.meter();
        let counter = meter.u64_counter("frames_total").build();
        counter.add(2, &[KeyValue::new("direction", "out")]);
        let phases = meter.f64_histogram("tick_phase_seconds").with_unit("s");
        phases
            .with_boundaries(vec![0.01, 0.1])
            .build()
            .record(0.05, &[]);
        let text = telemetry.render_metrics();
        assert!(text.contains("frames_total{direction=\"out\"} 2"), "{text}");
        assert!(
            text.contains("tick_phase_seconds_bucket{le=\"0.1\"} 1"),
            "{text}"
        );
        assert!(!telemetry.tracing_enabled());
    }

    #[tokio::test]
    async fn two_services_in_one_process_do_not_mix() {
        let one = Telemetry::new("one", &TelemetryConfig::default()).unwrap();
        let two = Telemetry::new("two", &TelemetryConfig::default()).unwrap();
        one.meter()
            .u64_counter("only_one_total")
            .build()
            .add(1, &[]);
        assert!(one.render_metrics().contains("only_one_total"));
        assert!(!two.render_metrics().contains("only_one_total"));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn shutdown_ends_without_a_collector() {
        let mut reader = crate::config::Reader::new(crate::config::Env::from_pairs([(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "http://127.0.0.1:1",
        )]));
        let config = TelemetryConfig::read(&mut reader);
        let telemetry = Telemetry::new("one", &config).unwrap();
        assert!(telemetry.tracing_enabled());
        let limit = SHUTDOWN_TIMEOUT * 3;
        tokio::time::timeout(limit, telemetry.shutdown())
            .await
            .unwrap();
    }
}
