//! The declaration of an entity: its key, and the readers of its attributes.
//!
//! Lives here: the declaration, and its readers with their types erased. An entity is looked up once, however many of
//! its attributes a query selects.
//!
//! Invariant: a reader is called with what `find` returned for the entity's key, within one query.

use super::{Attribute, Datum, ResolverError, RowKey, ViewOf, World};
use crate::edn::{Map, Value};

/// Reads one attribute of an entity that was found; the map contains the parameters of the attribute.
pub type Reader<W, R> = for<'a> fn(ViewOf<'a, W>, R, &Map) -> Result<Datum<'a>, ResolverError>;

/// Finds the entity that a key's value names.
pub(super) type Find<W, R> = for<'a> fn(ViewOf<'a, W>, &Value) -> Option<R>;

/// The declaration of an entity. `R` is what finding it returns, such as an index.
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

/// The readers of an entity, independent of what `find` returns.
pub(in crate::graph) trait ReadRow<W: World>: Send + Sync {
    /// Finds the entity that a key's value names. The key of a root is nil, or that of the entity around the root.
    fn find(&self, view: ViewOf<'_, W>, key: &Value) -> Option<u64>;

    /// Reads one attribute of an entity that was found; `reader` is the number of the attribute's reader.
    fn read<'a>(
        &self,
        view: ViewOf<'a, W>,
        found: u64,
        reader: usize,
        params: &Map,
    ) -> Result<Datum<'a>, ResolverError>;
}

/// The readers of an entity, with the type of what `find` returns.
pub(super) struct Readers<W: World, R> {
    pub(super) find: Find<W, R>,
    pub(super) readers: Vec<Reader<W, R>>,
}

impl<W: World, R: RowKey> Entity<W, R> {
    /// Declares an entity that is identified by `key`, the ident of an attribute. The key must be declared like every
    /// other attribute.
    pub fn new(name: &'static str, key: &'static str, find: Find<W, R>) -> Self {
        Self { key: Some(key), ..Self::empty(name, find) }
    }

    /// Declares a root whose attributes depend on the entity around them: where that entity's `key` is known, `find`
    /// gets its value, otherwise nil.
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

    /// Sets the documentation.
    #[must_use]
    pub fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// Sets the attributes that a query gets for a reference without a subquery. Without them it gets only the key.
    #[must_use]
    pub(crate) fn whole(self, whole: &'static [&'static str]) -> Self {
        Self { whole, ..self }
    }

    /// Declares an attribute without a reader: a caller provides it, or the answer of a mutation contains it.
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
    /// Declares a root: it has no key, and its attributes can be queried anywhere.
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
        // The number comes from a plan of this registry, so there is always a reader.
        match self.readers.get(reader) {
            Some(reader) => reader(view, R::numbered(found), params),
            None => Ok(Datum::Nil),
        }
    }
}
