//! Calls of tools: the kit of a session, and calls under way, in simulated time.

mod approvals;
mod examples;
mod modes;
mod names;
mod own;
mod parallel;
mod refusals;
mod tasks;
mod under_way;
pub(crate) mod world;
