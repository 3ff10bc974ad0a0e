//! The scheduled tasks of SEED-004: seven tools over durable jobs, and the two files in which that system stores
//! them.
//!
//! Their schedules are `once`, `interval`, `daily` and `weekly`: no expression of cron is read here (`calendar::cron` does that).
//!
//! This module parses arguments into [`Call`]s and converts them to commands; it converts records to [`JobView`]s and
//! prints answers. It has the files (`jsonl`, with feature `json`) and the declarations of the tools
//! ([`Tool::declaration`]). Slots, timers, overlap, missed runs and the text of a run are in `engine`, file access in
//! `app`.
//!
//! Invariants:
//! 1. Every error is data: kind, field, value and hint, and the caller's own call put right if that is certain.
//! 2. A zone name that the database does not have is stored as given, read as local time, and reported in a warning.
//! 3. The seed's shapes are printed exactly; additions have keys of their own.

mod answer;
mod call;
mod command;
mod error;
mod id;
mod job;
#[cfg(feature = "embed")]
pub mod jsonl;
mod next_runs;
mod policy;
mod repair;
mod schedule;
mod shape;
mod target;
mod tool;
mod view;
mod words;

pub use answer::{created, deleted, got, listed, paused, resumed, updated};
pub use call::{Base, Call, CronContext, JobDraft, Patch, named, parse};
pub use error::{conflict, errors, never_due, not_found, refused, unknown_target};
pub use id::{event_id, event_id_of, job_id, run_id};
pub use job::{Job, JobState, RunStatus};
pub use next_runs::NextRuns;
pub use policy::{JobPolicy, MissedRun, Overlap};
pub use schedule::{JobSchedule, Period, ScheduleKind};
pub use target::{JobTarget, TargetKind};
pub use tool::Tool;
pub use view::{JobView, find, views};
