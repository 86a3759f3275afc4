//! The zone server as a program.

use std::process::ExitCode;

use crate::{Config, Server, check_content, replay};

/// Runs a zone server, or the command that the arguments name; they begin with the program's name.
pub fn program(arguments: Vec<String>) -> ExitCode {
    let words = arguments.clone().into_iter().skip(1);
    match arguments.get(1).map(String::as_str) {
        Some("replay") => return replay::command::main(words),
        Some("check-content") => return check_content::main(words),
        _ => {}
    }
    service_runtime::run::main_with(
        "zone-server",
        "Plays regions of the world. \
         `zone-server replay FILE` plays the record of a run that panicked; \
         `zone-server check-content DIR` says what is wrong with manifests.",
        arguments,
        Config::read,
        |config, telemetry, stop| async move {
            let bound = Server::bind(config, telemetry);
            let Some(server) = stop.run_until_cancelled(bound).await.transpose()? else {
                return Ok(());
            };
            tracing::info!(address = %server.address(), "listening");
            server.run(stop).await
        },
    )
}
