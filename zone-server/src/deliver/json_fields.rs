//! Fields as JSON texts, for gateways of release 0.2.0.

use bytes::Bytes;
use proto::rpc::zone::v1::{self as wire, ChunkFrame};
use serde::ser::{SerializeMap, Serializer};

/// Returns a frame with JSON texts in the place of typed fields.
pub(super) fn frame(mut frame: ChunkFrame) -> ChunkFrame {
    for entity in &mut frame.enter {
        entity.fields = json(&std::mem::take(&mut entity.typed_fields));
    }
    for delta in &mut frame.update {
        delta.fields = json(&std::mem::take(&mut delta.typed_fields));
    }
    let moments = std::mem::take(&mut frame.moments);
    frame.hits = moments.iter().map(|moment| json(&moment.fields)).collect();
    frame
}

/// Returns one JSON object, or no bytes if there are no fields.
fn json(fields: &[wire::Field]) -> Bytes {
    if fields.is_empty() {
        return Bytes::new();
    }
    let mut out = Vec::with_capacity(64);
    let mut writer = serde_json::Serializer::new(&mut out);
    let written = writer
        .serialize_map(Some(fields.len()))
        .and_then(|mut map| {
            for field in fields {
                match &field.value {
                    None => map.serialize_entry(&field.name, &())?,
                    Some(wire::field::Value::Text(text)) => {
                        map.serialize_entry(&field.name, text)?
                    }
                    Some(wire::field::Value::Number(n)) => map.serialize_entry(&field.name, n)?,
                    Some(wire::field::Value::Flag(flag)) => {
                        map.serialize_entry(&field.name, flag)?
                    }
                }
            }
            map.end()
        });
    // Plain values under text keys always have a JSON text.
    written.map(|()| out).unwrap_or_default().into()
}
