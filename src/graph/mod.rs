//! The attribute graph: one table of attributes, and the EDN Query Language over it.
//!
//! [`registry`] holds what there is: attributes, entities, mutations, each declared once, and
//! the indexes that follow from them. [`eql`] reads a query, plans it over a registry, fetches level by
//! level, and assembles the answer. Both are generic: the world that readers look at is a type parameter,
//! [`registry::World`]. The scheduler's own world is [`view::Scheduler`], and [`attr`] declares its attributes.
//!
//! Does not live here: any transport, any clock, any lock.

pub mod attr;
mod echo;
pub mod eql;
pub mod export;
pub mod listing;
pub mod log_lookback;
pub mod mutation;
pub mod page;
pub mod params;
pub mod psi_terms;
pub mod registry;
pub mod view;

pub use echo::echo;
