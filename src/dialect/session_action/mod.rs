//! The delayed actions of SEED-000: one tool with which an agent delays an action, and one that reports a job ready.
//!
//! This module parses arguments into [`Call`]s and converts them to commands; it converts records to [`Action`]s and
//! prints answers. It has the declarations of the tools ([`Tool::declaration`]). Timing, retries, recovery after a
//! restart and the checks of a due action are in `engine`.
//!
//! Invariants:
//! 1. The model proposes, and the engine decides: every action can be listed, cancelled and run by others.
//! 2. Only an explicit key identifies an action: two actions without a key are two, however alike.
//! 3. Checks run in one order: session, operation, kind, time, texts, cap.

mod action;
mod answer;
mod call;
mod command;
mod error;
mod operation;
mod tool;

pub use action::{Action, ActionKind, ActionStatus, find, listed_of, replaced_by};
pub use answer::{cancelled, created, listed, ready, started};
pub use call::{ActionDraft, Call, Due, parse};
pub use command::action_id;
pub use error::{Refused, errors, no_session, not_found, refused, standing};
pub use operation::Operation;
pub use tool::Tool;
