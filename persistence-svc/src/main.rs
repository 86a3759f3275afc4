//! The persistence service as a process: `persistence-svc [serve]`, or `persistence-svc migrate`,
//! which brings the tables up to date and ends.

use std::process::ExitCode;

use chassis::run::main_with;
use persistence_svc::{Config, Server, migrate};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NAME: &str = "persistence-svc";
const ABOUT: &str = "Keeps the world of Tilestead: accounts, characters, ownership. \
Commands: serve (the default), migrate (brings the tables up to date and ends).";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().collect();
    let command = arguments.get(1).cloned().unwrap_or_default();
    if matches!(command.as_str(), "serve" | "migrate") {
        arguments.remove(1);
    }
    if command == "migrate" {
        return main_with(
            NAME,
            ABOUT,
            arguments,
            Config::read,
            |config, telemetry, _| migrate(config, telemetry),
        );
    }
    main_with(
        NAME,
        ABOUT,
        arguments,
        Config::read,
        |config, telemetry, stop| async { Server::bind(config, telemetry).await?.run(stop).await },
    )
}
