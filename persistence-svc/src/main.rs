//! The persistence service as a process: `persistence-svc [serve]`, or a command of an operator.

use std::process::ExitCode;

use persistence_svc::{Command, Config, Server};
use service_runtime::run::main_with;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NAME: &str = "persistence-svc";
const ABOUT: &str = "Keeps the world of Tilestead: accounts, characters, ownership. \
Commands: serve (the default), migrate [--plan] (brings the tables up to date and ends, or shows what it would do), check (compares \
what is held with the ledger), freeze on|off, regions, resume-region X,Z, \
quarantine [release ID], roles ACCOUNT ROLE,…|none, promoted, certs DIR; each explains itself with --help.";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|word| word == "certs") {
        return persistence_svc::certs::main(arguments.drain(1..));
    }
    if let Some(command) = Command::take(&mut arguments) {
        // The process leaks it once, because `--help` may ask for it at any time.
        let about: &'static str = command.about.clone().leak();
        return main_with(
            NAME,
            about,
            arguments,
            Config::of_command,
            |config, telemetry, _| command.run(config, telemetry),
        );
    }
    if arguments.get(1).is_some_and(|word| word == "serve") {
        arguments.remove(1);
    }
    main_with(
        NAME,
        ABOUT,
        arguments,
        Config::read,
        |config, telemetry, stop| async { Server::bind(config, telemetry).await?.run(stop).await },
    )
}
