//! Every bound of Reveille: name, value, unit, the reason for it, and the source of the figure.
//!
//! A refusal names the bound and its value. [`ALL`] is printed to users as attributes of the engine and as a page of the docs, so
//! each doc comment in these files is user documentation. Each file has the bounds of one part. Invariant: relations between
//! bounds are proved at compile time, in `proofs`.

mod agents;
mod budgets;
mod calls;
mod declare;
mod delivery;
mod graphql;
mod http;
mod memory;
mod outside;
mod proofs;
mod requests;
mod schedules;
mod store;

pub use agents::*;
pub use budgets::Budget;
pub use calls::*;
pub use declare::Limit;
pub use delivery::*;
pub use graphql::*;
pub use http::*;
pub use memory::*;
pub use outside::*;
pub use requests::*;
pub use schedules::*;
pub use store::*;

use declare::{count, joined};

const PARTS: &[&[Limit]] = &[
    OF_SCHEDULES,
    OF_REQUESTS,
    OF_DELIVERY,
    OF_AGENTS,
    OF_CALLS,
    OF_WATCHES,
    OF_MEMORY,
    OF_OUTSIDE,
    OF_HTTP,
    OF_GRAPHQL,
    OF_STORE,
];

/// All bounds, part by part.
pub const ALL: &[Limit] = &joined::<{ count(PARTS) }>(PARTS);
