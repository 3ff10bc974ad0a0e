//! The short way: a plan that only goes from entities to entities is read off them while the answer is written.
//!
//! Most queries join references and read attributes off them. For those nothing is gathered first: no rows, no maps, no
//! values of their own. Whatever else turns up (an error, a value that refers to something) ends the walk, and the query
//! is run the long way; so there is one meaning, and this is only a shorter way to it.
//!
//! Lives here: going and reading. Does not live here: what is written of it, see `text.rs` for EDN and GraphQL's surface
//! for its JSON. Invariant: what is read is what the long way would have answered, of one look.

use super::direct::{Cell, Direct, From};
use super::limits::Budget;
use super::{Refusal, Request};
use crate::edn::{Set, Value};
use crate::graph::registry::{AttrId, Datum, Registry, Run, Seen, Viewer, World};

/// Why a walk ends.
pub enum Stop {
    /// Something turned up for which there is only the long way.
    LongWay,
    /// A limit is exceeded, or there is no more time.
    Refused(Refusal),
}

impl std::convert::From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A walk under way.
pub struct Walk<'a, 'v, W: World> {
    direct: &'a Direct,
    registry: &'a Registry<W>,
    viewer: Viewer,
    view: Seen<'v, W>,
    budget: Budget<'a>,
    known: Vec<(AttrId, &'a Value)>,
    /// What operations of the root have found.
    grounds: Vec<(usize, u64)>,
}

/// Where a walk stands: at an entity, or at the root.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    level: usize,
    found: Option<u64>,
    depth: u32,
}

impl Spot {
    /// The root.
    pub const ROOT: Self = Self { level: 0, found: None, depth: 1 };

    /// The same place for this entity.
    #[must_use]
    pub fn of(self, found: u64) -> Self {
        Self { found: Some(found), ..self }
    }
}

impl<'a, 'v, W: World> Walk<'a, 'v, W> {
    /// Begins at the root.
    ///
    /// # Errors
    /// A plan for which there is only the long way, or a limit.
    pub fn begin(registry: &'a Registry<W>, request: &Request<'a>, view: Seen<'v, W>) -> Result<Self, Stop> {
        let direct = request.plan.direct.as_ref().ok_or(Stop::LongWay)?;
        let mut budget = Budget::new(request.limits, request.stop);
        budget.admit(request.entity)?;
        let mut known = Vec::with_capacity(direct.known.len());
        for (key, value) in request.entity {
            let id = key.as_keyword().and_then(|key| registry.id(key)).ok_or(Stop::LongWay)?;
            known.push((id, value));
        }
        if known.len() != direct.known.len() || known.iter().any(|(id, _)| !direct.known.contains(id)) {
            return Err(Stop::LongWay);
        }
        budget.enter(1, 1)?;
        Ok(Self { direct, registry, viewer: request.plan.viewer, view, budget, known, grounds: Vec::new() })
    }

    /// What is asked for at a spot, in order.
    pub(super) fn cells(&self, spot: Spot) -> &'a [Cell] {
        self.direct.levels.get(spot.level).map_or(&[], Vec::as_slice)
    }

    /// Reads what is asked for at a place of a spot. Entities are there to be joined, and nothing else is.
    ///
    /// # Errors
    /// What there is only the long way for.
    pub fn read(&mut self, spot: Spot, place: usize) -> Result<Datum<'v>, Stop> {
        let cell = self.cells(spot).get(place).ok_or(Stop::LongWay)?;
        self.read_cell(spot, cell)
    }

    /// Reads one of the cells of a spot, likewise.
    pub(super) fn read_cell(&mut self, spot: Spot, cell: &'a Cell) -> Result<Datum<'v>, Stop> {
        let (operation, reader, params) = match &cell.from {
            From::Reader { operation, reader, params } => (*operation, *reader, params),
            From::Ident { operation, key } => return self.find(*operation, key).map(Datum::Entity),
        };
        let found = match spot.found {
            Some(found) => found,
            None => self.ground(operation)?,
        };
        let Run::Row(readers) = &self.registry.operations()[operation].run else {
            return Err(Stop::LongWay);
        };
        let datum = readers.read(self.view, found, reader, params).map_err(|_| Stop::LongWay)?;
        let is_whole = match &datum {
            Datum::Nil => true,
            Datum::Entity(_) | Datum::Entities(_) => cell.below.is_some(),
            Datum::Bool(_) | Datum::Int(_) | Datum::Text(_) | Datum::Shown(_) | Datum::Name(_) => {
                cell.below.is_none()
            }
            Datum::Inst(_) => cell.below.is_none(),
            Datum::Value(value) => {
                cell.below.is_none() && (self.viewer == Viewer::Operator || !self.hides(value))
            }
        };
        if is_whole { Ok(datum) } else { Err(Stop::LongWay) }
    }

    /// Goes on to so many entities that were read at a place; returns the spot of each, once it is told of which.
    ///
    /// # Errors
    /// A limit.
    pub fn join(&mut self, spot: Spot, place: usize, entities: usize) -> Result<Spot, Stop> {
        let below = self.cells(spot).get(place).and_then(|cell| cell.below).ok_or(Stop::LongWay)?;
        let depth = spot.depth + 1;
        if entities > 0 {
            self.budget.enter(depth, entities)?;
        }
        Ok(Spot { level: below, found: None, depth })
    }

    /// Finds what an operation of the root reads; once for all that it reads.
    fn ground(&mut self, operation: usize) -> Result<u64, Stop> {
        if let Some((_, found)) = self.grounds.iter().find(|(number, _)| *number == operation) {
            return Ok(*found);
        }
        let input = self.registry.operations()[operation].inputs.first().map(|input| input.attr);
        let given = self.known.iter().find(|(id, _)| Some(*id) == input).map(|(_, value)| *value);
        let found = self.find(operation, given.unwrap_or(&Value::Nil))?;
        self.grounds.push((operation, found));
        Ok(found)
    }

    fn find(&self, operation: usize, key: &Value) -> Result<u64, Stop> {
        match &self.registry.operations()[operation].run {
            Run::Row(readers) => readers.find(self.view, key).ok_or(Stop::LongWay),
            Run::One(_) | Run::Batch(_) => Err(Stop::LongWay),
        }
    }

    /// Whether there may be something in a value that the viewer must not see, or that refers to an entity.
    fn hides(&self, value: &Value) -> bool {
        if let Some(map) = value.as_map() {
            let is_attribute =
                |key: &Value| key.as_keyword().is_some_and(|key| self.registry.id(key).is_some());
            return map.iter().any(|(key, value)| is_attribute(key) || self.hides(value));
        }
        let items = value.as_items().unwrap_or_default().iter();
        items.chain(value.as_set().into_iter().flat_map(Set::iter)).any(|item| self.hides(item))
    }
}
