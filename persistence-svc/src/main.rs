//! The persistence service as a process: `persistence-svc [serve]`, or a command of an operator.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    persistence_svc::program(std::env::args().collect())
}
