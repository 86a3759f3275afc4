//! The benchmark: plays scenes against real processes and prints one table.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Context, Result};
use clap::Parser;
use tests::{
    bench::{Build, Compared, Outcome, SCENES, Scene, Table, play},
    load::swarm::Progress,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EXPLAINED: &str = "\
Each round starts one persistence service, two zone servers and one gateway of the release build,
plays one scene, and ends them. The generator runs in this process, on the same machine. Figures of
several rounds are medians; what went wrong is summed up. `KB each` is the private memory of the gateway
at its most, less what it had before anybody came, a client.

  town-N       N clients take one step a second each, in 41 × 41 tiles across a border of two zones
  -capped      each is shown at most the nearest 255 players
  -msgpack, -json  the same in another format; all others read tilestead.v2
  hostile-N    the same beside 50 sockets that flood, send garbage, read nothing, or connect slowly
  spread-N     the same in twelve such squares far from each other
  border-N     everybody walks to and fro over borders of regions
  kill-N       a town in which a zone server is killed; `still` is the longest stillness of a client
  enter-STORE  12,000 connect within 20 s
  storm-STORE  5,000 connect within 1 s

With --before the scenes are played with the programs of that folder too, in turn, and what is worse
by more than a tenth is named.

Exit code: 0; 1 when something is worse than before; 2 when the arguments are wrong; 3 when a round
could not be played.";

/// Plays the benchmark's scenes and prints one table.
#[derive(Parser)]
#[command(name = "bench", version, after_help = EXPLAINED)]
struct Arguments {
    /// Scenes; none named: all
    scenes: Vec<String>,
    /// Rounds of each scene
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=100))]
    rounds: u8,
    /// Folder with the programs of another build, to compare with
    #[arg(long)]
    before: Option<PathBuf>,
    /// A setting of all services, such as FAN_OUT_TASKS=1; not of the build of --before
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    /// The same seed makes the same walks
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the table as JSON to this file
    #[arg(long)]
    json: Option<PathBuf>,
    /// List the scenes and play none
    #[arg(long)]
    list: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let scenes = match chosen(&arguments.scenes) {
        Ok(scenes) => scenes,
        Err(unknown) => {
            eprintln!("bench: there is no scene {unknown}; --list names all");
            return ExitCode::from(2);
        }
    };
    if arguments.list {
        for scene in &scenes {
            println!("{}", scene.name);
        }
        return ExitCode::SUCCESS;
    }
    match all(&arguments, &scenes).await {
        Ok(worse) if worse.is_empty() => ExitCode::SUCCESS,
        Ok(worse) => {
            for what in worse {
                println!("worse: {what}");
            }
            ExitCode::FAILURE
        }
        Err(e) => {
            eprintln!("bench: {e:#}");
            ExitCode::from(3)
        }
    }
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it is not NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn chosen(names: &[String]) -> Result<Vec<&'static Scene>, &String> {
    if names.is_empty() {
        return Ok(SCENES.iter().collect());
    }
    let named = |name| SCENES.iter().find(|scene| scene.name == name);
    names
        .iter()
        .map(|name| named(name.as_str()).ok_or(name))
        .collect()
}

/// Plays everything. Returns what is worse than before.
async fn all(arguments: &Arguments, scenes: &[&Scene]) -> Result<Vec<String>> {
    let own = tests::cluster::binary("gateway")?;
    let own = own.parent().context("no folder")?;
    let (mut now, mut before) = (Table::default(), Table::default());
    for scene in scenes {
        let (mut rounds, mut rounds_before) = (Vec::new(), Vec::new());
        for round in 0..arguments.rounds {
            let seed = arguments.seed + u64::from(round);
            if let Some(folder) = &arguments.before {
                let build = Build {
                    binaries: folder,
                    settings: &[],
                };
                rounds_before.push(one(scene, build, seed, "before").await?);
            }
            let build = Build {
                binaries: own,
                settings: &arguments.settings,
            };
            rounds.push(one(scene, build, seed, "now").await?);
        }
        now.add(scene, &rounds);
        before.add(scene, &rounds_before);
        println!("{now}");
    }
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&now)? + "\n";
        std::fs::write(path, text).with_context(|| path.display().to_string())?;
    }
    if arguments.before.is_none() {
        return Ok(Vec::new());
    }
    let compared = Compared::new(&before, &now);
    println!("before:\n{before}\n{compared}");
    Ok(compared.worse())
}

async fn one(scene: &Scene, build: Build<'_>, seed: u64, which: &str) -> Result<Outcome> {
    let terminal = std::io::stderr().is_terminal();
    let mut said = 0;
    let outcome = play(scene, build, seed, |progress| {
        let seconds = progress.elapsed.as_secs();
        if terminal || seconds >= said + 15 {
            said = seconds;
            show(scene, which, progress, terminal);
        }
    });
    let outcome = outcome.await.with_context(|| scene.name.to_owned())?;
    if terminal {
        eprintln!();
    }
    for (cause, count) in &outcome.summary.failed_by_cause {
        eprintln!(
            "{} ({which}): {count} attempts to enter failed: {cause}",
            scene.name
        );
    }
    Ok(outcome)
}

fn show(scene: &Scene, which: &str, progress: &Progress, terminal: bool) {
    let line = format!(
        "{} ({which}) {:.0} s: {} of {} in the world, moves p99 {:.0} ms",
        scene.name,
        progress.elapsed.as_secs_f64(),
        progress.in_world,
        scene.players,
        progress.moves.2,
    );
    if terminal {
        eprint!("\r\x1b[2K{line}");
        // A terminal that cannot be written to is no reason to stop.
        let _ = std::io::stderr().flush();
    } else {
        eprintln!("{line}");
    }
}
