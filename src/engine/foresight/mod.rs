//! What will happen and why something did not: forecasts, explanations and what-if questions. They read the state, and run
//! the rules of slots on a copy of one schedule.

mod candidate;
pub(super) mod explain;
pub(super) mod forecast;
pub(super) mod forecast_slot;
mod no_slot;
pub(super) mod schedule_history;
pub(super) mod schedule_sim;
mod told_of;
pub(super) mod upcoming;
pub(super) mod verdict;
pub(super) mod what_if;
