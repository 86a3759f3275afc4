//! `tilestead completions` and `tilestead man`: what a shell and a reader of manuals need, made from
//! the command line itself.

use std::{fs, path::Path, process::ExitCode};

use anyhow::Context;
use clap_complete::Shell;
use service_runtime::run;

use crate::{NAME, arguments::command_line, banner};

/// Prints what completes commands in a shell.
pub(crate) fn completions(shell: Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command_line(), NAME, &mut script);
    banner::show(&String::from_utf8_lossy(&script))
}

/// Writes a manual page for the program and for each command into a folder.
pub(crate) fn pages(folder: &Path) -> ExitCode {
    let written = fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command_line(), folder))
        .with_context(|| folder.display().to_string());
    match written {
        Ok(()) => banner::show(&format!("The pages are in {}.\n", folder.display())),
        Err(error) => run::exit(NAME, Err(error)),
    }
}
