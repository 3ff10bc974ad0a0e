//! How requests and answers travel: HTTP, event streams and WebSockets.

pub(super) mod follow;
pub mod http;
pub mod sse;
pub(super) mod subscription;
pub mod ws;
