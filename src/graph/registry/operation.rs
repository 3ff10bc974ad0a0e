//! A resolver as the registry holds it, whichever way it was declared.
//!
//! Invariant: attributes are numbers here; names were checked when the registry was built.

use super::resolver::{Batch, One};
use super::{AttrId, Datum, ReadRow, Seen, World};
use crate::domain::Code;
use crate::edn::{Map, Symbol, Value};
use crate::graph::eql::Query;

/// Why a resolver or mutation could not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolverError {
    /// What happened, for people.
    pub message: String,
    /// What goes with it, for programs: a map, or nil.
    pub data: Value,
    /// The class of a refusal; an error without one is the world's, not the caller's.
    pub code: Option<Code>,
}

impl ResolverError {
    /// Makes an error of a message and data.
    pub fn new(message: impl Into<String>, data: impl Into<Value>) -> Self {
        Self { message: message.into(), data: data.into(), code: None }
    }

    /// Says which class of refusal it is.
    #[must_use]
    pub fn coded(self, code: Code) -> Self {
        Self { code: Some(code), ..self }
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

    /// Returns the value of an entity's key, off the number under which its readers find it.
    pub(in crate::graph) fn key_of(&self, view: Seen<'_, W>, found: u64) -> Result<Value, ResolverError> {
        let key = self.inputs.first().map(|input| input.attr);
        let reader = self.outputs.iter().position(|(attr, _)| Some(*attr) == key);
        match (&self.run, reader) {
            (Run::Row(readers), Some(reader)) => {
                readers.read(view, found, reader, &Map::new()).map(Datum::into_value)
            }
            (Run::Row(_) | Run::One(_) | Run::Batch(_), _) => {
                let message = format!("{} has no reader of its key", self.name);
                Err(ResolverError::new(message, Value::Nil))
            }
        }
    }
}
