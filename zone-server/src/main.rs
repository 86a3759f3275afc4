//! The zone server as a process of its own.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|word| word == "replay") {
        return zone_server::replay(std::env::args().skip(1));
    }
    chassis::run::main(
        "zone-server",
        "Plays regions of the world. \
         `zone-server replay FILE` plays the record of a run that panicked.",
        zone_server::Config::read,
        |config, telemetry, stop| async move {
            let server = zone_server::Server::bind(config, telemetry).await?;
            tracing::info!(address = %server.address(), "listening");
            server.run(stop).await
        },
    )
}
