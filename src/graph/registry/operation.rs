//! An entity's readers as the registry holds them. Introspection calls them a resolver, as Pathom does.
//!
//! Invariant: attributes are numbers here; names were checked when the registry was built.

use super::{AttrId, Datum, ReadRow, ViewOf, World};
use crate::domain::Code;
use crate::edn::{Map, Symbol, Value};

/// Why a reader or mutation could not answer.
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
    pub(crate) fn coded(self, code: Code) -> Self {
        Self { code: Some(code), ..self }
    }
}

/// The readers of one entity: the one way to come by its attributes.
pub(in crate::graph) struct Operation<W: World> {
    pub(in crate::graph) name: Symbol,
    /// The key of the entity, which has to be known. Of a root: what it stands within, if that is known.
    pub(in crate::graph) input: Option<Input>,
    /// What it provides, in the order of the readers.
    pub(in crate::graph) outputs: Vec<AttrId>,
    pub(in crate::graph) readers: Box<dyn ReadRow<W>>,
}

/// The attribute that an operation takes.
#[derive(Clone, Copy)]
pub(in crate::graph) struct Input {
    pub(in crate::graph) attr: AttrId,
    pub(in crate::graph) is_required: bool,
}

impl<W: World> Operation<W> {
    /// Returns the attribute that names the entity.
    pub(in crate::graph) fn key(&self) -> Option<AttrId> {
        self.input.map(|input| input.attr)
    }

    /// Returns the value of an entity's key, off the number under which its readers find it.
    pub(in crate::graph) fn key_of(&self, view: ViewOf<'_, W>, found: u64) -> Result<Value, ResolverError> {
        match self.outputs.iter().position(|attr| Some(*attr) == self.key()) {
            Some(reader) => self.readers.read(view, found, reader, &Map::new()).map(Datum::into_value),
            None => Err(ResolverError::new(format!("{} has no reader of its key", self.name), Value::Nil)),
        }
    }
}
