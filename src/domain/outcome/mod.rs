//! What became of things: facts, decisions, states, and why.

pub(in crate::domain) mod attempt;
pub(in crate::domain) mod decision;
pub(in crate::domain) mod downtime;
pub(in crate::domain) mod fact;
pub(in crate::domain) mod fact_summary;
pub(in crate::domain) mod failure;
pub(in crate::domain) mod lost;
pub(in crate::domain) mod obstacle;
pub(in crate::domain) mod reason;
pub(in crate::domain) mod refusal;
pub(in crate::domain) mod run;
pub(in crate::domain) mod status;
pub(in crate::domain) mod turn;
