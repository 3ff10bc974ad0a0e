//! Tools that call other tools: several at once, or one as a task.
//!
//! This module parses arguments into [`Call`]s and prints answers. Which tools there are to call is in `runtime`, who may call
//! them and the calls themselves are in `service`. Source: SEED-001, `run_parallel` and `background_run`.
//!
//! Invariants:
//! 1. A wrong item of a list is an error of that item: the others are called.
//! 2. Results stand in the order of the list, whatever order they came in.
//! 3. Of the modes of `background_run`, the first that fits counts: list, cancel, wait, status, launch.

mod answer;
mod call;
mod error;
mod tool;

pub use answer::{
    ItemEnd, ItemResult, TaskView, already_over, cancelled, ended_at_once, launched, parallel, status, tasks,
};
pub use call::{Background, BadItem, Call, Item, Parallel, parse};
pub use error::{
    all_failed, ambiguous_tool, asks_guard, blocked, errors, failed_at_once, held, lost_task, needs_approval,
    no_session, not_launched, refused, waits_for_approval,
};
#[cfg(feature = "embed")]
pub(crate) use error::{tool_not_found, unknown_task};
pub use tool::Tool;
