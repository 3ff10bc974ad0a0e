//! A cache of compiled operations, keyed by the text of the request.
//!
//! Shape: two tables. When the young table is full it replaces the old one, and an entry of the old table that is used
//! again moves to the young one. Costs: one or two lookups, and no order to maintain. Why not least-recently-used: it
//! needs a list beside the table, and is no better when a few operations are sent all the time.
//!
//! Invariant: a cache has at most `limits::GRAPHQL_COMPILED` entries, and no key is longer than
//! `limits::GRAPHQL_COMPILED_BYTES`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::limits::{GRAPHQL_COMPILED, GRAPHQL_COMPILED_BYTES};

/// A bounded cache of shared values, keyed by text.
pub(in crate::surface::graphql) struct Cache<T>(Mutex<Tables<T>>);

struct Tables<T> {
    young: HashMap<Box<str>, Arc<T>>,
    old: HashMap<Box<str>, Arc<T>>,
}

impl<T> Cache<T> {
    pub(in crate::surface::graphql) fn new() -> Self {
        Self(Mutex::new(Tables { young: HashMap::new(), old: HashMap::new() }))
    }

    /// Returns the value that is cached under a text.
    pub(in crate::surface::graphql) fn get(&self, text: &str) -> Option<Arc<T>> {
        // Ignores poisoning: a panic between two updates of the tables can lose an entry, but corrupts none.
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = tables.young.get(text) {
            return Some(Arc::clone(found));
        }
        // Moves to the young table, so that the entry survives when the old table is dropped.
        let (text, found) = tables.old.remove_entry(text)?;
        tables.keep(text, Arc::clone(&found));
        Some(found)
    }

    /// Caches a value, unless its text is too long.
    pub(in crate::surface::graphql) fn put(&self, text: String, value: Arc<T>) {
        if fits(text.len(), GRAPHQL_COMPILED_BYTES.value) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).keep(text.into(), value);
        }
    }
}

impl<T> Tables<T> {
    fn keep(&mut self, text: Box<str>, value: Arc<T>) {
        // Each table gets half of the limit.
        if !fits(self.young.len() + 1, GRAPHQL_COMPILED.value / 2) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(text, value);
    }
}

fn fits(found: usize, most: u64) -> bool {
    u64::try_from(found).is_ok_and(|found| found <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_rest_goes() {
        let cache = Cache::new();
        for number in 0..10_000 {
            cache.put(number.to_string(), Arc::new(number));
            assert_eq!(cache.get("0").as_deref(), Some(&0));
        }
        let kept = (0..10_000).filter(|number: &i32| cache.get(&number.to_string()).is_some()).count();
        assert!(kept <= 256, "{kept}");
        cache.put("x".repeat(20_000), Arc::new(1));
        assert!(cache.get(&"x".repeat(20_000)).is_none());
    }
}
