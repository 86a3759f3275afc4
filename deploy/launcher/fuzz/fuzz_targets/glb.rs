//! Any bytes are a model with a box, or a sentence, and never make the reader panic. A box has no
//! side that ends before it begins.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// The reader as it is, without the launcher around it.
#[allow(dead_code, reason = "the launcher uses the rest")]
#[path = "../../src/model_bounds"]
mod model_bounds {
    mod glb;
    mod shape;

    /// Reads one file of these bytes.
    pub fn read(bytes: &[u8]) {
        let length = bytes.len() as u64;
        if let Ok(bounds) = glb::read(&mut &*bytes, length) {
            for axis in 0..3 {
                assert!(bounds.min[axis] <= bounds.max[axis], "{bounds:?}");
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| model_bounds::read(bytes));
