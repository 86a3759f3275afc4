//! `tilestead.v2`, byte for byte. `compact.json` has one connection after the other, each frame with
//! the update that it means. The decoder of the page reads the same file.

use std::{collections::BTreeSet, fs, path::PathBuf};

use bytes::BytesMut;
use proto::client::compact::{
    FIELDS, KINDS,
    read::Decoder,
    write::{self, Change, ChunkSection, Near},
};
use serde_json::{Value, json};
use world::{Chunk, Field, Tile};

const UUID: &str = "0191d4f0-5ac3-7f10-8a2b-00ff10c0ffee";
const HERE: Chunk = Chunk { x: 0, z: 0 };
const WEST: Chunk = Chunk { x: -1, z: 0 };

/// A frame, and what it shows.
type Framed = (&'static str, BytesMut);

const fn tile(x: i32, z: i32) -> Tile {
    Tile { x, z }
}

/// Writes a frame: tick `seq + 100`, then what `sections` appends.
fn frame(seq: u64, sections: impl FnOnce(&mut BytesMut)) -> BytesMut {
    let mut out = BytesMut::new();
    write::begin(&mut out, seq);
    write::number(&mut out, seq + 100);
    sections(&mut out);
    out
}

/// Names a player with one field.
fn player(out: &mut BytesMut, number: u32, id: &str, name: &str) {
    let name = Field::Text(name.into());
    write::name(out, number, id, "player", &[("name", Some(&name))]);
}

/// Frames of a client that gets all players in chunk sections.
fn in_chunks() -> Vec<Framed> {
    let mut frames = values_and_places();
    frames.extend(changes());
    frames.extend(names());
    frames
}

fn values_and_places() -> Vec<Framed> {
    let texts = ["Änn", UUID, &UUID.to_uppercase(), ""].map(|text| Field::Text(text.into()));
    let whole = [0, -1, 9, 1_000_000, -5_000_000_000, i64::MAX, i64::MIN].map(Field::Int);
    let (yes, no) = (Field::Bool(true), Field::Bool(false));
    vec![
        ("nothing but a tick", frame(1, |_| {})),
        (
            "a named thing of each kind of value, in a full chunk",
            frame(2, |out| {
                let fields: [Change<'_>; 13] = [
                    ("name", Some(&texts[0])),
                    ("owner", Some(&texts[1])),
                    ("shop", Some(&texts[2])),
                    ("emote", Some(&texts[3])),
                    ("run", Some(&yes)),
                    ("dead", Some(&no)),
                    ("health", Some(&whole[0])),
                    ("level", Some(&whole[1])),
                    ("maxHealth", Some(&whole[2])),
                    ("quantity", Some(&whole[3])),
                    ("of no number", Some(&whole[4])),
                    ("most", Some(&whole[5])),
                    ("least", Some(&whole[6])),
                ];
                write::name(out, 300, UUID, "player", &fields);
                write::name(out, 1, "ship:1", "a kind of no number", &[]);
                let section = ChunkSection {
                    at: HERE,
                    full: true,
                    enter: vec![(1, tile(0, 0)), (300, tile(7, 7)), (301, tile(3, 2))],
                    ..ChunkSection::default()
                };
                section.write(out);
            }),
        ),
        (
            "a place outside the chunk of its section, and chunks far away",
            frame(3, |out| {
                player(out, 2, "elsewhere", "Bob");
                let section = ChunkSection {
                    at: WEST,
                    enter: vec![(2, tile(-9, 100))],
                    ..ChunkSection::default()
                };
                section.write(out);
                let far = ChunkSection {
                    at: Chunk {
                        x: 40_000,
                        z: -40_000,
                    },
                    full: true,
                    ..ChunkSection::default()
                };
                far.write(out);
            }),
        ),
    ]
}

fn changes() -> Vec<Framed> {
    let (health, style) = (Field::Int(4), Field::Text("rapid".into()));
    let killed = Field::Bool(true);
    vec![
        (
            "moves, fields, a field that goes, and two hits",
            frame(4, |out| {
                let section = ChunkSection {
                    at: HERE,
                    moved: vec![(1, tile(1, 0)), (2, tile(5, 5)), (300, tile(7, 6))],
                    fields: vec![
                        (2, vec![("health", Some(&health))]),
                        (300, vec![("health", Some(&health)), ("emote", None)]),
                    ],
                    hits: vec![
                        vec![("damage", Some(&health)), ("style", Some(&style))],
                        vec![("killed", Some(&killed))],
                    ],
                    ..ChunkSection::default()
                };
                section.write(out);
            }),
        ),
        (
            "one goes over to another chunk, one leaves; a leave of another chunk means nothing",
            frame(5, |out| {
                let from = ChunkSection {
                    at: HERE,
                    leave: vec![1, 2, 300],
                    ..ChunkSection::default()
                };
                from.write(out);
                let to = ChunkSection {
                    at: WEST,
                    enter: vec![(300, tile(-1, 7))],
                    ..ChunkSection::default()
                };
                to.write(out);
            }),
        ),
    ]
}

fn names() -> Vec<Framed> {
    vec![
        (
            "a name for what came without one",
            frame(6, |out| player(out, 301, "late", "Cat")),
        ),
        (
            "a number stands for something else",
            frame(7, |out| player(out, 301, "other", "Dan")),
        ),
        (
            "new fields of the same thing",
            frame(8, |out| player(out, 301, "other", "Eve")),
        ),
        (
            "names that are no longer true",
            frame(9, |out| write::forget(out, &[301, 7])),
        ),
        (
            "what has no name moves unseen",
            frame(10, |out| {
                let section = ChunkSection {
                    at: HERE,
                    moved: vec![(301, tile(4, 4))],
                    ..ChunkSection::default()
                };
                section.write(out);
            }),
        ),
        (
            "it is shown again with its name",
            frame(11, |out| player(out, 301, "other", "Eve")),
        ),
        (
            "chunks go out of sight",
            frame(12, |out| write::gone(out, &[WEST, Chunk { x: 5, z: -6 }])),
        ),
        (
            "a full record replaces a chunk",
            frame(13, |out| {
                let section = ChunkSection {
                    at: HERE,
                    full: true,
                    enter: vec![(300, tile(0, 1))],
                    ..ChunkSection::default()
                };
                section.write(out);
            }),
        ),
    ]
}

/// Frames of a client that asked for the nearest players.
fn nearest() -> Vec<Framed> {
    let origin = tile(-28, -28);
    let mut frames = Vec::new();
    let mut list = Vec::new();
    let mut say = |says, seq, anew, to: &dyn Fn(Near) -> Option<Tile>, added: &[(u32, Tile)]| {
        let before: Vec<(Near, Option<Tile>)> =
            list.iter().map(|near: &Near| (*near, to(*near))).collect();
        let near = |(number, tile): &(u32, Tile)| Near {
            number: *number,
            tile: *tile,
        };
        let added: Vec<Near> = added.iter().map(near).collect();
        let frame = frame(seq, |out| {
            if seq == 1 {
                for number in 0..9 {
                    player(out, number, &format!("p{number}"), "Zoe");
                }
            }
            list = write::near(out, origin, anew, &before, &added);
        });
        frames.push((says, frame));
    };
    let around: Vec<(u32, Tile)> = (0..9).map(|n| (n, tile(3, 3))).collect();
    let stands = |near: Near| Some(near.tile);
    say("the list begins", 1, true, &|_| None, &around);
    say("all stand", 2, false, &stands, &[]);
    let ways = [
        (0, 1),
        (1, 1),
        (1, 0),
        (1, -1),
        (0, -1),
        (-1, -1),
        (-1, 0),
        (-1, 1),
        (0, 0),
    ];
    let steps = |near: Near| {
        let (x, z) = ways[near.number as usize];
        Some(near.tile.moved(x, z))
    };
    say("a step in each direction", 3, false, &steps, &[]);
    let far = |near: Near| match near.number {
        0 => Some(tile(-28, 35)),
        1 => None,
        _ => Some(near.tile),
    };
    let added = [(40, tile(35, -28)), (41, tile(8, 0))];
    say("one runs far, one goes, two come", 4, false, &far, &added);
    let west = |near: Near| match near.number {
        6 => Some(tile(-1, 3)),
        _ => Some(near.tile),
    };
    say("one crosses into another chunk", 5, false, &west, &[]);
    frames.push(("those who came have names", two_names(6)));
    frames.push(("a full record of a chunk of theirs", full_record(7)));
    let list_anew = [(3, tile(4, 2)), (41, tile(8, 1))];
    say_anew(&mut frames, 8, origin, &list_anew);
    frames
}

fn two_names(seq: u64) -> BytesMut {
    frame(seq, |out| {
        player(out, 40, UUID, "Kim");
        player(out, 41, "p41", "Lou");
    })
}

fn full_record(seq: u64) -> BytesMut {
    frame(seq, |out| {
        let section = ChunkSection {
            at: HERE,
            full: true,
            ..ChunkSection::default()
        };
        section.write(out);
    })
}

fn say_anew(frames: &mut Vec<Framed>, seq: u64, origin: Tile, added: &[(u32, Tile)]) {
    let added: Vec<Near> = added
        .iter()
        .map(|(number, tile)| Near {
            number: *number,
            tile: *tile,
        })
        .collect();
    let anew = frame(seq, |out| {
        write::near(out, origin, true, &[], &added);
    });
    frames.push(("the list begins anew", anew));
}

/// Returns the frames of one connection with what a decoder makes of them.
fn connection(frames: &[Framed]) -> Value {
    let mut decoder = Decoder::default();
    let read = frames.iter().map(|(says, frame)| {
        let (seq, update) = decoder.read(frame).unwrap();
        let hex: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
        json!({"says": says, "frame": hex, "seq": seq, "update": update})
    });
    read.collect()
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/compact.json")
}

/// As with snapshots, `INSTA_UPDATE=always` writes the file.
#[test]
fn compact_frames_are_the_same_bytes_as_before_and_mean_the_same() {
    let written = json!({
        "kinds": KINDS,
        "fields": FIELDS,
        "connections": [connection(&in_chunks()), connection(&nearest())],
    });
    let text = serde_json::to_string_pretty(&written).unwrap() + "\n";
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(file(), &text).unwrap();
    }
    assert_eq!(fs::read_to_string(file()).unwrap(), text);
}

/// Every section is the first one of a frame somewhere. The first two numbers of a frame take a byte
/// each.
#[test]
fn compact_frames_have_every_section() {
    let all: Vec<Framed> = in_chunks().into_iter().chain(nearest()).collect();
    let first = all.iter().filter_map(|(_, frame)| frame.get(3));
    let said: BTreeSet<u8> = first.copied().collect();
    assert_eq!(said, BTreeSet::from([1, 2, 3, 4, 5]));
}

#[test]
fn a_frame_that_ends_early_or_has_something_unknown_changes_nothing() {
    for frames in [in_chunks(), nearest()] {
        let mut decoder = Decoder::default();
        for (says, frame) in frames {
            let before = format!("{decoder:?}");
            for length in 0..frame.len() {
                if decoder.clone().read(&frame[..length]).is_err() {
                    let _ = decoder.read(&frame[..length]);
                    assert_eq!(format!("{decoder:?}"), before, "{says}");
                }
            }
            let mut longer = frame.clone();
            longer.extend_from_slice(&[9]);
            assert!(decoder.read(&longer).is_err(), "{says}");
            assert_eq!(format!("{decoder:?}"), before, "{says}");
            decoder.read(&frame).unwrap();
        }
    }
}

#[test]
fn no_wrong_byte_in_a_frame_makes_a_decoder_panic() {
    for frames in [in_chunks(), nearest()] {
        let mut decoder = Decoder::default();
        for (at, (_, frame)) in frames.iter().enumerate() {
            for place in 0..frame.len() {
                for byte in [0, 1, 2, 3, 4, 5, 6, 63, 64, 65, 127, 128, 254, 255] {
                    let mut wrong = frame.to_vec();
                    wrong[place] = byte;
                    let mut decoder = decoder.clone();
                    let _ = decoder.read(&wrong);
                    for (_, later) in &frames[at + 1..] {
                        let _ = decoder.read(later);
                    }
                }
            }
            decoder.read(frame).unwrap();
        }
    }
}
