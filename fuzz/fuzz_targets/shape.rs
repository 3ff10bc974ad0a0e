//! `src/shape.rs` under the fuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| reveille_fuzz::shape::run(input));
