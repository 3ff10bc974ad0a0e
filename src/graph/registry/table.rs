//! The registry: declarations by number, and indexes of what provides them.
//!
//! Shape: vectors, and two sorted maps from name to number. Costs: finding a name is a search in a sorted
//! map; everything after that is an index. Why not a hash table: names come from callers.
//!
//! Invariant: an [`AttrId`] below [`Registry::len`] is an index. Larger ones are names that occur only in a query or
//! its answer, see `eql/names.rs`.

use std::collections::BTreeMap;

use super::attr_id::index;
use super::mutation::RegisteredMutation;
use super::{
    AttrId, Attribute, Datum, MutationInfo, ParamGroups, ReadRow, ResolverError, Type, ViewOf, Viewer, World,
};
use crate::edn::{Keyword, Map, Symbol, Value};

/// The declarations of everything that can be queried or called, with indexes.
pub struct Registry<W: World> {
    pub(super) attributes: Vec<AttrEntry>,
    pub(super) names: BTreeMap<Keyword, AttrId>,
    pub(super) entities: Vec<EntityInfo>,
    pub(super) operations: Vec<Operation<W>>,
    /// For each entity, the operation that reads it, if it has readers.
    pub(super) rows: Vec<Option<usize>>,
    pub(super) mutations: BTreeMap<Symbol, RegisteredMutation<W>>,
    /// For each attribute, the operation that provides it.
    pub(super) providers: Vec<Option<usize>>,
}

/// A declared attribute, with what the builder derived from it.
pub(super) struct AttrEntry {
    pub(super) attribute: Attribute,
    pub(super) key: Value,
    /// The key of the entity that it refers to.
    pub(super) refers_to: Option<AttrId>,
    /// The entity that it belongs to.
    pub(super) entity: usize,
}

/// A declared entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityInfo {
    /// Its name.
    pub name: &'static str,
    /// The attribute that identifies it; a root has none.
    pub key: Option<&'static str>,
    /// The attributes that a query gets for the entity without a subquery; empty if it gets only the key.
    pub(crate) whole: &'static [&'static str],
    /// The documentation, for people.
    pub(crate) doc: &'static str,
}

/// The readers of one entity, which introspection calls a resolver, as Pathom does. No other operation provides its attributes.
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

impl<W: World> Registry<W> {
    /// Returns the number of attributes.
    pub(crate) fn len(&self) -> usize {
        self.attributes.len()
    }

    /// Iterates over the attributes with the entities that they belong to, in declared order.
    pub fn attributes(&self) -> impl Iterator<Item = (&Attribute, &EntityInfo)> {
        self.attributes.iter().map(|entry| (&entry.attribute, &self.entities[entry.entity]))
    }

    /// Returns the entities in declared order.
    pub fn entities(&self) -> &[EntityInfo] {
        &self.entities
    }

    /// Returns the attribute with this ident, which is given without the colon.
    pub(crate) fn attribute(&self, ident: &str) -> Option<&Attribute> {
        let id = self.names.get(&Keyword::new(ident).ok()?)?;
        Some(&self.entry(*id)?.attribute)
    }

    /// Returns the number of an attribute.
    pub(crate) fn id(&self, ident: &Keyword) -> Option<AttrId> {
        self.names.get(ident).copied()
    }

    /// Returns whether the viewer may see the attribute. A name that is no attribute is visible: it is the caller's own
    /// data.
    pub(in crate::graph) fn is_visible(&self, id: AttrId, viewer: Viewer) -> bool {
        let visibility = self.entry(id).and_then(|entry| entry.attribute.visibility);
        // A declared attribute always has a rule, so `None` means that the name is not an attribute.
        visibility.is_none_or(|visibility| visibility.admits(viewer))
    }

    /// Returns whether the log may have to be read for an attribute.
    pub(in crate::graph) fn reads_log(&self, id: AttrId) -> bool {
        self.entry(id).is_some_and(|entry| entry.attribute.reads_log)
    }

    /// Returns whether an attribute's values can be answered without inspecting them: they refer to no entity, and are no
    /// maps that could contain something hidden from the viewer.
    pub(in crate::graph) fn answers_whole(&self, id: AttrId, viewer: Viewer) -> bool {
        self.entry(id).is_some_and(|entry| match entry.attribute.kind {
            Type::String | Type::Enum(_) | Type::Keyword | Type::Symbol | Type::Boolean => true,
            Type::Integer | Type::Float | Type::Instant => true,
            // A map may have attributes as keys, and only an operator may see them all.
            Type::Record(_) | Type::Map | Type::Any => viewer == Viewer::Operator,
            Type::Reference(_) => false,
        })
    }

    /// Returns the keyword of an attribute, as a value.
    pub(in crate::graph) fn key(&self, id: AttrId) -> Option<&Value> {
        self.entry(id).map(|entry| &entry.key)
    }

    /// Returns the key of the entity that an attribute refers to.
    pub(in crate::graph) fn refers_to(&self, id: AttrId) -> Option<AttrId> {
        self.entry(id).and_then(|entry| entry.refers_to)
    }

    /// Returns the attributes that a query gets for a reference without a subquery.
    pub(in crate::graph) fn whole(&self, id: AttrId) -> &'static [&'static str] {
        self.refers_to(id).map_or(&[], |key| self.whole_of(key))
    }

    /// Returns the attributes that a query gets, without a subquery, for the entity that this key identifies.
    pub(in crate::graph) fn whole_of(&self, key: AttrId) -> &'static [&'static str] {
        self.entity_of(key).filter(|_| self.is_key(key)).map_or(&[], |entity| entity.whole)
    }

    /// Returns the operation that reads the entity to which an attribute refers.
    pub(in crate::graph) fn reads_referred(&self, id: AttrId) -> Option<&Operation<W>> {
        self.operations.get(self.reads(self.refers_to(id)?)?)
    }

    /// Returns the number of the operation that reads the entity of a key.
    pub(in crate::graph) fn reads(&self, key: AttrId) -> Option<usize> {
        *self.rows.get(self.entry(key)?.entity)?
    }

    /// Returns the parameters that an attribute takes; `None` for a name that is not an attribute.
    pub(in crate::graph) fn params(&self, id: AttrId) -> Option<ParamGroups> {
        self.entry(id).map(|entry| entry.attribute.params)
    }

    pub(in crate::graph) fn operations(&self) -> &[Operation<W>] {
        &self.operations
    }

    /// Returns the number of the operation that provides an attribute.
    pub(in crate::graph) fn provider(&self, id: AttrId) -> Option<usize> {
        self.providers.get(index(id)).copied().flatten()
    }

    /// Returns the mutation with this name, if the viewer may call it.
    pub(in crate::graph) fn mutation(&self, name: &Symbol, viewer: Viewer) -> Option<&RegisteredMutation<W>> {
        let is_open = |mutation: &&RegisteredMutation<W>| {
            mutation.declared.visibility.is_some_and(|rule| rule.admits(viewer))
        };
        self.mutations.get(name).filter(is_open)
    }

    /// Iterates over all mutations, by name.
    pub fn described_mutations(&self) -> impl Iterator<Item = MutationInfo> {
        self.mutations.values().map(|held| MutationInfo {
            name: held.declared.name,
            doc: held.declared.doc,
            params: held.declared.params,
            visibility: held.declared.visibility,
        })
    }

    /// Returns the entity that an attribute belongs to.
    pub(in crate::graph) fn entity_of(&self, id: AttrId) -> Option<&EntityInfo> {
        self.entry(id).and_then(|entry| self.entities.get(entry.entity))
    }

    pub(super) fn entry(&self, id: AttrId) -> Option<&AttrEntry> {
        self.attributes.get(index(id))
    }

    /// Returns whether an attribute identifies its entity.
    pub(super) fn is_key(&self, id: AttrId) -> bool {
        self.entry(id).is_some_and(|entry| self.entities[entry.entity].key == Some(entry.attribute.ident))
    }

    /// Returns whether a query can obtain the attribute: callers provide it, or an operation does.
    pub(super) fn is_obtainable(&self, id: AttrId) -> bool {
        // A key needs no provider: it comes with the reference or the ident that names its entity.
        let is_seed = self.entry(id).is_some_and(|entry| entry.attribute.is_seed);
        is_seed || self.is_key(id) || self.provider(id).is_some()
    }
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
