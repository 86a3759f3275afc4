//! The bytes of one WebSocket frame of a client.
//!
//! Always: a [`OneFrame`] gives the bytes of its frame and ends there. So a reader with a buffer takes
//! nothing of the next frame, and need not keep the buffer until that comes.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, ReadBuf};

/// Length of the longest head, with its mask.
const HEAD_MAX: usize = 14;

/// A stream of one frame; see the module.
pub(crate) struct OneFrame<R> {
    raw: R,
    head: [u8; HEAD_MAX],
    /// Bytes of the head that have come.
    come: usize,
    /// Bytes of the payload that have not come, once the head is there.
    payload: Option<u64>,
}

impl<R> OneFrame<R> {
    /// Returns the frame with which `raw` begins.
    pub(crate) fn new(raw: R) -> OneFrame<R> {
        OneFrame {
            raw,
            head: [0; HEAD_MAX],
            come: 0,
            payload: None,
        }
    }

    /// Returns how many bytes of the frame may come next; 0: it has come.
    fn missing(&self) -> usize {
        match self.payload {
            None => head_bytes(&self.head[..self.come]) - self.come,
            Some(rest) => usize::try_from(rest).unwrap_or(usize::MAX),
        }
    }

    /// Takes the bytes that have come into account.
    fn came(&mut self, bytes: &[u8]) {
        if let Some(rest) = &mut self.payload {
            *rest = rest.saturating_sub(bytes.len() as u64);
            return;
        }
        self.head[self.come..self.come + bytes.len()].copy_from_slice(bytes);
        self.come += bytes.len();
        if head_bytes(&self.head[..self.come]) == self.come {
            self.payload = Some(payload_bytes(&self.head));
        }
    }
}

/// Returns the length of a head as far as its beginning tells it.
fn head_bytes(come: &[u8]) -> usize {
    let Some(second) = come.get(1) else {
        return 2;
    };
    let mask = if second & 0x80 != 0 { 4 } else { 0 };
    2 + length_bytes(*second) + mask
}

/// Returns how many bytes behind the first two tell the length.
fn length_bytes(second: u8) -> usize {
    match second & 0x7f {
        126 => 2,
        127 => 8,
        _ => 0,
    }
}

/// Returns the length of the payload that a whole head tells.
fn payload_bytes(head: &[u8; HEAD_MAX]) -> u64 {
    match length_bytes(head[1]) {
        0 => u64::from(head[1] & 0x7f),
        bytes => {
            let told = &head[2..2 + bytes];
            told.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for OneFrame<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let most = self.missing().min(buffer.remaining());
        if most == 0 {
            return Poll::Ready(Ok(()));
        }
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(most));
        ready!(Pin::new(&mut self.raw).poll_read(context, &mut part))?;
        let count = part.filled().len();
        self.came(part.filled());
        buffer.advance(count);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    /// Returns a frame of a client, or of a server, with a payload of that many bytes.
    fn frame(masked: bool, payload: usize) -> Vec<u8> {
        let bit = if masked { 0x80 } else { 0 };
        let mut frame = vec![0x81];
        match u16::try_from(payload) {
            Ok(short @ 0..=125) => frame.push(bit | u8::try_from(short).unwrap()),
            Ok(long) => {
                frame.push(bit | 126);
                frame.extend(long.to_be_bytes());
            }
            Err(_) => {
                frame.push(bit | 127);
                frame.extend((payload as u64).to_be_bytes());
            }
        }
        frame.extend(masked.then_some([1, 2, 3, 4]).into_iter().flatten());
        frame.extend(std::iter::repeat_n(7, payload));
        frame
    }

    /// Gives one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl AsyncRead for Slow<'_> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            if let Some((first, rest)) = self.0.split_first() {
                buffer.put_slice(&[*first]);
                self.0 = rest;
            }
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn a_frame_ends_where_the_next_one_begins() {
        for masked in [true, false] {
            for payload in [0, 1, 125, 126, 127, 65_535, 65_536] {
                let expected = frame(masked, payload);
                let both = [expected.clone(), frame(true, 3)].concat();
                let mut read = Vec::new();
                let mut rest = &both[..];
                OneFrame::new(&mut rest)
                    .read_to_end(&mut read)
                    .await
                    .unwrap();
                assert!(
                    read == expected && rest == frame(true, 3),
                    "{masked} {payload}"
                );
                read.clear();
                let slow = OneFrame::new(Slow(&both)).read_to_end(&mut read).await;
                assert_eq!(slow.unwrap(), expected.len(), "{masked} {payload}");
                assert!(read == expected);
            }
        }
    }

    #[tokio::test]
    async fn a_frame_that_is_cut_off_ends_there() {
        let whole = frame(true, 300);
        for at in [0, 1, 3, 7, 200] {
            let mut read = Vec::new();
            let cut = OneFrame::new(&whole[..at]).read_to_end(&mut read).await;
            assert_eq!(cut.unwrap(), at);
        }
    }
}
