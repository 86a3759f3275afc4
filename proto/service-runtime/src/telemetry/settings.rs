//! Settings of telemetry, and the process's one log subscriber.

use std::{fmt, io::IsTerminal, str::FromStr};

use tracing_subscriber::{EnvFilter, fmt as subscriber};

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
        }
    }
}

impl TelemetryConfig {
    /// Reads `LOG_FORMAT`, `LOG_LEVEL` and the settings of the collector, `OTEL_…`.
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
        }
    }
}

/// Starts logging to stderr, once for the process; later calls change nothing.
pub fn init_logs(config: &TelemetryConfig) {
    let builder = subscriber()
        .with_env_filter(filter(&config.log_level))
        .with_writer(std::io::stderr);
    // This fails only if there is a subscriber already, as in tests.
    let _ = match config.log_format {
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Text => builder
            .with_ansi(std::io::stderr().is_terminal())
            .try_init(),
    };
}

/// Returns the filter of the log: it follows `level`, and keeps the audit log unless `level` names
/// it.
fn filter(level: &str) -> EnvFilter {
    EnvFilter::try_new(format!("audit=info,{level}")).unwrap_or_else(|_| EnvFilter::new("info"))
}

#[cfg(test)]
mod tests {
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
