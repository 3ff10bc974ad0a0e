//! Adapters: implementations of the ports. The operating system's clock, randomness and time zones,
//! hosts of sessions, deliveries to other processes, and durable stores.
//!
//! Invariant: each adapter is a module of its own, and none knows another.

#[cfg(feature = "clock-os")]
mod clock_os;
#[cfg(feature = "entropy-os")]
mod entropy_os;
#[cfg(feature = "host-attached")]
mod host_attached;
#[cfg(feature = "host-local")]
mod host_local;
#[cfg(any(feature = "command", feature = "webhook"))]
pub mod outside;
#[cfg(feature = "store-memory")]
mod store_memory;
#[cfg(feature = "store-sqlite")]
mod store_sqlite;
#[cfg(feature = "zones-os")]
mod zones_os;

#[cfg(feature = "clock-os")]
pub use clock_os::ClockOs;
#[cfg(feature = "entropy-os")]
pub use entropy_os::EntropyOs;
#[cfg(feature = "host-attached")]
pub use host_attached::{HostAttached, Push, PushSink};
#[cfg(feature = "host-local")]
pub use host_local::HostLocal;
#[cfg(feature = "store-memory")]
pub use store_memory::{DiskFault, StoreMemory, Torn};
#[cfg(feature = "store-sqlite")]
pub use store_sqlite::{FaultLayer, FaultPoint, OpenFault, StoreOptions, StoreSqlite};
#[cfg(feature = "cli")]
pub(crate) use store_sqlite::{flush_directory, make_directory};
#[cfg(feature = "zones-os")]
pub use zones_os::{local_zone, read_zones, system_zones};
