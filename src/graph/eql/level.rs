//! A level of a plan: what the entities at one place of the answer are asked for, and the calls that answer it.
//!
//! Invariants: the key of a call is among the known attributes; equal knowledge and goals give equal calls. A plan of calls
//! depends on no data.

use std::sync::Arc;

use super::MutationCall;
use crate::edn::{Map, Value};
use crate::graph::registry::{AttrId, Registry, ResolverError, World};

/// What the entities at one place of the answer are asked for.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) fields: Vec<Field>,
    pub(super) has_wildcard: bool,
    /// True if two fields share a key, which happens when one mutation is called twice.
    pub(super) has_twins: bool,
    /// The attributes that the entities are expected to know.
    pub(super) known: Vec<AttrId>,
    pub(super) steps: Arc<CallPlan>,
}

/// One field of a level.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// The key of the field in the answer.
    pub(super) key: Value,
    pub(super) params: Map,
    pub(super) is_optional: bool,
    /// True if the value needs no processing: it refers to no entity and hides nothing from the viewer.
    pub(super) is_whole: bool,
    pub(super) source: Source,
    /// What is wrong with its parameters. Such a field is not read.
    pub(super) refused: Option<ResolverError>,
    pub(super) below: Below,
}

/// Where a field's value comes from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// An attribute, and whether the viewer may see it.
    Attr(AttrId, bool),
    /// The entity that an ident of the query names.
    Ident(AttrId, Value),
    /// The same entity again, under a key of the query's choice.
    Placeholder,
    /// A mutation.
    Call(MutationCall),
}

/// What the entities of a field are asked for.
#[derive(Clone, Debug)]
pub(super) enum Below {
    Nothing,
    Level(usize),
    Union(Vec<(AttrId, usize)>),
    Depth(u64),
    Unbounded,
}

impl Field {
    /// Returns true if the level below starts from what the row knew before anything was read.
    pub(super) fn needs_source(&self) -> bool {
        match (&self.source, &self.below) {
            (Source::Placeholder, _) | (_, Below::Unbounded) => true,
            (_, Below::Nothing | Below::Level(_) | Below::Union(_) | Below::Depth(_)) => false,
        }
    }
}

/// The calls for rows that know the same attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallPlan {
    pub(super) calls: Vec<PlannedCall>,
    /// The goals that no call provides.
    pub(super) unreachable: Vec<AttrId>,
}

/// One planned call of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedCall {
    /// The index of the operation.
    pub(super) operation: usize,
    pub(super) params: Map,
    /// The attributes that the call is to provide, each with the index of its reader.
    pub(super) wanted: Vec<(AttrId, usize)>,
}

/// An attribute that a level asks for, with its parameters.
pub(super) struct Goal<'a> {
    pub(super) attr: AttrId,
    pub(super) params: &'a Map,
}

impl CallPlan {
    /// Plans the calls that lead from the known attributes to the goals.
    pub(super) fn find<W: World>(registry: &Registry<W>, known: &[AttrId], goals: &[Goal<'_>]) -> Self {
        let mut steps = Self::default();
        for goal in goals.iter().filter(|goal| !known.contains(&goal.attr)) {
            // One step is enough: every attribute is read by its entity's key, never from other attributes.
            let provider = registry.provider(goal.attr).filter(|number| {
                let input = registry.operations()[*number].input;
                input.is_none_or(|input| !input.is_required || known.contains(&input.attr))
            });
            match provider {
                Some(operation) => steps.add(registry, operation, goal),
                None => steps.unreachable.push(goal.attr),
            }
        }
        steps
    }

    /// Adds a goal to the call that provides it, adding the call if it is not planned yet.
    fn add<W: World>(&mut self, registry: &Registry<W>, operation: usize, goal: &Goal<'_>) {
        let outputs = &registry.operations()[operation].outputs;
        // Found always: the registry names only operations that have the attribute among their outputs.
        let Some(reader) = outputs.iter().position(|output| *output == goal.attr) else { return };
        let wanted = (goal.attr, reader);
        // Parameters are part of a call, so one attribute with different parameters needs several calls.
        let same = |step: &&mut PlannedCall| step.operation == operation && step.params == *goal.params;
        match self.calls.iter_mut().find(same) {
            Some(step) if step.wanted.contains(&wanted) => {}
            Some(step) => step.wanted.push(wanted),
            None => {
                self.calls.push(PlannedCall { operation, params: goal.params.clone(), wanted: vec![wanted] });
            }
        }
    }

    /// Returns the calls as data.
    pub(super) fn to_value<W: World>(&self, registry: &Registry<W>) -> Value {
        let call = |step: &PlannedCall| {
            let keys = step.wanted.iter().filter_map(|(attr, _)| registry.key(*attr).cloned());
            let keys = Value::vector(keys.collect::<Vec<_>>());
            let name = registry.operations()[step.operation].name.clone();
            let map = Map::new().with("call", name).with("for", keys);
            let map = if step.params.is_empty() { map } else { map.with("params", step.params.clone()) };
            Value::Map(map.with("batch?", true))
        };
        Value::vector(self.calls.iter().map(call).collect::<Vec<_>>())
    }
}

impl PlannedCall {
    /// Returns true if the call is to provide this attribute.
    pub(super) fn expects(&self, attr: AttrId) -> bool {
        self.wanted.iter().any(|(wanted, _)| *wanted == attr)
    }
}
