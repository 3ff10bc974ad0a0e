//! Transitions of the engine as a whole: wake-ups, holds, pauses of channels, the guard's policy, shutdown, restart, the store.

pub(in crate::engine::step) mod drain;
pub(in crate::engine::step) mod hold;
pub(in crate::engine::step) mod lost_tasks;
pub(in crate::engine::step) mod pause_channel;
pub(in crate::engine::step) mod restart;
pub(in crate::engine::step) mod set_guard;
pub(in crate::engine::step) mod store_failed;
pub(in crate::engine::step) mod wake;
