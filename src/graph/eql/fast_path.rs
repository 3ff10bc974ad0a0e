//! The fast path: reads a plan straight off the entities while the answer is being written.
//!
//! Most queries only follow references and read attributes. For those, this path gathers nothing first: it builds no
//! rows, no maps and no copied values. Anything else (an error, a value that refers to an entity) aborts the walk,
//! and the query runs on the general path in `run.rs`. So there is one meaning of a query, and this is only a faster
//! way to it.
//!
//! Contains the walk and the reads. The output is written by `edn_writer.rs` as EDN and by GraphQL's surface as JSON.
//! Invariant: the walk reads exactly what the general path would answer from one snapshot.

use super::fast_plan::{FastField, FastPlan, FastSource};
use super::limits::Budget;
use super::{QueryRefusal, QueryRequest};
use crate::edn::{Set, Value};
use crate::graph::registry::{AttrId, Datum, Registry, ViewOf, Viewer, World};

/// Why a walk is aborted.
pub enum FastAbort {
    /// The general path has to answer the query.
    SlowPath,
    /// A limit is exceeded, or the query was stopped.
    Refused(QueryRefusal),
}

impl From<QueryRefusal> for FastAbort {
    fn from(refusal: QueryRefusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A walk in progress.
pub struct FastPath<'a, 'v, W: World> {
    fast: &'a FastPlan,
    registry: &'a Registry<W>,
    viewer: Viewer,
    view: ViewOf<'v, W>,
    budget: Budget<'a>,
    known: Vec<(AttrId, &'a Value)>,
    /// Entities that operations of the root have found, as (operation, entity), so that each is looked up once.
    grounds: Vec<(usize, u64)>,
}

/// A position of the walk: an entity, or the root.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    level: usize,
    found: Option<u64>,
    depth: u32,
}

impl Position {
    /// The root.
    pub(crate) const ROOT: Self = Self { level: 0, found: None, depth: 1 };

    /// Returns this position at an entity.
    #[must_use]
    pub(crate) fn of(self, found: u64) -> Self {
        Self { found: Some(found), ..self }
    }
}

impl<'a, 'v, W: World> FastPath<'a, 'v, W> {
    /// Begins a walk at the root.
    ///
    /// # Errors
    ///
    /// Returns [`FastAbort::SlowPath`] if the plan has no fast path or the given entity is not what it was planned
    /// for, or the refusal of a limit.
    pub(crate) fn begin(
        registry: &'a Registry<W>,
        request: &QueryRequest<'a>,
        view: ViewOf<'v, W>,
    ) -> Result<Self, FastAbort> {
        let fast = request.plan.fast.as_ref().ok_or(FastAbort::SlowPath)?;
        let mut budget = Budget::new(request.limits, request.stop);
        budget.admit(request.entity)?;
        let mut known = Vec::with_capacity(fast.known.len());
        for (key, value) in request.entity {
            // A key that is no attribute is the caller's own data, which only the general path handles.
            let id = key.as_keyword().and_then(|key| registry.id(key)).ok_or(FastAbort::SlowPath)?;
            known.push((id, value));
        }
        // The plan was made for certain given attributes. With others, different readers might apply.
        if known.len() != fast.known.len() || known.iter().any(|(id, _)| !fast.known.contains(id)) {
            return Err(FastAbort::SlowPath);
        }
        budget.enter(1, 1)?;
        Ok(Self { fast, registry, viewer: request.plan.viewer, view, budget, known, grounds: Vec::new() })
    }

    /// Returns the fields that are read at a position, in the order of the answer.
    pub(super) fn fields(&self, position: Position) -> &'a [FastField] {
        self.fast.levels.get(position.level).map_or(&[], Vec::as_slice)
    }

    /// Reads the field with this index at a position. An entity is returned only for a field that joins it.
    ///
    /// # Errors
    ///
    /// Returns [`FastAbort::SlowPath`] for a value that only the general path can answer.
    pub fn read(&mut self, position: Position, place: usize) -> Result<Datum<'v>, FastAbort> {
        let fast_field = self.fields(position).get(place).ok_or(FastAbort::SlowPath)?;
        self.read_field(position, fast_field)
    }

    /// Reads one of the fields of a position, under the same conditions as [`FastPath::read`].
    pub(super) fn read_field(
        &mut self,
        position: Position,
        fast_field: &'a FastField,
    ) -> Result<Datum<'v>, FastAbort> {
        let (operation, reader, params) = match &fast_field.from {
            FastSource::Reader { operation, reader, params } => (*operation, *reader, params),
            FastSource::Ident { operation, key } => return self.find(*operation, key).map(Datum::Entity),
        };
        let found = match position.found {
            Some(found) => found,
            // Only at the root: the position of a level below always has an entity.
            None => self.ground(operation)?,
        };
        let readers = &self.registry.operations()[operation].readers;
        // The general path reads it again and reports the error where the mode of the request wants it.
        let datum = readers.read(self.view, found, reader, params).map_err(|_| FastAbort::SlowPath)?;
        // A datum is usable if it is an entity exactly where the field joins one, and contains no attribute to check.
        let is_whole = match &datum {
            // Nil has nothing to join: both paths answer nil.
            Datum::Nil => true,
            Datum::Entity(_) | Datum::Entities(_) => fast_field.below.is_some(),
            Datum::Bool(_) | Datum::Int(_) | Datum::Text(_) | Datum::Shown(_) | Datum::Name(_) => {
                fast_field.below.is_none()
            }
            Datum::Inst(_) => fast_field.below.is_none(),
            Datum::Value(value) => {
                fast_field.below.is_none() && (self.viewer == Viewer::Operator || !self.hides(value))
            }
        };
        if !is_whole {
            return Err(FastAbort::SlowPath);
        }
        self.budget.take(&datum)?;
        Ok(datum)
    }

    /// Descends into entities that were read from a field. Returns the position below; [`Position::of`] sets the
    /// entity.
    ///
    /// # Errors
    ///
    /// Returns the limit that is exceeded.
    pub(crate) fn join(
        &mut self,
        position: Position,
        place: usize,
        entities: usize,
    ) -> Result<Position, FastAbort> {
        let below = self
            .fields(position)
            .get(place)
            .and_then(|fast_field| fast_field.below)
            .ok_or(FastAbort::SlowPath)?;
        let depth = position.depth + 1;
        // An empty list costs nothing, not even a level: the general path never enters a level without rows either.
        if entities > 0 {
            self.budget.enter(depth, entities)?;
        }
        Ok(Position { level: below, found: None, depth })
    }

    /// Checks the length of the answer that has been written so far.
    ///
    /// # Errors
    ///
    /// Returns the limit that is exceeded.
    pub(crate) fn wrote(&self, bytes: usize) -> Result<(), FastAbort> {
        Ok(self.budget.wrote(bytes)?)
    }

    /// Finds the entity that an operation of the root reads, once for all of its attributes.
    fn ground(&mut self, operation: usize) -> Result<u64, FastAbort> {
        // A query has few operations at its root, so a search through a list is enough.
        if let Some((_, found)) = self.grounds.iter().find(|(number, _)| *number == operation) {
            return Ok(*found);
        }
        let input = self.registry.operations()[operation].key();
        let given = self.known.iter().find(|(id, _)| Some(*id) == input).map(|(_, value)| *value);
        // A root within an entity is found by that entity's key; without the key, it is the bare root.
        let found = self.find(operation, given.unwrap_or(&Value::Nil))?;
        self.grounds.push((operation, found));
        Ok(found)
    }

    fn find(&self, operation: usize, key: &Value) -> Result<u64, FastAbort> {
        self.registry.operations()[operation].readers.find(self.view, key).ok_or(FastAbort::SlowPath)
    }

    /// Returns true if a value might contain an attribute: the viewer may not be allowed to see it, or it may refer
    /// to an entity.
    fn hides(&self, value: &Value) -> bool {
        if let Some(map) = value.as_map() {
            let is_attribute =
                |key: &Value| key.as_keyword().is_some_and(|key| self.registry.id(key).is_some());
            // Whether the viewer may see it is left to the general path.
            return map.iter().any(|(key, value)| is_attribute(key) || self.hides(value));
        }
        let items = value.as_items().unwrap_or_default().iter();
        items.chain(value.as_set().into_iter().flat_map(Set::iter)).any(|item| self.hides(item))
    }
}
