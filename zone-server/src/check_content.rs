//! `zone-server check-content DIR`: reports the faults of manifests before anybody plays them.
//!
//! Always: exit code 0 when a server would play them, 65 when it would not, or when `--strict`
//! is given and there is anything to warn of; 64 when there is no such folder.

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;
use service_runtime::run;

const NAME: &str = "zone-server check-content";
/// The manifests cannot be played.
const UNUSABLE: u8 = 65;

/// Reads manifests as a server does, and prints all that is wrong with them: the file, the place
/// in it, and what comes of it; then what is wrong with the world that they make: places that
/// nobody can walk to, items that nobody can get, recipes, shops, talks and quests that cannot be.
///
/// Ends with exit code 0 when a server in production would play them, and 65 when it would not.
#[derive(Debug, Parser)]
#[command(name = NAME, bin_name = NAME, version)]
struct Arguments {
    /// The folder with npcs.json and the others, or the world folder above its assets/manifests
    folder: PathBuf,
    /// Warnings are faults too
    #[arg(long)]
    strict: bool,
}

/// Runs the command; `arguments` begin with its name.
pub(crate) fn main(arguments: impl IntoIterator<Item = String>) -> ExitCode {
    run::command(NAME, arguments, |Arguments { folder, strict }| {
        let mut out = std::io::stdout().lock();
        match content_loader::check(&folder, strict, &mut out) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::from(UNUSABLE),
            Err(error) => run::refuse(NAME, &format!("{error:#}")),
        }
    })
}
