//! The command line.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::operate::{Order, Where};

/// More services than this in one process help nobody.
const EACH_MAX: i64 = 64;

/// A Tilestead world on this machine, and the operator's tool for one anywhere.
///
/// Without a command it starts gateways, zone servers and the persistence service in one process.
/// Open the printed address in a browser to play. Ctrl-C saves everything and stops. Started again
/// on the same folder, the same world goes on.
#[derive(Debug, Clone, Parser)]
#[command(name = "tilestead", version, after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) up: Up,

    #[command(flatten)]
    pub(crate) place: Where,

    #[command(subcommand)]
    pub(crate) tool: Option<Tool>,
}

/// What a world on this machine is made of.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Up {
    /// Number of zone servers that share the world
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u16).range(1..=EACH_MAX))]
    pub(crate) zones: u16,

    /// Number of gateways that serve it; the second one listens on the port after the first, and so
    /// on
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=EACH_MAX))]
    pub(crate) gateways: u16,

    /// Folder of the world (a SQLite database)
    #[arg(long, value_name = "DIR", env = "DATA_DIR", default_value = "data")]
    pub(crate) data: PathBuf,

    /// Port of the first gateway's page and WebSocket; 0 takes free ports
    #[arg(long, value_name = "P", env = "PORT", default_value_t = 5555)]
    pub(crate) port: u16,

    /// Port of the world's assets, unless PUBLIC_CDN_URL names another place; a free port when it
    /// is taken, or when --port is 0
    #[arg(long, value_name = "P", env = "CDN_PORT", default_value_t = 8080)]
    pub(crate) cdn_port: u16,

    /// Run each zone server as a process of its own, which the operators' console can kill, freeze and
    /// cut off for trial (Linux only)
    #[arg(long)]
    pub(crate) chaos: bool,

    /// Print every setting of every service with its value and its source, and end
    #[arg(long)]
    pub(crate) print_config: bool,
}

/// Name of the command by which the launcher starts its zone servers.
pub(crate) const ZONE_PROCESS: &str = "zone-process";

/// What the program does instead of starting a world.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub(crate) enum Tool {
    /// Start a world on this machine, as without a command
    Up(Up),
    #[command(flatten)]
    Order(Order),
    /// Let bots play against a cluster, and measure how it holds
    #[command(after_help = load_generator::program::EXPLAINED)]
    Bench(Box<load_generator::program::Arguments>),
    /// Compare all items and coins with the ledger: `persistence-svc check`
    ///
    /// Reads the database of DATABASE_URL, or the folder of DATA_DIR, while the world is played.
    Check(Passed),
    /// Make certificates for TLS between the processes: `persistence-svc certs`
    Certs(Passed),
    /// Print what completes commands in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages of all commands into a folder
    Man {
        /// The folder; made if it is not there
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Play regions as a process of a launcher with `--chaos`
    #[command(name = ZONE_PROCESS, hide = true)]
    ZoneProcess {
        /// Process id of the launcher
        launcher: u32,
    },
    /// Measure the models of a world's assets, and write manifests/model-bounds.json there
    ///
    /// Unreadable models are named and left out; the exit code is then 65. The sizes of stations'
    /// models come from manifests/stations.json.
    ModelBounds {
        /// The folder with `models` and `manifests`, or the one with `assets`
        #[arg(value_name = "DIR", default_value = "world/assets")]
        assets: PathBuf,
    },
}

/// Words for another program's command line.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Passed {
    /// As that command takes them; --help tells of them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}

/// Returns the whole command line, for completions and manual pages.
pub(crate) fn command_line() -> clap::Command {
    Arguments::command()
}

const AFTER_HELP: &str = "\
Settings of the services may be given as environment variables; --print-config lists them. Some
that are useful here:
  HOST                          0.0.0.0 lets other machines in (default: this one only)
  WORLD                         world folder (world) whose assets/manifests are played; where it
                                has none, those of PUBLIC_CDN_URL, else the built-in content
  PUBLIC_CDN_URL                where assets and manifests are; then this launcher serves none
  SKIP_MANIFESTS                true plays the built-in content
  WALK_TILES_PER_TICK           walking speed (2); RUN_TILES_PER_TICK for running (4)
  METRICS_PORT                  persistence serves /metrics there, the zones on the ports after it
  LOG_LEVEL, LOG_FORMAT         such as info, and json or text
  OTEL_EXPORTER_OTLP_ENDPOINT   where traces and metrics go, such as http://localhost:4317

A local world keeps everything in its data folder and needs no other server: DATABASE_URL and
REDIS_URL are not used. USE_LOCAL_POSTGRES=true keeps it in PostgreSQL instead, in a container that
is started by docker or podman. In production run the gateway, zone-server and persistence-svc binaries.

Exit codes: 0 after a clean stop, 64 when a setting cannot be used, 65 when the content cannot be,
1 when something broke.";

/// Request of the command line.
#[derive(Debug)]
pub(crate) enum Asked {
    /// Play.
    Run(Arguments),
    /// Print this and end well.
    Show(String),
    /// Wrong arguments, in one sentence.
    Refuse(String),
}

/// Reads the command line, the program's name first.
pub(crate) fn read(arguments: impl IntoIterator<Item = OsString>) -> Asked {
    match Arguments::try_parse_from(arguments) {
        Ok(arguments) => Asked::Run(arguments),
        Err(error) if !error.use_stderr() => Asked::Show(error.to_string()),
        Err(error) => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            let line = line.strip_prefix("error: ").unwrap_or(line);
            Asked::Refuse(format!("{line} (see --help)"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(words: &[&str]) -> Asked {
        let words = std::iter::once(&"tilestead").chain(words);
        read(words.map(OsString::from))
    }

    #[test]
    fn flags_set_what_they_say() {
        let words = [
            "--zones",
            "3",
            "--gateways",
            "2",
            "--data",
            "/d",
            "--port",
            "80",
        ];
        let Asked::Run(arguments) = ask(&words) else {
            panic!("refused");
        };
        let up = arguments.up;
        assert_eq!((up.zones, up.gateways), (3, 2));
        assert_eq!((up.port, up.data), (80, PathBuf::from("/d")));
    }

    #[test]
    fn a_command_takes_only_its_own_flags() {
        let words = ["zones", "--regions", "--url", "http://here", "--json"];
        let Asked::Run(arguments) = ask(&words) else {
            panic!("refused");
        };
        let asked = Order::Zones { regions: true };
        assert_eq!(arguments.tool, Some(Tool::Order(asked)));
        let Asked::Run(arguments) = ask(&["pause", "-1,4"]) else {
            panic!("refused");
        };
        assert!(matches!(
            arguments.tool,
            Some(Tool::Order(Order::Pause { .. }))
        ));
        let Asked::Run(arguments) = ask(&["up", "--zones", "3"]) else {
            panic!("refused");
        };
        assert!(matches!(
            arguments.tool,
            Some(Tool::Up(Up { zones: 3, .. }))
        ));
        for words in [
            &["--zones", "3", "status"][..],
            &["status", "--zones", "3"],
            &["up", "--regions"],
            &["drain"],
            &["pause", "here"],
            &["resume"],
            &["freeze", "maybe"],
            &["ledger", "--limit", "101"],
        ] {
            assert!(matches!(ask(words), Asked::Refuse(_)), "{words:?}");
        }
    }

    #[test]
    fn what_is_passed_on_is_passed_on_whole() {
        let Asked::Run(arguments) = ask(&["check", "--full", "--help"]) else {
            panic!("refused");
        };
        let words = ["--full", "--help"].map(str::to_owned).to_vec();
        assert_eq!(arguments.tool, Some(Tool::Check(Passed { words })));
    }

    #[test]
    fn the_command_line_is_well_formed() {
        command_line().debug_assert();
    }

    #[test]
    fn what_cannot_be_is_refused_in_one_sentence() {
        for words in [["--zones", "0"], ["--gateways", "65"], ["--port", "65536"]] {
            let Asked::Refuse(sentence) = ask(&words) else {
                panic!("{words:?} was taken");
            };
            assert!(
                sentence.contains(words[0]) && sentence.lines().count() == 1,
                "{sentence}"
            );
        }
    }

    #[test]
    fn help_names_what_one_may_set() {
        let Asked::Show(help) = ask(&["--help"]) else {
            panic!("no help");
        };
        for word in [
            "--zones",
            "--gateways",
            "--data",
            "--port",
            "--cdn-port",
            "--chaos",
            "model-bounds",
            "--print-config",
            "HOST",
        ] {
            assert!(help.contains(word), "{word}");
        }
        assert!(!help.contains(ZONE_PROCESS), "{help}");
    }
}
