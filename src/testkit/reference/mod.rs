//! The reference model that the laws compare the engine with, and what a crash or a failed store leaves of it.

pub(in crate::testkit) mod before;
pub(in crate::testkit) mod causes;
pub(in crate::testkit) mod counts;
pub(in crate::testkit) mod family_model;
pub(in crate::testkit) mod loading;
pub(in crate::testkit) mod model;
pub(in crate::testkit) mod process_log;
pub(in crate::testkit) mod restart;
pub(in crate::testkit) mod run_facts;
pub(in crate::testkit) mod run_key;
pub(in crate::testkit) mod run_model;
pub(in crate::testkit) mod schedule_model;
pub(in crate::testkit) mod session_facts;
pub(in crate::testkit) mod session_model;
pub(in crate::testkit) mod silent;
pub(in crate::testkit) mod store_contents;
pub(in crate::testkit) mod store_failure;
pub(in crate::testkit) mod waiting;
pub(in crate::testkit) mod watch_condition;
pub(in crate::testkit) mod watch_facts;
pub(in crate::testkit) mod watch_model;
pub(in crate::testkit) mod watch_standing;
pub(in crate::testkit) mod watch_verdict;
