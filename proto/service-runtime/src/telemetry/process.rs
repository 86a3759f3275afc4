//! What the process takes of its machine, how busy its runtime is, and which build it is of, under the
//! names that Prometheus gives to these.
//!
//! Always: a system without `/proc` shows nothing of the process; services that share a process show
//! the same.

use std::{fs, time::Duration};

use opentelemetry::{KeyValue, metrics::Meter};
use tokio::runtime::{Handle, RuntimeMetrics};

/// Ticks of a second in which Linux tells programs the processor's time.
const TICKS_A_SECOND: f64 = 100.0;
const KIB: u64 = 1_024;

/// Makes all instruments that every service has. Those of the runtime are of the one in which this is
/// called.
pub(super) fn observe(meter: &Meter, service: &'static str, revision: Option<&str>) {
    observe_build(meter, service, revision);
    observe_process(meter);
    if let Ok(runtime) = Handle::try_current() {
        observe_runtime(meter, &runtime.metrics());
    }
}

fn observe_build(meter: &Meter, service: &'static str, revision: Option<&str>) {
    let labels = [
        KeyValue::new("service", service),
        KeyValue::new("version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("revision", revision.unwrap_or("unknown").to_owned()),
    ];
    // The registration keeps the callback, here and below.
    let _ = meter
        .u64_observable_gauge("tilestead_build_info")
        .with_description("Always 1; its labels say which build runs")
        .with_callback(move |gauge| gauge.observe(1, &labels))
        .build();
}

fn observe_process(meter: &Meter) {
    let _ = meter
        .f64_observable_counter("process_cpu_seconds_total")
        .with_unit("s")
        .with_description("Time that the process used of processors, its own and the system's")
        .with_callback(|counter| {
            if let Some(stat) = Stat::read() {
                counter.observe(stat.cpu_ticks as f64 / TICKS_A_SECOND, &[]);
            }
        })
        .build();
    let _ = meter
        .f64_observable_gauge("process_start_time_seconds")
        .with_unit("s")
        .with_description("Start of the process, in seconds since 1970")
        .with_callback(|gauge| {
            if let (Some(stat), Some(boot)) = (Stat::read(), boot_seconds()) {
                let since = stat.start_ticks as f64 / TICKS_A_SECOND;
                gauge.observe(boot as f64 + since, &[]);
            }
        })
        .build();
    let level = |name: &'static str, what: &'static str, read: fn() -> Option<u64>| {
        let _ = meter
            .u64_observable_gauge(name)
            .with_description(what)
            .with_callback(move |gauge| {
                if let Some(value) = read() {
                    gauge.observe(value, &[]);
                }
            })
            .build();
    };
    level(
        "process_resident_memory_bytes",
        "Memory of the process that is in the machine's memory",
        || status_bytes("VmRSS:"),
    );
    level(
        "process_virtual_memory_bytes",
        "Address space of the process",
        || status_bytes("VmSize:"),
    );
    level("process_threads", "Threads of the process", || {
        Some(Stat::read()?.threads)
    });
    level(
        "process_open_fds",
        "Files and sockets that the process has open",
        open_files,
    );
    level(
        "process_max_fds",
        "Files and sockets that the process may have open",
        files_max,
    );
}

fn observe_runtime(meter: &Meter, metrics: &RuntimeMetrics) {
    let level = |name: &'static str, what: &'static str, of: fn(&RuntimeMetrics) -> usize| {
        let metrics = metrics.clone();
        let _ = meter
            .u64_observable_gauge(name)
            .with_description(what)
            .with_callback(move |gauge| gauge.observe(of(&metrics) as u64, &[]))
            .build();
    };
    level(
        "tokio_workers",
        "Threads that run the process's tasks",
        RuntimeMetrics::num_workers,
    );
    level(
        "tokio_alive_tasks",
        "Tasks that have not ended",
        RuntimeMetrics::num_alive_tasks,
    );
    level(
        "tokio_global_queue_depth",
        "Tasks that wait for any worker",
        RuntimeMetrics::global_queue_depth,
    );
    let metrics = metrics.clone();
    let _ = meter
        .f64_observable_counter("tokio_busy_seconds_total")
        .with_unit("s")
        .with_description("Time for which the workers were busy, all together")
        .with_callback(move |counter| {
            let workers = 0..metrics.num_workers();
            let busy: Duration = workers
                .map(|worker| metrics.worker_total_busy_duration(worker))
                .sum();
            counter.observe(busy.as_secs_f64(), &[]);
        })
        .build();
}

/// The part of `/proc/self/stat` that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    cpu_ticks: u64,
    threads: u64,
    /// Time from the machine's start to that of the process.
    start_ticks: u64,
}

impl Stat {
    fn read() -> Option<Stat> {
        Stat::parse(&fs::read_to_string("/proc/self/stat").ok()?)
    }

    /// Reads the fields behind the program's name, which may have spaces and parentheses itself.
    fn parse(text: &str) -> Option<Stat> {
        let (_, fields) = text.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        // The first of them is the third of the line.
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Stat {
            cpu_ticks: number(14)?.checked_add(number(15)?)?,
            threads: number(20)?,
            start_ticks: number(22)?,
        })
    }
}

/// Returns a size of `/proc/self/status`, which has them in KiB.
fn status_bytes(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    kib.checked_mul(KIB)
}

/// Returns the start of the machine, in seconds since 1970.
fn boot_seconds() -> Option<u64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("btime "))?;
    line.trim().parse().ok()
}

fn open_files() -> Option<u64> {
    let open = fs::read_dir("/proc/self/fd").ok()?.count();
    // One of them is this look itself.
    u64::try_from(open).ok()?.checked_sub(1)
}

fn files_max() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/limits").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::{Telemetry, TelemetryConfig};

    fn value(shown: &str, name: &str) -> f64 {
        let line = shown
            .lines()
            .find(|line| line.starts_with(name) && line[name.len()..].starts_with([' ', '{']));
        let value = line.and_then(|line| line.rsplit(' ').next()?.parse().ok());
        value.unwrap_or_else(|| panic!("no {name} in {shown}"))
    }

    #[test]
    fn a_program_may_have_any_name() {
        let text = "7 (a) b) (c) S 1 7 7 0 -1 4 1 0 0 0 250 50 0 0 20 0 9 0 4711 1 2 3";
        let expected = Stat {
            cpu_ticks: 300,
            threads: 9,
            start_ticks: 4_711,
        };
        assert_eq!(Stat::parse(text), Some(expected));
        assert_eq!(Stat::parse("7 (a"), None);
        assert_eq!(Stat::parse("7 (a) S 1"), None);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test(flavor = "multi_thread", worker_threads = 3)]
    async fn the_process_its_runtime_and_its_build_are_shown() {
        let config = TelemetryConfig {
            revision: Some("abc123".to_owned()),
            ..TelemetryConfig::default()
        };
        let telemetry = Telemetry::new("gateway", &config).unwrap();
        let files: Vec<_> = (0..10).map(|_| fs::File::open("/proc/self/stat")).collect();
        let shown = telemetry.render_metrics();
        assert!(value(&shown, "process_resident_memory_bytes") > 1_000_000.0);
        let room = value(&shown, "process_virtual_memory_bytes");
        assert!(room > value(&shown, "process_resident_memory_bytes"));
        let open = value(&shown, "process_open_fds");
        assert!(open >= files.len() as f64 && open < value(&shown, "process_max_fds"));
        assert!(value(&shown, "process_threads") >= 4.0);
        assert!(value(&shown, "process_cpu_seconds_total") >= 0.0);
        let now = std::time::SystemTime::now();
        let now = now
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs_f64();
        let age = now - value(&shown, "process_start_time_seconds");
        assert!((-2.0..3_600.0).contains(&age), "{age} s");
        assert_eq!(value(&shown, "tokio_workers"), 3.0);
        assert!(value(&shown, "tokio_busy_seconds_total") >= 0.0);
        let build = format!(
            "tilestead_build_info{{revision=\"abc123\",service=\"gateway\",version=\"{}\"}} 1",
            env!("CARGO_PKG_VERSION")
        );
        assert!(shown.contains(&build), "{shown}");
    }
}
