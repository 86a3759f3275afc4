//! Any bytes are read or refused, and never make a reader panic: neither the gateway's, nor the zone's.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proto::client::{Format, Message, data_json, decode};
use world::{Intent, Screen};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let format = if first & 1 == 0 {
        Format::Json
    } else {
        Format::MessagePack
    };
    let Ok(request) = decode(format, &rest.to_vec().into()) else {
        return;
    };
    if let Message::Zone(asked) = request.message {
        let json = data_json(asked.format, asked.data).expect("the envelope was checked");
        let _ = Intent::read(asked.event, &json, Screen::Offer);
    }
});
