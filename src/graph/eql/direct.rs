//! Which plans can be walked: they only go from entities to entities and read attributes off them.
//!
//! Lives here: finding that out, once for a plan. Does not live here: the walk, see `walk.rs`.

use super::level::{Below, Field, Level, Source};
use super::{Plan, text};
use crate::edn::{Map, Value};
use crate::graph::registry::{AttrId, Registry, Run, World};

/// A plan that can be walked.
#[derive(Debug)]
pub(super) struct Direct {
    /// What is written at each level, by the number of the plan's level.
    pub(super) levels: Vec<Vec<Cell>>,
    /// What is known of the root.
    pub(super) known: Vec<AttrId>,
}

/// One thing that is written.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) key: Value,
    /// The key as it is written in EDN, with the space that follows.
    pub(super) text: String,
    pub(super) from: From,
    pub(super) below: Option<usize>,
}

/// Where it comes from.
#[derive(Debug)]
pub(super) enum From {
    /// A reader of an operation, by number.
    Reader { operation: usize, reader: usize, params: Map },
    /// The entity that the query names.
    Ident { operation: usize, key: Value },
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
}

impl Plan {
    /// Finds where something stands among what a level is asked for, and the level below it; nothing where the plan
    /// cannot be walked.
    pub fn place(&self, level: usize, key: &Value) -> Option<(usize, Option<usize>)> {
        let cells = self.direct.as_ref()?.levels.get(level)?;
        let place = cells.iter().position(|cell| cell.key == *key)?;
        Some((place, cells[place].below))
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
    Some(Cell { key: field.key.clone(), text: text::key(&field.key), from, below: join })
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
