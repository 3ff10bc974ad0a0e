//! Transitions of one run: from the claim of its slot to its end.

pub(in crate::engine::step) mod accepted;
pub(in crate::engine::step) mod answer_question;
pub(in crate::engine::step) mod approve;
pub(in crate::engine::step) mod authorize;
pub(in crate::engine::step) mod bulletin;
pub(in crate::engine::step) mod call_tool;
pub(in crate::engine::step) mod cancel_call;
pub(in crate::engine::step) mod channel_delivery;
pub(in crate::engine::step) mod check;
pub(in crate::engine::step) mod created;
pub(in crate::engine::step) mod cut_off;
pub(in crate::engine::step) mod dispatch;
pub(in crate::engine) mod due_slots;
pub(in crate::engine::step) mod failed;
pub(in crate::engine) mod fire;
pub(in crate::engine::step) mod guard_answered;
pub(in crate::engine::step) mod occurrence;
pub(in crate::engine::step) mod retry;
pub(in crate::engine::step) mod returned;
pub(in crate::engine::step) mod unreached;
