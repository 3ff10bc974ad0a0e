//! Transitions of a session and of its host.

pub(in crate::engine::step) mod addressed;
pub(in crate::engine::step) mod agent_schedules;
pub(in crate::engine::step) mod away;
pub(in crate::engine::step) mod busy;
pub(in crate::engine::step) mod close_session;
pub(in crate::engine::step) mod host_left;
pub(in crate::engine::step) mod host_lost;
pub(in crate::engine::step) mod host_sessions;
pub(in crate::engine::step) mod job_ready;
pub(in crate::engine::step) mod make_room;
pub(in crate::engine::step) mod memory;
pub(in crate::engine::step) mod open_session;
pub(in crate::engine::step) mod ping;
pub(in crate::engine::step) mod take_left;
pub(in crate::engine::step) mod tools_called;
pub(in crate::engine::step) mod user_message;
