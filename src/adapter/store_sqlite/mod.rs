//! Adapter: durable store in one SQLite file, `store.db`, in a directory that belongs to this
//! process alone.
//!
//! One thread writes: all waiting batches are committed in one transaction with one flush
//! (`writer`). Readers have a connection of their own and read in chunks (`read`). Queries by
//! schedule and by time use an index in memory (`index`), because an index in the file would have
//! to be flushed with every fact. A hash chain shows what another program has changed (`chain`). When
//! bytes run out, each session loses what is over its share (`shares`). Opening (`open`) refuses
//! every file that is not certainly a complete store of ours, and leaves it unchanged.
//!
//! | file | what |
//! |---|---|
//! | `store.db`, `-wal`, `-shm` | SQLite's |
//! | `store.lock` | held for life; names its holder |
//! | `store.mark` | the last cursor that was acknowledged (`high_water`) |
//! | `store.db.before-NNNN` | the store as it was before migration NNNN |
//! | `before-restore-NNNN/` | the files that a backup has replaced (`backup`) |
//!
//! Costs, for one fact with one row of 200 bytes each: see `benches/store.rs`. Limits: `STORE_*` and `HISTORY_*`.
//! What lives elsewhere: the contract (`port`), the tables (`schema/sqlite/`), what the payloads mean.

#[cfg(feature = "cli")]
mod backup;
mod chain;
mod connection;
mod digest;
mod doctor;
mod fault;
mod faults;
mod files;
mod fs_perms;
mod high_water;
mod index;
mod lock;
mod open;
mod queue;
mod read;
mod schema;
mod shares;
mod store;
mod visit;
mod wal;
mod writer;

#[cfg(feature = "cli")]
pub(crate) use backup::Restored;
pub use fault::OpenFault;
pub use faults::{FaultLayer, FaultPoint};
#[cfg(feature = "cli")]
pub(crate) use fs_perms::{flush_directory, make_directory, open_file};
pub use open::StoreOptions;
pub use store::StoreSqlite;
pub use visit::Visit;
