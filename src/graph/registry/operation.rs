//! Operations: the readers of an entity in the registry. Introspection calls them a resolver, as Pathom does.
//!
//! Invariant: attributes are numbers here; their names were checked when the registry was built.

use super::{AttrId, Datum, ReadRow, ViewOf, World};
use crate::domain::Code;
use crate::edn::{Map, Symbol, Value};

/// The error of a reader or mutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolverError {
    /// The message, for people.
    pub message: String,
    /// The data, for programs: a map, or nil.
    pub data: Value,
    /// The class of a refusal; `None` for an error that is not the caller's fault.
    pub code: Option<Code>,
}

impl ResolverError {
    /// Creates an error with a message and data, and no code.
    pub fn new(message: impl Into<String>, data: impl Into<Value>) -> Self {
        Self { message: message.into(), data: data.into(), code: None }
    }

    /// Sets the class of the refusal.
    #[must_use]
    pub(crate) fn coded(self, code: Code) -> Self {
        Self { code: Some(code), ..self }
    }
}

/// The readers of one entity. No other operation provides its attributes.
pub(in crate::graph) struct Operation<W: World> {
    pub(in crate::graph) name: Symbol,
    /// The key of the entity, which must be known. For a root within an entity: the key of that entity, if it is known.
    pub(in crate::graph) input: Option<Input>,
    /// The attributes that it provides, in the order of the readers.
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

    /// Returns the value of an entity's key, from the number by which readers find the entity.
    pub(in crate::graph) fn key_of(&self, view: ViewOf<'_, W>, found: u64) -> Result<Value, ResolverError> {
        // The key is an output only if the entity declares a reader for it.
        match self.outputs.iter().position(|attr| Some(*attr) == self.key()) {
            Some(reader) => self.readers.read(view, found, reader, &Map::new()).map(Datum::into_value),
            None => Err(ResolverError::new(format!("{} has no reader of its key", self.name), Value::Nil)),
        }
    }
}
