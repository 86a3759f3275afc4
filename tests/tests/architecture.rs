//! Who may know whom: the arrows between the crates, as `cargo metadata` sees them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tests::cluster::process::workspace;

/// What each crate may depend on, of ours. Tests may bring up their own stores.
const MAY_KNOW: [(&str, &[&str]); 15] = [
    ("world", &[]),
    ("proto", &[]),
    ("chassis", &[]),
    ("test-servers", &[]),
    ("delivery", &["proto", "chassis", "world"]),
    ("view", &["proto", "world"]),
    ("view-laws", &["view", "proto", "world"]),
    (
        "gateway",
        &["proto", "chassis", "world", "delivery", "view"],
    ),
    ("handover", &["world"]),
    (
        "zone-server",
        &["proto", "chassis", "world", "delivery", "handover"],
    ),
    ("persistence-svc", &["proto", "chassis"]),
    (
        "tilestead",
        &[
            "proto",
            "chassis",
            "world",
            "delivery",
            "gateway",
            "zone-server",
            "persistence-svc",
        ],
    ),
    ("handover-model", &["handover", "world"]),
    (
        "simulation",
        &[
            "proto",
            "chassis",
            "world",
            "handover",
            "persistence-svc",
            "zone-server",
        ],
    ),
    (
        "tests",
        &[
            "proto",
            "chassis",
            "world",
            "delivery",
            "tilestead",
            "test-servers",
        ],
    ),
];

fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(workspace())
        .output()
        .expect("cargo metadata");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("metadata")
}

/// Each crate of the workspace with those of the workspace that it depends on; those that only
/// its tests need apart.
fn arrows() -> BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let names: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    let mut arrows = BTreeMap::new();
    for package in packages {
        let (mut normal, mut dev) = (BTreeSet::new(), BTreeSet::new());
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let name = dependency["name"].as_str().expect("name");
            if names.contains(name) {
                let only_tests = dependency["kind"] == "dev";
                let set = if only_tests { &mut dev } else { &mut normal };
                set.insert(name.to_owned());
            }
        }
        arrows.insert(
            package["name"].as_str().expect("name").to_owned(),
            (normal, dev),
        );
    }
    arrows
}

fn allowed(name: &str) -> &'static [&'static str] {
    MAY_KNOW
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, may)| *may)
        .unwrap_or_else(|| panic!("{name} is not in the table: say whom it may know"))
}

#[test]
fn crates_know_only_whom_they_may() {
    for (name, (normal, dev)) in arrows() {
        let may = allowed(&name);
        for other in &normal {
            assert!(
                may.contains(&other.as_str()),
                "{name} must not depend on {other}"
            );
        }
        for other in &dev {
            let may = may.contains(&other.as_str()) || other == "test-servers" || other == &name;
            assert!(may, "{name} must not depend on {other}, not even in tests");
        }
    }
}

#[test]
fn the_game_does_no_input_or_output() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let world = packages
        .iter()
        .find(|p| p["name"] == "world")
        .expect("world");
    let forbidden = [
        "tokio",
        "tonic",
        "hyper",
        "axum",
        "redis",
        "rusqlite",
        "tokio-postgres",
    ];
    for dependency in world["dependencies"].as_array().expect("dependencies") {
        let name = dependency["name"].as_str().expect("name");
        assert!(!forbidden.contains(&name), "world depends on {name}");
    }
}

/// All files of our own under `folder` that end so.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            files(&path, ending, found);
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

#[test]
fn each_test_that_the_table_of_faults_names_exists() {
    let table = std::fs::read_to_string(workspace().join("tests/FAULTS.md")).expect("the table");
    let mut sources = Vec::new();
    files(&workspace(), ".rs", &mut sources);
    let sources = sources.iter().map(std::fs::read_to_string);
    let sources: String = sources.collect::<Result<_, _>>().expect("sources");
    // Between back-quotes; the names of tests are sentences.
    let quoted = table.split('`').skip(1).step_by(2);
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_test = |name: &&str| name.matches('_').count() >= 2 && name.chars().all(word);
    let names: BTreeSet<&str> = quoted.filter(is_test).collect();
    assert!(names.len() > 40, "only {} are named", names.len());
    let missing = names
        .iter()
        .filter(|name| !sources.contains(&format!("fn {name}(")));
    let missing: Vec<_> = missing.collect();
    assert!(missing.is_empty(), "no such tests: {missing:?}");
}
