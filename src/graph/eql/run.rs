//! Answering one request: mutations in order, then level by level what is asked for.
//!
//! Lives here: the order of things. Does not live here: calling resolvers (`fetch.rs`), going below joins
//! (`below.rs`), making maps (`assemble.rs`).
//!
//! Invariant: Rust's stack is as deep as the answer at most, and the limit of depth bounds that.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::failure::{Cause, Failure, attribute_error, mutation_error, unreachable};
use super::fault::{FAULTS, PlanFault};
use super::level::{Below, Field, Level, Source};
use super::limits::Budget;
use super::missing::missing;
use super::names::Names;
use super::plan::steps;
use super::row::Row;
use super::steps::Steps;
use super::{Call, Limits, Plan, Refusal};
use crate::edn::{Map, Value};
use crate::graph::registry::{Access, AttrId, Registry, ResolverError, Seen, Viewer, World, check};

/// One request: a plan, and what it is asked of.
pub struct Request<'a> {
    /// How to answer.
    pub plan: &'a Plan,
    /// What is known to begin with.
    pub entity: &'a Map,
    /// Whether errors stand in the answer, instead of failing it.
    pub is_lenient: bool,
    /// The bounds.
    pub limits: Limits,
    /// Asked before each call and each level: whether to give up.
    pub stop: &'a dyn Fn() -> bool,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The answer.
    Done(Map),
    /// In strict mode: why there is none.
    Failed(Failure),
}

/// Why running ends early.
pub(super) enum Halt {
    Failed(Failure),
    Refused(Refusal),
}

/// The state of one request.
pub(super) struct Runner<'a, W: World> {
    pub(super) registry: &'a Registry<W>,
    pub(super) viewer: Viewer,
    pub(super) is_lenient: bool,
    pub(super) limits: Limits,
    pub(super) budget: Budget<'a>,
    pub(super) names: Names,
    /// The plan's levels, and behind them those that inputs of resolvers need.
    pub(super) levels: Vec<Arc<Level>>,
    /// The levels of inputs, by operation and input.
    pub(super) inputs: BTreeMap<(usize, usize), usize>,
    steps: BTreeMap<(usize, Vec<AttrId>), Arc<Steps>>,
    /// What the mutations of the root returned, by field.
    pub(super) called: BTreeMap<usize, Value>,
}

/// A place in the answer: a level, how deep it is, and how often its recursions may still recur.
pub(super) struct Place {
    pub(super) level: usize,
    pub(super) depth: u32,
    pub(super) left: Vec<(usize, u64)>,
}

/// The rows of a level of which the same is known.
pub(super) struct Group {
    pub(super) steps: Arc<Steps>,
    pub(super) rows: Vec<usize>,
}

/// Answers a request.
///
/// # Errors
///
/// A limit that the request exceeds, or the callback's word to stop.
pub fn run<W: World>(
    registry: &Registry<W>,
    request: &Request<'_>,
    access: &mut dyn Access<W>,
) -> Result<Answer, Refusal> {
    let mut runner = Runner {
        registry,
        viewer: request.plan.viewer,
        is_lenient: request.is_lenient,
        limits: request.limits,
        budget: Budget::new(request.limits, request.stop),
        names: request.plan.names.clone(),
        levels: request.plan.levels.clone(),
        inputs: BTreeMap::new(),
        steps: BTreeMap::new(),
        called: BTreeMap::new(),
    };
    match runner.root(request.entity, &request.plan.faults, access) {
        Ok(Value::Map(map)) => Ok(Answer::Done(map)),
        Ok(_) => Ok(Answer::Done(Map::new())),
        Err(Halt::Failed(failure)) => Ok(Answer::Failed(failure)),
        Err(Halt::Refused(refusal)) => Err(refusal),
    }
}

impl<W: World> Runner<'_, W> {
    fn root(
        &mut self,
        entity: &Map,
        faults: &[PlanFault],
        access: &mut dyn Access<W>,
    ) -> Result<Value, Halt> {
        let place = Place { level: 0, depth: 1, left: Vec::new() };
        self.budget.admit(entity)?;
        let Some(root) = self.levels.first().cloned() else {
            return Ok(Value::Nil);
        };
        let mut known = Vec::new();
        for (key, value) in entity {
            let id = self.names.id(self.registry, key);
            // What a caller may not see, it may not pretend to know.
            if self.registry.is_visible(id, self.viewer) {
                known.push((id, value.clone()));
            }
        }
        if !self.is_lenient {
            if let Some(fault) = faults.first() {
                return Err(Halt::Failed(fault.failure()));
            }
            self.foresee(&root, &known)?;
        }
        for (number, field) in root.fields.iter().enumerate() {
            if let Source::Call(call) = &field.source {
                let result = self.mutate(call, access)?;
                let result = match result {
                    Ok(value) => {
                        self.look(access, |runner, view| runner.under(view, &place, number, value))?
                    }
                    Err(error) => mutation_error(&error),
                };
                self.called.insert(number, result);
            }
        }
        let mut answers =
            self.look(access, move |runner, view| runner.level(view, &place, vec![Row::of(known)]))?;
        let answer = answers.pop().unwrap_or(Value::Nil);
        match answer.as_map().filter(|_| !faults.is_empty()) {
            None => Ok(answer),
            Some(map) => {
                let faults: Vec<Value> = faults.iter().map(PlanFault::to_value).collect();
                Ok(map.clone().with(FAULTS, faults).into())
            }
        }
    }

    /// Fails a strict request that must fail, before it has changed anything: no way leads to an attribute
    /// of the root, or there is no mutation of a name.
    fn foresee(&mut self, root: &Level, known: &[(AttrId, Value)]) -> Result<(), Halt> {
        let attributes = self.registry.len();
        let mut ids: Vec<AttrId> =
            known.iter().map(|(id, _)| *id).filter(|id| id.is_below(attributes)).collect();
        ids.sort_unstable();
        let steps = self.steps(root, 0, &ids)?;
        let is_known = |attr: AttrId| known.iter().any(|(id, _)| *id == attr);
        for field in &root.fields {
            if let Source::Call(call) = &field.source
                && let Some(mutation) = self.registry.mutation(&call.name, self.viewer)
                && let Err(fault) = check(&call.params, mutation.declared.params)
            {
                let error = Some(fault.into_error(&call.name));
                return Err(Halt::Failed(Failure { cause: Cause::Mutation, key: field.key.clone(), error }));
            }
            let cause = match &field.source {
                Source::Attr(attr, is_visible) => {
                    let is_lost = !is_visible || steps.unreachable.contains(attr) && !is_known(*attr);
                    (is_lost && !field.is_optional).then_some(Cause::Unreachable)
                }
                Source::Call(call) => {
                    self.registry.mutation(&call.name, self.viewer).is_none().then_some(Cause::Mutation)
                }
                Source::Ident(..) | Source::Placeholder => None,
            };
            if let Some(cause) = cause {
                let error = missing(self.registry, self.viewer, cause, &field.key);
                return Err(Halt::Failed(Failure { cause, key: field.key.clone(), error }));
            }
        }
        Ok(())
    }

    /// Looks at the world once.
    fn look<T>(
        &mut self,
        access: &mut dyn Access<W>,
        reading: impl FnOnce(&mut Self, Seen<'_, W>) -> Result<T, Halt>,
    ) -> Result<T, Halt> {
        let mut result = Err(Halt::Refused(Refusal::Stopped));
        let mut reading = Some(reading);
        access.look(&mut |view| {
            if let Some(reading) = reading.take() {
                result = reading(self, view);
            }
        });
        result
    }

    /// Calls a mutation. What it fails by is an answer in lenient mode.
    fn mutate(
        &mut self,
        call: &Call,
        access: &mut dyn Access<W>,
    ) -> Result<Result<Value, ResolverError>, Halt> {
        self.budget.call()?;
        let mut result = None;
        match self.registry.mutation(&call.name, self.viewer) {
            Some(mutation) => {
                access.act(&mut |hand| result = Some(mutation.declared.call(hand, &call.params)));
            }
            None => {
                let message = format!("Mutation {} not found", call.name);
                let data = Map::new().with(OP_NAME, call.name.clone());
                result = Some(Err(ResolverError::new(message, data)));
            }
        }
        match result {
            Some(Err(error)) if !self.is_lenient => {
                let key = Value::Symbol(call.name.clone());
                Err(Halt::Failed(Failure { cause: Cause::Mutation, key, error: Some(error) }))
            }
            Some(result) => Ok(result),
            None => Err(Halt::Refused(Refusal::Stopped)),
        }
    }

    /// Answers one place for all its entities, in order.
    pub(super) fn level(
        &mut self,
        view: Seen<'_, W>,
        place: &Place,
        mut rows: Vec<Row>,
    ) -> Result<Vec<Value>, Halt> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        self.budget.enter(place.depth, rows.len())?;
        let Some(level) = self.levels.get(place.level).cloned() else {
            return Ok(Vec::new());
        };
        let groups = self.groups(&level, place.level, &rows)?;
        self.fetch(view, place, &groups, &mut rows)?;
        if !self.is_lenient {
            self.check(&level, &groups, &rows)?;
        }
        let below = self.below(view, place, &level, &mut rows)?;
        Ok(self.assemble(&level, &groups, rows, below))
    }

    /// Puts rows together of which the same is known. Mostly that is all of them, and one after the other.
    fn groups(&mut self, level: &Level, number: usize, rows: &[Row]) -> Result<Vec<Group>, Refusal> {
        let attributes = self.registry.len();
        let mut groups: Vec<(Vec<AttrId>, Group)> = Vec::new();
        let mut index: BTreeMap<Vec<AttrId>, usize> = BTreeMap::new();
        for (place, row) in rows.iter().enumerate() {
            // Names that are no attributes lead nowhere.
            let ids = || row.ids().filter(|id| id.is_below(attributes));
            let is_same = |known: &[AttrId]| {
                ids().count() == known.len() && ids().all(|id| known.binary_search(&id).is_ok())
            };
            if let Some((_, group)) = groups.last_mut().filter(|(known, _)| is_same(known)) {
                group.rows.push(place);
                continue;
            }
            let mut known: Vec<AttrId> = ids().collect();
            known.sort_unstable();
            if let Some(at) = index.get(&known) {
                groups[*at].1.rows.push(place);
                continue;
            }
            let steps = self.steps(level, number, &known)?;
            index.insert(known.clone(), groups.len());
            groups.push((known, Group { steps, rows: vec![place] }));
        }
        Ok(groups.into_iter().map(|(_, group)| group).collect())
    }

    /// Returns the plan's steps, or finds them anew for what is known.
    fn steps(&mut self, level: &Level, number: usize, known: &[AttrId]) -> Result<Arc<Steps>, Refusal> {
        if level.known == known {
            return Ok(Arc::clone(&level.steps));
        }
        let key = (number, known.to_vec());
        if let Some(steps) = self.steps.get(&key) {
            return Ok(Arc::clone(steps));
        }
        self.budget.call()?;
        let steps = Arc::new(steps(self.registry, &level.fields, known));
        self.steps.insert(key, Arc::clone(&steps));
        Ok(steps)
    }

    /// Fails a strict request by the first attribute that is missing.
    fn check(&self, level: &Level, groups: &[Group], rows: &[Row]) -> Result<(), Halt> {
        for (group, place) in groups.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row))) {
            let row = &rows[*place];
            let mut faults = level.fields.iter().filter_map(|field| {
                field_error(field, row, &group.steps).map(|(cause, _)| (cause, &field.key))
            });
            if let Some((cause, key)) = faults.next() {
                let error = row.first_error().or_else(|| missing(self.registry, self.viewer, cause, key));
                return Err(Halt::Failed(Failure { cause, key: key.clone(), error }));
            }
        }
        Ok(())
    }
}

impl Place {
    /// Returns the place of a level below, whose recursions begin anew.
    pub(super) fn below(&self, level: usize) -> Self {
        Self { level, depth: self.depth.saturating_add(1), left: Vec::new() }
    }

    /// Returns the place of the same level one recursion further down.
    pub(super) fn recur(&self) -> Self {
        Self { level: self.level, depth: self.depth.saturating_add(1), left: self.left.clone() }
    }

    /// Returns how often a field of bounded recursion may still recur.
    pub(super) fn left(&self, field: usize, below: &Below) -> u64 {
        let left = self.left.iter().find(|(number, _)| *number == field).map(|(_, left)| *left);
        match below {
            Below::Depth(depth) => left.unwrap_or(*depth),
            Below::Nothing | Below::Level(_) | Below::Union(_) | Below::Unbounded => 0,
        }
    }
}

/// Finds what is wrong with a field of a row, if it has to be there and is not.
pub(super) fn field_error(field: &Field, row: &Row, steps: &Steps) -> Option<(Cause, Value)> {
    match field.source {
        Source::Attr(attr, true) if row.has(attr) => None,
        Source::Attr(attr, true) => attribute_error(row, steps, attr, field.is_optional),
        // To those who may not see it, an attribute does not exist.
        Source::Attr(_, false) => (!field.is_optional).then(unreachable),
        Source::Ident(..) | Source::Placeholder | Source::Call(_) => None,
    }
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

const OP_NAME: &str = "com.wsscode.pathom3.connect.operation/op-name";
