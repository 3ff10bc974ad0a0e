//! The short way: a query that only walks from entities to entities is written while it is read.
//!
//! Most queries join references and read attributes off them. For those nothing is gathered first: no rows, no maps, no
//! values of their own. Whatever else turns up (an error, a value that refers to something) takes the text back, and
//! the query is run the long way; so there is one meaning, and this is only a shorter way to it.
//!
//! Invariant: what is written is what the long way would have answered, of one look.

use super::limits::Budget;
use super::plan::{Below, Field, Level, Source};
use super::{Answer, Failure, Refusal, Request, Sink, run};
use crate::edn::{Map, Set, Value};
use crate::graph::registry::{Access, AttrId, Datum, Registry, Run, Seen, Viewer, World};

/// A plan that can be walked.
#[derive(Debug)]
pub(super) struct Direct {
    /// What is written at each level, by the number of the plan's level.
    levels: Vec<Vec<Cell>>,
    /// What is known of the root.
    known: Vec<AttrId>,
}

/// One thing that is written.
#[derive(Debug)]
struct Cell {
    key: Value,
    from: From,
    below: Option<usize>,
}

/// Where it comes from.
#[derive(Debug)]
enum From {
    /// A reader of an operation, by number.
    Reader { operation: usize, reader: usize, params: Map },
    /// The entity that the query names.
    Ident { operation: usize, key: Value },
}

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
    /// Makes it of a plan, if the plan only walks.
    pub(super) fn of<W: World>(levels: &[std::sync::Arc<Level>], registry: &Registry<W>) -> Option<Self> {
        let mut direct = Self { levels: Vec::new(), known: levels.first()?.known.clone() };
        direct.levels.resize_with(levels.len(), Vec::new);
        for (number, level) in levels.iter().enumerate() {
            if level.has_wildcard || level.has_twins {
                return None;
            }
            let below = if number == 0 { None } else { Some(one(&level.known)?) };
            let cells = level.fields.iter().map(|field| cell(registry, level, field, below));
            direct.levels[number] = cells.collect::<Option<_>>()?;
        }
        Some(direct)
    }

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

/// Returns how a field is written, if it can be; `below` is the key of the entities of a level that is not the root.
fn cell<W: World>(
    registry: &Registry<W>,
    level: &Level,
    field: &Field,
    below: Option<AttrId>,
) -> Option<Cell> {
    let join = match &field.below {
        Below::Nothing => None,
        Below::Level(number) => Some(*number),
        Below::Union(_) | Below::Depth(_) | Below::Unbounded => return None,
    };
    let from = match &field.source {
        Source::Attr(attr, true) if registry.refers_to(*attr).is_some() == join.is_some() => {
            let operation = match below.filter(|key| key == attr) {
                Some(key) => registry.reads(key)?,
                None => only_call(level, *attr)?,
            };
            let declared = registry.operations().get(operation)?;
            let input = declared.inputs.first().map(|input| input.attr);
            let is_row = matches!(declared.run, Run::Row(_));
            if !is_row || below.is_some() && input != below {
                return None;
            }
            let reader = declared.outputs.iter().position(|(output, _)| output == attr)?;
            From::Reader { operation, reader, params: field.params.clone() }
        }
        Source::Ident(attr, key) if join.is_some() => {
            From::Ident { operation: registry.reads(*attr)?, key: key.clone() }
        }
        Source::Attr(..) | Source::Ident(..) | Source::Placeholder | Source::Call(_) => return None,
    };
    Some(Cell { key: field.key.clone(), from, below: join })
}

/// The one call that is there for an attribute, if there is just one.
fn only_call(level: &Level, attr: AttrId) -> Option<usize> {
    let mut calls = level.steps.calls.iter().filter(|step| step.expects.contains(&attr));
    let call = calls.next().filter(|step| step.unless.is_empty())?;
    calls.next().is_none().then_some(call.operation)
}

fn one(known: &[AttrId]) -> Option<AttrId> {
    if let [only] = known { Some(*only) } else { None }
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
