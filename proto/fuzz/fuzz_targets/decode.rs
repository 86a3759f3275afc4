//! Any bytes are read or refused, and never make the decoder panic. What was read is written and
//! read back as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proto::client::{Format, decode, encode_request};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let format = if first & 1 == 0 {
        Format::Json
    } else {
        Format::MessagePack
    };
    if let Ok(request) = decode(format, rest) {
        for format in [Format::Json, Format::MessagePack] {
            let written = encode_request(format, request.id.as_ref(), &request.message);
            // Spelling a message out may make it longer than a client may send.
            if let Ok(again) = decode(format, &written) {
                assert_eq!(again, request);
            }
        }
    }
});
