//! Adapters that send data out of this process: signed posts to endpoints, and programs. Both only
//! if an operator configured them.
//!
//! What lives elsewhere: who may configure a channel, which deliveries are tried again and when
//! (`engine`). Invariants: every address is checked, and the connection goes to a checked address
//! without a second lookup; no program gets a shell, our environment or our file descriptors; a key
//! is never printed.

#[cfg(feature = "webhook")]
mod address;
#[cfg(all(feature = "command", feature = "json", feature = "webhook"))]
mod courier;
#[cfg(feature = "webhook")]
mod endpoint;
#[cfg(feature = "json")]
mod envelope;
#[cfg(feature = "json")]
mod guard;
#[cfg(feature = "webhook")]
mod network;
#[cfg(feature = "webhook")]
mod post;
#[cfg(feature = "command")]
mod program;
#[cfg(feature = "webhook")]
mod retry_after;
#[cfg(feature = "webhook")]
mod signature;
#[cfg(feature = "webhook")]
mod trust;

#[cfg(feature = "webhook")]
pub use address::{Forbidden, check_address};
#[cfg(all(feature = "command", feature = "json", feature = "webhook"))]
pub use courier::{Outside, Way, envelope};
#[cfg(feature = "webhook")]
pub use endpoint::{Endpoint, EndpointFault, Scheme};
#[cfg(all(feature = "json", feature = "webhook"))]
pub use guard::Hook;
#[cfg(feature = "json")]
pub use guard::{GuardOutside, GuardWay};
#[cfg(feature = "webhook")]
pub use network::{Network, NetworkOs, Pending};
#[cfg(feature = "webhook")]
pub use post::{Client, Patience, Post, PostFault, Reply};
#[cfg(feature = "command")]
pub use program::{Ended, Program, ProgramFault, Told};
#[cfg(feature = "webhook")]
pub use retry_after::retry_after;
#[cfg(feature = "webhook")]
pub use signature::{KeyFault, MessageId, SignatureFault, Signed, SigningKey, sign, verify};
#[cfg(feature = "webhook")]
pub use trust::{Trust, TrustFault};
