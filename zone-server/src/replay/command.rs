//! `zone-server replay FILE`.
//!
//! Always: exit code 0 when the record runs through, 3 when it panics, 4 when its world differs
//! from the recorded one, 64 when it cannot be played here.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;
use service_runtime::run;
use world::PhaseClock;

use super::{
    again::{Ended, play},
    file::Record,
};

const NAME: &str = "zone-server replay";
const PANICKED: u8 = 3;
const DIFFERS: u8 = 4;

/// Plays the record of a run that panicked, or that an operator asked for, and prints after each tick
/// the hash of its regions.
///
/// Ends with exit code 0 when the record runs through, 3 when a tick panics, 4 when the regions
/// are not what they were, and 64 when the record cannot be played with this content.
#[derive(Debug, Parser)]
#[command(name = NAME, bin_name = NAME, version)]
struct Arguments {
    /// A file that a zone server wrote into its REPLAY_DIR, or that `tilestead record` wrote
    file: PathBuf,
    /// After each tick, print its inputs, what each phase took, and what the tick changed
    #[arg(long)]
    step: bool,
    /// The world folder; its manifests replace the content that is built in
    #[arg(long, env = "WORLD", default_value = "world")]
    world: String,
}

/// Runs the command; `arguments` begin with its name.
pub(crate) fn main(arguments: impl IntoIterator<Item = String>) -> ExitCode {
    run::command(NAME, arguments, |Arguments { file, step, world }| {
        let mut out = std::io::stdout().lock();
        match replay((&file, step), &world, &mut (), &mut out) {
            Ok(code) => ExitCode::from(code),
            Err(sentence) => run::refuse(NAME, &sentence),
        }
    })
}

/// Plays a record, maybe step by step, and returns the exit code.
///
/// # Errors
/// A sentence: the reason for which the replay does not begin.
pub(crate) fn replay(
    (file, step): (&Path, bool),
    world: &str,
    clock: &mut dyn PhaseClock,
    out: &mut dyn Write,
) -> Result<u8, String> {
    let record = Record::open(file)?;
    let content = content_loader::from_folder(std::path::Path::new(world))
        .map_err(|why| format!("{why:#}"))?
        .content;
    let header = record.header.clone();
    if header.content_hash != content.hash() {
        return Err(format!(
            "the run played the content {}, this is {}; set WORLD to its folder",
            header.content_hash,
            content.hash()
        ));
    }
    let ended = play(record, content, clock, step, out);
    let (code, words) = match ended {
        Ended::Through { tick } => (0, format!("runs through; the last tick is {tick}")),
        Ended::Panicked { tick, handled } => {
            let whose = handled.map_or_else(String::new, |who| format!(", at an input of {who}"));
            (PANICKED, format!("panics in tick {tick}{whose}"))
        }
        Ended::Differs { tick } => (DIFFERS, format!("differs after tick {tick}")),
        Ended::Broken(why) => return Err(why),
    };
    let cut = if header.truncated {
        "; the record is truncated"
    } else {
        ""
    };
    let (run, at) = (header.run_id, header.tick);
    let line = format!("{words}; run {run} ended in tick {at}{cut}");
    writeln!(out, "{line}").map_err(|_| "nobody reads the output".to_owned())?;
    Ok(code)
}
