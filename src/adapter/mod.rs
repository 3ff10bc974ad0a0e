//! Adapters: implementations of the ports. The operating system's clock, randomness and time zones,
//! hosts of sessions, deliveries to other processes, and durable stores.
//!
//! Invariant: each adapter is a module of its own, and none knows another.

#[cfg(feature = "channels")]
pub mod agent;
mod clock_os;
mod entropy_os;
mod host_attached;
mod host_local;
mod host_tapped;
#[cfg(feature = "channels")]
pub mod outbound;
#[cfg(feature = "channels")]
mod process_group;
#[cfg(feature = "sqlite")]
mod store_sqlite;
mod zones_os;

#[cfg(feature = "cli")]
pub(crate) use agent::{HOSTED, bounded_run};
pub use clock_os::ClockOs;
pub use entropy_os::EntropyOs;
pub use host_attached::{HostAttached, HostTools, Push, PushSink};
pub use host_local::HostLocal;
pub use host_tapped::HostTapped;
#[cfg(feature = "cli")]
pub(crate) use process_group::end_groups;
#[cfg(feature = "sqlite")]
pub use store_sqlite::{FaultLayer, FaultPoint, OpenFault, StoreOptions, StoreSqlite, Visit};
#[cfg(feature = "cli")]
pub(crate) use store_sqlite::{Restored, flush_directory, make_directory, open_file};
pub(crate) use zones_os::system_zones;
pub use zones_os::{local_zone, read_zones};
