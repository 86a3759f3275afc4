//! Changes add up to full records.

use proptest::prelude::*;
use proto::rpc::zone::v1::field::Value as Typed;
use serde_json::{Map, Value};

use super::*;

fn at(x: i32, z: i32, health: i64) -> Appearance {
    Appearance {
        kind: "player",
        tile: Tile { x, z },
        sequence: 4,
        fields: vec![("name", "Ann".into()), ("health", Field::Int(health))],
    }
}

fn flush(published: &mut Published) -> Vec<ChunkFrame> {
    let changes = published.flush().into_values();
    changes.map(|news| read(&news, Fields::Typed)).collect()
}

fn read(news: &News, fields: Fields) -> ChunkFrame {
    ChunkFrame::decode(news.encoded(fields)).unwrap()
}

/// Returns fields as a gateway of either kind reads them; null: the field goes.
fn fields(json: &[u8], typed: &[wire::Field]) -> Map<String, Value> {
    assert!(json.is_empty() || typed.is_empty(), "said twice");
    if !json.is_empty() {
        return serde_json::from_slice(json).unwrap();
    }
    let read = |field: &wire::Field| match &field.value {
        None => Value::Null,
        Some(Typed::Text(text)) => Value::from(text.as_str()),
        Some(Typed::Number(number)) => Value::from(*number),
        Some(Typed::Flag(flag)) => Value::from(*flag),
    };
    let typed = typed.iter().map(|field| (field.name.clone(), read(field)));
    typed.collect()
}

fn ann() -> EntityId {
    EntityId::from("ann")
}

#[test]
fn nothing_new_is_nothing_to_tell() {
    let mut published = Published::default();
    published.show(&ann(), Some(at(1, 1, 5)), false);
    published.flush();
    published.show(&ann(), Some(at(1, 1, 5)), false);
    published.show(&EntityId::from("nobody"), None, false);
    assert!(published.flush().is_empty());
}

#[test]
fn a_step_inside_a_chunk_tells_only_what_changed() {
    let mut published = Published::default();
    published.show(&ann(), Some(at(1, 1, 5)), false);
    published.flush();
    published.show(&ann(), Some(at(2, 1, 4)), false);
    let frames = flush(&mut published);
    let update = &frames[0].update[0];
    assert_eq!((update.x, update.z), (Some(2), None));
    assert_eq!(
        Value::from(fields(&update.fields, &update.typed_fields)),
        serde_json::json!({"health": 4})
    );
    assert!(frames[0].enter.is_empty() && frames[0].leave.is_empty());
}

#[test]
fn a_step_into_another_chunk_leaves_one_and_enters_the_other() {
    let mut published = Published::default();
    published.show(&ann(), Some(at(7, 1, 5)), false);
    published.flush();
    published.show(&ann(), Some(at(8, 1, 5)), false);
    let frames = flush(&mut published);
    assert!(frames[0].leave[0].moved && !frames[0].leave[0].transferred);
    assert_eq!(frames[1].enter[0].x, 8);
}

#[test]
fn whoever_goes_to_another_run_leaves_transferred() {
    let mut published = Published::default();
    published.show(&ann(), Some(at(7, 1, 5)), false);
    published.flush();
    published.show(&ann(), None, true);
    let frames = flush(&mut published);
    let leave = &frames[0].leave[0];
    assert!(leave.transferred && !leave.moved);
    assert_eq!(leave.ownership_sequence, 4);
}

type Things = BTreeMap<String, (i32, i32, Map<String, Value>)>;

/// Applies a frame of one chunk to the replica, as a gateway does.
fn apply(replica: &mut Things, frame: &ChunkFrame) {
    if frame.full {
        replica.clear();
    }
    for leave in &frame.leave {
        replica.remove(&leave.id);
    }
    for enter in &frame.enter {
        let fields = fields(&enter.fields, &enter.typed_fields);
        replica.insert(enter.id.clone(), (enter.x, enter.z, fields));
    }
    for update in &frame.update {
        let thing = replica.get_mut(&update.id).unwrap();
        thing.0 = update.x.unwrap_or(thing.0);
        thing.1 = update.z.unwrap_or(thing.1);
        for (key, value) in fields(&update.fields, &update.typed_fields) {
            thing.2.insert(key, value);
        }
    }
}

/// Returns steps: the entity; its place and health, if it stays; 0: the test then flushes all.
fn step() -> impl Strategy<Value = (u8, Option<(i32, i32, i64)>, u8)> {
    let to = prop::option::of((0..20_i32, 0..12_i32, 0..3_i64));
    (0..4_u8, to, 0..4_u8)
}

proptest! {
    #[test]
    fn changes_add_up_to_the_full_record(
        steps in prop::collection::vec(step(), 1..60),
        reading in prop::sample::select(vec![Fields::Json, Fields::Typed]),
    ) {
        let mut published = Published::default();
        let mut replicas: BTreeMap<Chunk, Things> = BTreeMap::new();
        let mut touched = BTreeMap::new();
        for (id, to, flush) in steps {
            touched.insert(id, to);
            if flush == 0 {
                for (id, to) in std::mem::take(&mut touched) {
                    let now = to.map(|(x, z, health)| at(x, z, health));
                    published.show(&EntityId::from(format!("e{id}")), now, false);
                }
                for (chunk, news) in published.flush() {
                    apply(replicas.entry(chunk).or_default(), &read(&news, reading));
                }
                for x in 0..3 {
                    for z in 0..2 {
                        let chunk = Chunk { x, z };
                        let full = read(&published.full(chunk), reading);
                        let mut expected = BTreeMap::new();
                        apply(&mut expected, &full);
                        prop_assert_eq!(replicas.entry(chunk).or_default(), &mut expected);
                    }
                }
            }
        }
    }
}
