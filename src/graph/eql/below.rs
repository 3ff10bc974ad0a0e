//! Going below joins: from the values under an attribute to entities, and back.
//!
//! Invariant: the entities under one join of all rows of a level are answered together, in one level.

use super::failure::{Cause, Failure};
use super::level::{Below, Field, Level, Source};
use super::plan::Planner;
use super::row::Row;
use super::run::{Halt, Place, Runner};
use super::{Query, Refusal};
use crate::edn::{Map, Value};
use crate::graph::registry::{AttrId, Seen, World};

/// What came of a field for each row; nothing where there was no value.
pub(super) type Column = Vec<Option<Value>>;

/// The form of a value, with places for entities.
enum Slot {
    /// No entity at all.
    Plain(Value),
    /// The entity of this number.
    One(usize),
    /// A vector, list or set of such.
    Many(Shape, Vec<Self>),
}

/// The collections that may hold entities.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Vector,
    List,
    Set,
}

impl<W: World> Runner<'_, W> {
    /// Answers all fields that go below; the others have no column.
    pub(super) fn below(
        &mut self,
        view: Seen<'_, W>,
        place: &Place,
        level: &Level,
        rows: &mut [Row],
    ) -> Result<Vec<Option<Column>>, Halt> {
        let mut columns = Vec::with_capacity(level.fields.len());
        for (number, _) in level.fields.iter().enumerate() {
            columns.push(self.column(view, place, (number, level), rows)?);
        }
        Ok(columns)
    }

    fn column(
        &mut self,
        view: Seen<'_, W>,
        place: &Place,
        (number, level): (usize, &Level),
        rows: &mut [Row],
    ) -> Result<Option<Column>, Halt> {
        let field = &level.fields[number];
        let keeps_source = level.fields.iter().any(Field::needs_source);
        let mut below = Vec::new();
        let slots: Vec<Option<Slot>> = match &field.source {
            Source::Attr(_, _) if matches!(field.below, Below::Nothing) => return Ok(None),
            Source::Attr(_, false) => return Ok(Some(vec![None; rows.len()])),
            Source::Attr(attr, true) => {
                let mut slots = Vec::with_capacity(rows.len());
                for row in rows {
                    let Some(value) = row.take(*attr, keeps_source) else {
                        slots.push(None);
                        continue;
                    };
                    let first = below.len();
                    slots.push(Some(self.slot(*attr, value, &mut below)));
                    let key = self.registry.refers_to(*attr);
                    for (child, found) in below[first..].iter_mut().zip(row.take_referred(*attr)) {
                        child.found = key.map(|key| (key, found));
                    }
                    if let Below::Unbounded = field.below {
                        chain(row, &mut below[first..], place.level, &field.key)?;
                    }
                }
                slots
            }
            Source::Ident(attr, value) => {
                let is_visible = self.registry.is_visible(*attr, self.viewer);
                let known = || is_visible.then(|| (*attr, value.clone()));
                below.extend(rows.iter().map(|_| Row::of(known())));
                (0..rows.len()).map(|at| Some(Slot::One(at))).collect()
            }
            Source::Placeholder => {
                let given: Vec<(AttrId, Value)> = field
                    .params
                    .iter()
                    .map(|(key, value)| (self.names.id(self.registry, key), value.clone()))
                    .filter(|(id, _)| self.registry.is_visible(*id, self.viewer))
                    .collect();
                let is_given = |id: AttrId| given.iter().any(|(given, _)| *given == id);
                let row = |row: &Row| {
                    let source = row.source().iter().filter(|(id, _)| !is_given(*id));
                    Row::of(given.iter().chain(source).cloned())
                };
                below.extend(rows.iter().map(row));
                (0..rows.len()).map(|at| Some(Slot::One(at))).collect()
            }
            // Only the root has mutations, and only one row.
            Source::Call(_) => return Ok(Some(vec![self.called.remove(&number)])),
        };
        let answers = self.descend(view, place, (number, &field.below), below)?;
        Ok(Some(fill(slots, answers)))
    }

    /// Answers what a mutation's join asks of its result.
    pub(super) fn under(
        &mut self,
        view: Seen<'_, W>,
        place: &Place,
        number: usize,
        value: Value,
    ) -> Result<Value, Halt> {
        let Some(Below::Level(level)) = self.levels[place.level].fields.get(number).map(|field| &field.below)
        else {
            return Ok(self.whole(NO_ATTR, value));
        };
        let (place, mut rows) = (place.below(*level), Vec::new());
        let slot = self.slot(NO_ATTR, value, &mut rows);
        let answers = self.level(view, &place, rows)?.into_iter().map(Some).collect();
        Ok(fill(vec![Some(slot)], answers).pop().flatten().unwrap_or(Value::Nil))
    }

    /// Answers what an input asks of the entities under it.
    pub(super) fn nested(
        &mut self,
        view: Seen<'_, W>,
        place: &Place,
        attr: AttrId,
        values: Column,
    ) -> Result<Column, Halt> {
        let mut rows = Vec::new();
        let slot = |value: Option<Value>| value.map(|value| self.slot(attr, value, &mut rows));
        let slots = values.into_iter().map(slot).collect();
        let answers = self.level(view, place, rows)?.into_iter().map(Some).collect();
        Ok(fill(slots, answers))
    }

    /// Returns the level of an input, making it when it is needed first.
    pub(super) fn input_level(&mut self, input: (usize, usize), query: &Query) -> Result<usize, Refusal> {
        if let Some(level) = self.inputs.get(&input) {
            return Ok(*level);
        }
        // Resolvers may need what the viewer may not see.
        let viewer = crate::graph::registry::Viewer::Operator;
        let names = std::mem::take(&mut self.names);
        let mut planner = Planner {
            registry: self.registry,
            viewer,
            limits: self.limits,
            names,
            levels: vec![],
            fields: 0,
            path: Vec::new(),
            faults: Vec::new(),
            first: self.levels.len(),
        };
        let planned = planner.level(query, Vec::new(), 1);
        self.names = planner.names;
        let level = planned?;
        self.levels.extend(planner.levels.into_iter().flatten().map(std::sync::Arc::new));
        self.inputs.insert(input, level);
        Ok(level)
    }

    fn descend(
        &mut self,
        view: Seen<'_, W>,
        place: &Place,
        (number, below): (usize, &Below),
        rows: Vec<Row>,
    ) -> Result<Column, Halt> {
        let all = |answers: Vec<Value>| answers.into_iter().map(Some).collect();
        match below {
            Below::Nothing => Ok(rows.into_iter().map(|row| Some(self.rest(row))).collect()),
            Below::Level(level) => self.level(view, &place.below(*level), rows).map(all),
            Below::Unbounded => self.level(view, &place.recur(), rows).map(all),
            Below::Depth(_) => {
                let Some(left) = place.left(number, below).checked_sub(1) else {
                    return Ok(rows.into_iter().map(|row| Some(self.select(place.level, row))).collect());
                };
                let mut place = place.recur();
                place.left.retain(|(field, _)| *field != number);
                place.left.push((number, left));
                self.level(view, &place, rows).map(all)
            }
            Below::Union(entries) => self.union(view, place, entries, rows),
        }
    }

    /// Answers each entity by the first entry whose key it has; those without any have no answer.
    fn union(
        &mut self,
        view: Seen<'_, W>,
        place: &Place,
        entries: &[(AttrId, usize)],
        rows: Vec<Row>,
    ) -> Result<Column, Halt> {
        let mut column = vec![None; rows.len()];
        let mut rows: Vec<Option<Row>> = rows.into_iter().map(Some).collect();
        let (registry, viewer) = (self.registry, self.viewer);
        for (key, level) in entries.iter().filter(|(key, _)| registry.is_visible(*key, viewer)) {
            let (mut places, mut chosen) = (Vec::new(), Vec::new());
            for (at, slot) in rows.iter_mut().enumerate() {
                if let Some(row) = slot.take_if(|row| row.has(*key)) {
                    places.push(at);
                    chosen.push(row);
                }
            }
            let answers = self.level(view, &place.below(*level), chosen)?;
            for (at, answer) in places.into_iter().zip(answers) {
                column[at] = Some(answer);
            }
        }
        Ok(column)
    }

    /// Finds the entities in a value.
    fn slot(&mut self, attr: AttrId, value: Value, rows: &mut Vec<Row>) -> Slot {
        let refers_to = self.registry.refers_to(attr);
        match Shape::split(value) {
            Ok((shape, items)) => {
                rows.reserve(items.len());
                Slot::Many(shape, items.into_iter().map(|item| self.item(refers_to, item, rows)).collect())
            }
            Err(value) => self.item(refers_to, value, rows),
        }
    }

    /// A map is an entity; under a reference, so is the value of its key.
    fn item(&mut self, refers_to: Option<AttrId>, value: Value, rows: &mut Vec<Row>) -> Slot {
        if let Some(key) = refers_to.filter(|_| is_key(&value)) {
            rows.push(Row::of([(key, value)]));
        } else if let Value::Map(map) = value {
            let row = self.row(map);
            rows.push(row);
        } else {
            return Slot::Plain(value);
        }
        Slot::One(rows.len() - 1)
    }

    fn row(&mut self, map: Map) -> Row {
        let registry = self.registry;
        Row::of(map.into_iter().map(|(key, value)| (self.names.id(registry, &key), value)))
    }
}

/// Links the entities below to the row above, unless one of them has been gone through before.
fn chain(row: &Row, below: &mut [Row], level: usize, key: &Value) -> Result<(), Halt> {
    let link = row.link(level);
    for child in below {
        if link.repeats(child, level) {
            let failure = Failure { cause: Cause::Cycle, key: key.clone(), error: None };
            return Err(Halt::Failed(failure));
        }
        child.chain = Some(std::rc::Rc::clone(&link));
    }
    Ok(())
}

/// Puts the answers where the entities were. In a collection, an entity without an answer is left out.
fn fill(slots: Vec<Option<Slot>>, mut answers: Column) -> Column {
    let whole = |slot: Slot| value(slot, &mut answers).unwrap_or(Value::Nil);
    let mut whole = whole;
    slots.into_iter().map(|slot| slot.map(&mut whole)).collect()
}

fn value(slot: Slot, answers: &mut Column) -> Option<Value> {
    match slot {
        Slot::Plain(value) => Some(value),
        Slot::One(at) => answers.get_mut(at).and_then(Option::take),
        Slot::Many(shape, slots) => {
            let items: Vec<Value> = slots.into_iter().filter_map(|slot| value(slot, answers)).collect();
            Some(shape.join(items))
        }
    }
}

impl Shape {
    /// Takes a collection apart; what is none comes back.
    pub(super) fn split(value: Value) -> Result<(Self, Vec<Value>), Value> {
        if let Value::Vector(items) = value {
            Ok((Self::Vector, items.into_vec()))
        } else if let Value::List(items) = value {
            Ok((Self::List, items.into_vec()))
        } else if let Value::Set(items) = value {
            Ok((Self::Set, items.into_iter().collect()))
        } else {
            Err(value)
        }
    }

    pub(super) fn join(self, items: Vec<Value>) -> Value {
        match self {
            Self::Vector => Value::vector(items),
            Self::List => Value::list(items),
            Self::Set => Value::set(items),
        }
    }
}

/// Whether a value can be that of a key; collections and nil are none.
pub(super) fn is_key(value: &Value) -> bool {
    !value.is_nil() && value.as_items().is_none() && value.as_map().is_none() && value.as_set().is_none()
}

/// No attribute has this number.
const NO_ATTR: AttrId = AttrId::NONE;
