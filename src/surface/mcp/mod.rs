//! The Model Context Protocol: tools for models; schedules, runs and explanations as resources.
//!
//! A message is parsed by `message` (JSON-RPC), `declaration` determines its wire shape, `service` executes its method, and
//! `fault` has every error with its code. `mirrored_headers` checks what HTTP repeats in headers. `stdio` is the stdio
//! transport, `proxy` the stdio transport in front of a daemon. `features` is the interface to what is offered;
//! `scheduler` implements it with `tools` and `resources`. The HTTP server is in `http`, processes are in `app`, the
//! answers of tools in `dialect`.
//!
//! Every transport supports both wire shapes: the one with a handshake (2025-06-18, 2025-11-25) and the stateless one
//! (2026-07-28). Invariants: **no state is retained between two messages**, so there is no session id to guess or
//! steal. The token of each request identifies the caller, and a token is never passed on.

mod declaration;
mod fault;
mod features;
mod message;
mod method;
mod mirrored_headers;
mod origin;
mod proxy;
mod resources;
mod revision;
mod scheduler;
mod service;
mod stdio;
mod tool_filter;
mod tools;
mod wire_version;

pub use features::{Begun, Features, ResourceInfo, ResourcePage, Tool, Unserved};
#[cfg(feature = "http")]
pub(crate) use message::{McpMessage, Misread};
pub use method::Method;
pub use mirrored_headers::{MirroredHeaders, MirroredValue};
pub use origin::Origin;
pub use proxy::{ProxiedMessage, unanswered};
pub use resources::Kind as ResourceKind;
pub use revision::Revision;
pub use scheduler::Scheduler;
pub use service::{McpBegun, McpLater, McpReply, McpService};
pub use stdio::serve;
pub use tool_filter::{ToolFilter, UnknownDialect};
