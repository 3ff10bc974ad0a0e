//! The append-only files `jobs.jsonl` and `runs.jsonl` as text: printing events, and replaying whole files.
//!
//! This module prints an event ([`JobLine`], [`RunLine`]), reads a file, and folds its events ([`replay`](fn@replay)). Opening,
//! locking and writing files is up to `adapter`, the next run of a job up to `engine`.
//!
//! How the fold treats events that a correct writer does not leave:
//!
//! | event | action |
//! |---|---|
//! | an event with a repeated id | ignored, with a warning: it was appended twice |
//! | the creation of an existing job | ignored, with a warning: ids are unique, and the first job has the revisions |
//! | any event of a deleted job | ignored; with a warning in `jobs.jsonl`. A tombstone is final |
//! | an update or a deletion at or below the current revision | ignored, with a warning: its writer was stale |
//! | an update or a deletion that skips revisions | applied, with a warning: the snapshot is complete, a line is missing |
//! | an update of an unknown job | applied, with a warning: the snapshot is all that is left of the job |
//! | the deletion of an unknown job | stored as a tombstone, with a warning |
//! | a run of an unknown job | ignored, with a warning |
//! | a line that is not an event, or of an unknown type | ignored, with a warning |
//! | a last line without its end that is not an event | ignored, with a warning of its own: an append was cut off |
//! | only lines that are not events | an error: an unreadable file must not be mistaken for an empty one |
//!
//! Invariants: what is printed here reads back equal. No line makes another one unreadable. The order of lines is the
//! order of events, and jobs are read before runs. Source: SEED-004, "Storage"; its code for the shape of a line.

mod event;
mod export;
mod fold;
mod import;
mod line;
mod read;
mod replay;
mod warning;

pub use event::{JobEvent, JobLine, JobLineKind, RunEvent, RunLine, RunLineKind};
pub use export::{Lines, Logged, has_words};
pub use fold::{FoldedJob, Profile};
pub use import::{Import, Imported, import};
pub use replay::{Replayed, Unreadable, replay};
pub use warning::{BoundedWarnings, File, LineWarning, Oddity};
