//! The crate's own tools: six, written for models that schedule for themselves and for nobody else's tools.
//!
//! Lives here: arguments → [`Call`], what came of it → the answer, the declarations of the tools ([`Tool::declaration`]).
//! Does not live here: what a phrase means (`calendar`), rules (`engine`), the graph that is asked (`graph`).
//!
//! Invariants:
//! 1. Whatever says when is echoed: in words, with the zone, with the next instants.
//! 2. What was asked for before under the same key is a normal answer, which says so.
//! 3. An error has the whole call in it as it would have been right.

mod answer;
mod call;
mod error;
mod example;
mod repair;
mod tool;

pub use answer::{cancelled, created, explained, listed, updated};
pub use call::{Call, Listing, Named, parse};
pub use error::{errors, refused};
pub use tool::Tool;
