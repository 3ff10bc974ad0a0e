//! Compiled operations, by what was sent.
//!
//! Shape: two tables; when the young one is full it becomes the old one, and what is asked for again moves back. Costs:
//! one or two lookups, and no order to keep. Why not least-recently-used: it needs a list beside the table, and is no
//! better where a few operations are sent all the time.
//!
//! Invariant: at most `limits::GRAPHQL_COMPILED` operations are kept, none of them longer than its bound.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::limits::{GRAPHQL_COMPILED, GRAPHQL_COMPILED_BYTES};

/// A bounded table of shared values by text.
pub(super) struct Cache<T>(Mutex<Tables<T>>);

struct Tables<T> {
    young: HashMap<Box<str>, Arc<T>>,
    old: HashMap<Box<str>, Arc<T>>,
}

impl<T> Cache<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Tables { young: HashMap::new(), old: HashMap::new() }))
    }

    /// Returns what is kept under a text.
    pub(super) fn get(&self, text: &str) -> Option<Arc<T>> {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = tables.young.get(text) {
            return Some(Arc::clone(found));
        }
        let (text, found) = tables.old.remove_entry(text)?;
        tables.keep(text, Arc::clone(&found));
        Some(found)
    }

    /// Keeps a value, unless its text is too long for that.
    pub(super) fn put(&self, text: String, value: Arc<T>) {
        if fits(text.len(), GRAPHQL_COMPILED_BYTES.value) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).keep(text.into(), value);
        }
    }
}

impl<T> Tables<T> {
    fn keep(&mut self, text: Box<str>, value: Arc<T>) {
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
