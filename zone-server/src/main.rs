//! The zone server as a process of its own.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("replay") => return zone_server::replay(std::env::args().skip(1)),
        Some("check-content") => return zone_server::check_content(std::env::args().skip(1)),
        _ => {}
    }
    service_runtime::run::main(
        "zone-server",
        "Plays regions of the world. \
         `zone-server replay FILE` plays the record of a run that panicked; \
         `zone-server check-content DIR` says what is wrong with manifests.",
        zone_server::Config::read,
        |config, telemetry, stop| async move {
            let bound = zone_server::Server::bind(config, telemetry);
            let Some(server) = stop.run_until_cancelled(bound).await.transpose()? else {
                return Ok(());
            };
            tracing::info!(address = %server.address(), "listening");
            server.run(stop).await
        },
    )
}
