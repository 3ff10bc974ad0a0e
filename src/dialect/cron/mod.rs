//! The scheduled tasks of SEED-004: seven tools over durable jobs, and the pair of files in which that system keeps them.
//!
//! Lives here: arguments → [`Call`] → the engine's commands, its records → [`View`] → answers, the files (`jsonl`, with
//! feature `json`), the declarations of the tools ([`Tool::declaration`]). Does not live here: slots, timers, overlap,
//! missed runs, the text of a run (`engine`), reading and writing files (`app`).
//!
//! Invariants:
//! 1. Every error is data: kind, field, value, hint, and a call that would have been right.
//! 2. A zone that the database does not know is kept as it was said, read as local time, and warned of.
//! 3. The seed's shapes are printed exactly; additions are keys of their own.

mod answer;
mod call;
mod command;
mod error;
mod example;
mod id;
mod job;
#[cfg(feature = "json")]
pub mod jsonl;
mod outlook;
mod policy;
mod schedule;
mod shape;
mod target;
mod tool;
mod view;
mod words;

pub use answer::{created, deleted, got, listed, paused, resumed, updated};
pub use call::{Base, Call, Context, Draft, Patch, parse};
pub use error::{conflict, errors, never_due, not_found, refused};
pub use id::{event_id, job_id, run_id};
pub use job::{Job, JobState, RunStatus};
pub use outlook::Outlook;
pub use policy::{MissedRun, Overlap, Policy};
pub use schedule::{Period, Schedule, ScheduleKind};
pub use target::{Target, TargetKind};
pub use tool::Tool;
pub use view::{View, find, views};
