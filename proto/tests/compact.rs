//! Laws of `tilestead.v2` over random sections: what the writer writes, the decoder reads.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use bytes::BytesMut;
use proptest::{collection, prelude::*};
use proto::client::{
    compact::{
        FIELDS, KINDS,
        read::{Decoder, Finder},
        write::{self, Change, ChunkSection, Near},
    },
    update::WorldUpdate,
};
use serde_json::{Map, Value, json};
use world::{Chunk, Field, Tile};

type Fields = BTreeMap<String, Option<Field>>;

fn field() -> impl Strategy<Value = Field> {
    prop_oneof![
        any::<bool>().prop_map(Field::Bool),
        any::<i64>().prop_map(Field::Int),
        (-100..100_i64).prop_map(Field::Int),
        "\\PC{0,12}".prop_map(|text| Field::Text(text.into())),
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
            .prop_map(|text| Field::Text(text.into())),
    ]
}

fn fields() -> impl Strategy<Value = Fields> {
    let known = (1..FIELDS.len()).prop_map(|at| FIELDS[at].to_owned());
    // Names that an entity's record has itself are no fields.
    let other = "[A-Z]\\PC{0,8}".prop_map(|name| name);
    let name = prop_oneof![known, other];
    collection::btree_map(name, proptest::option::of(field()), 0..5)
}

fn changes(fields: &Fields) -> Vec<Change<'_>> {
    let changes = fields.iter();
    changes
        .map(|(name, value)| (name.as_str(), value.as_ref()))
        .collect()
}

fn shown(fields: &Fields) -> Map<String, Value> {
    let value = |field: &Option<Field>| match field {
        None => Value::Null,
        Some(Field::Bool(yes)) => json!(yes),
        Some(Field::Int(number)) => json!(number),
        Some(Field::Text(text)) => json!(text),
    };
    let fields = fields.iter();
    fields
        .map(|(name, field)| (name.clone(), value(field)))
        .collect()
}

fn kind() -> impl Strategy<Value = String> {
    prop_oneof![
        (1..KINDS.len()).prop_map(|at| KINDS[at].to_owned()),
        "\\PC{0,8}".prop_map(|kind| kind),
    ]
}

fn tile() -> impl Strategy<Value = Tile> {
    let near = || -40..40_i32;
    prop_oneof![
        4 => (near(), near()).prop_map(|(x, z)| Tile { x, z }),
        1 => any::<(i32, i32)>().prop_map(|(x, z)| Tile { x, z }),
    ]
}

/// A thing of a frame: its place, its name and what changes of it in the next frame.
type Thing = (Tile, String, Fields, Option<Tile>, Fields);

fn things() -> impl Strategy<Value = BTreeMap<u32, Thing>> {
    let thing = (
        tile(),
        kind(),
        fields(),
        proptest::option::of(tile()),
        fields(),
    );
    let number = prop_oneof![0..300_u32, any::<u32>()];
    collection::btree_map(number, thing, 0..20)
}

fn framed(sections: impl FnOnce(&mut BytesMut)) -> BytesMut {
    let mut out = BytesMut::new();
    write::begin(&mut out, 3);
    write::number(&mut out, 9);
    sections(&mut out);
    out
}

fn read(decoder: &mut Decoder, frame: &BytesMut) -> WorldUpdate {
    let (seq, update) = decoder.read(frame).unwrap();
    assert_eq!((seq, update.tick), (3, 9));
    update
}

fn id(number: u32) -> String {
    format!("thing:{number}")
}

fn enters(at: Chunk, things: &BTreeMap<u32, Thing>) -> BytesMut {
    framed(|out| {
        for (number, (_, kind, fields, ..)) in things {
            write::name(out, *number, &id(*number), kind, &changes(fields));
        }
        let places = things.iter();
        let section = ChunkSection {
            at,
            full: true,
            enter: places.map(|(number, thing)| (*number, thing.0)).collect(),
            ..ChunkSection::default()
        };
        section.write(out);
    })
}

fn moves(at: Chunk, things: &BTreeMap<u32, Thing>) -> BytesMut {
    let moved = things.iter();
    let moved = moved.filter_map(|(number, thing)| Some((*number, thing.3?)));
    let changed = things.iter().filter(|(_, thing)| !thing.4.is_empty());
    let hits = things.values().filter(|thing| !thing.4.is_empty());
    framed(|out| {
        let section = ChunkSection {
            at,
            moved: moved.collect(),
            fields: changed
                .map(|(number, thing)| (*number, changes(&thing.4)))
                .collect(),
            hits: hits.map(|thing| changes(&thing.4)).collect(),
            ..ChunkSection::default()
        };
        section.write(out);
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_decoder_reads_what_the_writer_writes(
        x in any::<i32>(),
        z in any::<i32>(),
        things in things(),
    ) {
        let at = Chunk { x, z };
        let mut decoder = Decoder::default();
        // A chunk's own tiles may lie beyond the numbers, but none of these is there.
        let first = read(&mut decoder, &enters(at, &things));
        prop_assert_eq!(first.chunks.len(), 1);
        prop_assert!(first.chunks[0].full);
        prop_assert_eq!(first.chunks[0].enter.len(), things.len());
        for (entity, (number, thing)) in first.chunks[0].enter.iter().zip(&things) {
            prop_assert_eq!(&entity.id, &id(*number));
            prop_assert_eq!(&entity.kind, &thing.1);
            prop_assert_eq!((entity.x, entity.z), (thing.0.x, thing.0.z));
            prop_assert_eq!(&entity.fields, &shown(&thing.2));
        }
        let second = read(&mut decoder, &moves(at, &things));
        let news = &second.chunks[0];
        let changed = things.iter().filter(|(_, thing)| thing.3.is_some() || !thing.4.is_empty());
        let changed: Vec<_> = changed.collect();
        prop_assert_eq!(news.update.len(), changed.len());
        for (delta, (number, thing)) in news.update.iter().zip(changed) {
            prop_assert_eq!(&delta.id, &id(*number));
            let place = thing.3.map(|tile| (tile.x, tile.z));
            prop_assert_eq!(delta.x.zip(delta.z), place);
            prop_assert_eq!(&delta.fields, &shown(&thing.4));
        }
        let hits = things.values().filter(|thing| !thing.4.is_empty());
        let hits: Vec<Value> = hits.map(|thing| Value::Object(shown(&thing.4))).collect();
        prop_assert_eq!(&news.hits, &hits);
        let numbers: Vec<u32> = things.keys().copied().collect();
        let ids: Vec<String> = numbers.iter().map(|number| id(*number)).collect();
        let forgets = framed(|out| write::forget(out, &numbers));
        let left: Vec<String> = read(&mut decoder, &forgets)
            .chunks
            .into_iter()
            .flat_map(|chunk| chunk.leave)
            .collect();
        prop_assert_eq!(left, ids);
        let goes = read(&mut decoder, &framed(|out| write::gone(out, &[at])));
        prop_assert_eq!(goes.gone, [[x, z]]);
        prop_assert_eq!(decoder.unnamed(), 0);
    }

    /// The writer's list, the decoder's world and the finder's place go on as one.
    #[test]
    fn the_nearest_players_are_where_the_writer_has_them(
        rounds in collection::vec(collection::btree_map(0..30_u32, (0..64_i32, 0..64_i32), 0..20), 1..8),
        origin in (-100..100_i32, -100..100_i32),
    ) {
        let origin = Tile { x: origin.0, z: origin.1 };
        let (mut decoder, mut finder) = (Decoder::default(), Finder::default());
        let mut list: Vec<Near> = Vec::new();
        let mut shown: BTreeMap<String, (i32, i32)> = BTreeMap::new();
        for (round, places) in rounds.iter().enumerate() {
            let at = |number: u32| {
                places.get(&number).map(|(x, z)| origin.moved(*x, *z))
            };
            let listed: BTreeSet<u32> = list.iter().map(|near| near.number).collect();
            let before: Vec<_> = list.iter().map(|near| (*near, at(near.number))).collect();
            let added = places.keys().filter(|number| !listed.contains(number));
            let added = added.filter_map(|number| Some(Near { number: *number, tile: at(*number)? }));
            let added: Vec<Near> = added.collect();
            let frame = framed(|out| {
                for near in &added {
                    write::name(out, near.number, &id(near.number), "player", &[]);
                }
                list = write::near(out, origin, round == 0, &before, &added);
            });
            apply(&mut shown, read(&mut decoder, &frame));
            let expected = places.keys().map(|number| {
                let tile = at(*number).unwrap();
                (id(*number), (tile.x, tile.z))
            });
            prop_assert_eq!(&shown, &expected.collect());
            let found = finder.read(&frame, &id(7)).unwrap();
            prop_assert_eq!(found.tile, at(7));
        }
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(
        frames in collection::vec(collection::vec(any::<u8>(), 0..80), 1..6),
    ) {
        let (mut decoder, mut finder) = (Decoder::default(), Finder::default());
        for bytes in frames {
            let mut frame = vec![1, 1, 1];
            frame.extend(bytes);
            let before = format!("{decoder:?}");
            if decoder.read(&frame).is_err() {
                prop_assert_eq!(format!("{decoder:?}"), before);
            }
            let _ = finder.read(&frame, "");
        }
    }
}

/// Applies an update as clients do.
fn apply(shown: &mut BTreeMap<String, (i32, i32)>, update: WorldUpdate) {
    for id in update.chunks.iter().flat_map(|chunk| &chunk.leave) {
        shown.remove(id);
    }
    for entity in update.chunks.iter().flat_map(|chunk| &chunk.enter) {
        shown.insert(entity.id.clone(), (entity.x, entity.z));
    }
    for delta in update.chunks.into_iter().flat_map(|chunk| chunk.update) {
        let place = delta.x.zip(delta.z).unwrap();
        assert!(shown.insert(delta.id, place).is_some());
    }
}
