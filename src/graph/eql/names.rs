//! Numbers for all names in one query: those of the registry, and those that the query and its answers bring along.
//!
//! Invariant: a name has one number while the query runs, so rows compare numbers only.

use std::collections::BTreeMap;

use crate::edn::Value;
use crate::graph::registry::{AttrId, Registry, World};

/// The names that are not attributes, numbered after those that are.
#[derive(Clone, Default)]
pub(super) struct Names {
    extra: Vec<Value>,
    ids: BTreeMap<Value, AttrId>,
}

impl Names {
    /// Returns the number of a name; assigns one if the name is new.
    pub(super) fn id<W: World>(&mut self, registry: &Registry<W>, key: &Value) -> AttrId {
        if let Value::Keyword(keyword) = key
            && let Some(id) = registry.id(keyword)
        {
            return id;
        }
        if let Some(id) = self.ids.get(key) {
            return *id;
        }
        // After all attributes, so that one comparison tells a name from an attribute.
        let number = registry.len().saturating_add(self.extra.len());
        let id = AttrId(u32::try_from(number).unwrap_or(u32::MAX));
        self.extra.push(key.clone());
        self.ids.insert(key.clone(), id);
        id
    }

    /// Returns the name with a number.
    pub(super) fn key<'a, W: World>(&'a self, registry: &'a Registry<W>, id: AttrId) -> &'a Value {
        // Wrong for an attribute, whose key the registry finds first.
        let place = usize::try_from(id.0).unwrap_or(usize::MAX).saturating_sub(registry.len());
        registry.key(id).or_else(|| self.extra.get(place)).unwrap_or(&Value::Nil)
    }
}
