//! Joins: from the values of a reference to the entities below it, and from their answers back into the values.
//!
//! Invariant: the entities below one join, for all rows of a level, are answered together as one level.

use super::failure::{Cause, QueryFailure};
use super::level::{Below, Field, Level, Source};
use super::row::EntityRow;
use super::run::{Abort, LevelFrame, Runner};
use crate::domain::Code;
use crate::edn::{Map, Value};
use crate::graph::registry::{AttrId, ResolverError, ViewOf, World};

/// The answers of one field, one per row; `None` where the row has no value.
pub(super) type Column = Vec<Option<Value>>;

/// The shape of a value, with placeholders for the entities in it.
enum ValueTemplate {
    /// A value that is no entity.
    Plain(Value),
    /// The entity with this index among the rows of the level below.
    One(usize),
    /// A collection of templates.
    Many(Collection, Vec<Self>),
}

/// The collections that may hold entities.
#[derive(Clone, Copy)]
pub(super) enum Collection {
    Vector,
    List,
    Set,
}

impl<W: World> Runner<'_, W> {
    /// Answers every field that needs a level below or a call; the other fields get no column.
    pub(super) fn below(
        &mut self,
        view: ViewOf<'_, W>,
        place: &LevelFrame,
        level: &Level,
        rows: &mut [EntityRow],
    ) -> Result<Vec<Option<Column>>, Abort> {
        let mut columns = Vec::with_capacity(level.fields.len());
        // Field by field, each for all rows: a join enters the level below once, and not once per row.
        for (number, _) in level.fields.iter().enumerate() {
            columns.push(self.column(view, place, (number, level), rows)?);
        }
        Ok(columns)
    }

    fn column(
        &mut self,
        view: ViewOf<'_, W>,
        place: &LevelFrame,
        (number, level): (usize, &Level),
        rows: &mut [EntityRow],
    ) -> Result<Option<Column>, Abort> {
        let field = &level.fields[number];
        // A placeholder or recursion below needs what the row began with, so its values are copied rather than moved.
        let keeps_source = level.fields.iter().any(Field::needs_source);
        let mut below = Vec::new();
        let slots: Vec<Option<ValueTemplate>> = match &field.source {
            Source::Attr(_, _) if matches!(field.below, Below::Nothing) => return Ok(None),
            // Not read at all: a hidden attribute has no value in any row.
            Source::Attr(_, false) => return Ok(Some(vec![None; rows.len()])),
            Source::Attr(attr, true) => {
                let mut slots = Vec::with_capacity(rows.len());
                for row in rows {
                    let Some(value) = row.take(*attr, keeps_source) else {
                        slots.push(None);
                        continue;
                    };
                    // All rows append to one list, which is answered in one go; `first..` is the part that this row
                    // added.
                    let first = below.len();
                    slots.push(Some(self.slot(*attr, value, &mut below)));
                    // Readers that returned entity numbers spare the level below the lookup by key.
                    let key = self.registry.refers_to(*attr);
                    for (child, found) in below[first..].iter_mut().zip(row.take_referred(*attr)) {
                        child.found = key.map(|key| (key, found));
                    }
                    if let Below::Unbounded = field.below {
                        chain(row, &mut below[first..], place.level)
                            .map_err(|again| self.cycle(&field.key, again))?;
                    }
                }
                slots
            }
            // An ident names its entity, so what the row knows is not passed on.
            Source::Ident(attr, value) => {
                let is_visible = self.registry.is_visible(*attr, self.viewer);
                let known = || is_visible.then(|| (*attr, value.clone()));
                below.extend(rows.iter().map(|_| EntityRow::of(known())));
                (0..rows.len()).map(|at| Some(ValueTemplate::One(at))).collect()
            }
            // A placeholder continues at the same entity. The parameters of a joined Pathom's placeholder override what the
            // entity began with; other placeholders have none (`fault.rs`).
            Source::Placeholder => {
                let given: Vec<(AttrId, Value)> = field
                    .params
                    .iter()
                    .map(|(key, value)| (self.names.id(self.registry, key), value.clone()))
                    .filter(|(id, _)| self.registry.is_visible(*id, self.viewer))
                    .collect();
                let is_given = |id: AttrId| given.iter().any(|(given, _)| *given == id);
                let row = |row: &EntityRow| {
                    let source = row.source().iter().filter(|(id, _)| !is_given(*id));
                    EntityRow::of(given.iter().chain(source).cloned())
                };
                below.extend(rows.iter().map(row));
                (0..rows.len()).map(|at| Some(ValueTemplate::One(at))).collect()
            }
            // Only the root has mutations, and the root has one row. They have run by now.
            Source::Call(_) => return Ok(Some(vec![self.called.remove(&number)])),
        };
        let answers = self.descend(view, place, (number, &field.below), below)?;
        Ok(Some(fill(slots, answers)))
    }

    /// Answers the subquery of a mutation's join on the mutation's result.
    pub(super) fn under(
        &mut self,
        view: ViewOf<'_, W>,
        place: &LevelFrame,
        number: usize,
        value: Value,
    ) -> Result<Value, Abort> {
        let Some(Below::Level(level)) = self.levels[place.level].fields.get(number).map(|field| &field.below)
        else {
            return Ok(self.whole(NO_ATTR, value));
        };
        let (place, mut rows) = (place.below(*level), Vec::new());
        // The result belongs to no attribute, so only its maps are entities; a bare key in it leads nowhere.
        let slot = self.slot(NO_ATTR, value, &mut rows);
        let answers = self.level(view, &place, rows)?.into_iter().map(Some).collect();
        Ok(fill(vec![Some(slot)], answers).pop().flatten().unwrap_or(Value::Nil))
    }

    /// The failure of a recursion without an end: the same entity again is the same answer again.
    fn cycle(&self, key: &Value, again: Vec<(AttrId, Value)>) -> Abort {
        let entry = |(id, value): (AttrId, Value)| (self.names.key(self.registry, id).clone(), value);
        let again = Value::Map(again.into_iter().map(entry).collect());
        let hint = format!("give a depth in the place of ..., as in {{{key} 2}}");
        let data = Map::new().with("again", again.clone()).with("hint", hint);
        let message = format!("the recursion of {key} has no end: it comes back to {again}");
        let error = ResolverError::new(message, data).coded(Code::Validation);
        Abort::Failed(QueryFailure { cause: Cause::Cycle, key: key.clone(), error: Some(error) })
    }

    fn descend(
        &mut self,
        view: ViewOf<'_, W>,
        place: &LevelFrame,
        (number, below): (usize, &Below),
        rows: Vec<EntityRow>,
    ) -> Result<Column, Abort> {
        let all = |answers: Vec<Value>| answers.into_iter().map(Some).collect();
        match below {
            // No subquery: the entity is answered with what it knows, nothing is read.
            Below::Nothing => Ok(rows.into_iter().map(|row| Some(self.rest(row))).collect()),
            Below::Level(level) => self.level(view, &place.below(*level), rows).map(all),
            Below::Unbounded => self.level(view, &place.recur(), rows).map(all),
            Below::Depth(_) => {
                // At the last level of a bounded recursion the entity is answered as it is.
                let Some(left) = place.left(number, below).checked_sub(1) else {
                    return Ok(rows.into_iter().map(|row| Some(self.select(place.level, row))).collect());
                };
                let mut place = place.recur();
                // The counter is per field: other recursions of this level keep theirs.
                place.left.retain(|(field, _)| *field != number);
                place.left.push((number, left));
                self.level(view, &place, rows).map(all)
            }
            Below::Union(entries) => self.union(view, place, entries, rows),
        }
    }

    /// Answers each entity with the first union entry whose key it has; an entity with none of the keys has no
    /// answer.
    fn union(
        &mut self,
        view: ViewOf<'_, W>,
        place: &LevelFrame,
        entries: &[(AttrId, usize)],
        rows: Vec<EntityRow>,
    ) -> Result<Column, Abort> {
        let mut column = vec![None; rows.len()];
        let mut rows: Vec<Option<EntityRow>> = rows.into_iter().map(Some).collect();
        let (registry, viewer) = (self.registry, self.viewer);
        // A key that the viewer may not see must not choose an entry: the choice would reveal that it is there.
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

    /// Replaces the entities in a value by placeholders and appends them to `rows`.
    fn slot(&mut self, attr: AttrId, value: Value, rows: &mut Vec<EntityRow>) -> ValueTemplate {
        let refers_to = self.registry.refers_to(attr);
        // Only the outer collection is split. A collection inside it stays as it is.
        match Collection::split(value) {
            Ok((shape, items)) => {
                rows.reserve(items.len());
                ValueTemplate::Many(
                    shape,
                    items.into_iter().map(|item| self.item(refers_to, item, rows)).collect(),
                )
            }
            Err(value) => self.item(refers_to, value, rows),
        }
    }

    /// Converts one item: a map is an entity, and so is a key below a reference. Everything else stays a plain value.
    fn item(&mut self, refers_to: Option<AttrId>, value: Value, rows: &mut Vec<EntityRow>) -> ValueTemplate {
        // A map below a reference is already an entity, with whatever its reader put into it.
        if let Some(key) = refers_to.filter(|_| is_key(&value)) {
            rows.push(EntityRow::of([(key, value)]));
        } else if let Value::Map(map) = value {
            let row = self.row(map);
            rows.push(row);
        } else {
            return ValueTemplate::Plain(value);
        }
        ValueTemplate::One(rows.len() - 1)
    }

    fn row(&mut self, map: Map) -> EntityRow {
        let registry = self.registry;
        EntityRow::of(map.into_iter().map(|(key, value)| (self.names.id(registry, &key), value)))
    }
}

/// Links the entities below to the row above, or fails if the recursion has passed through one of them before: with what
/// is known of that one.
fn chain(row: &EntityRow, below: &mut [EntityRow], level: usize) -> Result<(), Vec<(AttrId, Value)>> {
    let link = row.link(level);
    for child in below {
        if link.repeats(child, level) {
            return Err(child.source().to_vec());
        }
        child.chain = Some(std::rc::Rc::clone(&link));
    }
    Ok(())
}

/// Puts the answers where the entities were. An entity without an answer is left out of its collection.
fn fill(slots: Vec<Option<ValueTemplate>>, mut answers: Column) -> Column {
    let mut whole = |slot: ValueTemplate| value(slot, &mut answers).unwrap_or(Value::Nil);
    slots.into_iter().map(|slot| slot.map(&mut whole)).collect()
}

fn value(slot: ValueTemplate, answers: &mut Column) -> Option<Value> {
    match slot {
        ValueTemplate::Plain(value) => Some(value),
        // Each entity has one place, so its answer is moved.
        ValueTemplate::One(at) => answers.get_mut(at).and_then(Option::take),
        ValueTemplate::Many(shape, slots) => {
            let items: Vec<Value> = slots.into_iter().filter_map(|slot| value(slot, answers)).collect();
            Some(shape.join(items))
        }
    }
}

impl Collection {
    /// Splits a collection into its kind and items; returns any other value unchanged as the error.
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

/// Returns true if a value can be the key of an entity, which collections and nil cannot.
pub(super) fn is_key(value: &Value) -> bool {
    !value.is_nil() && value.as_items().is_none() && value.as_map().is_none() && value.as_set().is_none()
}

/// No attribute has this number; it stands for values that no attribute holds, such as a mutation's result.
const NO_ATTR: AttrId = AttrId::NONE;
