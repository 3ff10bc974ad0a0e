//! The short way: a query that only walks from entities to entities is written while it is read.
//!
//! Most queries join references and read attributes off them. For those nothing is gathered first: no rows, no maps, no
//! values of their own. Whatever else turns up (an error, a value that refers to something) takes the text back, and
//! the query is run the long way; so there is one meaning, and this is only a shorter way to it.
//!
//! Invariant: what is written is what the long way would have answered, of one look.

use super::direct::{Cell, Direct, From};
use super::limits::Budget;
use super::{Answer, Failure, Refusal, Request, Sink, run};
use crate::edn::{Set, Value};
use crate::graph::registry::{Access, AttrId, Datum, Registry, Run, Seen, Viewer, World};

/// Why a walk ends.
enum Stop {
    /// Something turned up for which there is only the long way.
    LongWay,
    Refused(Refusal),
}

impl std::convert::From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Direct {
    /// Writes the answer, if nothing turns up on the way for which there is only the long one.
    fn walk<W: World, S: Sink + ?Sized>(
        &self,
        registry: &Registry<W>,
        request: &Request<'_>,
        view: Seen<'_, W>,
        sink: &mut S,
    ) -> Result<(), Stop> {
        let budget = Budget::new(request.limits, request.stop);
        budget.admit(request.entity)?;
        let mut known = Vec::with_capacity(self.known.len());
        for (key, value) in request.entity {
            let id = key.as_keyword().and_then(|key| registry.id(key)).ok_or(Stop::LongWay)?;
            known.push((id, value));
        }
        if known.len() != self.known.len() || known.iter().any(|(id, _)| !self.known.contains(id)) {
            return Err(Stop::LongWay);
        }
        let viewer = request.plan.viewer;
        let mut walker = Walker { direct: self, registry, viewer, view, budget, known, sink };
        walker.budget.enter(1, 1)?;
        walker.root()
    }
}

/// A walk under way.
struct Walker<'a, 'v, W: World, S: ?Sized> {
    direct: &'a Direct,
    registry: &'a Registry<W>,
    viewer: Viewer,
    view: Seen<'v, W>,
    budget: Budget<'a>,
    known: Vec<(AttrId, &'a Value)>,
    sink: &'a mut S,
}

impl<W: World, S: Sink + ?Sized> Walker<'_, '_, W, S> {
    fn root(&mut self) -> Result<(), Stop> {
        let mut found: Vec<(usize, u64)> = Vec::new();
        self.sink.open_map();
        for (at, cell) in self.direct.levels.first().into_iter().flatten().enumerate() {
            self.sink.key(&cell.key, at == 0);
            match &cell.from {
                From::Reader { operation, .. } => {
                    let known = found.iter().find(|(number, _)| number == operation).map(|(_, found)| *found);
                    let number = match known {
                        Some(number) => number,
                        None => self.ground(*operation)?,
                    };
                    if known.is_none() {
                        found.push((*operation, number));
                    }
                    self.cell(cell, number, 1)?;
                }
                From::Ident { operation, key } => {
                    let number = self.find(*operation, key)?;
                    self.join(cell.below, &[number], 1, false)?;
                }
            }
        }
        self.sink.close_map();
        Ok(())
    }

    /// Finds what an operation of the root reads.
    fn ground(&self, operation: usize) -> Result<u64, Stop> {
        let input = self.registry.operations()[operation].inputs.first().map(|input| input.attr);
        let given = self.known.iter().find(|(id, _)| Some(*id) == input).map(|(_, value)| *value);
        self.find(operation, given.unwrap_or(&Value::Nil))
    }

    fn find(&self, operation: usize, key: &Value) -> Result<u64, Stop> {
        match &self.registry.operations()[operation].run {
            Run::Row(readers) => readers.find(self.view, key).ok_or(Stop::LongWay),
            Run::One(_) | Run::Batch(_) => Err(Stop::LongWay),
        }
    }

    fn entity(&mut self, level: usize, found: u64, depth: u32) -> Result<(), Stop> {
        self.sink.open_map();
        let direct = self.direct;
        for (at, cell) in direct.levels.get(level).into_iter().flatten().enumerate() {
            self.sink.key(&cell.key, at == 0);
            match &cell.from {
                From::Reader { .. } => self.cell(cell, found, depth)?,
                From::Ident { operation, key } => {
                    let number = self.find(*operation, key)?;
                    self.join(cell.below, &[number], depth, false)?;
                }
            }
        }
        self.sink.close_map();
        Ok(())
    }

    fn cell(&mut self, cell: &Cell, found: u64, depth: u32) -> Result<(), Stop> {
        let From::Reader { operation, reader, params } = &cell.from else {
            return Err(Stop::LongWay);
        };
        let Run::Row(readers) = &self.registry.operations()[*operation].run else {
            return Err(Stop::LongWay);
        };
        let datum = readers.read(self.view, found, *reader, params).map_err(|_| Stop::LongWay)?;
        match datum {
            Datum::Nil => self.sink.datum(&Datum::Nil),
            Datum::Entity(number) => self.join(cell.below, &[number], depth, false)?,
            Datum::Entities(numbers) => self.join(cell.below, &numbers, depth, true)?,
            Datum::Bool(_) | Datum::Int(_) | Datum::Text(_) | Datum::Shown(_) | Datum::Name(_) => {
                self.plain(cell, &datum)?;
            }
            Datum::Value(ref value) if self.viewer != Viewer::Operator && self.hides(value) => {
                return Err(Stop::LongWay);
            }
            Datum::Inst(_) | Datum::Value(_) => self.plain(cell, &datum)?,
        }
        Ok(())
    }

    /// Writes what refers to nothing.
    fn plain(&mut self, cell: &Cell, datum: &Datum<'_>) -> Result<(), Stop> {
        if cell.below.is_some() {
            return Err(Stop::LongWay);
        }
        self.sink.datum(datum);
        Ok(())
    }

    fn join(&mut self, level: Option<usize>, found: &[u64], depth: u32, is_many: bool) -> Result<(), Stop> {
        let level = level.ok_or(Stop::LongWay)?;
        if !found.is_empty() {
            self.budget.enter(depth + 1, found.len())?;
        }
        if is_many {
            self.sink.open_list();
        }
        for (at, number) in found.iter().enumerate() {
            if is_many {
                self.sink.item(at == 0);
            }
            self.entity(level, *number, depth + 1)?;
        }
        if is_many {
            self.sink.close_list();
        }
        Ok(())
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

/// Answers a request into a text: by the short way if there is one, else by the long one.
///
/// # Errors
///
/// A limit that the request exceeds, or the callback's word to stop; nothing is written then.
pub fn write<W: World, S: Sink>(
    registry: &Registry<W>,
    request: &Request<'_>,
    access: &mut dyn Access<W>,
    sink: &mut S,
) -> Result<Written, Refusal> {
    let mark = sink.mark();
    if let Some(direct) = &request.plan.direct {
        let mut walked = Err(Stop::LongWay);
        access.look(&mut |view| walked = direct.walk(registry, request, view, sink));
        match walked {
            Ok(()) => return Ok(Written::Done),
            Err(Stop::Refused(refusal)) => {
                sink.rewind(mark);
                return Err(refusal);
            }
            Err(Stop::LongWay) => sink.rewind(mark),
        }
    }
    match run(registry, request, access)? {
        Answer::Done(map) => {
            sink.datum(&Datum::Value(map.into()));
            Ok(Written::Done)
        }
        Answer::Failed(failure) => Ok(Written::Failed(failure)),
    }
}

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// The answer.
    Done,
    /// Nothing: in strict mode, why there is no answer.
    Failed(Failure),
}
