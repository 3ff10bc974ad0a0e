//! Which resolvers to call for one entity, in which order.
//!
//! Lives here: from what is known and what is asked for to a list of calls. It looks at no data.
//!
//! Invariant: a call stands behind the calls that provide its inputs; the same knowledge and goals give the
//! same steps.

use crate::edn::{Map, Value};
use crate::graph::registry::{AttrId, Reach, Registry, Run, World};

/// The calls for entities of which the same is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Steps {
    pub(super) calls: Vec<Step>,
    /// What no call provides.
    pub(super) unreachable: Vec<AttrId>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The number of the operation.
    pub(super) operation: usize,
    pub(super) params: Map,
    /// What it is called for; it is not called where all of it is known.
    pub(super) expects: Vec<AttrId>,
    /// Where one of these is known, another way has succeeded, and this call is not needed.
    pub(super) unless: Vec<AttrId>,
    /// For readers of a row: their numbers.
    pub(super) wanted: Vec<usize>,
}

/// What is asked for.
pub(super) struct Goal<'a> {
    pub(super) attr: AttrId,
    pub(super) params: &'a Map,
}

impl Steps {
    /// Finds the calls from what is known to the goals.
    pub(super) fn find<W: World>(registry: &Registry<W>, known: &[AttrId], goals: &[Goal<'_>]) -> Self {
        let reach = Reach::from(registry, known);
        let mut search = Search { registry, known, reach, busy: Vec::new(), steps: Self::default() };
        for goal in goals {
            if !search.need(goal, &[]) {
                search.steps.unreachable.push(goal.attr);
            }
        }
        let mut steps = search.steps;
        for step in &mut steps.calls {
            let operation = &registry.operations()[step.operation];
            if let Run::Row(_) = operation.run {
                let number = |attr| operation.outputs.iter().position(|(output, _)| output == attr);
                step.wanted = step.expects.iter().filter_map(number).collect();
            }
        }
        steps
    }

    /// Returns the steps as data.
    pub(super) fn to_value<W: World>(&self, registry: &Registry<W>) -> Value {
        let keys = |ids: &[AttrId]| {
            Value::vector(ids.iter().filter_map(|id| registry.key(*id).cloned()).collect::<Vec<_>>())
        };
        let call = |step: &Step| {
            let operation = &registry.operations()[step.operation];
            let map = Map::new().with("call", operation.name.clone()).with("for", keys(&step.expects));
            let map = if step.params.is_empty() { map } else { map.with("params", step.params.clone()) };
            let map = if operation.is_batch() { map.with("batch?", true) } else { map };
            Value::Map(if step.unless.is_empty() { map } else { map.with("unless", keys(&step.unless)) })
        };
        Value::vector(self.calls.iter().map(call).collect::<Vec<_>>())
    }
}

struct Search<'r, W: World> {
    registry: &'r Registry<W>,
    known: &'r [AttrId],
    reach: Reach,
    /// The attributes whose providers are being looked for, so that no call needs itself.
    busy: Vec<AttrId>,
    steps: Steps,
}

impl<W: World> Search<'_, W> {
    /// Adds the calls that an attribute needs. All its providers are added, the nearest first: where one
    /// fails, the next one is called.
    fn need(&mut self, goal: &Goal<'_>, unless: &[AttrId]) -> bool {
        if self.known.contains(&goal.attr) {
            return true;
        }
        if self.busy.contains(&goal.attr) || self.reach.attr(goal.attr).is_none() {
            return false;
        }
        if self.is_planned(goal, unless) {
            return true;
        }
        let mut providers: Vec<(u32, usize)> = Vec::new();
        for number in self.registry.providers(goal.attr) {
            providers.extend(self.reach.operation(*number).map(|round| (round, *number)));
        }
        providers.sort_unstable();
        self.busy.push(goal.attr);
        let mut is_found = false;
        for (_, number) in providers {
            let mut unless = unless.to_vec();
            if is_found {
                unless.push(goal.attr);
            }
            if self.need_inputs(number, &unless) {
                self.add(number, goal, &unless);
                is_found = true;
            }
        }
        self.busy.pop();
        is_found
    }

    fn need_inputs(&mut self, number: usize, unless: &[AttrId]) -> bool {
        let registry = self.registry;
        let none = Map::new();
        for input in &registry.operations()[number].inputs {
            let is_there = self.need(&Goal { attr: input.attr, params: &none }, unless);
            if input.is_required && !is_there {
                return false;
            }
        }
        true
    }

    fn is_planned(&self, goal: &Goal<'_>, unless: &[AttrId]) -> bool {
        self.steps.calls.iter().any(|step| {
            step.expects.contains(&goal.attr)
                && step.params == *goal.params
                && step.unless.iter().all(|id| unless.contains(id))
        })
    }

    /// Adds a call, or one more reason for a call that is there.
    fn add(&mut self, operation: usize, goal: &Goal<'_>, unless: &[AttrId]) {
        let same = |step: &&mut Step| step.operation == operation && step.params == *goal.params;
        match self.steps.calls.iter_mut().find(same) {
            Some(step) => {
                step.unless.retain(|id| unless.contains(id));
                if !step.expects.contains(&goal.attr) {
                    step.expects.push(goal.attr);
                }
            }
            None => self.steps.calls.push(Step {
                operation,
                params: goal.params.clone(),
                expects: vec![goal.attr],
                unless: unless.to_vec(),
                wanted: Vec::new(),
            }),
        }
    }
}
