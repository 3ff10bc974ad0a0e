//! EDN reader: parses text to values.
//!
//! `entry.rs` holds the ways in, `reader.rs` the loop and its explicit stack,
//! `close.rs` and `prefix.rs` what happens when a bracket closes and when a form follows a
//! tag, `#_` or `^`; the other files read one kind of token each.
//!
//! Invariant: the reader never recurses into itself, looks at each byte a bounded number
//! of times, and checks every cap before it spends what the cap bounds.

mod character;
mod close;
mod entry;
mod number;
mod prefix;
mod reader;
mod string;
mod token;

#[cfg(feature = "edn-rs")]
pub(super) use prefix::uuid;
pub(super) use reader::Reader;
#[cfg(feature = "embed")]
pub(crate) use string::plain_len;

pub use entry::{read, read_all, read_first, read_keeping_meta};
