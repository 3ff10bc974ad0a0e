//! Transitions of one schedule: what commands change about it.

pub(in crate::engine::step) mod bring_forward;
pub(in crate::engine::step) mod cancel_schedule;
pub(in crate::engine) mod change_schedule;
pub(in crate::engine) mod check_slot;
pub(in crate::engine::step) mod create_schedule;
pub(in crate::engine::step) mod delete_schedule;
pub(in crate::engine::step) mod flush_due;
pub(in crate::engine) mod next_slot;
pub(in crate::engine::step) mod pause_schedule;
pub(in crate::engine::step) mod run_now;
pub(in crate::engine::step) mod skip_next;
pub(in crate::engine::step) mod slot_time;
pub(in crate::engine::step) mod stirred;
pub(in crate::engine::step) mod supersede;
