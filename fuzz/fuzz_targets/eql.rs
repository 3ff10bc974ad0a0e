//! `src/eql.rs` under the fuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| reveille_fuzz::eql::run(input));
