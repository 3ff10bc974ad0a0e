//! Conditions on what a call came to, such as `result.status_code != 200`: grammar, paths, judgement.
//!
//! `parse.rs` has the grammar, `bare.rs` what bare words may be, `path.rs` follows a path into a value, `judge.rs` says whether a
//! condition holds. The tree is `domain/call/condition.rs`. Why a grammar of our own: it takes the words of SEED-001 as they
//! are, and no text in it costs more than 64 comparisons (docs/DESIGN.md). Invariant: no text panics, recurses deeper than
//! `limits::CONDITION_DEPTH`, or is taken for something that it does not say: what is not understood is refused, with the place.

mod bare;
mod error;
mod judge;
mod parse;
mod path;
mod scan;

pub use error::{ConditionError, ConditionFault};
pub use judge::{Circumstances, Judgement, judge};
pub(crate) use parse::parse_stored_condition;
pub use parse::{parse_condition, parse_path};
pub(crate) use path::find;
