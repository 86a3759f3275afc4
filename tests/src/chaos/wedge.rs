//! Stops threads of a process, as a rule that loops or a lock that nobody opens would. The
//! process itself needs no part in it: another one traces the threads and keeps them stopped.

use std::fs;
use std::sync::mpsc;
use std::thread;

use anyhow::{Context, Result};
use nix::sys::ptrace::{self, Options};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// Stops all threads `name` of a process of ours until the process ends.
///
/// # Errors
/// There is no such thread, or this process may not trace it.
pub fn threads(process: u32, name: &str) -> Result<()> {
    for traced in find(process, name)? {
        let (stopped, hears) = mpsc::channel();
        // Only the thread that traces another one may wait for it.
        thread::Builder::new()
            .name("wedge".to_owned())
            .spawn(move || hold(traced, &stopped))?;
        hears.recv().context("the thread that traces")??;
    }
    Ok(())
}

/// Returns the ids of the threads `name` of a process.
fn find(process: u32, name: &str) -> Result<Vec<Pid>> {
    let mut found = Vec::new();
    for task in fs::read_dir(format!("/proc/{process}/task"))? {
        let task = task?;
        let called = fs::read_to_string(task.path().join("comm"))?;
        if called.trim_end() == name {
            let id = task.file_name().to_string_lossy().parse()?;
            found.push(Pid::from_raw(id));
        }
    }
    anyhow::ensure!(
        !found.is_empty(),
        "process {process} has no thread {name:?}"
    );
    Ok(found)
}

/// Stops a thread, says so, and waits until it ends with its process.
fn hold(traced: Pid, stopped: &mpsc::Sender<Result<()>>) {
    let begun = ptrace::seize(traced, Options::empty())
        .and_then(|()| ptrace::interrupt(traced))
        .and_then(|()| waitpid(traced, Some(WaitPidFlag::__WALL)));
    let holds = begun.is_ok();
    // Whoever asked may be gone; the thread stays stopped all the same.
    let _ = stopped.send(begun.map(drop).with_context(|| format!("trace {traced}")));
    // The process cannot end before somebody has waited for the end of the traced thread.
    if !holds {
        return;
    }
    loop {
        match waitpid(traced, Some(WaitPidFlag::__WALL)) {
            Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) | Err(_) => return,
            Ok(_) => {}
        }
    }
}
