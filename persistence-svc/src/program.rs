//! The command line of the service: it serves, or does what an operator asks and ends.

use std::process::ExitCode;

use service_runtime::run::main_with;

use crate::{Command, Config, Server, certs};

const NAME: &str = "persistence-svc";
const ABOUT: &str = "Keeps the world of Tilestead: accounts, characters, ownership. \
Commands: serve (the default), migrate [--plan] (brings the tables up to date and ends, or shows what it would do), check (compares \
what is held with the ledger), archive (old months), freeze on|off, regions, pause-region X,Z, resume-region X,Z, \
quarantine [release ID], roles ACCOUNT ROLE,…|none, promoted, backup verify|DIR, certs DIR; each explains itself with --help.";

/// Serves, or carries out a command of an operator. `arguments` begin with the program's name.
pub fn program(mut arguments: Vec<String>) -> ExitCode {
    if arguments.get(1).is_some_and(|word| word == "certs") {
        return certs::main(arguments.drain(1..));
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
