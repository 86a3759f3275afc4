//! The zone server as a process of its own.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    chassis::run::main(
        "zone-server",
        "Plays regions of the world.",
        zone_server::Config::read,
        |config, telemetry, stop| async move {
            let server = zone_server::Server::bind(config, telemetry).await?;
            tracing::info!(address = %server.address(), "listening");
            server.run(stop).await
        },
    )
}
