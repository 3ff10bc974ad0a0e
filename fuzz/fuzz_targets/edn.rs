//! Any bytes: reading never panics, what is read prints and reads back equal, and the
//! framer cuts the same forms however the bytes arrive.
//!
//! Run with `cargo +nightly fuzz run edn`; what it finds goes into `corpus/edn`, which
//! `tests/edn.rs` replays.

#![no_main]

use libfuzzer_sys::fuzz_target;
use reveille::edn::{Caps, Framer, Value, read, read_all};

const CAPS: Caps = Caps {
    bytes_max: 1 << 20,
    depth_max: 64,
    digits_max: 512,
    forms_max: 100_000,
};

fuzz_target!(|input: &[u8]| {
    let all = read_all(input, &CAPS);
    let whole = framed(input, input.len().max(1));
    assert_eq!(framed(input, 1), whole, "frames depend on the pieces");
    let Ok(values) = all else {
        return;
    };
    for value in &values {
        assert_eq!(
            read(value.to_string().as_bytes(), &CAPS).as_ref(),
            Ok(value),
            "printed"
        );
    }
    assert_eq!(whole, Some(values), "framed");
});

/// Cuts the input, fed in pieces, and reads each frame; nothing when any of it fails.
fn framed(bytes: &[u8], size: usize) -> Option<Vec<Value>> {
    let mut framer = Framer::new(CAPS);
    let mut frames = Vec::new();
    for piece in bytes.chunks(size) {
        framer.push(piece);
        frames.extend(std::iter::from_fn(|| framer.next_frame()));
    }
    frames.extend(std::iter::from_fn(|| framer.finish()));
    frames
        .into_iter()
        .map(|frame| read(&frame.ok()?, &CAPS).ok())
        .collect()
}
