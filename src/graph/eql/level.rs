//! A level of a plan: what the entities at one place of the answer are asked for.

use std::sync::Arc;

use super::MutationCall;
use super::call_plan::CallPlan;
use crate::edn::{Map, Value};
use crate::graph::registry::AttrId;

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
