//! Any frames of one connection are read or refused, and never make a decoder of `tilestead.v2`
//! panic. A refused frame changes nothing. What a frame tells is no more than all frames had bytes for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proto::client::compact::read::{Decoder, Finder};

/// Takes the next frame: two bytes of length, the high one first, and the frame.
fn frame<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = usize::from(u16::from_be_bytes(*length)).min(rest.len());
    let (frame, rest) = rest.split_at(length);
    *bytes = rest;
    Some(frame)
}

fuzz_target!(|bytes: &[u8]| {
    let (mut decoder, mut finder) = (Decoder::default(), Finder::default());
    let (mut rest, mut spent) = (bytes, 0);
    while let Some(frame) = frame(&mut rest) {
        spent += frame.len();
        let _ = finder.read(frame, "npc:1");
        let before = format!("{decoder:?}");
        match decoder.read(frame) {
            Err(_) => assert_eq!(format!("{decoder:?}"), before),
            Ok((_, update)) => {
                let told = update.chunks.iter().map(|chunk| {
                    chunk.enter.len() + chunk.update.len() + chunk.leave.len() + chunk.hits.len()
                });
                assert!(told.sum::<usize>() <= 2 * spent);
                assert!(update.chunks.len() <= 2 * spent);
            }
        }
    }
});
