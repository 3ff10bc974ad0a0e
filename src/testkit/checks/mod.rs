//! The laws: of events, of the state, of authority, of budgets, of channels, of watches, and of what is on disk.

pub(in crate::testkit) mod authority_laws;
pub(in crate::testkit) mod budget_laws;
pub(in crate::testkit) mod call_laws;
pub(in crate::testkit) mod cause_laws;
pub(in crate::testkit) mod channel_laws;
pub(in crate::testkit) mod durability_laws;
pub(in crate::testkit) mod event_laws;
pub(in crate::testkit) mod law;
pub(in crate::testkit) mod state_laws;
pub(in crate::testkit) mod watch_laws;
