//! The append-only pair `jobs.jsonl` and `runs.jsonl` as text: events as lines, and what a whole file says.
//!
//! Lives here: printing an event ([`JobLine`], [`RunLine`]), reading a file, and the fold of its events ([`replay`]). Does
//! not live here: opening, locking and writing files (`adapter`), the next run of a job (`engine`).
//!
//! What the fold makes of events that no orderly writer leaves:
//!
//! | event | what is done |
//! |---|---|
//! | an event whose id was there before | passed over, with a warning: somebody appended it twice |
//! | the creation of a job that is there | passed over, with a warning: ids are unique, and the first one has the revisions |
//! | any event of a deleted job | passed over; with a warning in `jobs.jsonl`. A tombstone is final |
//! | an update or a deletion at or below the revision reached | passed over, with a warning: its writer was stale |
//! | an update or a deletion that leaves revisions out | taken, with a warning: the snapshot is whole, a line is missing |
//! | an update of a job that is not there | taken, with a warning: the snapshot is all that is left of the job |
//! | the deletion of a job that is not there | kept as a tombstone, with a warning |
//! | a run of a job that is not there | passed over, with a warning |
//! | a line that is no event, or of a type that is not known | passed over, with a warning |
//! | a last line without its end that is no event | passed over, with a warning of its own: an append was cut off |
//! | nothing but such lines | an error: a file that says nothing must not be taken for an empty one |
//!
//! Invariants: what is printed here reads back equal; no line makes another one unreadable; the order of lines is the order
//! of events, and jobs are read before runs. Source: SEED-004, "Storage"; its code for the shape of a line.

mod event;
mod export;
mod fold;
mod import;
mod line;
mod read;
mod replay;
mod warning;

pub use event::{JobEvent, JobLine, JobLineKind, RunEvent, RunLine, RunLineKind};
pub use export::{Files, export};
pub use fold::{Kept, Profile};
pub use import::{Import, Imported, import};
pub use replay::{Replayed, Unreadable, replay};
pub use warning::{File, LineWarning, Oddity};
