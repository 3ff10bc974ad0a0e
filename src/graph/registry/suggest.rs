//! Suggests the name that a caller probably meant.
//!
//! Invariant: only names that the viewer may see are suggested.

use super::{Graph, World};
use crate::domain::nearest;
use crate::edn::{Keyword, Symbol};

impl<'r, W: World> Graph<'r, W> {
    /// Returns the attribute whose ident is nearest to an unknown one.
    pub(crate) fn nearest_attribute(self, wrong: &Keyword) -> Option<&'r Keyword> {
        let idents = || self.attributes().map(|(ident, _)| ident);
        let near = nearest(idents().map(|ident| (ident, ident.as_str())), wrong.as_str());
        // A wrong namespace can be too far away for a misspelling, although the name itself is right.
        near.or_else(|| idents().find(|ident| ident.name() == wrong.name()))
    }

    /// Returns the attribute of an entity that has this name under some namespace.
    pub(crate) fn attribute_of(self, entity: &str, name: &str) -> Option<&'r Keyword> {
        let is_of_it = |ident: &Keyword| {
            let id = self.registry.id(ident);
            id.and_then(|id| self.registry.entity_of(id)).is_some_and(|found| found.name == entity)
        };
        let mut named = self.attributes().map(|(ident, _)| ident).filter(|ident| ident.name() == name);
        named.find(|ident| is_of_it(ident))
    }

    /// Returns the mutation whose name is nearest to an unknown one.
    pub(crate) fn nearest_mutation(self, wrong: &Symbol) -> Option<&'r Symbol> {
        let near = nearest(self.mutations().map(|name| (name, name.as_str())), wrong.as_str());
        near.or_else(|| self.mutations().find(|name| name.name() == wrong.name()))
    }
}
