//! A level of a plan: what is asked of the entities of one place in the answer.

use std::sync::Arc;

use super::Call;
use super::steps::Steps;
use crate::edn::{Map, Value};
use crate::graph::registry::AttrId;

/// What is asked of the entities of one place in the answer.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) fields: Vec<Field>,
    pub(super) has_wildcard: bool,
    /// Whether one mutation is called twice, and so two fields go by one key.
    pub(super) has_twins: bool,
    /// What is expected to be known of the entities.
    pub(super) known: Vec<AttrId>,
    pub(super) steps: Arc<Steps>,
}

/// One thing asked for.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// What it goes by in the answer.
    pub(super) key: Value,
    pub(super) params: Map,
    pub(super) is_optional: bool,
    /// Whether a value is answered as it is: it refers to nothing, and hides nothing from the viewer.
    pub(super) is_whole: bool,
    pub(super) source: Source,
    pub(super) below: Below,
}

/// Where the value comes from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// An attribute; nothing when the viewer may not see it.
    Attr(AttrId, bool),
    /// An entity that the query names.
    Ident(AttrId, Value),
    /// The entity itself once more.
    Placeholder,
    /// A mutation.
    Call(Call),
}

/// What is asked of the entities under it.
#[derive(Clone, Debug)]
pub(super) enum Below {
    Nothing,
    Level(usize),
    Union(Vec<(AttrId, usize)>),
    Depth(u64),
    Unbounded,
}

impl Field {
    /// Returns whether the field goes back to what was known to begin with.
    pub(super) fn needs_source(&self) -> bool {
        match (&self.source, &self.below) {
            (Source::Placeholder, _) | (_, Below::Unbounded) => true,
            (_, Below::Nothing | Below::Level(_) | Below::Union(_) | Below::Depth(_)) => false,
        }
    }
}
