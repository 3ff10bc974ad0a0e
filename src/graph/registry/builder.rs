//! Collects the declarations of a registry.
//!
//! Lives here: collecting. Does not live here: checking, see `build.rs`.

use super::entity::Readers;
use super::{Attribute, Entity, EntityInfo, Mutation, ReadRow, Registry, RowKey, World};

/// Declarations, in any order; [`Builder::build`] checks them as a whole.
pub struct Builder<W: World> {
    pub(super) entities: Vec<EntityInfo>,
    /// Each attribute with the number of its entity.
    pub(super) attributes: Vec<(Attribute, usize)>,
    pub(super) rows: Vec<DeclaredReaders<W>>,
    pub(super) mutations: Vec<Mutation<W>>,
}

/// The readers of one entity.
pub(super) struct DeclaredReaders<W: World> {
    /// The number of the entity.
    pub(super) entity: usize,
    /// For a root: the attribute that it takes if that is known.
    pub(super) within: Option<&'static str>,
    /// The attributes that the readers read, in their order.
    pub(super) idents: Vec<&'static str>,
    pub(super) readers: Box<dyn ReadRow<W>>,
}

impl<W: World> Registry<W> {
    /// Starts a set of declarations.
    pub fn builder() -> Builder<W> {
        Builder::new()
    }
}

impl<W: World> Default for Builder<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: World> Builder<W> {
    fn new() -> Self {
        Self { entities: Vec::new(), attributes: Vec::new(), rows: Vec::new(), mutations: Vec::new() }
    }

    /// Adds an entity with its attributes.
    #[must_use]
    pub fn entity<R: RowKey>(mut self, entity: Entity<W, R>) -> Self {
        let number = self.entities.len();
        let Entity { name, key, doc, whole, .. } = entity;
        self.entities.push(EntityInfo { name, key, doc, whole });
        self.attributes.extend(entity.attributes.into_iter().map(|attribute| (attribute, number)));
        // In step: the number of a reader is its index in both lists.
        let (idents, readers): (Vec<_>, Vec<_>) = entity.readers.into_iter().unzip();
        // Without readers there is nothing to call: such attributes come from callers or from mutations.
        if !idents.is_empty() {
            let readers = Box::new(Readers { find: entity.find, readers });
            self.rows.push(DeclaredReaders { entity: number, within: entity.within, idents, readers });
        }
        self
    }

    /// Adds a mutation.
    #[must_use]
    pub fn mutation(mut self, mutation: Mutation<W>) -> Self {
        self.mutations.push(mutation);
        self
    }
}
