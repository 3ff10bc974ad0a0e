//! What is known of one entity while a query runs.
//!
//! Shape: a short vector of numbered attributes, scanned. Entities have a handful of attributes at hand,
//! and comparing numbers is cheaper than any table.
//!
//! Invariant: no attribute stands in a row twice.

use std::rc::Rc;

use crate::edn::Value;
use crate::graph::registry::{AttrId, ResolverError};

/// One entity.
#[derive(Default)]
pub(super) struct Row {
    data: Vec<(AttrId, Value)>,
    /// How many of them were known before anything was fetched.
    source_len: usize,
    /// The key that it was referred to by, and the number under which readers find the entity.
    pub(super) found: Option<(AttrId, u64)>,
    /// The entities that attributes refer to, by number, where their readers said so.
    referred: Vec<(AttrId, Vec<u64>)>,
    /// What went wrong, by the number of the call.
    pub(super) log: Vec<(usize, Trouble)>,
    /// The entities that a recursion went through to get here.
    pub(super) chain: Option<Rc<Link>>,
}

/// What can go wrong with a call for one entity.
pub(super) enum Trouble {
    /// The resolver failed, for one attribute or for all.
    Threw(Option<AttrId>, ResolverError),
    /// It was not called, because what it needs comes from the call of this number, which failed.
    Ancestor(usize),
}

/// An entity that a recursion went through, and those before it.
pub(super) struct Link {
    source: Vec<(AttrId, Value)>,
    level: usize,
    outer: Option<Rc<Self>>,
}

impl Row {
    /// Makes a row of what is known to begin with, in which nothing may stand twice.
    pub(super) fn of(source: impl IntoIterator<Item = (AttrId, Value)>) -> Self {
        let source = source.into_iter();
        let mut data = Vec::with_capacity(source.size_hint().0 + ROOM);
        data.extend(source);
        Self { source_len: data.len(), data, ..Self::default() }
    }

    /// Adds an attribute unless it is there.
    pub(super) fn add(&mut self, id: AttrId, value: Value) {
        if !self.has(id) {
            self.data.push((id, value));
        }
    }

    /// Notes which entities an attribute refers to.
    pub(super) fn refer(&mut self, id: AttrId, found: Vec<u64>) {
        self.referred.push((id, found));
    }

    /// Takes the numbers of the entities that an attribute refers to; none where only their keys are known.
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

    /// Takes a value out and leaves nil, for a row that has been fetched and is being answered; one that
    /// was known to begin with is copied where that is still needed.
    pub(super) fn take(&mut self, id: AttrId, keeps_source: bool) -> Option<Value> {
        let at = self.data.iter().position(|(known, _)| *known == id)?;
        let value = &mut self.data[at].1;
        if keeps_source && at < self.source_len {
            return Some(value.clone());
        }
        Some(std::mem::replace(value, Value::Nil))
    }

    /// Iterates over the numbers of what is known.
    pub(super) fn ids(&self) -> impl ExactSizeIterator<Item = AttrId> {
        self.data.iter().map(|(id, _)| *id)
    }

    /// Returns what was known to begin with.
    pub(super) fn source(&self) -> &[(AttrId, Value)] {
        self.data.get(..self.source_len).unwrap_or_default()
    }

    /// Returns what the first resolver that failed has said.
    pub(super) fn first_error(&self) -> Option<ResolverError> {
        self.log.iter().find_map(|(_, trouble)| match trouble {
            Trouble::Threw(_, error) => Some(error.clone()),
            Trouble::Ancestor(_) => None,
        })
    }

    /// Returns everything, nil where a value was taken.
    pub(super) fn into_rest(self) -> Vec<(AttrId, Value)> {
        self.data
    }

    /// Returns the chain of a recursion that goes on from here, at `level`.
    pub(super) fn link(&self, level: usize) -> Rc<Link> {
        Rc::new(Link { source: self.source().to_vec(), level, outer: self.chain.clone() })
    }
}

impl Link {
    /// Returns whether an entity on the chain began with the same knowledge at the same level: what comes
    /// of it would come again, for ever.
    pub(super) fn repeats(&self, row: &Row, level: usize) -> bool {
        // Whatever comes round comes round in the same order, from the same resolver.
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

/// Attributes for which there is room behind those that a row begins with. A row that need not grow is
/// allocated once.
const ROOM: usize = 7;

/// Unlinks one by one, so that a long chain does not recurse.
impl Drop for Link {
    fn drop(&mut self) {
        let mut outer = self.outer.take();
        while let Some(link) = outer {
            outer = Rc::try_unwrap(link).ok().and_then(|mut link| link.outer.take());
        }
    }
}
