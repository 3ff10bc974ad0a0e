//! Maps that remember the order in which entries were inserted.
//!
//! Shape: a vector of entries, and, once there are many keys or some are collections, the entries'
//! indexes sorted by key. Costs: a lookup is a scan up to [`SMALL_MAX`] entries, then a binary
//! search; inserting into the sorted index moves 8 bytes per later key, so building entry by entry
//! is fine up to some 100 000 entries, and [`Map::from_iter`] and the reader sort once instead. Why
//! not a hash table: an attacker who picks the keys picks its worst case, a random seed would end
//! determinism, and comparing maps needs the sorted keys anyway.
//!
//! Does not live here: equality and order of values, see `order.rs`.
//!
//! Invariant: no two keys are equal; `order` is empty exactly when there are at most [`SMALL_MAX`]
//! entries and no key is a collection. The second half keeps the comparison of nested maps linear:
//! keys that are costly to compare are never sorted again.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem;

use super::order::Rank;
use super::{Value, write};

/// A map from value to value that remembers the order of insertion.
///
/// Equality ignores the order.
///
/// ```
/// use reveille::edn::{Map, Value};
/// let map = Map::new().with("task/id", 7).with("task/title", "build");
/// assert_eq!(map.keyword("task/title").and_then(Value::as_str), Some("build"));
/// assert_eq!(Value::Map(map).to_string(), r#"{:task/id 7 :task/title "build"}"#);
/// ```
#[derive(Clone, Default)]
pub struct Map {
    // Boxed so that a value stays 24 bytes.
    table: Box<Table>,
}

#[derive(Clone, Default)]
struct Table {
    entries: Vec<(Value, Value)>,
    order: Vec<usize>,
}

/// Up to this many scalar keys, a scan over adjacent entries beats a search.
const SMALL_MAX: usize = 16;

impl Map {
    /// Makes an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a map of entries, or returns the index of the first entry whose key occurs earlier.
    /// Costs n log n comparisons of keys, of whatever type.
    pub(crate) fn from_entries(entries: Vec<(Value, Value)>) -> Result<Self, usize> {
        let order = order_of(&entries);
        let duplicate = if order.is_empty() {
            first_repeated(&entries)
        } else {
            // The sort is stable, so of equal keys the right one of a pair is the later entry.
            let is_repeat = |pair: &&[usize]| entries[pair[0]].0 == entries[pair[1]].0;
            order.windows(2).filter(is_repeat).map(|pair| pair[1]).min()
        };
        match duplicate {
            Some(index) => Err(index),
            None => Ok(Self { table: Box::new(Table { entries, order }) }),
        }
    }

    /// Puts `value` under `key` and returns the previous value; the key keeps its place.
    pub fn insert(&mut self, key: Value, value: Value) -> Option<Value> {
        match self.find(&key) {
            Ok(index) => Some(mem::replace(&mut self.table.entries[index].1, value)),
            Err(place) => {
                self.add(place, key, value);
                None
            }
        }
    }

    /// Returns the map with `value` under a keyword, given as text without the colon.
    ///
    /// As with [`Value::keyword`], the text is known in the program.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.insert(Value::keyword(key), value.into());
        self
    }

    /// Returns the map with an entry added if there is a value. [`Map::with`] would add nil for none.
    #[must_use]
    pub(crate) fn with_some(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Returns the value under `key`.
    pub fn get(&self, key: &Value) -> Option<&Value> {
        self.find(key).ok().map(|index| &self.table.entries[index].1)
    }

    /// Returns the value under the keyword with this text, without the colon.
    pub fn keyword(&self, text: &str) -> Option<&Value> {
        self.lookup(|key| match key.as_keyword() {
            Some(keyword) => keyword.as_str().cmp(text),
            // Values of another class sort before or behind all keywords, so the binary search stays valid.
            None => key.rank().cmp(&Rank::Keyword),
        })
    }

    /// Returns the value under this string.
    pub fn text(&self, text: &str) -> Option<&Value> {
        self.lookup(|key| match key.as_str() {
            Some(string) => string.cmp(text),
            None => key.rank().cmp(&Rank::Str),
        })
    }

    /// Returns whether `key` is in the map.
    pub fn contains_key(&self, key: &Value) -> bool {
        self.find(key).is_ok()
    }

    /// Iterates over the entries in order of insertion.
    pub fn iter(&self) -> MapIter<'_> {
        self.table.entries.iter().map(|(key, value)| (key, value))
    }

    /// Iterates over the keys in order of insertion.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.table.entries.iter().map(|(key, _)| key)
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.table.entries.len()
    }

    /// Returns whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.table.entries.is_empty()
    }

    /// Finds the entry with `key`, or the place in `order` where it belongs.
    fn find(&self, key: &Value) -> Result<usize, usize> {
        let Table { entries, order } = &*self.table;
        if order.is_empty() {
            // Any place will do: while the index is empty, `add` does not use it.
            entries.iter().position(|(candidate, _)| candidate == key).ok_or(0)
        } else {
            let place = order.binary_search_by(|index| entries[*index].0.cmp(key))?;
            Ok(order[place])
        }
    }

    fn lookup(&self, compare: impl Fn(&Value) -> Ordering) -> Option<&Value> {
        let Table { entries, order } = &*self.table;
        if order.is_empty() {
            let found = entries.iter().find(|(key, _)| compare(key) == Ordering::Equal);
            return found.map(|(_, value)| value);
        }
        let place = order.binary_search_by(|index| compare(&entries[*index].0)).ok()?;
        Some(&entries[order[place]].1)
    }

    fn add(&mut self, place: usize, key: Value, value: Value) {
        let Table { entries, order } = &mut *self.table;
        entries.push((key, value));
        // This entry may be the one that makes the map large, or its key the first collection.
        if order.is_empty() {
            *order = order_of(entries);
        } else {
            order.insert(place, entries.len() - 1);
        }
    }

    /// Returns the entries sorted by key; allocates only for small maps, which sort fast.
    fn sorted(&self) -> impl Iterator<Item = &(Value, Value)> {
        let Table { entries, order } = &*self.table;
        let small = if order.is_empty() { sort(entries) } else { Vec::new() };
        let count = entries.len();
        // In a large map `small` is empty, so that each place comes from the index.
        (0..count).map(move |at| &entries[*small.get(at).unwrap_or_else(|| &order[at])])
    }
}

/// Sorts the indexes of the entries, if there must be an order at all.
fn order_of(entries: &[(Value, Value)]) -> Vec<usize> {
    if is_small(entries) { Vec::new() } else { sort(entries) }
}

fn is_small(entries: &[(Value, Value)]) -> bool {
    entries.len() <= SMALL_MAX && entries.iter().all(|(key, _)| key.is_scalar())
}

/// The sort is stable, so that of equal keys the earlier one comes first.
fn sort(entries: &[(Value, Value)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|left, right| entries[*left].0.cmp(&entries[*right].0));
    order
}

/// Compares each of a few scalar keys with those before it. Keywords, which most keys are,
/// are compared as text at once, without asking each time what they are.
fn first_repeated(entries: &[(Value, Value)]) -> Option<usize> {
    let is_repeat = |index: &usize| {
        let (earlier, rest) = entries.split_at(*index);
        match rest.first() {
            Some((Value::Keyword(keyword), _)) => {
                let is_same = |key: &Value| matches!(key, Value::Keyword(earlier) if earlier == keyword);
                earlier.iter().any(|(key, _)| is_same(key))
            }
            Some((key, _)) => earlier.iter().any(|(earlier, _)| earlier == key),
            None => false,
        }
    };
    (1..entries.len()).find(is_repeat)
}

/// Small maps look each key up, for their keys are cheap; others walk both in key order.
/// Either way each pair of values is compared once.
impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        match (self.table.order.is_empty(), other.table.order.is_empty()) {
            (true, true) => self.iter().all(|(key, value)| other.get(key) == Some(value)),
            (false, false) => self.sorted().eq(other.sorted()),
            // Of two maps of one length, only one has a collection among its keys.
            (true, false) | (false, true) => false,
        }
    }
}

impl Eq for Map {}

/// Shorter maps come first, then those with lower keys, then those with lower values.
impl Ord for Map {
    fn cmp(&self, other: &Self) -> Ordering {
        self.len().cmp(&other.len()).then_with(|| self.sorted().cmp(other.sorted()))
    }
}

impl PartialOrd for Map {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Map {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // In the order of keys, because equal maps may differ in the order of insertion.
        self.len().hash(state);
        self.sorted().for_each(|entry| entry.hash(state));
    }
}

/// Of equal keys the last value stays, at the place of the first.
impl FromIterator<(Value, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (Value, Value)>>(entries: I) -> Self {
        let entries: Vec<_> = entries.into_iter().collect();
        let mut order = sort(&entries);
        order.dedup_by(|later, earlier| entries[*later].0 == entries[*earlier].0);
        // The usual case, without duplicates: the sorted places are the index already.
        if order.len() == entries.len() {
            if is_small(&entries) {
                order.clear();
            }
            return Self { table: Box::new(Table { entries, order }) };
        }
        let mut map = Self::new();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl Extend<(Value, Value)> for Map {
    fn extend<I: IntoIterator<Item = (Value, Value)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

/// Prints EDN, as values do.
impl fmt::Debug for Map {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write::map_to(self, out)
    }
}

/// The iterator of [`Map::iter`].
pub type MapIter<'a> =
    std::iter::Map<std::slice::Iter<'a, (Value, Value)>, fn(&'a (Value, Value)) -> (&'a Value, &'a Value)>;

impl<'a> IntoIterator for &'a Map {
    type Item = (&'a Value, &'a Value);
    type IntoIter = MapIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Map {
    type Item = (Value, Value);
    type IntoIter = std::vec::IntoIter<(Value, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.table.entries.into_iter()
    }
}
