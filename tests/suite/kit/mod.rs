//! Calls of tools: the kit of a session, and calls under way, in simulated time.

mod names;
mod own;
mod parallel;
mod tasks;
mod under_way;
pub(crate) mod world;
