//! The gateway as a process.

use std::process::ExitCode;

use gateway::{Config, Server};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    chassis::run::main(
        "gateway",
        "Guards the door of Tilestead and shows its world.",
        Config::read,
        |config, telemetry, stop| async move {
            let server = Server::bind(config, telemetry).await?;
            tracing::info!(address = %server.address(), "listening");
            server.run(stop).await
        },
    )
}
