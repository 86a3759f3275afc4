//! Any bytes are a character's saved form or are refused, and never make a reader panic. A form that
//! was read is the same after it was written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use world::{CharacterState, PlayerHot, PlayerRecord};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    match first % 3 {
        0 => {
            if let Ok(state) = CharacterState::from_document(rest) {
                let again = CharacterState::from_document(&state.to_document());
                assert_eq!(again, Ok(state));
            }
        }
        1 => {
            if let Ok(player) = PlayerRecord::from_document(rest) {
                let again = PlayerRecord::from_document(&player.to_document());
                assert_eq!(again, Ok(player));
            }
        }
        _ => {
            if let Ok(hot) = PlayerHot::from_bytes(rest) {
                assert_eq!(PlayerHot::from_bytes(&hot.to_bytes()), Ok(hot));
            }
        }
    }
});
