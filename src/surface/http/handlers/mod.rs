//! What each route does.

pub(in crate::surface::http) mod calendar;
pub(in crate::surface::http) mod dashboard;
pub(in crate::surface::http) mod eql;
pub(in crate::surface::http) mod event_stream;
pub(in crate::surface::http) mod graphql;
pub(in crate::surface::http) mod health;
#[cfg(feature = "channels")]
pub(in crate::surface::http) mod inbound;
pub(in crate::surface::http) mod jobs;
pub(in crate::surface::http) mod login;
pub(in crate::surface::http) mod mcp;
pub(in crate::surface::http) mod metrics;
pub(in crate::surface::http) mod page;
pub(in crate::surface::http) mod pings;
pub(in crate::surface::http) mod stream;
pub(in crate::surface::http) mod tools;
pub(in crate::surface::http) mod websocket;
