//! `src/condition.rs` under the fuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| reveille_fuzz::condition::run(input));
