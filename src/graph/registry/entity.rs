//! An entity: a key, and the attributes that are read off what the key finds.
//!
//! Lives here: the declaration and its erased reader. Finding happens once for each entity, however many
//! of its attributes are asked for.
//!
//! Invariant: a reader is called with what `find` returned for the key at hand, in the same look.

use super::{Attribute, ResolverError, World};
use crate::edn::{Map, Value};

/// Reads one attribute off a found entity; the map holds the parameters of the query.
pub type Reader<W, R> = for<'a> fn(<W as World>::View<'a>, &R, &Map) -> Result<Value, ResolverError>;

/// Finds the entity that a key's value names.
pub(super) type Find<W, R> = for<'a> fn(<W as World>::View<'a>, &Value) -> Option<R>;

/// The declaration of an entity. `R` is what finding it yields: an index, a handle.
pub struct Entity<W: World, R> {
    pub(super) name: &'static str,
    pub(super) key: Option<&'static str>,
    pub(super) doc: &'static str,
    pub(super) attributes: Vec<Attribute>,
    pub(super) find: Find<W, R>,
    pub(super) readers: Vec<(&'static str, Reader<W, R>)>,
}

/// An entity's readers, whatever they find.
pub(in crate::graph) trait ReadRow<W: World>: Send + Sync {
    /// Finds the entity and hands over the wanted attributes, by number, in the order wanted. Returns
    /// whether there is such an entity.
    fn read(&self, ask: &Ask<'_>, view: W::View<'_>, out: &mut Taker<'_>) -> bool;
}

/// Takes what one reader returned, and its number.
pub(in crate::graph) type Taker<'a> = dyn FnMut(usize, Result<Value, ResolverError>) + 'a;

/// What is asked of one entity.
pub(in crate::graph) struct Ask<'a> {
    /// The value of its key; nil for a root.
    pub(in crate::graph) key: &'a Value,
    /// The numbers of the readers.
    pub(in crate::graph) wanted: &'a [usize],
    /// The parameters.
    pub(in crate::graph) params: &'a Map,
}

/// An entity's readers, with the type of what they read from.
pub(super) struct Readers<W: World, R> {
    pub(super) find: Find<W, R>,
    pub(super) readers: Vec<Reader<W, R>>,
}

impl<W: World, R: 'static> Entity<W, R> {
    /// Declares an entity that `key`, an attribute's ident, identifies. The key is declared like every
    /// other attribute.
    pub fn new(name: &'static str, key: &'static str, find: Find<W, R>) -> Self {
        Self { name, key: Some(key), doc: "", attributes: Vec::new(), find, readers: Vec::new() }
    }

    /// Says in one sentence what the entity is.
    #[must_use]
    pub fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// Declares an attribute that a resolver, a caller or the entity's key provides.
    #[must_use]
    pub fn attribute(mut self, attribute: Attribute) -> Self {
        self.attributes.push(attribute);
        self
    }

    /// Declares an attribute with its reader.
    #[must_use]
    pub fn reads(mut self, attribute: Attribute, reader: Reader<W, R>) -> Self {
        self.readers.push((attribute.ident, reader));
        self.attribute(attribute)
    }
}

impl<W: World> Entity<W, ()> {
    /// Declares the root of a part of the graph: it has no key, and its attributes can always be asked for.
    pub fn root(name: &'static str) -> Self {
        let find: Find<W, ()> = |_, _| Some(());
        Self { name, key: None, doc: "", attributes: Vec::new(), find, readers: Vec::new() }
    }
}

impl<W: World, R> ReadRow<W> for Readers<W, R> {
    fn read(&self, ask: &Ask<'_>, view: W::View<'_>, out: &mut Taker<'_>) -> bool {
        let Some(found) = (self.find)(view, ask.key) else {
            return false;
        };
        for number in ask.wanted {
            if let Some(reader) = self.readers.get(*number) {
                out(*number, reader(view, &found, ask.params));
            }
        }
        true
    }
}
