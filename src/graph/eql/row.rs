//! What is known of one entity while a query runs.
//!
//! Shape: a short vector of numbered attributes, searched linearly. A row has a handful of attributes, and comparing
//! numbers is cheaper than any table.
//!
//! Invariant: no attribute appears in a row twice.

use std::rc::Rc;

use crate::edn::Value;
use crate::graph::registry::{AttrId, ResolverError};

/// One entity of a level.
#[derive(Default)]
pub(super) struct EntityRow {
    data: Vec<(AttrId, Value)>,
    /// How many of the attributes were known before any were read.
    source_len: usize,
    /// The key attribute that referred to the entity, and the number by which readers find it.
    pub(super) found: Option<(AttrId, u64)>,
    /// The numbers of the entities that an attribute refers to, where its reader returned numbers.
    referred: Vec<(AttrId, Vec<u64>)>,
    /// The errors of readers, each with the index of the call and the attribute.
    pub(super) log: Vec<(usize, AttrId, ResolverError)>,
    /// The entities that a recursion passed through to get here.
    pub(super) chain: Option<Rc<Link>>,
}

/// An entity that a recursion passed through, linked to those before it.
pub(super) struct Link {
    source: Vec<(AttrId, Value)>,
    level: usize,
    outer: Option<Rc<Self>>,
}

impl EntityRow {
    /// Creates a row of the attributes that are known to begin with, which must be distinct.
    pub(super) fn of(source: impl IntoIterator<Item = (AttrId, Value)>) -> Self {
        let source = source.into_iter();
        let mut data = Vec::with_capacity(source.size_hint().0 + ROOM);
        data.extend(source);
        Self { source_len: data.len(), data, ..Self::default() }
    }

    /// Adds an attribute unless the row has it.
    pub(super) fn add(&mut self, id: AttrId, value: Value) {
        // A value that is already known wins, in particular one that the caller gave.
        if !self.has(id) {
            self.data.push((id, value));
        }
    }

    /// Records which entities an attribute refers to.
    pub(super) fn refer(&mut self, id: AttrId, found: Vec<u64>) {
        self.referred.push((id, found));
    }

    /// Takes the numbers of the entities that an attribute refers to; empty if only their keys are known.
    pub(super) fn take_referred(&mut self, id: AttrId) -> Vec<u64> {
        let mut referred = self.referred.iter_mut().filter(|(attr, _)| *attr == id);
        referred.next().map(|(_, found)| std::mem::take(found)).unwrap_or_default()
    }

    pub(super) fn has(&self, id: AttrId) -> bool {
        self.data.iter().any(|(known, _)| *known == id)
    }

    pub(super) fn get(&self, id: AttrId) -> Option<&Value> {
        self.data.iter().find(|(known, _)| *known == id).map(|(_, value)| value)
    }

    /// Moves a value out of a row that is being answered and leaves nil. A value that was known to begin with is
    /// copied instead if `keeps_source` says that it is needed again.
    pub(super) fn take(&mut self, id: AttrId, keeps_source: bool) -> Option<Value> {
        let at = self.data.iter().position(|(known, _)| *known == id)?;
        let value = &mut self.data[at].1;
        if keeps_source && at < self.source_len {
            return Some(value.clone());
        }
        Some(std::mem::replace(value, Value::Nil))
    }

    /// Iterates over the attributes that are known.
    pub(super) fn ids(&self) -> impl ExactSizeIterator<Item = AttrId> {
        self.data.iter().map(|(id, _)| *id)
    }

    /// Returns the attributes that were known to begin with.
    pub(super) fn source(&self) -> &[(AttrId, Value)] {
        self.data.get(..self.source_len).unwrap_or_default()
    }

    /// Returns the error of the first reader that failed.
    pub(super) fn first_error(&self) -> Option<ResolverError> {
        self.log.first().map(|(_, _, error)| error.clone())
    }

    /// Returns all attributes, with nil where a value was taken.
    pub(super) fn into_rest(self) -> Vec<(AttrId, Value)> {
        self.data
    }

    /// Returns the chain for a recursion that continues below this row, at `level`.
    pub(super) fn link(&self, level: usize) -> Rc<Link> {
        Rc::new(Link { source: self.source().to_vec(), level, outer: self.chain.clone() })
    }
}

impl Link {
    /// Returns true if an entity on the chain began with the same attributes at the same level: its answer would
    /// contain itself without end.
    pub(super) fn repeats(&self, row: &EntityRow, level: usize) -> bool {
        // Attributes are compared in order: an entity that recurs comes from the same reader, in the same order.
        let is_same = |link: &Self| link.level == level && link.source == row.source();
        let mut link = Some(self);
        while let Some(here) = link {
            if is_same(here) {
                return true;
            }
            link = here.outer.as_deref();
        }
        false
    }
}

/// Capacity for attributes beyond those that a row begins with, so that most rows are allocated once.
const ROOM: usize = 7;

/// Unlinks iteratively, so that dropping a long chain does not recurse.
impl Drop for Link {
    fn drop(&mut self) {
        let mut outer = self.outer.take();
        while let Some(link) = outer {
            outer = Rc::try_unwrap(link).ok().and_then(|mut link| link.outer.take());
        }
    }
}
