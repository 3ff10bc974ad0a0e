//! The delayed actions of SEED-000: one tool by which an agent has something done later, and one that reports a job ready.
//!
//! Lives here: arguments → [`Call`] → the engine's commands, its records → [`Action`] → answers, the declarations of the
//! tools ([`Tool::declaration`]). Does not live here: timing, retries, what a restart leaves, what is checked when an action
//! is due (`engine`).
//!
//! Invariants:
//! 1. The model proposes, and the engine decides: everything about an action can be listed, cancelled and run by others.
//! 2. An action is what its explicit key says it is: two without a key are two, however alike.
//! 3. Checks come in one order: session, operation, kind, time, texts, room.

mod action;
mod answer;
mod call;
mod command;
mod error;
mod example;
mod tool;

pub use action::{Action, ActionKind, ActionStatus, find, listed_of};
pub use answer::{cancelled, created, listed, ready, started};
pub use call::{Call, Draft, Due, Operation, parse};
pub use command::action_id;
pub use error::{Refused, errors, no_session, not_found, refused, standing};
pub use tool::Tool;
