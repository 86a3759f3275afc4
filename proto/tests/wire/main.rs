//! Processes of the release before understand this one's messages, and the other way round.
//!
//! `release.txt` holds the facts of the release before. At a release, write it anew from the files
//! of that release:
//!
//! ```sh
//! mkdir -p target/protos && git archive TAG proto/protos | tar -x -C target/protos
//! WIRE_OF=$PWD/target/protos/proto/protos cargo test -p proto --test wire
//! ```
#![allow(clippy::unwrap_used)]

mod enums;
mod facts;

use std::fs;
use std::path::{Path, PathBuf};

use facts::{Facts, breaks, facts};
use protox::prost_reflect::DescriptorPool;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Reads all files of a folder.
fn read(folder: &Path) -> DescriptorPool {
    let files = fs::read_dir(folder).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".proto")).collect();
    names.sort();
    let set = protox::compile(names, [folder]).unwrap();
    DescriptorPool::from_file_descriptor_set(set).unwrap()
}

fn text(facts: &Facts) -> String {
    let lines = facts
        .iter()
        .map(|(subject, fact)| format!("{subject}: {fact}\n"));
    lines.collect()
}

#[test]
fn this_release_breaks_no_process_of_the_release_before() {
    let golden = here("tests/wire/release.txt");
    if let Some(folder) = std::env::var_os("WIRE_OF") {
        fs::write(&golden, text(&facts(&read(Path::new(&folder))))).unwrap();
    }
    let golden = fs::read_to_string(golden).unwrap();
    let before = golden.lines().map(|line| line.split_once(": ").unwrap());
    let before: Facts = before
        .map(|(subject, fact)| (subject.to_owned(), fact.to_owned()))
        .collect();
    assert!(before.len() > 100, "release.txt is not whole");
    let found = breaks(&before, &facts(&read(&here("protos"))));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Reads one small file.
fn small(body: &str) -> Facts {
    let folder = std::env::temp_dir().join(format!("wire-{}-{}", std::process::id(), id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("small.proto"),
        format!("syntax = \"proto3\"; package p; {body}"),
    )
    .unwrap();
    let read = facts(&read(&folder));
    fs::remove_dir_all(folder).unwrap();
    read
}

fn id() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

const SMALL: &str = "
    message A { uint32 b = 1; oneof c { string d = 2; string e = 3; } F f = 4; repeated G g = 5; optional uint32 h = 6; }
    message G {}
    message Unused { option deprecated = true; }
    enum F { NONE = 0; ONE = 1; }
    service S { rpc Call(A) returns (stream G); rpc Gone(A) returns (G) { option deprecated = true; } }";

#[test]
fn each_kind_of_break_is_found() {
    let before = small(SMALL);
    for (old, new, told) in [
        ("uint32 b = 1;", "", "field p.A 1 is gone"),
        ("uint32 b = 1;", "uint32 b = 9;", "field p.A 1 is gone"),
        (
            "uint32 b = 1;",
            "sint32 b = 1;",
            "field p.A 1 was: uint32, and is: sint32",
        ),
        (
            "uint32 b = 1;",
            "repeated uint32 b = 1;",
            "is: repeated uint32",
        ),
        (
            "optional uint32 h",
            "uint32 h",
            "field p.A 6 was: optional uint32",
        ),
        ("repeated G g", "G g", "field p.A 5 was: repeated p.G"),
        ("repeated G g", "repeated F g", "is: repeated p.F"),
        (
            "string e = 3; }",
            "} string e = 3;",
            "field p.A 3 was: optional string of c",
        ),
        ("ONE = 1;", "", "value p.F 1 is gone"),
        ("ONE = 1;", "TWO = 1;", "value p.F 1 was: ONE, and is: TWO"),
        (
            "rpc Call(A) returns (stream G);",
            "",
            "method /p.S/Call is gone",
        ),
        ("rpc Call(A)", "rpc Call(stream A)", "method /p.S/Call was"),
        ("(stream G)", "(G)", "is: p.A to p.G"),
        ("service S {", "service T {", "method /p.S/Call is gone"),
    ] {
        assert!(SMALL.contains(old), "{old}");
        let found = breaks(&before, &small(&SMALL.replacen(old, new, 1)));
        assert!(
            found.iter().any(|line| line.contains(told)),
            "{old} to {new}: {found:?}"
        );
    }
    let renamed = SMALL
        .replace("message G", "message H")
        .replace("repeated G", "repeated H")
        .replace(" G)", " H)")
        .replace("(G)", "(H)");
    let found = breaks(&before, &small(&renamed));
    assert!(
        found
            .iter()
            .any(|line| line.starts_with("message p.G is gone")),
        "{found:?}"
    );
}

#[test]
fn what_is_added_renamed_or_was_deprecated_breaks_nothing() {
    let before = small(SMALL);
    for (old, new) in [
        ("uint32 b = 1;", "uint32 b = 1; string more = 7;"),
        ("uint32 b = 1;", "uint32 other = 1;"),
        ("uint32 b = 1;", "uint32 b = 1 [deprecated = true];"),
        ("string d = 2;", "string d = 2; string more = 8;"),
        ("ONE = 1;", "ONE = 1; TWO = 2;"),
        ("message G {}", "message G {} message H {}"),
        ("service S {", "service S { rpc More(A) returns (G);"),
        ("message Unused { option deprecated = true; }", ""),
        ("rpc Gone(A) returns (G) { option deprecated = true; }", ""),
    ] {
        assert!(SMALL.contains(old), "{old}");
        let found = breaks(&before, &small(&SMALL.replacen(old, new, 1)));
        assert!(found.is_empty(), "{old} to {new}: {found:?}");
    }
}
