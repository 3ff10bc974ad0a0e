//! Calls readers: the only place that does, on the general path.
//!
//! Contains: which rows take part in a call, and how the result becomes a value.
//!
//! Invariant: an entity is looked up once per call, however many of its attributes are read.

use super::level::PlannedCall;
use super::limits::QueryRefusal;
use super::row::EntityRow;
use super::run::{RowGroup, Runner};
use crate::edn::Value;
use crate::graph::registry::{AttrId, Datum, ResolverError, ViewOf, World};

impl<W: World> Runner<'_, W> {
    /// Makes the planned calls of all groups.
    pub(super) fn fetch(
        &mut self,
        view: ViewOf<'_, W>,
        groups: &[RowGroup],
        rows: &mut [EntityRow],
    ) -> Result<(), QueryRefusal> {
        for group in groups {
            for (number, step) in group.steps.calls.iter().enumerate() {
                // One call serves all rows of the group, and is charged once.
                self.budget.call()?;
                for row in &group.rows {
                    self.read(view, (step, number), &mut rows[*row])?;
                }
            }
        }
        Ok(())
    }

    /// Reads the attributes that a call provides for one entity.
    fn read(
        &mut self,
        view: ViewOf<'_, W>,
        (step, number): (&PlannedCall, usize),
        row: &mut EntityRow,
    ) -> Result<(), QueryRefusal> {
        let operation = &self.registry.operations()[step.operation];
        let key = operation.key();
        // The number is valid only if the row was referred to by the key that this operation looks entities up by.
        let found = match row.found {
            Some((by, found)) if Some(by) == key => Some(found),
            Some(_) | None => {
                let key = key.and_then(|attr| row.get(attr)).unwrap_or(&Value::Nil);
                operation.readers.find(view, key)
            }
        };
        // Not found is no error here: the attributes stay missing, and the caller reports that.
        let Some(found) = found else {
            return Ok(());
        };
        for (attr, reader) in &step.wanted {
            let result = operation.readers.read(view, found, *reader, &step.params);
            if let Ok(datum) = &result {
                self.budget.take(datum)?;
            }
            let result = result.and_then(|datum| self.value(view, *attr, datum, row));
            match result {
                Ok(value) => row.add(*attr, value),
                Err(error) => row.log.push((number, *attr, error)),
            }
        }
        Ok(())
    }

    /// Converts a datum to an owned value; an entity becomes its key, and its number is recorded in the row.
    fn value(
        &self,
        view: ViewOf<'_, W>,
        attr: AttrId,
        datum: Datum<'_>,
        row: &mut EntityRow,
    ) -> Result<Value, ResolverError> {
        // Rows hold keys, which wildcards, unions and recursion need. The numbers are recorded beside them, so that the level
        // below need not look the entities up again.
        let (found, is_many) = match datum {
            Datum::Entity(found) => (vec![found], false),
            Datum::Entities(found) => (found, true),
            Datum::Nil | Datum::Bool(_) | Datum::Int(_) | Datum::Text(_) | Datum::Shown(_) => {
                return Ok(datum.into_value());
            }
            Datum::Name(_) | Datum::Inst(_) | Datum::Value(_) => return Ok(datum.into_value()),
        };
        let Some(referred) = self.registry.reads_referred(attr) else {
            return Err(ResolverError::new("a reader refers to what has no readers", Value::Nil));
        };
        let keys = found.iter().map(|found| referred.key_of(view, *found));
        let mut keys = keys.collect::<Result<Vec<Value>, _>>()?;
        row.refer(attr, found);
        Ok(if is_many { Value::vector(keys) } else { keys.pop().unwrap_or(Value::Nil) })
    }
}
