//! The program `scale`: measures clusters of several sizes and prints tables.

use std::{
    io::{Write, stderr, stdout},
    process::{Command, Stdio},
    str::FromStr,
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use clap::{Parser, ValueEnum};
use scale::{
    crowd::Habits,
    measure::{Measured, Options, Size, measure},
    paper::Talk,
    report,
    steering::Steering,
};

const EXPLAINED: &str = "\
Each size is players:zone servers:gateways. For each size and each way in which players come to
gateways, a process of its own puts stub players into a world of stub regions, lets the real planner
place the regions, and measures one gateway at a time and the busiest zone server: bytes, messages
and processor time of a tick. The budget of a tick is 600 ms.

The tables are Markdown. The last one is not measured: it follows from constants of the code.

Exit code: 0; 2 when the arguments are wrong; 1 when a measurement could not be done.";

/// Measures how the parts of a cluster grow with its size.
#[derive(Debug, Parser)]
#[command(after_help = EXPLAINED)]
struct Arguments {
    /// Sizes to measure, each as players:zones:gateways.
    #[arg(long, value_delimiter = ',', value_parser = size,
          default_value = "5000:2:1,25000:10:5,100000:40:20,250000:100:50")]
    sizes: Vec<Size>,
    /// Ways in which players come to gateways.
    #[arg(long, value_delimiter = ',', default_value = "random,squares,area")]
    steering: Vec<Steering>,
    /// Regions on a side of the world, which is a square.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(i32).range(1..=256))]
    side: i32,
    /// Towns, of 64 × 64 tiles each.
    #[arg(long, default_value_t = 64)]
    towns: u32,
    /// Per cent of the players who are in towns; all others are spread over the world.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u8).range(0..=100))]
    in_towns: u8,
    /// Per cent of the players who walk: one step a tick.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u8).range(0..=100))]
    walking: u8,
    /// NPCs of each region; a tenth of them walks.
    #[arg(long, default_value_t = 16)]
    npcs: u32,
    /// Measured ticks.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    ticks: u16,
    /// Gateways to measure of each cluster; the tables show the one with the largest replica.
    #[arg(long, default_value_t = 2)]
    gateways: usize,
    /// Persistence services, for the figures on paper.
    #[arg(long, default_value_t = 4)]
    services: usize,
    /// Seconds between two lines of local chat of a player, for the figures on paper.
    #[arg(long, default_value_t = 60.0)]
    local_chat_seconds: f64,
    /// Friends of a player, for the figures on paper.
    #[arg(long, default_value_t = 20.0)]
    friends: f64,
    /// Minutes that a player stays in the world, for the figures on paper.
    #[arg(long, default_value_t = 60.0)]
    stay_minutes: f64,
    /// Messages of global chat a second, for the figures on paper.
    #[arg(long, default_value_t = 20.0)]
    global_chat: f64,
    /// Seed of all dice.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Measures only the first size with the first steering, in this process, and prints JSON.
    #[arg(long, hide = true)]
    one: bool,
}

/// Reads a size.
fn size(text: &str) -> Result<Size, String> {
    let numbers: Result<Vec<usize>, _> = text.split(':').map(usize::from_str).collect();
    match numbers.as_deref() {
        Ok(&[players, zones, gateways]) if players.min(zones).min(gateways) > 0 => Ok(Size {
            players,
            zones,
            gateways,
        }),
        _ => Err("it must be players:zones:gateways, each at least 1".to_owned()),
    }
}

impl Arguments {
    fn options(&self) -> Options {
        Options {
            side: self.side,
            towns: self.towns,
            habits: Habits {
                in_towns: f64::from(self.in_towns) / 100.0,
                walking: f64::from(self.walking) / 100.0,
                npcs: self.npcs,
            },
            ticks: self.ticks.into(),
            gateways: self.gateways,
            seed: self.seed,
        }
    }

    fn talk(&self) -> Talk {
        Talk {
            local_s: self.local_chat_seconds,
            friends: self.friends,
            stay_s: self.stay_minutes * 60.0,
            global: self.global_chat,
        }
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if arguments.one {
        return one(&arguments);
    }
    let mut measured = Vec::new();
    for size in &arguments.sizes {
        for steering in &arguments.steering {
            measured.push(apart(*size, *steering, &arguments)?);
        }
    }
    let mut out = stdout().lock();
    writeln!(out, "{}", report::tables(&measured))?;
    let paper = report::on_paper(&measured, arguments.services, arguments.talk());
    writeln!(out, "{paper}")?;
    Ok(())
}

/// Measures in this process and prints JSON.
fn one(arguments: &Arguments) -> Result<()> {
    let size = arguments.sizes.first().context("a size")?;
    let steering = arguments.steering.first().context("a steering")?;
    let begun = Instant::now();
    let mut progress = |what: &str| {
        let seconds = begun.elapsed().as_secs();
        // A closed standard error hides only the progress.
        let _ = writeln!(
            stderr(),
            "{seconds:>4} s  {} players, {steering:?}: {what}",
            size.players
        );
    };
    let measured = measure(*size, *steering, &arguments.options(), &mut progress)?;
    serde_json::to_writer(stdout().lock(), &measured).context("print")
}

/// Measures in a process of its own, so that the memory of one measurement is not that of another.
fn apart(size: Size, steering: Steering, arguments: &Arguments) -> Result<Measured> {
    let Size {
        players,
        zones,
        gateways,
    } = size;
    let steering = steering.to_possible_value().context("a steering")?;
    let options = [
        ("--sizes", format!("{players}:{zones}:{gateways}")),
        ("--steering", steering.get_name().to_owned()),
        ("--side", arguments.side.to_string()),
        ("--towns", arguments.towns.to_string()),
        ("--in-towns", arguments.in_towns.to_string()),
        ("--walking", arguments.walking.to_string()),
        ("--npcs", arguments.npcs.to_string()),
        ("--ticks", arguments.ticks.to_string()),
        ("--gateways", arguments.gateways.to_string()),
        ("--seed", arguments.seed.to_string()),
    ];
    let mut command = Command::new(std::env::current_exe().context("this program")?);
    command.arg("--one").stderr(Stdio::inherit());
    for (name, value) in options {
        command.arg(name).arg(value);
    }
    let output = command.output().context("start a measurement")?;
    ensure!(
        output.status.success(),
        "a measurement failed: {}",
        output.status
    );
    serde_json::from_slice(&output.stdout).context("read a measurement")
}
