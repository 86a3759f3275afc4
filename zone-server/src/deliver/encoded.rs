//! A frame whose chunks are encoded already: the same bytes go to every gateway.
//!
//! Always: on the wire it is a `tilestead.zone.v1.Frame`.

use bytes::Bytes;
use proto::rpc::zone::v1::SessionFrame;

/// A frame as `Frame` in `zone.proto` describes it; `chunks` are encoded `ChunkFrame`s.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct EncodedFrame {
    #[prost(uint64, tag = "1")]
    pub(crate) run_id: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) tick: u64,
    #[prost(bytes = "bytes", repeated, tag = "3")]
    pub(crate) chunks: Vec<Bytes>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) sessions: Vec<SessionFrame>,
    #[prost(bool, tag = "5")]
    pub(crate) extra: bool,
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use proto::rpc::zone::v1::{ChunkFrame, Entity, Frame};

    use super::*;

    #[test]
    fn an_encoded_frame_reads_as_a_frame() {
        let chunk = ChunkFrame {
            full: true,
            enter: vec![Entity {
                id: "npc:1".to_owned(),
                x: -4,
                ..Entity::default()
            }],
            ..ChunkFrame::default()
        };
        let session = SessionFrame {
            session_id: "s".to_owned(),
            ..SessionFrame::default()
        };
        let encoded = EncodedFrame {
            run_id: 3,
            tick: 9,
            chunks: vec![chunk.encode_to_vec().into()],
            sessions: vec![session.clone()],
            extra: true,
        };
        let frame = Frame::decode(encoded.encode_to_vec().as_slice()).unwrap();
        let expected = Frame {
            run_id: 3,
            tick: 9,
            chunks: vec![chunk],
            sessions: vec![session],
            extra: true,
        };
        assert_eq!(frame, expected);
    }
}
