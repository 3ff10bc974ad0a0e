//! Any bytes as a request over the toy world: refused or answered, never a panic or a hang, and whatever is a
//! query prints and parses back.
//!
//! Run with `cargo +nightly fuzz run eql fixtures/eql/corpus`; what it finds goes into that folder, which
//! `tests/eql_properties.rs` replays.

#![no_main]

#[path = "../../tests/toy/mod.rs"]
mod toy;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| toy::replay(input));
