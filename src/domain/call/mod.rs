//! Calls: a tool with its arguments, and what it came to.

pub(in crate::domain) mod collected;
pub(in crate::domain) mod condition;
pub(in crate::domain) mod executor_kind;
pub(in crate::domain) mod filter;
pub(in crate::domain) mod glimpse;
pub(in crate::domain) mod outcome;
pub(in crate::domain) mod reading;
pub(in crate::domain) mod request;
pub(in crate::domain) mod task_end;
pub(in crate::domain) mod task_state;
pub(in crate::domain) mod telling;
pub(in crate::domain) mod tool_counts;
pub(in crate::domain) mod tool_name;
pub(in crate::domain) mod tool_spec;
pub(in crate::domain) mod watch;
pub(in crate::domain) mod watch_status;
pub(in crate::domain) mod why;
