//! Records are bounded, and the replay believes no file.

use world::{CharacterId, Inbox, Region, Tick};

use super::{
    change::{Blob, Change},
    command,
    file::{FILES_MAX, FORMAT, Header, Record, save},
    recorder::{Bounds, Kept, Recorder},
};

const BOUNDS: Bounds = Bounds {
    ticks: 10,
    bytes: 2_000,
};

fn tick(now: u64) -> Change {
    Change::Tick {
        now: Tick(now),
        inbox: Inbox::default(),
    }
}

fn region(bytes: usize) -> Change {
    Change::RegionIn {
        region: Region { x: 1, z: -1 },
        now: Tick(7),
        state: Some(Blob(vec![200; bytes])),
    }
}

fn header() -> Header {
    Header {
        format: FORMAT,
        build: "1".to_owned(),
        content_hash: "none".to_owned(),
        seed: 1,
        rules: world::Rules::default(),
        run_id: 3,
        tick: 9,
        handled: Some(CharacterId::from("ann")),
        players: Vec::new(),
        truncated: false,
    }
}

fn folder(name: &str) -> std::path::PathBuf {
    let name = format!("zone-record-{}-{name}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// Saves a record, and returns the changes that its file has.
fn read(name: &str, kept: &Kept) -> Vec<Change> {
    let folder = folder(name);
    let path = save(&folder, &header(), kept).unwrap();
    let record = Record::open(&path).unwrap();
    assert_eq!(record.header, header());
    let changes = record.map(Result::unwrap).collect();
    std::fs::remove_dir_all(folder).unwrap();
    changes
}

#[test]
fn two_generations_are_kept_and_the_oldest_picture_comes_first() {
    let mut recorder = Recorder::new(BOUNDS, 0);
    for now in 1..=35 {
        recorder.note(&tick(now));
        if recorder.due(now) {
            recorder.picture(now, [region(now as usize)].into_iter());
        }
    }
    let kept = recorder.into_kept();
    assert!(!kept.truncated);
    let mut expected = vec![region(20)];
    expected.extend((21..=35).map(tick));
    assert_eq!(read("two", &kept), expected);
}

#[test]
fn what_is_too_much_is_not_kept_and_said() {
    let mut recorder = Recorder::new(BOUNDS, 0);
    for now in 1..=9_999 {
        recorder.note(&tick(now));
        assert!(recorder.size() <= 2 * BOUNDS.bytes);
    }
    let kept = recorder.into_kept();
    assert!(kept.truncated);
    let changes = read("much", &kept);
    assert!(changes.len() > 10);
    let first: Vec<Change> = (1..=changes.len() as u64).map(tick).collect();
    assert_eq!(changes, first, "there is no hole before the end");
}

#[test]
fn a_picture_that_is_too_large_is_not_played_from() {
    let mut recorder = Recorder::new(BOUNDS, 0);
    recorder.note(&tick(1));
    recorder.picture(1, [region(500), region(1_900)].into_iter());
    recorder.note(&tick(2));
    assert!(recorder.size() < 100);
    recorder.picture(2, [region(5)].into_iter());
    recorder.note(&tick(3));
    let kept = recorder.into_kept();
    assert!(!kept.truncated);
    assert_eq!(read("large", &kept), [region(5), tick(3)]);
}

#[test]
fn a_folder_is_not_filled() {
    let folder = folder("full");
    for run_id in 0..FILES_MAX as u64 {
        let header = Header { run_id, ..header() };
        save(&folder, &header, &Kept::default()).unwrap();
    }
    assert!(save(&folder, &header(), &Kept::default()).is_err());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn another_content_and_what_is_no_record_are_refused_in_a_sentence() {
    let folder = folder("other");
    let path = save(&folder, &header(), &Kept::default()).unwrap();
    let refused = |path| {
        let mut out = Vec::new();
        let why = command::replay((path, false), "/nonexistent", &mut (), &mut out).unwrap_err();
        assert!(out.is_empty());
        assert_eq!(why.lines().count(), 1, "{why}");
        why
    };
    assert!(refused(&path).contains("the run played the content none"));
    for bytes in [&b""[..], b"\xc1", b"\x93\x01", b"text"] {
        std::fs::write(&path, bytes).unwrap();
        assert!(refused(&path).contains("not a record"), "{bytes:?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
