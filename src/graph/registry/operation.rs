//! Operations: the readers of an entity in the registry. Introspection calls them a resolver, as Pathom does.
//!
//! Invariant: attributes are numbers here; their names were checked when the registry was built.

use super::{AttrId, Datum, ReadRow, ResolverError, ViewOf, World};
use crate::edn::{Map, Symbol, Value};

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
