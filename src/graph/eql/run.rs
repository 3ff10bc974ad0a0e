//! Answers one request: mutations first, in order, then the query, level by level.
//!
//! Contains the order of the steps. Readers are called in `fetch.rs`, joins are followed in `joins.rs`, maps are
//! built in `assemble.rs`.
//!
//! Invariant: Rust's stack is at most as deep as the answer, which the depth limit bounds.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::failure::{Cause, QueryFailure, attribute_error, exception, mutation_error, unreachable};
use super::level::CallPlan;
use super::level::{Below, Field, Level, Source};
use super::limits::Budget;
use super::missing::missing;
use super::names::Names;
use super::plan::steps;
use super::plan_fault::{FAULTS, PlanFault};
use super::row::EntityRow;
use super::{Limits, MutationCall, Plan, QueryRefusal};
use crate::edn::{Map, Value};
use crate::graph::registry::{Access, AttrId, Registry, ResolverError, ViewOf, Viewer, World};

/// One request: a plan and the data to answer it with.
pub struct QueryRequest<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The attributes that are given for the root.
    pub entity: &'a Map,
    /// Lenient: errors are part of the answer. Strict: the first error fails the request.
    pub is_lenient: bool,
    /// The limits.
    pub limits: Limits,
    /// Polled before each call and each level; true stops the query.
    pub stop: &'a dyn Fn() -> bool,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryAnswer {
    /// The answer.
    Done(Map),
    /// Why the strict request failed.
    Failed(QueryFailure),
}

/// Why a run ends early.
pub(super) enum Abort {
    Failed(QueryFailure),
    Refused(QueryRefusal),
}

/// The state of one request.
pub(super) struct Runner<'a, W: World> {
    pub(super) registry: &'a Registry<W>,
    pub(super) viewer: Viewer,
    pub(super) is_lenient: bool,
    pub(super) budget: Budget<'a>,
    pub(super) names: Names,
    /// The levels of the plan.
    pub(super) levels: Vec<Arc<Level>>,
    steps: BTreeMap<(usize, Vec<AttrId>), Arc<CallPlan>>,
    /// The parsed calls of the root's mutations, by field: all are parsed before any runs.
    calls: BTreeMap<usize, Result<W::Call, ResolverError>>,
    /// The answers of the root's mutations, by field.
    pub(super) called: BTreeMap<usize, Value>,
}

/// A position in the answer: a level, its depth, and how often its bounded recursions may still recur, by field.
pub(super) struct LevelFrame {
    pub(super) level: usize,
    pub(super) depth: u32,
    pub(super) left: Vec<(usize, u64)>,
}

/// Rows of a level that know the same attributes, and so share a call plan.
pub(super) struct RowGroup {
    pub(super) steps: Arc<CallPlan>,
    pub(super) rows: Vec<usize>,
}

/// Answers a request.
///
/// # Errors
///
/// Returns the limit that the request exceeds, or [`QueryRefusal::Stopped`] if the `stop` callback returned true.
pub fn run<W: World>(
    registry: &Registry<W>,
    request: &QueryRequest<'_>,
    access: &mut dyn Access<W>,
) -> Result<QueryAnswer, QueryRefusal> {
    let mut runner = Runner {
        registry,
        viewer: request.plan.viewer,
        is_lenient: request.is_lenient,
        budget: Budget::new(request.limits, request.stop),
        // Readers may answer names that the query does not have. They must not get into the plan, which is shared.
        names: request.plan.names.clone(),
        levels: request.plan.levels.clone(),
        // Call plans of this request alone: the shared plan is a value that many requests use.
        steps: BTreeMap::new(),
        calls: BTreeMap::new(),
        called: BTreeMap::new(),
    };
    match runner.root(request.entity, &request.plan.faults, access) {
        Ok(Value::Map(map)) => Ok(QueryAnswer::Done(map)),
        Ok(_) => Ok(QueryAnswer::Done(Map::new())),
        Err(Abort::Failed(failure)) => Ok(QueryAnswer::Failed(failure)),
        Err(Abort::Refused(refusal)) => Err(refusal),
    }
}

impl<W: World> Runner<'_, W> {
    fn root(
        &mut self,
        entity: &Map,
        faults: &[PlanFault],
        access: &mut dyn Access<W>,
    ) -> Result<Value, Abort> {
        let place = LevelFrame { level: 0, depth: 1, left: Vec::new() };
        self.budget.admit(entity)?;
        let Some(root) = self.levels.first().cloned() else {
            return Ok(Value::Nil);
        };
        let mut known = Vec::new();
        for (key, value) in entity {
            let id = self.names.id(self.registry, key);
            // A caller must not provide what it may not see: it could read other entities through it.
            if self.registry.is_visible(id, self.viewer) {
                known.push((id, value.clone()));
            }
        }
        // A name that looked misspelt is no fault if the caller has given a value for it.
        let is_given = |fault: &&PlanFault| fault.path.is_empty() && entity.contains_key(&fault.key);
        let faults: Vec<&PlanFault> = faults.iter().filter(|fault| !is_given(fault)).collect();
        // Strict mode checks everything that can fail without running, so that a failed request has changed nothing.
        self.read_calls(&root);
        if !self.is_lenient {
            if let Some(fault) = faults.first() {
                return Err(Abort::Failed(fault.failure()));
            }
            self.check_mutations(&root, &known, access)?;
        }
        for (number, field) in root.fields.iter().enumerate() {
            if let Source::Call(call) = &field.source {
                let result = self.mutate(number, call, access)?;
                let result = match result {
                    Ok(value) => {
                        // Each mutation's result is read right after it, before the next mutation changes the state.
                        self.look(access, |runner, view| runner.under(view, &place, number, value))?
                    }
                    Err(error) => mutation_error(&error),
                };
                self.called.insert(number, result);
            }
        }
        // The query is read from one snapshot, taken after all mutations.
        let mut answers =
            self.look(access, move |runner, view| runner.level(view, &place, vec![EntityRow::of(known)]))?;
        let answer = answers.pop().unwrap_or(Value::Nil);
        match answer.as_map().filter(|_| !faults.is_empty()) {
            None => Ok(answer),
            Some(map) => {
                let faults: Vec<Value> = faults.into_iter().map(PlanFault::to_value).collect();
                Ok(map.clone().with(FAULTS, faults).into())
            }
        }
    }

    /// Parses the calls of all mutations. In lenient mode each call reports its own error when it is its turn.
    fn read_calls(&mut self, root: &Level) {
        for (number, field) in root.fields.iter().enumerate() {
            if let Source::Call(call) = &field.source
                && let Some(mutation) = self.registry.mutation(&call.name, self.viewer)
            {
                self.calls.insert(number, mutation.declared.read(&call.params));
            }
        }
    }

    /// Fails a strict request before it has changed anything, if an attribute of the root is unreachable, a mutation
    /// is unknown, or a mutation's parameters are wrong.
    fn check_mutations(
        &mut self,
        root: &Level,
        known: &[(AttrId, Value)],
        access: &mut dyn Access<W>,
    ) -> Result<(), Abort> {
        let attributes = self.registry.len();
        let mut ids: Vec<AttrId> =
            known.iter().map(|(id, _)| *id).filter(|id| id.is_below(attributes)).collect();
        // Call plans are found by the sorted list of what is known.
        ids.sort_unstable();
        let steps = self.steps(root, 0, &ids)?;
        let is_known = |attr: AttrId| known.iter().any(|(id, _)| *id == attr);
        for (number, field) in root.fields.iter().enumerate() {
            if let Some(Err(fault)) = self.calls.get(&number) {
                // A caller that may not act at all is told so before anything is said about its parameters.
                let mut error = Some(fault.clone());
                if let Source::Call(call) = &field.source
                    && let Some(mutation) = self.registry.mutation(&call.name, self.viewer)
                {
                    access.act(&mut |hand| error = mutation.declared.call(hand, Err(fault.clone())).err());
                }
                return Err(Abort::Failed(QueryFailure {
                    cause: Cause::Mutation,
                    key: field.key.clone(),
                    error,
                }));
            }
            let cause = match &field.source {
                Source::Attr(attr, is_visible) => {
                    // A hidden attribute is lost even if the caller gives it. Any other that the caller gives needs no reader.
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
                return Err(Abort::Failed(QueryFailure { cause, key: field.key.clone(), error }));
            }
        }
        Ok(())
    }

    /// Runs a closure on one snapshot of the world.
    fn look<T>(
        &mut self,
        access: &mut dyn Access<W>,
        reading: impl FnOnce(&mut Self, ViewOf<'_, W>) -> Result<T, Abort>,
    ) -> Result<T, Abort> {
        // If the implementation does not call back, the query counts as stopped.
        let mut result = Err(Abort::Refused(QueryRefusal::Stopped));
        let mut reading = Some(reading);
        access.with_view(&mut |view| {
            if let Some(reading) = reading.take() {
                result = reading(self, view);
            }
        });
        result
    }

    /// Calls a mutation. In lenient mode its error is part of the answer.
    fn mutate(
        &mut self,
        number: usize,
        call: &MutationCall,
        access: &mut dyn Access<W>,
    ) -> Result<Result<Value, ResolverError>, Abort> {
        self.budget.call()?;
        let (mut result, mut read) = (None, self.calls.remove(&number));
        match self.registry.mutation(&call.name, self.viewer) {
            // `take`, so that a call runs at most once, however often the implementation calls back.
            Some(mutation) => access.act(&mut |hand| {
                result = read.take().map(|call| mutation.declared.call(hand, call));
            }),
            None => {
                let message = format!("Mutation {} not found", call.name);
                let data = Map::new().with(OP_NAME, call.name.clone());
                result = Some(Err(ResolverError::new(message, data)));
            }
        }
        match result {
            Some(Err(error)) if !self.is_lenient => {
                let key = Value::Symbol(call.name.clone());
                Err(Abort::Failed(QueryFailure { cause: Cause::Mutation, key, error: Some(error) }))
            }
            Some(result) => Ok(result),
            None => Err(Abort::Refused(QueryRefusal::Stopped)),
        }
    }

    /// Answers one level for all its entities, in order.
    pub(super) fn level(
        &mut self,
        view: ViewOf<'_, W>,
        place: &LevelFrame,
        mut rows: Vec<EntityRow>,
    ) -> Result<Vec<Value>, Abort> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        self.budget.enter(place.depth, rows.len())?;
        // Cloned, because the levels below need the runner as a whole.
        let Some(level) = self.levels.get(place.level).cloned() else {
            return Ok(Vec::new());
        };
        // Fetch everything of this level, then go below: each level is read for all entities at once.
        let groups = self.groups(&level, place.level, &rows)?;
        self.fetch(view, &groups, &mut rows)?;
        if !self.is_lenient {
            self.check(&level, &groups, &rows)?;
        }
        let below = self.below(view, place, &level, &mut rows)?;
        Ok(self.assemble(&level, &groups, rows, below)?)
    }

    /// Groups rows that know the same attributes. Usually all rows do, so the previous group is tried first.
    fn groups(
        &mut self,
        level: &Level,
        number: usize,
        rows: &[EntityRow],
    ) -> Result<Vec<RowGroup>, QueryRefusal> {
        let attributes = self.registry.len();
        let mut groups: Vec<(Vec<AttrId>, RowGroup)> = Vec::new();
        let mut index: BTreeMap<Vec<AttrId>, usize> = BTreeMap::new();
        for (place, row) in rows.iter().enumerate() {
            // Names that are no attributes lead to no reader, so they do not distinguish groups.
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
            groups.push((known, RowGroup { steps, rows: vec![place] }));
        }
        Ok(groups.into_iter().map(|(_, group)| group).collect())
    }

    /// Returns the plan's calls, or plans new ones if the row knows other attributes than expected.
    fn steps(
        &mut self,
        level: &Level,
        number: usize,
        known: &[AttrId],
    ) -> Result<Arc<CallPlan>, QueryRefusal> {
        if level.known == known {
            return Ok(Arc::clone(&level.steps));
        }
        let key = (number, known.to_vec());
        if let Some(steps) = self.steps.get(&key) {
            return Ok(Arc::clone(steps));
        }
        // Charged as a call: rows that a caller provides could otherwise force any amount of planning.
        self.budget.call()?;
        let steps = Arc::new(steps(self.registry, &level.fields, known));
        self.steps.insert(key, Arc::clone(&steps));
        Ok(steps)
    }

    /// Fails a strict request at the first missing attribute.
    fn check(&self, level: &Level, groups: &[RowGroup], rows: &[EntityRow]) -> Result<(), Abort> {
        for (group, place) in groups.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row))) {
            let row = &rows[*place];
            let mut faults = level.fields.iter().filter_map(|field| {
                field_error(field, row, &group.steps).map(|(cause, _)| (cause, &field.key))
            });
            if let Some((cause, key)) = faults.next() {
                // The reader's own error says more than that the attribute is missing.
                let error = row.first_error().or_else(|| missing(self.registry, self.viewer, cause, key));
                return Err(Abort::Failed(QueryFailure { cause, key: key.clone(), error }));
            }
        }
        Ok(())
    }
}

impl LevelFrame {
    /// Returns the frame of a level below, where recursions start counting again.
    pub(super) fn below(&self, level: usize) -> Self {
        Self { level, depth: self.depth.saturating_add(1), left: Vec::new() }
    }

    /// Returns the frame of the same level, one recursion deeper.
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

/// Returns the error of a field that a row must have and does not.
pub(super) fn field_error(field: &Field, row: &EntityRow, steps: &CallPlan) -> Option<(Cause, Value)> {
    match field.source {
        Source::Attr(attr, true) if row.has(attr) => None,
        Source::Attr(attr, true) => attribute_error(row, steps, attr, field.is_optional),
        // Alike for a name and for a value that is wrong: a value is refused by the reader.
        Source::Attr(_, false) if field.refused.is_some() => {
            field.refused.as_ref().map(|error| exception(0, error))
        }
        // An attribute that the viewer may not see does not exist for it.
        Source::Attr(_, false) => (!field.is_optional).then(unreachable),
        Source::Ident(..) | Source::Placeholder | Source::Call(_) => None,
    }
}

impl From<QueryRefusal> for Abort {
    fn from(refusal: QueryRefusal) -> Self {
        Self::Refused(refusal)
    }
}

const OP_NAME: &str = "com.wsscode.pathom3.connect.operation/op-name";
