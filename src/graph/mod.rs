//! The attribute graph: one table of attributes, and the EDN Query Language over it.
//!
//! [`registry`] holds the declarations (each attribute, entity and mutation once) and the indexes built from
//! them. [`eql`] parses a query, plans it over a registry, reads it level by level, and assembles the answer. Both
//! are generic over [`registry::World`], which names what readers read from. The scheduler's world is
//! [`view::Scheduler`], and [`attr`] declares its attributes.
//!
//! Does not live here: any transport, any clock, any lock.

pub mod attr;
pub mod config_params;
mod echo;
pub mod eql;
pub mod export;
pub mod listing;
pub mod log_lookback;
pub mod mutation;
pub mod page;
pub mod params;
pub mod past_accounts;
pub mod psi_terms;
pub mod registry;
pub mod run_listing;
pub mod schedule_filter;
pub(crate) mod session_config;
pub mod timeline;
pub mod timeline_cell;
mod timeline_rows;
pub mod tool_offers;
pub mod view;

pub use echo::echo;
