//! The ports: what the runtime needs from the world, as traits whose contracts are prose.
//!
//! Real implementations are in `adapter`, simulated ones in `testkit`. Invariant: no port names a transport or
//! takes a path.

mod clock;
mod courier;
mod entropy;
mod executor;
mod guard;
mod host;
mod journal;
mod listening;
mod prober;
mod store;
mod store_fault;
mod store_report;
mod ticket;

pub use clock::Clock;
pub use courier::{Carried, Courier, IsComing, UnderWay};
pub use entropy::EntropySource;
pub use executor::{Executor, Returned};
pub use guard::{Guard, GuardReply};
pub use host::{Host, HostAnswer};
pub use journal::Journal;
pub use listening::{Listening, Stirred};
pub use prober::{Holder, Prober};
pub use store::{
    Alarm, Batch, Done, EDITS_PART, FactRecord, HistoryBytes, HistoryQuery, LostHistory, RowRecord, Store,
    StoreHealth, Term, is_creation, is_edit, is_shared_by_nobody,
};
pub use store_fault::StoreFault;
pub use store_report::{HistoryCaps, Pruned, StoreCounts, StoreReport};
pub use ticket::Ticket;
