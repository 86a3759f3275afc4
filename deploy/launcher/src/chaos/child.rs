//! A zone server as a process of the launcher.

use std::{os::unix::process::parent_id, process::ExitCode};

use service_runtime::run;

use crate::NAME;

/// Runs a zone server that dies with the launcher of this process id.
pub(crate) fn run(launcher: u32) -> ExitCode {
    if let Err(error) = die_with_parent() {
        return run::exit(NAME, Err(error));
    }
    // The launcher may have ended before the kernel knew of the wish above.
    if parent_id() != launcher {
        return run::refuse(NAME, "this command is for the launcher alone.");
    }
    zone_server::program(vec!["zone-server".to_owned()])
}

/// Has the kernel kill this process when the thread that started it ends.
#[cfg(target_os = "linux")]
fn die_with_parent() -> anyhow::Result<()> {
    use nix::sys::{prctl::set_pdeathsig, signal::Signal};
    Ok(set_pdeathsig(Signal::SIGKILL)?)
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent() -> anyhow::Result<()> {
    anyhow::bail!("only Linux ends a process with its launcher")
}
