//! Check of manifests before anybody plays them.

use std::{io::Write, path::Path};

use anyhow::{Context, ensure};
use world::content::{missing, parse};
use world::{Content, ContentError, Loaded, inspect};

use crate::{Files, folder};

/// Reads the manifests in `at`, or in `at/assets/manifests`, as a server does, and writes all
/// faults to `out`. A fault names the file, the place in it, and the consequence. Then come faults
/// of the world as a whole: things that nobody can reach, get, make or end. Returns whether
/// production would play the manifests; if `strict`, only without a warning.
///
/// # Errors
/// There are no manifests, a file cannot be read, or `out` cannot be written.
pub fn check(at: &Path, strict: bool, out: &mut impl Write) -> anyhow::Result<bool> {
    let below = folder::manifests(at);
    let at = if below.is_dir() { &below } else { at };
    let files = folder::read(at)?;
    ensure!(!files.is_empty(), "{} has no manifests", at.display());
    judge(&files, strict, out).context("write what is wrong")
}

fn judge(files: &Files, strict: bool, out: &mut impl Write) -> std::io::Result<bool> {
    let loaded = match Content::load(files) {
        Ok(loaded) => loaded,
        Err(error) => return unplayable(files, &error, out),
    };
    for warning in &loaded.warnings {
        writeln!(out, "warning: {warning}")?;
    }
    let warnings = loaded.warnings.len();
    let Loaded { content, .. } = match loaded.strict() {
        Ok(loaded) => loaded,
        Err(error) => return refused(&error, out),
    };
    let faults = inspect(&content);
    for fault in &faults {
        writeln!(out, "warning: {fault}")?;
    }
    let warnings = warnings + faults.len();
    writeln!(
        out,
        "{} files: {} items and notes, {} kinds of NPCs, {} areas, {} recipes; {warnings} warnings",
        files.len(),
        content.items().len(),
        content.npc_kinds().len(),
        content.areas().len(),
        content.recipes().len(),
    )?;
    Ok(!strict || warnings == 0)
}

/// Writes every required manifest that is missing or cannot be read, not just the first.
fn unplayable(files: &Files, first: &ContentError, out: &mut impl Write) -> std::io::Result<bool> {
    let broken = files
        .iter()
        .filter_map(|(path, text)| parse(path, text).err());
    let missing = missing(|path| files.contains_key(path)).into_iter();
    let missing = missing.map(|file| ContentError::Missing {
        file: file.to_owned(),
    });
    let mut all: Vec<ContentError> = broken.chain(missing).collect();
    if !all.contains(first) {
        all.push(first.clone());
    }
    for error in all {
        writeln!(out, "error: {error}")?;
    }
    Ok(false)
}

fn refused(error: &ContentError, out: &mut impl Write) -> std::io::Result<bool> {
    writeln!(out, "error: {error}")?;
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedded() -> Files {
        let files = Content::embedded_files().iter();
        files
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect()
    }

    fn checked(files: &Files, strict: bool) -> (bool, String) {
        let mut out = Vec::new();
        let good = judge(files, strict, &mut out).expect("a vector takes it");
        (good, String::from_utf8(out).expect("it is text"))
    }

    #[test]
    fn what_ships_is_without_fault() {
        let (good, said) = checked(&embedded(), true);
        assert!(good, "{said}");
        assert!(said.ends_with("; 0 warnings\n"), "{said}");
    }

    #[test]
    fn a_warning_is_a_fault_for_the_strict_and_a_lost_file_for_all() {
        let mut files = embedded();
        let store = r#"[{"id": "s", "name": "S", "items": [{"itemId": "soap"}]}]"#;
        files.insert("stores.json".to_owned(), store.to_owned());
        let (good, said) = checked(&files, false);
        assert!(good, "{said}");
        let soap = "warning: stores.json: [0].items[0].itemId: there is no item \"soap\"";
        assert!(said.contains(soap), "{said}");
        assert!(!checked(&files, true).0);
        files.remove("biomes.json");
        files.remove("npcs.json");
        let said = "error: npcs.json is missing\nerror: biomes.json is missing\n";
        assert_eq!(checked(&files, false), (false, said.to_owned()));
    }
}
