//! Lists the manifests that ship, so that they can be embedded.
//!
//! Writes `$OUT_DIR/manifests.rs`: an array of (path below `assets/manifests`, text).
#![allow(
    clippy::disallowed_methods,
    reason = "the build may read files, the world may not"
)]

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let crate_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let manifests = crate_dir.join("assets/manifests");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", manifests.display());
    let mut files = Vec::new();
    if manifests.is_dir() {
        list(&manifests, &mut files)?;
    }
    files.sort();
    let mut code = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(&manifests).unwrap_or(file);
        let name = name.to_string_lossy().replace('\\', "/");
        code += &format!(
            "    ({name:?}, include_str!({:?})),\n",
            file.display().to_string()
        );
    }
    code += "]\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("manifests.rs"), code)
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            println!("cargo::rerun-if-changed={}", path.display());
            list(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "json") {
            files.push(path);
        }
    }
    Ok(())
}
