//! The scheduler of SEED-001: three tools over durable schedules that call a tool at a time, or remind a session of something.
//!
//! This module parses arguments into [`Call`]s and converts them to commands; it prints answers. It has the declarations of the
//! tools ([`Tool::declaration`]). Slots, runs and what is told of them are in `engine`.
//!
//! Invariants:
//! 1. Jobs belong to the app: a job has one name there, and a caller that uses the name again replaces the job.
//! 2. A call that fails counts as a run, and never ends a job that recurs.

mod answer;
mod call;
mod command;
mod error;
mod tool;
mod when;

pub use answer::{cancelled, needs_approval, reminded, scheduled};
pub use call::{Call, JobDraft, RemindDraft, Timed, parse};
pub use command::job_id;
pub use error::{errors, no_channel, no_session, not_found, refused, taken};
pub use tool::Tool;
pub use when::{JobWhen, WhenError};
