//! A resolver, as it is declared: from some attributes to others, across entities.
//!
//! Attributes that are read off one entity need none; see `entity.rs`.

use super::{ResolverError, Seen, World};
use crate::edn::Map;

/// Answers for one entity: its inputs, and the parameters of the query.
pub(super) type One<W> = for<'a> fn(Seen<'a, W>, &Map, &Map) -> Result<Map, ResolverError>;

/// Answers for many entities at once, one map for each, in order.
pub(super) type Batch<W> = for<'a> fn(Seen<'a, W>, &[Map], &Map) -> Result<Vec<Map>, ResolverError>;

/// The declaration of a resolver. Inputs and outputs are EQL: `[:task/id {:task/kids [:task/id]}]`.
pub struct Resolver<W: World> {
    pub(super) name: &'static str,
    pub(super) input: &'static str,
    pub(super) optional: &'static str,
    pub(super) output: &'static str,
    pub(super) call: Call<W>,
}

/// How it is called.
pub(super) enum Call<W: World> {
    One(One<W>),
    Batch(Batch<W>),
}

impl<W: World> Resolver<W> {
    /// Declares a resolver that is called for each entity.
    pub fn new(name: &'static str, output: &'static str, call: One<W>) -> Self {
        Self { name, input: "[]", optional: "[]", output, call: Call::One(call) }
    }

    /// Declares a resolver that is called once for all entities of a level.
    pub fn batch(name: &'static str, output: &'static str, call: Batch<W>) -> Self {
        Self { name, input: "[]", optional: "[]", output, call: Call::Batch(call) }
    }

    /// Says what it needs.
    #[must_use]
    pub fn input(self, input: &'static str) -> Self {
        Self { input, ..self }
    }

    /// Says what it takes where it can be had.
    #[must_use]
    pub fn optional(self, optional: &'static str) -> Self {
        Self { optional, ..self }
    }
}
