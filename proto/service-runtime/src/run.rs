//! `main` of every service: settings, telemetry, work, drain.
//!
//! Always: a wrong setting ends the process with one sentence on stderr and exit code 64 before it
//! binds a port. Unusable content ends it in the same way with 65. A process with a loop that
//! stands still for good ends with 70. A clean end is exit code 0, and anything else is 1.

use std::{io::Write, process::ExitCode, time::Duration};

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    config::{ConfigError, Env, Reader},
    drain,
    telemetry::{self, Telemetry, TelemetryConfig},
    watchdog,
};

/// Exit code for unusable settings (`EX_USAGE`).
pub const EXIT_CONFIG: u8 = 64;
/// Exit code for unusable content (`EX_DATAERR`).
pub const EXIT_DATA: u8 = 65;

/// Error of unusable input data, in one sentence. The process ends with exit code 65.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnusableData(pub String);

/// Error of a loop that stands still for good. The process ends with exit code 70.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} stands still for good")]
pub struct Wedged(pub &'static str);

const RUNTIME_DRAIN: Duration = Duration::from_secs(2);

/// Request of the command line.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    Run,
    PrintConfig,
    /// Print this text and end well.
    Text(String),
}

/// Runs a service until it ends or a signal stops it.
///
/// `read` takes all settings, also for `--help`, where it sees no variables; `run` gets them, its
/// telemetry and the token that SIGTERM and SIGINT cancel.
pub fn main<C, F, Fut>(
    name: &'static str,
    about: &'static str,
    read: fn(&mut Reader) -> C,
    run: F,
) -> ExitCode
where
    F: FnOnce(C, Telemetry, CancellationToken) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    main_with(name, about, std::env::args(), read, run)
}

/// Runs a service as [`main`] does, with these arguments (the program's name first). It is for a
/// program with commands of its own, which takes them out before.
pub fn main_with<C, F, Fut>(
    name: &'static str,
    about: &'static str,
    arguments: impl IntoIterator<Item = String>,
    read: fn(&mut Reader) -> C,
    run: F,
) -> ExitCode
where
    F: FnOnce(C, Telemetry, CancellationToken) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    let asked = match asked(name, about, arguments, &settings_help(read)) {
        Ok(asked) => asked,
        Err(sentence) => return refuse(name, &sentence),
    };
    if let Asked::Text(text) = asked {
        return print(&text);
    }
    let mut reader = Reader::new(Env::from_process());
    let telemetry = TelemetryConfig::read(&mut reader);
    let config = read(&mut reader);
    if asked == Asked::PrintConfig {
        print(&reader.table());
    }
    if let Err(error) = reader.finish() {
        return refuse(name, &error.to_string());
    }
    if asked == Asked::PrintConfig {
        return ExitCode::SUCCESS;
    }
    install_crypto();
    telemetry::init_logs(&telemetry);
    exit(
        name,
        block_on(name, &telemetry, |t, stop| run(config, t, stop)),
    )
}

/// Runs `work` on a new runtime with its own telemetry and a token that signals cancel.
fn block_on<F, Fut>(name: &'static str, config: &TelemetryConfig, work: F) -> anyhow::Result<()>
where
    F: FnOnce(Telemetry, CancellationToken) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let telemetry = Telemetry::new(name, config)?;
        let stop = CancellationToken::new();
        let mut signals = JoinSet::new();
        signals.spawn(drain::stop_on_signal(stop.clone()));
        let _guard = watchdog::guard_runtime(&telemetry.meter())?;
        let ended = work(telemetry.clone(), stop).await;
        telemetry.shutdown().await;
        ended
    });
    runtime.shutdown_timeout(RUNTIME_DRAIN);
    ended
}

/// Builds a runtime with at least two workers: telemetry needs one while another waits.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get().max(2));
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
}

/// Installs the one crypto provider of the process (ring). Calling it again changes nothing.
pub fn install_crypto() {
    // This fails only if the process has a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Returns the exit code. If the process did not end well, it also prints the error on stderr.
pub fn exit(name: &str, ended: anyhow::Result<()>) -> ExitCode {
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let code = exit_code(&error);
            complain(name, &format!("{error:#}"));
            ExitCode::from(code)
        }
    }
}

/// Returns the exit code of an error: 65 for [`UnusableData`], 70 for [`Wedged`], and 1 for an error that no person
/// can correct. It is 64 for an error that a person must correct: a [`ConfigError`], or a port that
/// is taken or not ours.
pub fn exit_code(error: &anyhow::Error) -> u8 {
    use std::io::ErrorKind::{AddrInUse, AddrNotAvailable, PermissionDenied};
    if error.chain().any(|cause| cause.is::<UnusableData>()) {
        return EXIT_DATA;
    }
    if error.chain().any(|cause| cause.is::<Wedged>()) {
        return watchdog::EXIT_WEDGED;
    }
    let wrong = error.chain().any(|cause| {
        let io = cause
            .downcast_ref::<std::io::Error>()
            .map(std::io::Error::kind);
        cause.is::<ConfigError>()
            || matches!(io, Some(AddrInUse | AddrNotAvailable | PermissionDenied))
    });
    if wrong { EXIT_CONFIG } else { 1 }
}

/// Prints on stderr, in one sentence, why the process does not start. Returns exit code 64.
pub fn refuse(name: &str, sentence: &str) -> ExitCode {
    complain(name, sentence);
    ExitCode::from(EXIT_CONFIG)
}

fn complain(name: &str, sentence: &str) {
    // If stderr is closed, there is no place left for a message.
    let _ = writeln!(std::io::stderr(), "{name}: {sentence}");
}

fn print(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Returns the table of settings with their defaults.
fn settings_help<C>(read: fn(&mut Reader) -> C) -> String {
    let mut reader = Reader::new(Env::default());
    TelemetryConfig::read(&mut reader);
    read(&mut reader);
    reader.help()
}

fn asked(
    name: &'static str,
    about: &'static str,
    arguments: impl IntoIterator<Item = String>,
    settings: &str,
) -> Result<Asked, String> {
    let print_config = clap::Arg::new("print-config")
        .long("print-config")
        .action(clap::ArgAction::SetTrue)
        .help("Print every setting, its value and where it is from, and end");
    let command = clap::Command::new(name)
        .about(about)
        .version(env!("CARGO_PKG_VERSION"))
        .arg(print_config)
        .after_help(format!("Settings, as environment variables:\n{settings}"));
    match command.try_get_matches_from(arguments) {
        Ok(matches) if matches.get_flag("print-config") => Ok(Asked::PrintConfig),
        Ok(_) => Ok(Asked::Run),
        Err(error) if !error.use_stderr() => Ok(Asked::Text(error.to_string())),
        Err(error) => Err(misused(&error)),
    }
}

/// Returns what is wrong with a command line, in one sentence.
fn misused(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let line = lines.split(|line| line.is_empty()).next();
    let line = line.unwrap_or_default().join(" ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    format!("{line} (see --help)")
}

/// Runs a command of a program, such as `zone-server replay`; `arguments` begin with its name.
pub fn command<A: clap::Parser>(
    name: &str,
    arguments: impl IntoIterator<Item = String>,
    run: impl FnOnce(A) -> ExitCode,
) -> ExitCode {
    match A::try_parse_from(arguments) {
        Ok(arguments) => run(arguments),
        Err(error) if !error.use_stderr() => {
            // Stdout is closed, and nowhere is left to say so.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        Err(error) => refuse(name, &misused(&error)),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    fn ask(argument: &str) -> Result<Asked, String> {
        let arguments = ["zone", argument].map(str::to_owned);
        let arguments = arguments.into_iter().filter(|a| !a.is_empty());
        asked(
            "zone",
            "Plays regions.",
            arguments,
            "PORT  5555  the port\n",
        )
    }

    #[test]
    fn the_command_line_is_small() {
        assert_eq!(ask(""), Ok(Asked::Run));
        assert_eq!(ask("--print-config"), Ok(Asked::PrintConfig));
        let Ok(Asked::Text(help)) = ask("--help") else {
            panic!("no help");
        };
        assert!(help.contains("Plays regions.") && help.contains("PORT  5555  the port"));
        assert!(matches!(ask("--version"), Ok(Asked::Text(_))));
        let refused = ask("--frobnicate").unwrap_err();
        assert_eq!(refused.lines().count(), 1);
        assert!(refused.contains("--frobnicate"), "{refused}");
    }

    #[test]
    fn what_a_person_must_set_right_is_exit_code_64() {
        let config = anyhow::Error::new(ConfigError::new("the data folder is in use"));
        assert_eq!(exit_code(&config.context("open the store")), 64);
        let taken = std::io::Error::from(std::io::ErrorKind::AddrInUse);
        let taken = Err::<(), _>(taken).context("listen").unwrap_err();
        assert_eq!(exit_code(&taken), 64);
        assert_eq!(exit_code(&anyhow::anyhow!("it broke")), 1);
        let data = anyhow::Error::new(UnusableData("npcs.json is missing".to_owned()));
        assert_eq!(exit_code(&data.context("read the content")), 65);
        let wedged = anyhow::Error::new(Wedged("the tick loop"));
        assert_eq!(exit_code(&wedged.context("a run")), 70);
    }

    #[test]
    fn help_shows_defaults_and_no_environment() {
        let help = settings_help(|reader| reader.value("PORT", 5555_u16, "the port"));
        let line = help
            .lines()
            .find(|l| l.trim_start().starts_with("PORT"))
            .unwrap();
        assert!(line.contains("5555") && line.ends_with("the port"));
    }
}
