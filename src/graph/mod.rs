//! The attribute graph: one table of attributes, and the EDN Query Language over it.
//!
//! [`registry`] holds what there is: attributes, entities, resolvers, mutations, each declared once, and
//! the indexes that follow from them. [`eql`] reads a query, plans it over a registry, fetches level by
//! level, and assembles the answer.
//!
//! Does not live here: any attribute of the scheduler, any transport, any clock. The world that readers
//! look at is a type parameter, [`registry::World`].

pub mod eql;
pub mod registry;
