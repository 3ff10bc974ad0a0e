//! Connections: accepting them, limiting them, and closing those that stall.

pub(in crate::surface::http) mod accept;
pub(in crate::surface::http) mod backoff;
pub(in crate::surface::http) mod conn_limit;
pub(in crate::surface::http) mod conn_watchdog;
pub(in crate::surface::http) mod socket;
