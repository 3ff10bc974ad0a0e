//! What a world can do in a step.

pub(in crate::testkit) mod action;
pub(in crate::testkit) mod arguments;
pub(in crate::testkit) mod calls;
pub(in crate::testkit) mod crash;
pub(in crate::testkit) mod failing_disk;
pub(in crate::testkit) mod guard_actions;
pub(in crate::testkit) mod policies;
mod tool_calls;
mod watches;
