//! Settings of telemetry, and the process's one log subscriber.

use std::{fmt, io::IsTerminal, str::FromStr};

use tracing_subscriber::{
    EnvFilter,
    fmt::{
        MakeWriter, fmt as subscriber,
        format::{Format, JsonFields},
    },
    util::SubscriberInitExt,
};

use super::lines::Lines;
use crate::{
    config::Reader,
    pem::{ClientTls, FileNames},
};

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "json",
            Self::Text => "text",
        })
    }
}

impl FromStr for LogFormat {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "json" => Ok(Self::Json),
            "text" => Ok(Self::Text),
            _ => Err("json or text"),
        }
    }
}

/// The names that OpenTelemetry gives to the files of an exporter.
const COLLECTOR_FILES: FileNames = FileNames {
    ca: "OTEL_EXPORTER_OTLP_CERTIFICATE",
    cert: "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
    key: "OTEL_EXPORTER_OTLP_CLIENT_KEY",
};

/// Settings of logs, and the target of traces and metrics.
#[derive(Debug, Clone)]
pub struct TelemetryConfig {
    pub(crate) log_format: LogFormat,
    pub(crate) log_level: String,
    pub(crate) endpoint: Option<String>,
    /// CAs that may sign the collector's certificate; else the system's.
    pub(crate) collector: ClientTls,
    pub(crate) ratio: f64,
    /// Source revision of the build, as whoever made the image knows it.
    pub(crate) revision: Option<String>,
}

impl Default for TelemetryConfig {
    /// Returns text logs without any export.
    fn default() -> Self {
        Self {
            log_format: LogFormat::Text,
            log_level: "info".to_owned(),
            endpoint: None,
            collector: ClientTls::default(),
            ratio: 1.0,
            revision: None,
        }
    }
}

impl TelemetryConfig {
    /// Reads `LOG_FORMAT`, `LOG_LEVEL`, `COMMIT_HASH` and the settings of the collector, `OTEL_…`.
    pub fn read(reader: &mut Reader) -> Self {
        let usual = if reader.production() {
            LogFormat::Json
        } else {
            LogFormat::Text
        };
        let log_format = reader.value("LOG_FORMAT", usual, "logs as json or text");
        let info = "info".to_owned();
        let log_level = reader.value(
            "LOG_LEVEL",
            info,
            "error, warn, info, debug, trace, or a filter by target",
        );
        if EnvFilter::try_new(&log_level).is_err() {
            reader.problem(format!("LOG_LEVEL cannot be {log_level:?}"));
        }
        let endpoint: Option<String> = reader.optional(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "collector for traces and metrics, as https://host:port or http://host:port (OTLP over \
             gRPC); none: off",
        );
        let collector = ClientTls::read(reader, COLLECTOR_FILES);
        let known = |text: &String| text.starts_with("http://") || text.starts_with("https://");
        if endpoint.as_ref().is_some_and(|text| !known(text)) {
            let clause = "OTEL_EXPORTER_OTLP_ENDPOINT must start with https:// or http://";
            reader.problem(clause.to_owned());
        }
        let ratio = reader.value(
            "OTEL_TRACES_SAMPLER_ARG",
            1.0,
            "share of traces that are kept, 0 to 1",
        );
        if !(0.0..=1.0).contains(&ratio) {
            reader.problem("OTEL_TRACES_SAMPLER_ARG must be 0 to 1".to_owned());
        }
        Self {
            log_format,
            log_level,
            endpoint,
            collector,
            ratio,
            revision: revision(reader),
        }
    }
}

/// Reads `COMMIT_HASH`.
pub fn revision(reader: &mut Reader) -> Option<String> {
    reader.optional(
        "COMMIT_HASH",
        "source revision, shown by /status and by tilestead_build_info",
    )
}

/// Starts logging to stderr, once for the process; later calls change nothing.
pub fn init_logs(config: &TelemetryConfig) {
    // This fails only if there is a subscriber already, as in tests.
    let _ = match config.log_format {
        LogFormat::Json => json(config, std::io::stderr).try_init(),
        LogFormat::Text => {
            let ansi = std::io::stderr().is_terminal();
            text(config, ansi, std::io::stderr).try_init()
        }
    };
}

/// Returns the subscriber that writes JSON.
fn json<W>(config: &TelemetryConfig, writer: W) -> impl tracing::Subscriber + Send + Sync
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = Format::default().json().flatten_event(true);
    subscriber()
        .with_env_filter(filter(&config.log_level))
        .with_writer(writer)
        .fmt_fields(JsonFields::new())
        .event_format(Lines::Json(lines))
        .finish()
}

/// Returns the subscriber that writes for people, in colours if `ansi` says so.
fn text<W>(
    config: &TelemetryConfig,
    ansi: bool,
    writer: W,
) -> impl tracing::Subscriber + Send + Sync
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = Format::default().with_ansi(ansi);
    subscriber()
        .with_env_filter(filter(&config.log_level))
        .with_writer(writer)
        .with_ansi(ansi)
        .event_format(Lines::Text(lines))
        .finish()
}

/// Returns the filter of the log: it follows `level`, and keeps the audit log unless `level` names
/// it.
fn filter(level: &str) -> EnvFilter {
    EnvFilter::try_new(format!("audit=info,{level}")).unwrap_or_else(|_| EnvFilter::new("info"))
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use opentelemetry::{
        Context,
        trace::{FutureExt, TraceContextExt},
    };
    use tracing::Level;

    use super::*;
    use crate::config::Env;

    #[test]
    fn the_audit_log_is_written_whatever_the_level_is() {
        let written = |level: &str| {
            let logs = subscriber().with_env_filter(filter(level)).finish();
            tracing::subscriber::with_default(logs, || {
                let audited = tracing::enabled!(target: "audit", Level::INFO);
                (audited, tracing::enabled!(target: "other", Level::INFO))
            })
        };
        assert_eq!(written("info"), (true, true));
        for level in ["warn", "error", "off", "zone_server=debug"] {
            assert_eq!(written(level), (true, false), "{level}");
        }
        // An operator can still turn it off by name.
        assert_eq!(written("info,audit=off"), (false, true));
    }

    /// Lines that a subscriber has written.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Written {
        fn maker(&self) -> impl Fn() -> Written + Send + Sync + 'static {
            let written = self.clone();
            move || written.clone()
        }

        fn lines(&self) -> Vec<String> {
            let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
            text.lines().map(str::to_owned).collect()
        }
    }

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    /// Writes a line outside any span, one within, and one in a task within.
    fn write_lines(subscriber: impl tracing::Subscriber + Send + Sync) {
        let text = format!("00-{TRACE}-b7ad6b7169203331-01");
        let span = crate::telemetry::parse_traceparent(&text).unwrap();
        let within = Context::new().with_remote_span_context(span);
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(some = 7, "outside");
            {
                let _attached = within.clone().attach();
                tracing::info!(some = 8, "within \"it\"");
            }
            let later = async { tracing::info!("later") };
            futures::executor::block_on(later.with_context(within));
            tracing::info!("outside again");
        });
    }

    #[test]
    fn a_json_line_has_the_trace_of_its_span() {
        let written = Written::default();
        write_lines(json(&TelemetryConfig::default(), written.maker()));
        let lines: Vec<serde_json::Value> = written
            .lines()
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let told = lines
            .iter()
            .map(|line| (line["message"].as_str().unwrap(), line["trace_id"].as_str()));
        let expected = [
            ("outside", None),
            ("within \"it\"", Some(TRACE)),
            ("later", Some(TRACE)),
            ("outside again", None),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
        assert_eq!(
            (&lines[0]["some"], &lines[1]["some"]),
            (&7.into(), &8.into())
        );
    }

    #[test]
    fn a_line_for_people_has_the_trace_of_its_span() {
        let written = Written::default();
        write_lines(text(&TelemetryConfig::default(), false, written.maker()));
        let lines = written.lines();
        let ends = [
            "outside some=7".to_owned(),
            format!("within \"it\" some=8 trace_id={TRACE}"),
            format!("later trace_id={TRACE}"),
            "outside again".to_owned(),
        ];
        assert_eq!(lines.len(), ends.len(), "{lines:?}");
        for (line, end) in lines.iter().zip(ends) {
            assert!(line.ends_with(&end), "{line}");
        }
    }

    #[test]
    fn production_logs_json_unless_told_otherwise() {
        let mut reader = Reader::new(Env::from_pairs([("NODE_ENV", "production")]));
        assert_eq!(
            TelemetryConfig::read(&mut reader).log_format,
            LogFormat::Json
        );
        let pairs = [("NODE_ENV", "production"), ("LOG_FORMAT", "text")];
        let mut reader = Reader::new(Env::from_pairs(pairs));
        assert_eq!(
            TelemetryConfig::read(&mut reader).log_format,
            LogFormat::Text
        );
    }

    #[test]
    fn what_cannot_be_is_a_problem() {
        let mut reader = Reader::new(Env::from_pairs([
            ("LOG_FORMAT", "xml"),
            ("LOG_LEVEL", "a=b=c"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"),
            ("OTEL_TRACES_SAMPLER_ARG", "2"),
        ]));
        TelemetryConfig::read(&mut reader);
        let sentence = reader.finish().unwrap_err().to_string();
        for name in ["LOG_FORMAT", "LOG_LEVEL", "OTLP_ENDPOINT", "SAMPLER_ARG"] {
            assert!(sentence.contains(name), "{sentence}");
        }
    }
}
