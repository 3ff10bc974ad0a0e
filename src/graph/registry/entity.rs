//! An entity: a key, and the attributes that are read off what the key finds.
//!
//! Lives here: the declaration and its erased reader. Finding happens once for each entity, however many
//! of its attributes are asked for.
//!
//! Invariant: a reader is called with what `find` returned for the key at hand, in the same look.

use super::{Attribute, Datum, ResolverError, RowKey, ViewOf, World};
use crate::edn::{Map, Value};

/// Reads one attribute off a found entity; the map holds the parameters of the query.
pub type Reader<W, R> = for<'a> fn(ViewOf<'a, W>, R, &Map) -> Result<Datum<'a>, ResolverError>;

/// Finds the entity that a key's value names.
pub(super) type Find<W, R> = for<'a> fn(ViewOf<'a, W>, &Value) -> Option<R>;

/// The declaration of an entity. `R` is what finding it yields: an index, a handle.
pub struct Entity<W: World, R> {
    pub(super) name: &'static str,
    pub(super) key: Option<&'static str>,
    pub(super) within: Option<&'static str>,
    pub(super) whole: &'static [&'static str],
    pub(super) doc: &'static str,
    pub(super) attributes: Vec<Attribute>,
    pub(super) find: Find<W, R>,
    pub(super) readers: Vec<(&'static str, Reader<W, R>)>,
}

/// An entity's readers, whatever they find.
pub(in crate::graph) trait ReadRow<W: World>: Send + Sync {
    /// Finds the entity that a key's value names; of a root the key is nil, or what it stands within.
    fn find(&self, view: ViewOf<'_, W>, key: &Value) -> Option<u64>;

    /// Reads one attribute, by the number of its reader, off what was found.
    fn read<'a>(
        &self,
        view: ViewOf<'a, W>,
        found: u64,
        reader: usize,
        params: &Map,
    ) -> Result<Datum<'a>, ResolverError>;
}

/// An entity's readers, with the type of what they read from.
pub(super) struct Readers<W: World, R> {
    pub(super) find: Find<W, R>,
    pub(super) readers: Vec<Reader<W, R>>,
}

impl<W: World, R: RowKey> Entity<W, R> {
    /// Declares an entity that `key`, an attribute's ident, identifies. The key is declared like every
    /// other attribute.
    pub fn new(name: &'static str, key: &'static str, find: Find<W, R>) -> Self {
        Self { key: Some(key), ..Self::empty(name, find) }
    }

    /// Declares the root of a part of the graph, as it is seen from within another entity where `key` of that
    /// is known, and from outside where it is not: `find` gets nil then.
    pub(crate) fn root_within(name: &'static str, key: &'static str, find: Find<W, R>) -> Self {
        Self { within: Some(key), ..Self::empty(name, find) }
    }

    fn empty(name: &'static str, find: Find<W, R>) -> Self {
        Self {
            name,
            key: None,
            within: None,
            whole: &[],
            doc: "",
            attributes: Vec::new(),
            find,
            readers: Vec::new(),
        }
    }

    /// Says in one sentence what the entity is.
    #[must_use]
    pub fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// Says which attributes answer where the entity is asked for as a whole, by a reference without a join;
    /// otherwise its key does.
    #[must_use]
    pub fn whole(self, whole: &'static [&'static str]) -> Self {
        Self { whole, ..self }
    }

    /// Declares an attribute without a reader: a caller gives it, or a mutation answers it.
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
        Self::empty(name, |_, _| Some(()))
    }
}

impl<W: World, R: RowKey> ReadRow<W> for Readers<W, R> {
    fn find(&self, view: ViewOf<'_, W>, key: &Value) -> Option<u64> {
        (self.find)(view, key).map(R::number)
    }

    fn read<'a>(
        &self,
        view: ViewOf<'a, W>,
        found: u64,
        reader: usize,
        params: &Map,
    ) -> Result<Datum<'a>, ResolverError> {
        match self.readers.get(reader) {
            Some(reader) => reader(view, R::numbered(found), params),
            None => Ok(Datum::Nil),
        }
    }
}
