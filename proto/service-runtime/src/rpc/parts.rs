//! Answers that are too long for one message: some bytes, in parts.

use axum::body::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use tonic::{Response, Status};

/// Bytes of a part.
const PART_BYTES: usize = 256 * 1024;

/// An answer in parts, as a stream.
pub type Parts<T> = BoxStream<'static, Result<T, Status>>;

/// Answers with these bytes, in parts. `part` makes the message of each.
pub fn in_parts<T: Send + 'static>(bytes: &[u8], part: impl Fn(Bytes) -> T) -> Response<Parts<T>> {
    let all = bytes.chunks(PART_BYTES);
    let all: Vec<_> = all
        .map(|data| Ok(part(Bytes::copy_from_slice(data))))
        .collect();
    Response::new(stream::iter(all).boxed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_parts_together_are_the_bytes() {
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(2 * PART_BYTES + 7).collect();
        let parts: Vec<Bytes> = in_parts(&bytes, |data| data)
            .into_inner()
            .map(Result::unwrap)
            .collect()
            .await;
        let lengths: Vec<usize> = parts.iter().map(Bytes::len).collect();
        assert_eq!(lengths, [PART_BYTES, PART_BYTES, 7]);
        assert_eq!(parts.concat(), bytes);
    }
}
