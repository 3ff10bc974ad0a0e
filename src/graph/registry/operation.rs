//! A resolver as the registry holds it, whichever way it was declared.
//!
//! Invariant: attributes are numbers here; names were checked when the registry was built.

use super::resolver::{Batch, One};
use super::{AttrId, ReadRow, World};
use crate::edn::{Symbol, Value};
use crate::graph::eql::Query;

/// Why a resolver or mutation could not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolverError {
    /// What happened, for people.
    pub message: String,
    /// What goes with it, for programs: a map, or nil.
    pub data: Value,
}

impl ResolverError {
    /// Makes an error of a message and data.
    pub fn new(message: impl Into<String>, data: impl Into<Value>) -> Self {
        Self { message: message.into(), data: data.into() }
    }
}

/// One way to come by attributes.
pub(in crate::graph) struct Operation<W: World> {
    pub(in crate::graph) name: Symbol,
    pub(in crate::graph) inputs: Vec<Input>,
    /// What it provides, in declared order, with the shape below.
    pub(in crate::graph) outputs: Vec<(AttrId, Option<Query>)>,
    pub(in crate::graph) run: Run<W>,
}

/// One attribute that an operation needs.
pub(in crate::graph) struct Input {
    pub(in crate::graph) attr: AttrId,
    pub(in crate::graph) is_required: bool,
    /// What it needs of the entities below.
    pub(in crate::graph) nested: Option<Query>,
}

/// How the operation is called.
pub(in crate::graph) enum Run<W: World> {
    /// Once for each entity.
    One(One<W>),
    /// Once for all entities of a level.
    Batch(Batch<W>),
    /// Reader by reader, off the entity that the one input names; the outputs are numbered alike.
    Row(Box<dyn ReadRow<W>>),
}

impl<W: World> Operation<W> {
    /// Returns whether one call serves many entities.
    pub(in crate::graph) fn is_batch(&self) -> bool {
        match self.run {
            Run::One(_) => false,
            Run::Batch(_) | Run::Row(_) => true,
        }
    }
}
