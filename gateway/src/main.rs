//! The gateway as a process.

use std::process::ExitCode;

use gateway::{Config, Server};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
