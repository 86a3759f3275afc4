//! Exemplars: each bucket of a histogram remembers the last sampled trace whose value fell into it,
//! so that whoever sees a slow bucket can open a trace of it.
//!
//! The SDK of OpenTelemetry (0.33) records none. A meter of this module stands before the SDK's: it
//! passes everything on, and notes the trace that is active where a histogram records. The notes are
//! written into the OpenMetrics text, which is the only text of Prometheus that has a place for them.
//! Always: a note has the labels of its series and nothing more, so there are no more notes than buckets.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use opentelemetry::{
    Context, KeyValue,
    metrics::{
        AsyncInstrumentBuilder, Counter, Gauge, Histogram, HistogramBuilder, InstrumentBuilder,
        InstrumentProvider, Meter, ObservableCounter, ObservableGauge, ObservableUpDownCounter,
        SyncInstrument, UpDownCounter,
    },
    trace::{TraceContextExt, TraceId},
};
use prometheus::{
    Encoder, TextEncoder,
    proto::{LabelPair, Metric, MetricFamily, MetricType},
};

/// A value that was recorded within a sampled trace.
#[derive(Debug, Clone, Copy)]
struct Exemplar {
    trace: TraceId,
    value: f64,
    at: SystemTime,
}

/// Labels of a series in order, without the bucket's bound.
type Labels = Vec<(String, String)>;
/// The last exemplar of each bucket of a series, the unbounded one last.
type Buckets = Vec<Option<Exemplar>>;

/// The exemplars of all histograms of a service. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Exemplars(Arc<Mutex<BTreeMap<String, BTreeMap<Labels, Buckets>>>>);

impl Exemplars {
    /// Returns a meter that notes exemplars and passes everything on to `inner`.
    pub(super) fn before(&self, inner: Meter) -> Meter {
        Meter::new(Arc::new(Noting {
            inner,
            exemplars: self.clone(),
        }))
    }

    fn note(&self, name: &str, bounds: &[f64], labels: &[KeyValue], seen: Exemplar) {
        let bucket = bounds.partition_point(|bound| *bound < seen.value);
        let label = |pair: &KeyValue| (pair.key.to_string(), pair.value.to_string());
        let mut labels: Labels = labels.iter().map(label).collect();
        labels.sort();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains_key(name) {
            all.insert(name.to_owned(), BTreeMap::new());
        }
        let Some(series) = all.get_mut(name) else {
            return;
        };
        let buckets = series
            .entry(labels)
            .or_insert_with(|| vec![None; bounds.len() + 1]);
        if let Some(place) = buckets.get_mut(bucket) {
            *place = Some(seen);
        }
    }

    /// Returns all metrics as OpenMetrics 1.0.
    pub(super) fn render(&self, families: &[MetricFamily]) -> prometheus::Result<String> {
        let mut out = String::new();
        for family in families {
            let mut text = Vec::new();
            TextEncoder::new().encode(std::slice::from_ref(family), &mut text)?;
            let text = String::from_utf8_lossy(&text);
            match family.get_field_type() {
                MetricType::COUNTER => counter(&text, family.name(), &mut out),
                MetricType::HISTOGRAM => self.histogram(&text, family, &mut out),
                MetricType::GAUGE | MetricType::SUMMARY | MetricType::UNTYPED => {
                    out.push_str(&text.replace(" untyped\n", " unknown\n"));
                }
            }
        }
        out.push_str("# EOF\n");
        Ok(out)
    }

    /// Writes a histogram, each bucket with its exemplar.
    fn histogram(&self, text: &str, family: &MetricFamily, out: &mut String) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let nothing = BTreeMap::new();
        let series = all.get(family.name()).unwrap_or(&nothing);
        // The text has a line for each bucket of each series, in the order of the family.
        let mut exemplars = family.get_metric().iter().flat_map(|metric| {
            let buckets = series.get(&labels_of(metric));
            (0..metric.get_histogram().get_bucket().len())
                .map(move |n| buckets.and_then(|all| *all.get(n)?))
        });
        let bucket = format!("{}_bucket{{", family.name());
        for line in text.lines() {
            out.push_str(line);
            if line.starts_with(&bucket)
                && let Some(Some(seen)) = exemplars.next()
            {
                let at = seen.at.duration_since(UNIX_EPOCH).unwrap_or_default();
                // Writing to a string does not fail.
                let _ = write!(
                    out,
                    " # {{trace_id=\"{}\"}} {} {:.3}",
                    seen.trace,
                    seen.value,
                    at.as_secs_f64()
                );
            }
            out.push('\n');
        }
    }
}

/// Writes a counter: in OpenMetrics its family is named without `_total`.
fn counter(text: &str, name: &str, out: &mut String) {
    let family = name.strip_suffix("_total").unwrap_or(name);
    for line in text.lines() {
        let head = ["# HELP ", "# TYPE "].into_iter().find_map(|head| {
            let rest = line.strip_prefix(head)?.strip_prefix(name)?;
            Some((head, rest))
        });
        match head {
            Some((head, rest)) => {
                out.push_str(head);
                out.push_str(family);
                out.push_str(rest);
            }
            None => out.push_str(line),
        }
        out.push('\n');
    }
}

fn labels_of(metric: &Metric) -> Labels {
    let pair = |pair: &LabelPair| (pair.name().to_owned(), pair.value().to_owned());
    let mut labels: Labels = metric.get_label().iter().map(pair).collect();
    labels.sort();
    labels
}

/// Makes instruments of the meter behind it; histograms note exemplars.
struct Noting {
    inner: Meter,
    exemplars: Exemplars,
}

/// A histogram that notes exemplars.
struct Noted<T> {
    histogram: Histogram<T>,
    name: Cow<'static, str>,
    bounds: Vec<f64>,
    exemplars: Exemplars,
}

impl<T> Noted<T> {
    fn note(&self, value: f64, labels: &[KeyValue]) {
        let trace = Context::map_current(|here| {
            let span = here.span();
            let context = span.span_context();
            context.is_sampled().then(|| context.trace_id())
        });
        if let Some(trace) = trace {
            let at = SystemTime::now();
            let seen = Exemplar { trace, value, at };
            self.exemplars.note(&self.name, &self.bounds, labels, seen);
        }
    }
}

impl SyncInstrument<f64> for Noted<f64> {
    fn measure(&self, value: f64, labels: &[KeyValue]) {
        self.histogram.record(value, labels);
        self.note(value, labels);
    }
}

impl SyncInstrument<u64> for Noted<u64> {
    fn measure(&self, value: u64, labels: &[KeyValue]) {
        self.histogram.record(value, labels);
        self.note(value as f64, labels);
    }
}

/// Makes an instrument of the meter behind, with all that its builder says.
macro_rules! pass_on {
    ($($name:ident -> $made:ty),+ $(,)?) => {$(
        fn $name(&self, of: InstrumentBuilder<'_, $made>) -> $made {
            let mut builder = self.inner.$name(of.name);
            builder.description = of.description;
            builder.unit = of.unit;
            builder.build()
        }
    )+};
}

/// Does the same for an instrument that is asked when somebody looks.
macro_rules! pass_on_observed {
    ($($name:ident -> $made:ty, $value:ty);+ $(;)?) => {$(
        fn $name(&self, of: AsyncInstrumentBuilder<'_, $made, $value>) -> $made {
            let mut builder = self.inner.$name(of.name);
            builder.description = of.description;
            builder.unit = of.unit;
            builder.callbacks = of.callbacks;
            builder.build()
        }
    )+};
}

/// Does the same for a histogram, which notes exemplars.
macro_rules! note {
    ($($name:ident -> $value:ty),+ $(,)?) => {$(
        fn $name(&self, of: HistogramBuilder<'_, Histogram<$value>>) -> Histogram<$value> {
            let name = of.name.clone();
            let bounds = of.boundaries.clone().unwrap_or_default();
            let mut builder = self.inner.$name(of.name);
            builder.description = of.description;
            builder.unit = of.unit;
            builder.boundaries = of.boundaries;
            Histogram::new(Arc::new(Noted {
                histogram: builder.build(),
                name,
                bounds,
                exemplars: self.exemplars.clone(),
            }))
        }
    )+};
}

impl InstrumentProvider for Noting {
    pass_on!(
        u64_counter -> Counter<u64>,
        f64_counter -> Counter<f64>,
        i64_up_down_counter -> UpDownCounter<i64>,
        f64_up_down_counter -> UpDownCounter<f64>,
        u64_gauge -> Gauge<u64>,
        f64_gauge -> Gauge<f64>,
        i64_gauge -> Gauge<i64>,
    );
    pass_on_observed!(
        u64_observable_counter -> ObservableCounter<u64>, u64;
        f64_observable_counter -> ObservableCounter<f64>, f64;
        i64_observable_up_down_counter -> ObservableUpDownCounter<i64>, i64;
        f64_observable_up_down_counter -> ObservableUpDownCounter<f64>, f64;
        u64_observable_gauge -> ObservableGauge<u64>, u64;
        i64_observable_gauge -> ObservableGauge<i64>, i64;
        f64_observable_gauge -> ObservableGauge<f64>, f64;
    );
    note!(f64_histogram -> f64, u64_histogram -> u64);
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceState};

    use super::*;
    use crate::telemetry::{Telemetry, TelemetryConfig};

    fn within(trace: u128, flags: TraceFlags) -> opentelemetry::ContextGuard {
        let span = SpanContext::new(
            TraceId::from(trace),
            SpanId::from(7),
            flags,
            true,
            TraceState::default(),
        );
        Context::new().with_remote_span_context(span).attach()
    }

    fn commits(telemetry: &Telemetry) -> Histogram<f64> {
        let meter = telemetry.meter();
        let commits = meter.f64_histogram("commit_seconds");
        commits.with_boundaries(vec![0.1, 1.0]).build()
    }

    #[tokio::test]
    async fn each_bucket_names_the_last_sampled_trace_of_its_series() {
        let telemetry = Telemetry::new("one", &TelemetryConfig::default()).unwrap();
        let commits = commits(&telemetry);
        let done = [KeyValue::new("outcome", "done")];
        commits.record(0.05, &done);
        for (trace, value) in [(1, 0.5), (2, 0.1), (3, 0.7)] {
            let _here = within(trace, TraceFlags::SAMPLED);
            commits.record(value, &done);
        }
        {
            let _here = within(4, TraceFlags::default());
            commits.record(0.8, &done);
            commits.record(8.0, &done);
        }
        let text = telemetry.render_open_metrics();
        let line = |le: &str| {
            let bucket = format!("commit_seconds_bucket{{outcome=\"done\",le=\"{le}\"}}");
            let found = text.lines().find(|line| line.starts_with(&bucket));
            found.unwrap_or_else(|| panic!("{text}"))[bucket.len()..].to_owned()
        };
        let begins = |le: &str, what: &str| assert!(line(le).starts_with(what), "{}", line(le));
        begins("0.1", &format!(" 2 # {{trace_id=\"{:032x}\"}} 0.1 ", 2));
        begins("1", &format!(" 5 # {{trace_id=\"{:032x}\"}} 0.7 ", 3));
        assert_eq!(line("+Inf"), " 6");
    }

    #[tokio::test]
    async fn counters_lose_their_ending_in_the_head_and_the_text_ends() {
        let telemetry = Telemetry::new("one", &TelemetryConfig::default()).unwrap();
        let meter = telemetry.meter();
        let frames = meter.u64_counter("frames_total").with_description("Frames");
        frames.build().add(2, &[]);
        let text = telemetry.render_open_metrics();
        let wanted = "# HELP frames Frames\n# TYPE frames counter\nframes_total 2\n";
        assert!(text.contains(wanted), "{text}");
        assert!(text.ends_with("\n# EOF\n"), "{text}");
        assert!(!telemetry.render_metrics().contains("EOF"));
    }
}
