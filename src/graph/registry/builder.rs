//! A set of declarations in the making.
//!
//! Lives here: collecting. Does not live here: checking, see `build.rs`.

use super::entity::Readers;
use super::{Attribute, Entity, EntityInfo, Mutation, Numbered, ReadRow, Resolver, World};

/// Declarations, in any order; [`Builder::build`] checks them as a whole.
pub struct Builder<W: World> {
    pub(super) entities: Vec<EntityInfo>,
    /// Each attribute with the number of its entity.
    pub(super) attributes: Vec<(Attribute, usize)>,
    pub(super) rows: Vec<Row<W>>,
    pub(super) resolvers: Vec<Resolver<W>>,
    pub(super) mutations: Vec<Mutation<W>>,
}

/// The readers of one entity.
pub(super) struct Row<W: World> {
    /// The number of the entity.
    pub(super) entity: usize,
    /// For a root: the attribute that it takes where that is known.
    pub(super) within: Option<&'static str>,
    /// What the readers read, in their order.
    pub(super) idents: Vec<&'static str>,
    pub(super) readers: Box<dyn ReadRow<W>>,
}

impl<W: World> Default for Builder<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: World> Builder<W> {
    pub(super) fn new() -> Self {
        Self {
            entities: Vec::new(),
            attributes: Vec::new(),
            rows: Vec::new(),
            resolvers: Vec::new(),
            mutations: Vec::new(),
        }
    }

    /// Adds an entity with its attributes.
    #[must_use]
    pub fn entity<R: Numbered>(mut self, entity: Entity<W, R>) -> Self {
        let number = self.entities.len();
        let Entity { name, key, doc, whole, .. } = entity;
        self.entities.push(EntityInfo { name, key, doc, whole });
        self.attributes.extend(entity.attributes.into_iter().map(|attribute| (attribute, number)));
        let (idents, readers): (Vec<_>, Vec<_>) = entity.readers.into_iter().unzip();
        if !idents.is_empty() {
            let readers = Box::new(Readers { find: entity.find, readers });
            self.rows.push(Row { entity: number, within: entity.within, idents, readers });
        }
        self
    }

    /// Adds a resolver.
    #[must_use]
    pub fn resolver(mut self, resolver: Resolver<W>) -> Self {
        self.resolvers.push(resolver);
        self
    }

    /// Adds a mutation.
    #[must_use]
    pub fn mutation(mut self, mutation: Mutation<W>) -> Self {
        self.mutations.push(mutation);
        self
    }
}
