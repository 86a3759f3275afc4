//! Breaks a cluster of real processes, PostgreSQL and Redis under bots that act, and says what
//! that did to them.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use anyhow::{Result, ensure};
use clap::{Parser, Subcommand};
use tests::{
    chaos::{
        exercise::{self, Exercise},
        fault::Schedule,
        production, replicas,
        restore::{self, Recovery},
        story::{self, Cast},
        timeline::Timeline,
        upgrade,
    },
    cluster::Plan,
    load::{Acting, Scenario, Summary},
};

/// More bots that keep whole maps cost one machine more than the cluster does.
const DOERS_MAX: usize = 200;

const EXPLAINED: &str = "\
The services' binaries are those beside this one (or in TILESTEAD_BIN_DIR); PostgreSQL and Redis
are private servers. Afterwards everything is judged: what each bot was told that it has against
the store, the conservation check, one owner for everybody, no socket closed that should not be.

Exit code: 0; 1 when something did not hold (with the timeline and the seed); 2 when the arguments
are wrong.";

/// Breaks a cluster under bots and judges it.
#[derive(Parser)]
#[command(name = "chaos", version, after_help = EXPLAINED)]
struct Arguments {
    /// The same seed makes the same faults and the same walks
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
    /// Number of bots; the first 200 drop, pick up and keep whole maps, the others walk
    #[arg(long, global = true, default_value_t = 60)]
    players: usize,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Faults of every kind, one after the other
    Run {
        /// For how long (30s, 30m, 2h)
        #[arg(long = "for", default_value = "5m", value_parser = duration)]
        time: Duration,
        /// Only faults whose names have this in them, as "kill -9" or "PostgreSQL"
        #[arg(long)]
        only: Option<String>,
    },
    /// A zone server is killed, again and again: how long until its players move again
    Kills {
        /// Number of repetitions
        #[arg(long, default_value_t = 20)]
        count: usize,
    },
    /// Every process is restarted in order, one after the other
    Rolling,
    /// From two zone servers to four and back: how the load spreads
    Scale,
    /// Persistence services behind one name: two more come, and one loses PostgreSQL
    Replicas {
        /// For how long it is without PostgreSQL (30s, 3m)
        #[arg(long = "for", default_value = "3m", value_parser = duration)]
        time: Duration,
    },
    /// The production configuration under all that operators do to it: certificates and signing
    /// keys change, the standby of PostgreSQL takes over, every process is restarted
    Production {
        /// For how long at least (5m)
        #[arg(long = "for", default_value = "5m", value_parser = duration)]
        time: Duration,
    },
    /// PostgreSQL is lost with all its data, and restored from a base backup and the archive of its
    /// log to a moment before
    Restore {
        /// Time for which bots play in all (30s, 3m)
        #[arg(long = "for", default_value = "3m", value_parser = duration)]
        time: Duration,
        /// Restored with every acknowledged commit, by pg_receivewal --synchronous
        #[arg(long)]
        complete: bool,
    },
    /// Every process goes from the release before to this one, back, and here again
    Upgrade {
        /// Folder with the binaries of the release before; without it, they are built from the
        /// commit that CHANGELOG.md names
        #[arg(long)]
        before: Option<PathBuf>,
    },
    /// Exchanges (dropped by one, picked up by another) while zone servers and stores are killed
    Exchanges {
        /// Number of exchanges
        #[arg(long, default_value_t = 100_000)]
        count: u64,
    },
}

fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3_600),
        _ => (text, 1),
    };
    match number.parse::<u64>() {
        Ok(n) if n > 0 && n < 1_000_000 => Ok(Duration::from_secs(n * unit)),
        _ => Err("a whole number with s, m or h".to_owned()),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let timeline = Timeline::new(true);
    timeline.note(format!("seed {}", arguments.seed));
    match play(&arguments, timeline).await {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("chaos: {e:#}");
            ExitCode::FAILURE
        }
    }
}

fn cast(arguments: &Arguments, scenario: Scenario) -> Cast {
    Cast {
        players: arguments.players,
        ramp: Duration::from_millis(20 * arguments.players as u64),
        scenario,
        acting: Acting {
            actions: true,
            doers: DOERS_MAX,
            ..Acting::NONE
        },
        seed: arguments.seed,
    }
}

async fn play(arguments: &Arguments, timeline: Timeline) -> Result<Summary> {
    ensure!(arguments.players > 0, "--players: at least 1");
    let mut cast = cast(arguments, Scenario::Border);
    match &arguments.what {
        What::Run { time, only } => {
            cast.acting.leave_every = Some(Duration::from_secs(40));
            let mut plan = Plan::new("chaos").of(2, 3, 2);
            plan.breakable = true;
            let mut schedule = Schedule::new(arguments.seed, &plan);
            if let Some(words) = only {
                schedule = schedule.only(words)?;
            }
            let (clock, time) = (timeline.clone(), *time);
            let steps =
                std::iter::from_fn(move || (clock.elapsed() < time).then(|| schedule.step()));
            story::play(plan, cast, steps, timeline).await
        }
        What::Kills { count } => exercise::kills(cast, *count, timeline).await,
        What::Rolling => exercise::rolling(cast, timeline).await,
        What::Scale => exercise::scale(cast, timeline).await,
        What::Replicas { time } => replicas::one_name(cast, 4, *time, timeline).await,
        What::Production { time } => production::end_to_end(cast, *time, timeline).await,
        What::Restore { time, complete } => {
            cast.acting.leave_every = Some(Duration::from_secs(40));
            let wanted = Recovery {
                lasts: *time,
                complete: *complete,
            };
            restore::restore(cast, wanted, timeline).await
        }
        What::Upgrade { before } => {
            let before = match before {
                Some(folder) => upgrade::check_binaries(folder)?,
                None => tokio::task::spawn_blocking(upgrade::binaries_before).await??,
            };
            upgrade::there_and_back(cast, before, timeline).await
        }
        What::Exchanges { count } => {
            let wanted = Exercise { count: *count };
            exercise::exchanges(cast, wanted, timeline).await
        }
    }
}
