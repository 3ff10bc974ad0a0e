//! Adapters that send data out of this process: signed posts to endpoints, e-mail, and programs. Both only
//! if an operator configured them.
//!
//! What lives elsewhere: who may configure a channel, which deliveries are tried again and when
//! (`engine`). Invariants: every address is checked, and the connection goes to a checked address
//! without a second lookup; no program gets a shell, our environment or our file descriptors; a key
//! is never printed.

mod address;
mod courier;
mod endpoint;
pub(crate) mod envelope;
mod exchange;
mod fetch;
mod guard;
mod mail;
mod network;
mod pace;
mod parcel_json;
mod places;
mod post;
mod program;
mod proof;
mod retry_after;
mod shape;
mod signature;
mod tools;
mod trust;
mod turns;

pub use address::{Forbidden, check_address};
pub use courier::{ChannelRoute, OutboundCourier};
pub use endpoint::{Endpoint, EndpointFault, Scheme};
pub use fetch::{Fetch, Fetched};
pub use guard::Hook;
pub use guard::{GuardRoute, OutboundGuard};
pub use mail::{MailAddress, MailServer, Mailer};
pub use network::{Network, NetworkOs, Pending};
pub use pace::Pace;
pub use parcel_json::envelope;
#[cfg(feature = "testkit")]
pub(crate) use places::{Place, Places};
pub use post::{Client, Patience, Post, PostFault, Reply};
pub use program::{Ended, Program, ProgramFault, ProgramOutput};
pub use proof::{Proof, ProofKind};
pub use retry_after::retry_after;
pub use shape::Shape;
pub use signature::{KeyFault, MessageId, SignatureFault, Signed, SigningKey, sign, verify};
#[cfg(target_os = "linux")]
pub use tools::FileTools;
pub use tools::{HttpReach, HttpTools, ProgramTool, ProgramTools, ToolTasks};
pub use tools::{McpBounds, McpEndpoint, McpPlace, McpServer, McpTerms, McpToolTerms, McpTools, TakenNames};
pub use trust::{Trust, TrustFault};
