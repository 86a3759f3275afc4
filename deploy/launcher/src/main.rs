//! The local launcher, and the operator's tool. Without a command it is a whole world in one process.
//! The services are the same libraries as in production, each with its own settings and telemetry.
//! They talk by gRPC over loopback. The launcher gives them settings and a stop signal, and shares no
//! other value with them. With `--chaos` zone servers are processes of their own. Its commands ask a
//! cluster that runs, wherever it is.

mod arguments;
mod banner;
mod cdn;
mod chaos;
mod cluster;
mod directory;
mod manual;
mod model_bounds;
mod operate;
mod part;
mod plan;
mod probe;

use std::process::ExitCode;

use service_runtime::{
    config::{Env, Reader},
    drain, run,
    telemetry::{TelemetryConfig, init_logs},
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    arguments::{Asked, Passed, Tool, Up},
    cluster::{Cluster, Ending},
    plan::Plan,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Name of this process in its own messages.
pub(crate) const NAME: &str = "tilestead";

fn main() -> ExitCode {
    let arguments = match arguments::read(std::env::args_os()) {
        Asked::Run(arguments) => arguments,
        Asked::Show(text) => return banner::show(&text),
        Asked::Refuse(sentence) => return run::refuse(NAME, &sentence),
    };
    match arguments.tool {
        None => start(&arguments.up),
        Some(Tool::Up(up)) => start(&up),
        Some(Tool::Order(order)) => operate::command(&order, &arguments.place),
        Some(Tool::Bench(asked)) => bench(*asked),
        Some(Tool::Check(passed)) => store("check", passed),
        Some(Tool::Certs(passed)) => store("certs", passed),
        Some(Tool::ZoneProcess { launcher }) => chaos::run_child(launcher),
        Some(Tool::Completions { shell }) => manual::completions(shell),
        Some(Tool::Man { folder }) => manual::pages(&folder),
        Some(Tool::ModelBounds { assets }) => model_bounds::command(&assets),
    }
}

/// Carries out a command of the persistence service.
fn store(word: &str, passed: Passed) -> ExitCode {
    let words = [NAME.to_owned(), word.to_owned()];
    persistence_svc::program(words.into_iter().chain(passed.words).collect())
}

/// Lets bots play, and says how that went.
fn bench(asked: load_generator::program::Arguments) -> ExitCode {
    match run::runtime() {
        Ok(runtime) => runtime.block_on(load_generator::program::run(asked)),
        Err(error) => run::exit(NAME, Err(error.into())),
    }
}

/// Starts a world, and plays it until it is stopped.
fn start(up: &Up) -> ExitCode {
    let plan = match Plan::new(up, &Env::from_process()) {
        Ok(plan) => plan,
        Err(error) => return run::refuse(NAME, &error.to_string()),
    };
    if up.print_config {
        return banner::show(&plan.tables());
    }
    run::install_crypto();
    let telemetry = TelemetryConfig::read(&mut Reader::new(plan.persistence.clone()));
    init_logs(&telemetry);
    if let Some(world) = &plan.world {
        model_bounds::refresh(world);
    }
    let ended = run::runtime().map_err(Into::into).and_then(|runtime| {
        let ended = runtime.block_on(Box::pin(play(up, &plan)));
        runtime.shutdown_timeout(std::time::Duration::from_secs(2));
        ended
    });
    run::exit(NAME, ended)
}

/// Starts everything, prints the addresses, and stops it in order at a stop signal.
async fn play(up: &Up, plan: &Plan) -> anyhow::Result<()> {
    let stop = CancellationToken::new();
    let mut signals = JoinSet::new();
    signals.spawn(drain::stop_on_signal(stop.clone()));
    let mut cluster = Cluster::start(plan).await?;
    let ready = tokio::select! {
        ready = cluster.ready() => {
            ready?;
            None
        }
        () = stop.cancelled() => Some(Ending::Asked),
        () = cluster.ended_early() => Some(Ending::Early),
    };
    let ending = match ready {
        Some(ending) => ending,
        None => {
            banner::show(&banner::ready(up, &cluster.addresses()));
            tokio::select! {
                () = stop.cancelled() => Ending::Asked,
                () = cluster.ended_early() => Ending::Early,
            }
        }
    };
    banner::show("\nStopping: players are told, then everything is saved.\n");
    cluster.stop(ending).await?;
    banner::show(&banner::stopped(up));
    Ok(())
}
