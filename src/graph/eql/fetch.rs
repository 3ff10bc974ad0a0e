//! The one place where resolvers are called.
//!
//! Lives here: which rows take part in a call, their inputs, and what is made of the outputs.
//!
//! Invariant: all rows of a level that come to the same call together share it, so a batch resolver is
//! called once for them, however many they are and whatever else differs between them.

use super::row::{Row, Trouble};
use super::run::{Group, Halt, Place, Runner};
use super::steps::Step;
use crate::edn::{Map, Value};
use crate::graph::registry::{AttrId, Datum, Input, Operation, ReadRow, ResolverError, Run, Seen, World};

/// A row that takes part in a call, and the number of the call in its steps.
struct Part {
    row: usize,
    number: usize,
    /// The inputs, where they were made before the call.
    input: Map,
}

impl<W: World> Runner<'_, W> {
    /// Calls what the steps of all groups say.
    pub(super) fn fetch(
        &mut self,
        view: Seen<'_, W>,
        place: &Place,
        groups: &[Group],
        rows: &mut [Row],
    ) -> Result<(), Halt> {
        let mut next = vec![0_usize; groups.len()];
        while let Some(leader) = groups.iter().zip(&next).find_map(|(group, at)| group.steps.calls.get(*at)) {
            let mut parts = Vec::new();
            for (group, at) in groups.iter().zip(&mut next) {
                let Some(step) = group.steps.calls.get(*at).filter(|step| step.is_same_call(leader)) else {
                    continue;
                };
                let mut takes_part =
                    |row: &&usize| self.takes_part(&mut rows[**row], step, (*at, &group.steps.calls));
                let members = group.rows.iter().filter(|row| takes_part(row));
                parts.extend(members.map(|row| Part { row: *row, number: *at, input: Map::new() }));
                *at += 1;
            }
            if !parts.is_empty() {
                self.call(view, place, (leader, parts), rows)?;
            }
        }
        Ok(())
    }

    /// Whether a row needs a call and has what the call needs. If it has not, the row's log says so.
    fn takes_part(&self, row: &mut Row, step: &Step, (number, steps): (usize, &[Step])) -> bool {
        let is_answered = step.expects.iter().all(|attr| row.has(*attr));
        if is_answered || step.unless.iter().any(|attr| row.has(*attr)) {
            return false;
        }
        let operation = &self.registry.operations()[step.operation];
        let is_missing = |input: &&Input| input.is_required && !row.has(input.attr);
        let missing: Vec<AttrId> =
            operation.inputs.iter().filter(is_missing).map(|input| input.attr).collect();
        if missing.is_empty() {
            return true;
        }
        let has_failed = |(at, _): &&(usize, Trouble)| {
            steps[*at].expects.iter().any(|expected| missing.contains(expected))
        };
        let trouble = match row.log.iter().find(has_failed) {
            Some((_, Trouble::Ancestor(at))) => Trouble::Ancestor(*at),
            Some((at, Trouble::Threw(..))) => Trouble::Ancestor(*at),
            None => Trouble::Threw(None, self.insufficient(operation, &missing)),
        };
        row.log.push((number, trouble));
        false
    }

    fn insufficient(&self, operation: &Operation<W>, missing: &[AttrId]) -> ResolverError {
        let keys: Vec<Value> = missing.iter().map(|id| self.names.key(self.registry, *id).clone()).collect();
        let list: Vec<String> = keys.iter().map(Value::to_string).collect();
        let message = format!(
            "Insufficient data calling resolver '{}'. Missing attrs {}",
            operation.name,
            list.join(",")
        );
        ResolverError::new(message, Map::new().with("missing", keys))
    }

    fn call(
        &mut self,
        view: Seen<'_, W>,
        place: &Place,
        (step, mut parts): (&Step, Vec<Part>),
        rows: &mut [Row],
    ) -> Result<(), Halt> {
        let registry = self.registry;
        let operation = &registry.operations()[step.operation];
        match &operation.run {
            Run::Row(readers) => {
                self.budget.call()?;
                for part in parts {
                    self.read(view, (step, part.number), &**readers, &mut rows[part.row]);
                }
            }
            Run::One(one) => {
                self.inputs(view, place, (step.operation, &mut parts), rows)?;
                for part in parts {
                    self.budget.call()?;
                    let result = one(view, &part.input, &step.params);
                    self.merge(&mut rows[part.row], part.number, result);
                }
            }
            Run::Batch(batch) => {
                self.inputs(view, place, (step.operation, &mut parts), rows)?;
                self.budget.call()?;
                let inputs: Vec<Map> = parts.iter_mut().map(|part| std::mem::take(&mut part.input)).collect();
                let mut results = match batch(view, &inputs, &step.params) {
                    Ok(results) if results.len() == inputs.len() => Ok(results.into_iter()),
                    Ok(results) => Err(self.wrong_length(operation, results.len())),
                    Err(error) => Err(error),
                };
                for part in parts {
                    let result = match &mut results {
                        Ok(results) => Ok(results.next().unwrap_or_default()),
                        Err(error) => Err(error.clone()),
                    };
                    self.merge(&mut rows[part.row], part.number, result);
                }
            }
        }
        Ok(())
    }

    /// Reads what is wanted of one entity off its readers.
    fn read(
        &self,
        view: Seen<'_, W>,
        (step, number): (&Step, usize),
        readers: &dyn ReadRow<W>,
        row: &mut Row,
    ) {
        let operation = &self.registry.operations()[step.operation];
        let key = operation.inputs.first().map(|input| input.attr);
        let found = match row.found {
            Some((by, found)) if Some(by) == key => Some(found),
            Some(_) | None => readers.find(view, key.and_then(|attr| row.get(attr)).unwrap_or(&Value::Nil)),
        };
        let Some(found) = found else {
            return;
        };
        for reader in &step.wanted {
            let attr = operation.outputs[*reader].0;
            let result = readers.read(view, found, *reader, &step.params);
            let result = result.and_then(|datum| self.value(view, attr, datum, row));
            match result {
                Ok(value) => row.add(attr, value),
                Err(error) => row.log.push((number, Trouble::Threw(Some(attr), error))),
            }
        }
    }

    /// Makes a value of its own; of entities, their keys.
    fn value(
        &self,
        view: Seen<'_, W>,
        attr: AttrId,
        datum: Datum<'_>,
        row: &mut Row,
    ) -> Result<Value, ResolverError> {
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

    fn merge(&mut self, row: &mut Row, number: usize, result: Result<Map, ResolverError>) {
        match result {
            Ok(output) => {
                for (key, value) in output {
                    row.add(self.names.id(self.registry, &key), value);
                }
            }
            Err(error) => row.log.push((number, Trouble::Threw(None, error))),
        }
    }

    /// Makes the inputs of all parts; what they need of entities below is answered for all at once.
    fn inputs(
        &mut self,
        view: Seen<'_, W>,
        place: &Place,
        (number, parts): (usize, &mut [Part]),
        rows: &[Row],
    ) -> Result<(), Halt> {
        let registry = self.registry;
        for (at, input) in registry.operations()[number].inputs.iter().enumerate() {
            let value = |part: &Part| rows[part.row].get(input.attr).cloned();
            let mut values: Vec<Option<Value>> = parts.iter().map(value).collect();
            if let Some(query) = &input.nested {
                let level = self.input_level((number, at), query)?;
                values = self.nested(view, &place.below(level), input.attr, values)?;
            }
            let key = self.names.key(registry, input.attr).clone();
            for (part, value) in parts.iter_mut().zip(values) {
                if let Some(value) = value {
                    part.input.insert(key.clone(), value);
                }
            }
        }
        Ok(())
    }

    fn wrong_length(&self, operation: &Operation<W>, found: usize) -> ResolverError {
        let message =
            format!("Resolver {} answered {found} maps, one for each input expected", operation.name);
        ResolverError::new(message, Value::Nil)
    }
}

impl Step {
    fn is_same_call(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
            || self.operation == other.operation && self.wanted == other.wanted && self.params == other.params
    }
}
