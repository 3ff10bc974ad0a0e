//! Which plans the fast path can answer: those that only follow references and read attributes.
//!
//! Contains the check, made once per plan. The walk itself is in `fast_path.rs`.

use super::level::{Below, Field, Level, Source};
use crate::edn::{Map, Value};
use crate::graph::registry::{AttrId, Registry, World};

/// A plan for the fast path.
#[derive(Debug)]
pub(super) struct FastPlan {
    /// The fields of each level, by the number of the plan's level.
    pub(super) levels: Vec<Vec<FastField>>,
    /// The attributes that are given for the root.
    pub(super) known: Vec<AttrId>,
}

/// One field of the answer.
#[derive(Debug)]
pub(super) struct FastField {
    pub(super) key: Value,
    /// The key as EDN text, with the space that follows it.
    pub(super) text: String,
    pub(super) from: FastSource,
    pub(super) below: Option<usize>,
}

/// Where a field's value comes from.
#[derive(Debug)]
pub(super) enum FastSource {
    /// A reader of an operation, both by number.
    Reader { operation: usize, reader: usize, params: Map },
    /// The entity that an ident of the query names.
    Ident { operation: usize, key: Value },
}

impl FastPlan {
    /// Converts a plan; returns `None` if some level needs the general path.
    pub(super) fn of<W: World>(levels: &[std::sync::Arc<Level>], registry: &Registry<W>) -> Option<Self> {
        let mut fast = Self { levels: Vec::new(), known: levels.first()?.known.clone() };
        fast.levels.resize_with(levels.len(), Vec::new);
        for (number, level) in levels.iter().enumerate() {
            // A wildcard depends on what the entity turns out to have, and duplicate keys have to be merged.
            if level.has_wildcard || level.has_twins {
                return None;
            }
            // Below the root the walk holds an entity, so its key must be the one attribute that is known.
            let below = if number == 0 { None } else { Some(one(&level.known)?) };
            let fields = level.fields.iter().map(|field| fast_field(registry, level, field, below));
            fast.levels[number] = fields.collect::<Option<_>>()?;
        }
        Some(fast)
    }

    /// Finds the index of a field by its key at a level, and the level below it.
    pub(super) fn place(&self, level: usize, key: &Value) -> Option<(usize, Option<usize>)> {
        let fields = self.levels.get(level)?;
        let place = fields.iter().position(|fast_field| fast_field.key == *key)?;
        Some((place, fields[place].below))
    }
}

/// Converts a field, if the fast path can write it; `below` is the key attribute of the level's entities, `None` at
/// the root.
fn fast_field<W: World>(
    registry: &Registry<W>,
    level: &Level,
    field: &Field,
    below: Option<AttrId>,
) -> Option<FastField> {
    let join = match &field.below {
        Below::Nothing => None,
        Below::Level(number) => Some(*number),
        Below::Union(_) | Below::Depth(_) | Below::Unbounded => return None,
    };
    let from = match &field.source {
        // Only references may be joined: a reference alone is answered as a map, and a joined value is searched for
        // maps.
        Source::Attr(attr, true) if registry.refers_to(*attr).is_some() == join.is_some() => {
            let operation = match below.filter(|key| key == attr) {
                // No call is planned for the key, because the row knows it. The walk has only a number, so it reads the key.
                Some(key) => registry.reads(key)?,
                None => level.steps.calls.iter().find(|step| step.expects(*attr))?.operation,
            };
            let declared = registry.operations().get(operation)?;
            // The walk reads by the entity it is at. A reader with another key would need a lookup of its own.
            if below.is_some() && declared.key() != below {
                return None;
            }
            let reader = declared.outputs.iter().position(|output| output == attr)?;
            FastSource::Reader { operation, reader, params: field.params.clone() }
        }
        Source::Ident(attr, key) if join.is_some() => {
            FastSource::Ident { operation: registry.reads(*attr)?, key: key.clone() }
        }
        Source::Attr(..) | Source::Ident(..) | Source::Placeholder | Source::Call(_) => return None,
    };
    Some(FastField { key: field.key.clone(), text: key_text(&field.key), from, below: join })
}

/// Returns the key of an entry as it is written before its value.
fn key_text(key: &Value) -> String {
    let mut text = key.to_string();
    text.push(' ');
    text
}

fn one(known: &[AttrId]) -> Option<AttrId> {
    if let [only] = known { Some(*only) } else { None }
}
