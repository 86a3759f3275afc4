//! Manifests in a folder.
//!
//! Always: every file lies inside the folder, also behind links; sizes and numbers are bounded.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context;

use crate::Files;

/// Most bytes of a manifest.
pub(crate) const BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Most bytes of all manifests together.
pub(crate) const TOTAL_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Most manifests.
const COUNT_MAX: usize = 1_000;
/// Most levels of folders in folders.
const DEPTH_MAX: usize = 4;

/// Reads the manifests of the world's folder; none if there is no such folder.
///
/// # Errors
/// The folder or a file cannot be read, or is too large.
pub fn local(world: &Path) -> anyhow::Result<Files> {
    read(&manifests(world))
}

/// Returns the folder in which a world's folder has its manifests.
pub(crate) fn manifests(world: &Path) -> PathBuf {
    world.join("assets/manifests")
}

/// Reads all manifests in `folder` and its subfolders. Names that begin with a dot are no
/// manifests.
pub(crate) fn read(folder: &Path) -> anyhow::Result<Files> {
    let mut reading = Reading::default();
    let root = match folder.canonicalize() {
        Ok(root) if root.is_dir() => root,
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("read {}", folder.display()));
        }
        _ => return Ok(reading.files),
    };
    reading
        .folder(&root, &root, "")
        .with_context(|| format!("read the manifests in {}", folder.display()))?;
    Ok(reading.files)
}

#[derive(Default)]
struct Reading {
    files: Files,
    bytes: u64,
}

impl Reading {
    fn folder(&mut self, root: &Path, folder: &Path, prefix: &str) -> anyhow::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else {
                continue;
            };
            let path = format!("{prefix}{name}");
            let at = entry.path();
            // A link that leads nowhere, or out of the folder, is no manifest.
            let Some(at) = at.canonicalize().ok().filter(|at| at.starts_with(root)) else {
                continue;
            };
            if at.is_dir() && prefix.matches('/').count() < DEPTH_MAX {
                self.folder(root, &at, &format!("{path}/"))?;
            } else if at.is_file() && name.ends_with(".json") {
                self.file(&at, path)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, at: &Path, path: String) -> anyhow::Result<()> {
        let count = self.files.len();
        anyhow::ensure!(count < COUNT_MAX, "more than {COUNT_MAX} manifests");
        let bytes = fs::metadata(at)?.len();
        self.bytes += bytes;
        anyhow::ensure!(bytes <= BYTES_MAX, "{path} is longer than 16 MiB");
        anyhow::ensure!(self.bytes <= TOTAL_BYTES_MAX, "together more than 64 MiB");
        let text = fs::read_to_string(at).with_context(|| path.clone())?;
        self.files.insert(path, text);
        Ok(())
    }
}

/// Returns the file inside the folder `root` that a client names by `path`; none if `path` is not
/// plainly a file inside it.
pub fn inside(root: &Path, path: &str) -> Option<PathBuf> {
    let plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.contains(['\\', ':', '\0', '%'])
            && !part.chars().any(char::is_control)
    };
    if !path.split('/').all(plain) {
        return None;
    }
    let root = root.canonicalize().ok()?;
    let file = root.join(path).canonicalize().ok()?;
    (file.starts_with(&root) && file.is_file()).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// New folder that goes when the test ends.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let name = format!("folder-{}", uuid::Uuid::new_v4());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir_all(folder.join("in/items")).unwrap();
            Self(folder)
        }

        fn write(&self, path: &str, text: &str) {
            fs::write(self.0.join(path), text).unwrap();
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn only_manifests_inside_the_folder_are_read() {
        let folder = Folder::new();
        folder.write("secret.json", "{}");
        folder.write("in/npcs.json", "[]");
        folder.write("in/.index.json", "{}");
        folder.write("in/notes.txt", "no manifest");
        folder.write("in/items/food.json", "[1]");
        let link = |to: &str, at: &str| {
            std::os::unix::fs::symlink(folder.0.join(to), folder.0.join(at)).unwrap();
        };
        link("secret.json", "in/leak.json");
        link("in/npcs.json", "in/mobs.json");
        link("nowhere", "in/gone.json");
        let files = read(&folder.0.join("in")).unwrap();
        let paths: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(paths, ["items/food.json", "mobs.json", "npcs.json"]);
        assert_eq!(read(&folder.0.join("no")).unwrap(), Files::new());
    }

    #[test]
    fn no_path_leads_out_of_the_folder() {
        let folder = Folder::new();
        folder.write("secret.glb", "");
        folder.write("in/items/sword.glb", "");
        let root = folder.0.join("in");
        std::os::unix::fs::symlink(folder.0.join("secret.glb"), root.join("leak.glb")).unwrap();
        assert!(inside(&root, "items/sword.glb").is_some());
        for path in [
            "../secret.glb",
            "items/../../secret.glb",
            "/items/sword.glb",
            "items//sword.glb",
            "items",
            "",
            "leak.glb",
            "..%2fsecret.glb",
            "items\\sword.glb",
            "items/sword.glb\0",
            "c:/secret.glb",
        ] {
            assert_eq!(inside(&root, path), None, "{path:?}");
        }
    }
}
