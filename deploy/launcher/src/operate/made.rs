//! A file that an order makes.
//!
//! Always: the file is there whole or not at all.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Context;

/// A file that is not whole yet, under a name of its own. If nobody finishes it, it goes.
pub(super) struct Draft {
    file: fs::File,
    path: PathBuf,
    out: PathBuf,
    finished: bool,
}

impl Draft {
    pub(super) fn of(out: &Path) -> anyhow::Result<Self> {
        let path = out.with_extension(format!("{}.draft", std::process::id()));
        let file = fs::File::create(&path).with_context(|| out.display().to_string())?;
        Ok(Self {
            file,
            path,
            out: out.to_owned(),
            finished: false,
        })
    }

    pub(super) fn write(&mut self, part: &[u8]) -> anyhow::Result<()> {
        let named = || self.out.display().to_string();
        self.file.write_all(part).with_context(named)
    }

    /// Gives the whole file its name.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        let named = || self.out.display().to_string();
        self.file.sync_all().with_context(named)?;
        fs::rename(&self.path, &self.out).with_context(named)?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.finished {
            // It is a draft: whoever finds it may remove it.
            let _ = fs::remove_file(&self.path);
        }
    }
}
