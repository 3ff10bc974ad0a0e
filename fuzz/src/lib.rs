//! The properties that must hold for any input bytes: one function per kind of untrusted input.
//!
//! Each checks more than the absence of panics: parsed values print and parse back equal, two
//! implementations agree, a bound holds. `fuzz_targets/` runs them under the fuzzer, and
//! `tests/corpora.rs` over every input of `corpus/`, so this is compiled as a crate and as a module
//! of a test. Invariant: a property is a function of its bytes; it reads no clock and uses public
//! items only.

#![allow(unreachable_pub, reason = "in the test it is a module")]

pub mod condition;
pub mod cron;
pub mod edn;
pub mod eql;
pub mod facts;
pub mod graphql;
pub mod inbound;
pub mod json;
pub mod jsonl;
pub mod mcp;
pub mod rows;
mod scene;
pub mod shape;
pub mod stream;
pub mod tools;
pub mod webhook;
pub mod when;

/// A property of any input bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of the binary and of the file in `corpus/`.
    pub name: &'static str,
    /// Panics if the property does not hold.
    pub run: fn(&[u8]),
}

/// All fuzz targets.
pub const TARGETS: [Target; 16] = [
    Target { name: "condition", run: condition::run },
    Target { name: "cron", run: cron::run },
    Target { name: "edn", run: edn::run },
    Target { name: "eql", run: eql::run },
    Target { name: "facts", run: facts::run },
    Target { name: "graphql", run: graphql::run },
    Target { name: "inbound", run: inbound::run },
    Target { name: "json", run: json::run },
    Target { name: "jsonl", run: jsonl::run },
    Target { name: "mcp", run: mcp::run },
    Target { name: "rows", run: rows::run },
    Target { name: "shape", run: shape::run },
    Target { name: "stream", run: stream::run },
    Target { name: "tools", run: tools::run },
    Target { name: "webhook", run: webhook::run },
    Target { name: "when", run: when::run },
];
