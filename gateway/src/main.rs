//! The gateway as a process.

use std::process::ExitCode;

use gateway::{Config, Server};

/// Holds the memory of many connections in fewer pages than the allocator of the other services.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    service_runtime::run::main(
        "gateway",
        "Guards the door of Tilestead and shows its world.",
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
