//! The load generator as a command: its arguments, its progress, and what it prints.

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use crate::{
    http::Address,
    load::{
        Acting, Ground, Options, Scenario, Summary,
        ground::spread,
        slo::Slo,
        swarm::{self, Progress},
    },
    terrain::Terrain,
};
use anyhow::{Context, Result, ensure};
use clap::Args;
use proto::client::Format;
use tokio_util::sync::CancellationToken;

/// More about it, for `--help`.
pub const EXPLAINED: &str = "\
Each bot makes an anonymous account and a character, enters the world and plays its scenario:
  wander  walks to random places
  town    gathers where new characters stand
  border  walks to and fro over borders of regions, so that zones hand it over all the time
  chat    talks, and walks a little
  steps   takes one step a second, in the square of 41 × 41 tiles around where new characters stand
  spread  the same in twelve such squares that lie far from each other

A move is sent only by a bot that stands, and its latency counts from the moment when it was to
be sent to the first update that shows the bot elsewhere. Moves during the ramp and while all
settle are not measured.

Objectives (--slo) compare p50, p95, p99, max (of move latency, in ms or s), arrive99 (connect to
world), moves, lost, unanswered, disconnects, failed, gaps, errors, unreadable, mapfaults,
connected, updates (a second), exchanges (pickups told), between (of these, what another had
dropped), takenback, unasked, resumed or notresumed with a number by < <= = >= >.

With --act each bot keeps account of what it was told that it has. Whatever is told later and
does not follow from that and from what it asked for is counted as taken back or unasked.
A bot whose connection is lost resumes at another one of the gateways.

Gateways let 10 sign-ins a minute and address through: start those that are to be loaded with
DISABLE_RATE_LIMIT=true (outside production).

Exit code: 0; 1 when an objective is missed; 2 when the arguments are wrong; 3 when the run could
not be done.";

/// How many bots play, how, and against what.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Arguments {
    /// Number of bots
    #[arg(long, default_value_t = 100)]
    players: usize,
    /// Spread their connects over this time (500ms, 30s, 2m)
    #[arg(long, default_value = "10s", value_parser = duration)]
    ramp: Duration,
    /// Let them play for this long between the ramp and the measured time
    #[arg(long, default_value = "0s", value_parser = duration)]
    settle: Duration,
    /// Measure for this long
    #[arg(long = "for", default_value = "60s", value_parser = duration)]
    duration: Duration,
    /// Behaviour of the bots: wander, town, border, chat, steps or spread
    #[arg(long, default_value = "wander")]
    scenario: Scenario,
    /// Between two walks they drop things, pick up what lies near and move coins
    #[arg(long)]
    act: bool,
    /// Each logs out and in again about this often
    #[arg(long, value_parser = duration)]
    leave_every: Option<Duration>,
    /// The same seed makes the same walks
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Gateways, separated by commas; bots take them in turn
    #[arg(long, value_delimiter = ',', default_value = "ws://127.0.0.1:5555/ws")]
    gateways: Vec<Address>,
    /// Encoding of the messages: json, msgpack or v2
    #[arg(long, default_value = "json", value_parser = format)]
    format: Format,
    /// With v2: each sees at most so many players at once, the nearest
    #[arg(long)]
    shown: Option<u16>,
    /// So many keep a whole map and check it; the others look only for themselves
    #[arg(long, default_value_t = 200)]
    maps: usize,
    /// Border scenario: at most this far from where new characters stand, in tiles
    #[arg(long, default_value_t = 110)]
    radius: i32,
    /// Write the summary as JSON to this file (- is standard output)
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Objectives, such as "p99<1300ms,disconnects=0,gaps=0"
    #[arg(long, default_value = "")]
    slo: Slo,
}

fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit_ms) = match text {
        t if t.ends_with("ms") => (&t[..t.len() - 2], 1.0),
        t if t.ends_with('s') => (&t[..t.len() - 1], 1_000.0),
        t if t.ends_with('m') => (&t[..t.len() - 1], 60_000.0),
        t if t.ends_with('h') => (&t[..t.len() - 1], 3_600_000.0),
        t => (t, 1_000.0),
    };
    match number.parse::<f64>() {
        Ok(n) if (0.0..1e7).contains(&n) => Ok(Duration::from_secs_f64(n * unit_ms / 1_000.0)),
        _ => Err("a number with ms, s, m or h".to_owned()),
    }
}

fn format(text: &str) -> Result<Format, String> {
    match text {
        "json" => Ok(Format::Json),
        "msgpack" => Ok(Format::MessagePack),
        "v2" => Ok(Format::Compact),
        _ => Err("json, msgpack or v2".to_owned()),
    }
}

/// Plays the bots, prints how that went, and returns the exit code that [`EXPLAINED`] tells of.
pub async fn run(arguments: Arguments) -> ExitCode {
    let slo = arguments.slo.clone();
    let file = arguments.summary.clone();
    let summary = match play(arguments).await {
        Ok(summary) => summary,
        Err(e) => {
            eprintln!("bench: {e:#}");
            return ExitCode::from(3);
        }
    };
    println!("{summary}");
    if let Some(path) = file
        && let Err(e) = write_json(&path, &summary)
    {
        eprintln!("bench: {}: {e:#}", path.display());
        return ExitCode::from(3);
    }
    let missed = slo.missed(&summary);
    for text in &missed {
        println!("missed                  {text}");
    }
    if missed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn write_json(path: &std::path::Path, summary: &Summary) -> Result<()> {
    let text = serde_json::to_string_pretty(summary)? + "\n";
    if path.as_os_str() == "-" {
        std::io::stdout().write_all(text.as_bytes())?;
    } else {
        std::fs::write(path, text)?;
    }
    Ok(())
}

async fn play(arguments: Arguments) -> Result<Summary> {
    let first = arguments.gateways.first().context("no gateway")?;
    let terrain = Terrain::fetch(&first.authority()).await?;
    let crossings = match arguments.scenario {
        Scenario::Border => spread(terrain.crossings(8, arguments.radius), 48, 10),
        _ => Vec::new(),
    };
    ensure!(
        arguments.scenario != Scenario::Border || !crossings.is_empty(),
        "no way over a border within {} tiles of the spawn",
        arguments.radius
    );
    let terminal = std::io::stderr().is_terminal();
    let options = Options {
        players: arguments.players,
        ramp: arguments.ramp,
        settle: arguments.settle,
        duration: arguments.duration,
        scenario: arguments.scenario,
        acting: Acting {
            actions: arguments.act,
            leave_every: arguments.leave_every,
            ..Acting::NONE
        },
        seed: arguments.seed,
        gateways: arguments.gateways,
        own_addresses: false,
        format: arguments.format,
        shown: arguments.shown,
        maps: arguments.maps,
        ground: Arc::new(Ground::new(terrain, crossings)),
        snapshots: None,
        progress_every: Duration::from_secs(if terminal { 1 } else { 5 }),
    };
    let stop = CancellationToken::new();
    let asked = stop.clone();
    tokio::spawn(async move {
        // Ctrl-C ends the run early, with its summary.
        if tokio::signal::ctrl_c().await.is_ok() {
            asked.cancel();
        }
    });
    let players = options.players;
    let summary = swarm::run(options, stop, |p| show(p, players, terminal)).await?;
    if terminal {
        eprintln!();
    }
    Ok(summary)
}

fn show(p: &Progress, players: usize, terminal: bool) {
    let phase = if p.measuring { "measuring" } else { "ramp" };
    let line = format!(
        "{:>4.0} s {phase}: {}/{players} in the world, {} moves p50 {:.0} p99 {:.0} ms, \
         {:.0} updates/s {:.1} MB/s, {} disconnects, {} failed, {} gaps, {} errors",
        p.elapsed.as_secs_f64(),
        p.in_world,
        p.moves.0,
        p.moves.1,
        p.moves.2,
        p.updates_per_second,
        p.bytes_per_second / 1e6,
        p.disconnects,
        p.failed,
        p.gaps,
        p.errors,
    );
    if terminal {
        eprint!("\r\x1b[2K{line}");
        // A terminal that cannot be written to is no reason to stop.
        let _ = std::io::stderr().flush();
    } else {
        eprintln!("{line}");
    }
}
