//! From rows to maps.
//!
//! Contains: the order of keys, the wildcard, the visibility of maps that are answered whole, and where errors are
//! placed. Nothing is called here.
//!
//! Invariants: keys are in the order of the query; an answer contains nothing that the viewer may not see.

use super::failure::ATTRIBUTE_ERRORS;
use super::joins::{Collection, Column, is_key};
use super::level::{CallPlan, Level, Source};
use super::limits::{QueryRefusal, weight};
use super::row::EntityRow;
use super::run::{RowGroup, Runner, field_error};
use crate::edn::{Map, Value};
use crate::graph::registry::{AttrId, Viewer, World};

impl<W: World> Runner<'_, W> {
    /// Builds the map of each row.
    ///
    /// # Errors
    /// The limit on the bytes of the answer.
    pub(super) fn assemble(
        &mut self,
        level: &Level,
        groups: &[RowGroup],
        rows: Vec<EntityRow>,
        mut columns: Vec<Option<Column>>,
    ) -> Result<Vec<Value>, QueryRefusal> {
        // Errors of a row are found through its call plan, so each row needs that of its group.
        let mut steps: Vec<Option<&CallPlan>> = vec![None; rows.len()];
        for group in groups {
            for row in &group.rows {
                steps[*row] = Some(&*group.steps);
            }
        }
        let mut answers = Vec::with_capacity(rows.len());
        for (at, (row, steps)) in rows.into_iter().zip(steps).enumerate() {
            let (answer, bytes) = self.map(level, (row, steps), at, &mut columns);
            self.budget.put(bytes)?;
            answers.push(answer);
        }
        Ok(answers)
    }

    fn map(
        &self,
        level: &Level,
        (mut row, steps): (EntityRow, Option<&CallPlan>),
        at: usize,
        columns: &mut [Option<Column>],
    ) -> (Value, usize) {
        // Of the row's own values: those of the levels below have been charged there.
        let mut bytes = 0;
        let mut entries = Vec::with_capacity(level.fields.len());
        let mut errors = Vec::new();
        for (field, column) in level.fields.iter().zip(columns) {
            let value = match (&field.source, column) {
                // A column is moved out: each answer belongs to one row.
                (_, Some(column)) => column.get_mut(at).and_then(Option::take),
                (Source::Attr(attr, true), None) => {
                    let value = row.take(*attr, false);
                    bytes += value.as_ref().map_or(0, weight);
                    if field.is_whole { value } else { value.map(|value| self.whole(*attr, value)) }
                }
                (Source::Attr(..) | Source::Ident(..) | Source::Placeholder | Source::Call(_), None) => None,
            };
            if let Some(value) = value {
                // A caller may choose long keys, and each stands in the answer once for each row.
                bytes += weight(&field.key);
                entries.push((field.key.clone(), value));
            // In strict mode the level has been checked before, so here only lenient mode reports what is missing.
            } else if let Some(steps) = steps.filter(|_| self.is_lenient) {
                let error = field_error(field, &row, steps);
                errors.extend(error.map(|(_, error)| (field.key.clone(), error)));
            }
        }
        if errors.is_empty() && !level.has_wildcard && !level.has_twins {
            // No key can occur twice, so the entries need no search for duplicates.
            return (Value::Map(Map::from_entries(entries).unwrap_or_default()), bytes);
        }
        if level.has_wildcard {
            self.add_rest(row, &mut entries);
        }
        if !errors.is_empty() {
            let errors: Map = errors.into_iter().collect();
            entries.push((Value::keyword(ATTRIBUTE_ERRORS), errors.into()));
        }
        (Value::Map(entries.into_iter().collect()), bytes)
    }

    /// Returns a row at the end of a bounded recursion: what it has of the level's attributes, without reading more.
    pub(super) fn select(&self, level: usize, mut row: EntityRow) -> Value {
        let Some(level) = self.levels.get(level) else {
            return self.rest(row);
        };
        let mut entries = Vec::new();
        for field in &level.fields {
            if let Source::Attr(attr, true) = field.source
                && let Some(value) = row.take(attr, false)
            {
                entries.push((field.key.clone(), self.whole(attr, value)));
            }
        }
        if level.has_wildcard {
            self.add_rest(row, &mut entries);
        }
        Value::Map(entries.into_iter().collect())
    }

    /// Adds what a wildcard stands for: all known attributes that the query does not name.
    fn add_rest(&self, row: EntityRow, entries: &mut Vec<(Value, Value)>) {
        // Only what the query names can be named twice: the keys of the rest are distinct.
        let asked = entries.len();
        for (key, value) in self.visible(row.into_rest()) {
            if entries[..asked].iter().all(|(asked, _)| *asked != key) {
                entries.push((key, value));
            }
        }
    }

    /// Returns everything that a row knows and the viewer may see.
    pub(super) fn rest(&self, row: EntityRow) -> Value {
        Value::Map(self.visible(row.into_rest()).collect())
    }

    fn visible(&self, data: Vec<(AttrId, Value)>) -> impl Iterator<Item = (Value, Value)> {
        let data = data.into_iter().filter(|(id, _)| self.registry.is_visible(*id, self.viewer));
        data.map(|(id, value)| (self.names.key(self.registry, id).clone(), self.whole(id, value)))
    }

    /// Returns a value without a subquery: keys of referred entities become maps, and what the viewer may not see is
    /// removed at every depth.
    pub(super) fn whole(&self, attr: AttrId, value: Value) -> Value {
        let refers_to = self.registry.refers_to(attr);
        // Operators see everything and scalars contain nothing, so most values pass without a copy.
        if refers_to.is_none() && (self.viewer == Viewer::Operator || is_key(&value) || value.is_nil()) {
            return value;
        }
        let value = match Collection::split(value) {
            Ok((shape, items)) => {
                return shape.join(items.into_iter().map(|item| self.whole(attr, item)).collect());
            }
            Err(value) => value,
        };
        match (value, refers_to) {
            (Value::Map(map), _) => {
                Value::Map(map.into_iter().filter_map(|entry| self.entry(entry)).collect())
            }
            (value, Some(key)) if is_key(&value) => Value::Map(self.visible(vec![(key, value)]).collect()),
            (value, _) => value,
        }
    }

    fn entry(&self, (key, value): (Value, Value)) -> Option<(Value, Value)> {
        let id = key.as_keyword().and_then(|key| self.registry.id(key)).unwrap_or(AttrId::NONE);
        let is_visible = self.registry.is_visible(id, self.viewer);
        is_visible.then(|| (key, self.whole(id, value)))
    }
}
