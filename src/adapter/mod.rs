//! The world behind the ports: the operating system's clock, randomness and time zones, those who run sessions, what
//! leaves this process, and durable stores.
//!
//! One room each; none knows another.

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
