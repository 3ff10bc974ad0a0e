//! `src/graphql.rs` under the fuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| reveille_fuzz::graphql::run(input));
