//! Measures what each route of a gateway costs the database of a world with many characters, and
//! prints `docs/route-costs.md`.

use std::process::ExitCode;

use clap::Parser;
use tests::costs;

const EXPLAINED: &str = "\
The services' binaries are those beside this one (or in TILESTEAD_BIN_DIR); PostgreSQL and Redis
are private servers. Two million characters need 8 GB of disk in the temporary folder and some
minutes.

Exit code: 0; 1 when something could not be measured; 2 when the arguments are wrong.";

/// Measures the database's time for each route that anybody may ask without a token or with a new
/// one
#[derive(Parser)]
#[command(name = "route-costs", version, after_help = EXPLAINED)]
struct Arguments {
    /// Number of characters of the world
    #[arg(long, default_value_t = 2_000_000)]
    characters: u32,
    /// Number of requests for each route
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..=60))]
    requests: u32,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("no runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(costs::measure(arguments.characters, arguments.requests)) {
        Ok(document) => {
            print!("{document}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
