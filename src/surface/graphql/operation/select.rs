//! Collects the fields that an operation selects, once its variables are known: expands fragments, merges fields and
//! coerces arguments.
//!
//! Source: the GraphQL specification, §6.3 `CollectFields`. Invariant: a selection contains only fields of the schema,
//! and its depth and complexity are within the limits.

use async_graphql::parser::types::{Directive, ExecutableDocument, Field, Selection as Item, SelectionSet};
use async_graphql::{Pos, Positioned};

use super::coerce::{self, Variables};
use super::document::within;
use crate::edn::{Map, Value};
use crate::limits::{GRAPHQL_COMPLEXITY, GRAPHQL_DEPTH, GRAPHQL_FIELDS, GRAPHQL_LIST_ENTRIES, GRAPHQL_PAGE};
use crate::surface::graphql::error::{Code, GraphqlError};
use crate::surface::graphql::execution::write;
use crate::surface::graphql::schema::model::{Entries, Leaf, SchemaModel};

/// The fields that are selected from one object.
#[derive(Clone, Default)]
pub(in crate::surface::graphql) struct Selection {
    /// The number of the object's type.
    pub(in crate::surface::graphql) object: usize,
    pub(in crate::surface::graphql) fields: Vec<Selected>,
}

/// One field of the answer.
#[derive(Clone)]
pub(in crate::surface::graphql) struct Selected {
    /// The response key: the alias, or the field's name.
    pub(in crate::surface::graphql) key: String,
    /// The key as JSON, with the colon: `"key":`.
    pub(in crate::surface::graphql) prefix: String,
    pub(in crate::surface::graphql) what: SelectedKind,
    pub(in crate::surface::graphql) params: Map,
    /// The positions of all fields that were merged into this one.
    pub(in crate::surface::graphql) positions: Vec<Pos>,
    pub(in crate::surface::graphql) below: Option<Selection>,
    /// The position of the value in the graph's answer.
    pub(in crate::surface::graphql) at: Locator,
}

/// The kind of a selected field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::surface::graphql) enum SelectedKind {
    /// A field of the type, by number.
    Field(usize),
    Typename,
    /// `__schema` or `__type`, which async-graphql answers.
    Introspection,
}

/// Builds the selection of an operation, and counts its cost.
pub(in crate::surface::graphql) struct Selecting<'d> {
    pub(super) model: &'d SchemaModel,
    pub(in crate::surface::graphql) document: &'d ExecutableDocument,
    pub(in crate::surface::graphql) variables: &'d Variables,
    /// Leaves so far, each counted as often as the answer may contain it.
    pub(in crate::surface::graphql) complexity: u64,
    /// Fields and fragments visited so far.
    pub(in crate::surface::graphql) fields: usize,
}

/// The fields with one response key, in document order.
type Group<'d> = (&'d str, Vec<&'d Positioned<Field>>);

impl<'d> Selecting<'d> {
    pub(in crate::surface::graphql) fn new(
        model: &'d SchemaModel,
        document: &'d ExecutableDocument,
        variables: &'d Variables,
    ) -> Self {
        Self { model, document, variables, complexity: 0, fields: 0 }
    }

    /// Builds the selection from the selection sets of one object type; `times` is how many such objects the answer may
    /// have.
    pub(in crate::surface::graphql) fn select(
        &mut self,
        object: usize,
        sets: &[&'d SelectionSet],
        (depth, times): (usize, u64),
    ) -> Result<Selection, GraphqlError> {
        within(depth, GRAPHQL_DEPTH, "the operation is deeper")?;
        let (mut groups, mut opened) = (Vec::new(), Vec::new());
        for set in sets {
            self.collect(object, set, &mut groups, &mut opened)?;
        }
        let mut fields = Vec::with_capacity(groups.len());
        for group in groups {
            fields.push(self.field(object, &group, (depth, times))?);
        }
        Ok(Selection { object, fields })
    }

    fn collect(
        &mut self,
        object: usize,
        set: &'d SelectionSet,
        groups: &mut Vec<Group<'d>>,
        opened: &mut Vec<&'d str>,
    ) -> Result<(), GraphqlError> {
        for item in &set.items {
            if self.is_skipped(item.node.directives()) {
                continue;
            }
            // Fragments count as well, because expanding one costs work even if it adds no field.
            self.fields += 1;
            within(self.fields, GRAPHQL_FIELDS, "the operation has, with fragments opened, more")?;
            match &item.node {
                Item::Field(field) => {
                    let key = field.node.response_key().node.as_str();
                    match groups.iter_mut().find(|(earlier, _)| *earlier == key) {
                        Some((_, fields)) => fields.push(field),
                        None => groups.push((key, vec![field])),
                    }
                }
                Item::InlineFragment(inline) => {
                    // The schema has no interfaces or unions, so a type condition applies to the type of that name only.
                    let on = inline.node.type_condition.as_ref().map(|on| on.node.on.node.as_str());
                    if on.is_none_or(|on| on == self.model.objects[object].name) {
                        self.collect(object, &inline.node.selection_set.node, groups, opened)?;
                    }
                }
                Item::FragmentSpread(spread) => {
                    let name = spread.node.fragment_name.node.as_str();
                    let on = &self.model.objects[object].name;
                    let fragment = self.document.fragments.get(name).map(|fragment| &fragment.node);
                    // Each fragment is expanded once per object (§6.3.2, `visitedFragments`).
                    let fragment = fragment.filter(|_| !opened.contains(&name));
                    if let Some(fragment) = fragment.filter(|each| each.type_condition.node.on.node == *on) {
                        opened.push(name);
                        self.collect(object, &fragment.selection_set.node, groups, opened)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn is_skipped(&self, directives: &[Positioned<Directive>]) -> bool {
        directives.iter().any(|directive| {
            let condition = || {
                let literal = directive.node.get_argument("if");
                literal.is_some_and(|literal| coerce::condition(&literal.node, self.variables))
            };
            match directive.node.name.node.as_str() {
                "skip" => condition(),
                "include" => !condition(),
                _ => false,
            }
        })
    }

    fn field(
        &mut self,
        object: usize,
        (key, group): &Group<'d>,
        (depth, times): (usize, u64),
    ) -> Result<Selected, GraphqlError> {
        let model = self.model;
        let first = group[0];
        let name = first.node.name.node.as_str();
        for other in &group[1..] {
            is_mergeable(key, first, other)?;
        }
        let mut prefix = String::new();
        write::text(key, &mut prefix);
        prefix.push(':');
        let mut selected = Selected {
            key: (*key).to_owned(),
            prefix,
            what: SelectedKind::Typename,
            params: Map::new(),
            positions: group.iter().map(|field| field.pos).collect(),
            below: None,
            at: Locator::default(),
        };
        if name.starts_with("__") {
            selected.what =
                if name == "__typename" { SelectedKind::Typename } else { SelectedKind::Introspection };
            self.count(times)?;
            return Ok(selected);
        }
        let Some(number) = model.objects[object].field(name) else {
            let message =
                format!("Cannot query field \"{name}\" on type \"{}\".", model.objects[object].name);
            return Err(GraphqlError::new(Code::Document, message).at(first.pos));
        };
        let field = &model.objects[object].fields[number];
        selected.what = SelectedKind::Field(number);
        // The arguments of the first field serve for the group: `is_mergeable` has checked that all are equal.
        selected.params = coerce::arguments(model, &field.args, &first.node.arguments, self.variables)?;
        let entries = entries(field.entries, &mut selected.params);
        match field.out.leaf {
            Leaf::Object(below) => {
                // The selection sets of all merged fields are collected as one (§6.3.2, `MergeSelectionSets`).
                let sets: Vec<&SelectionSet> =
                    group.iter().map(|each| &each.node.selection_set.node).collect();
                // Nested lists multiply. The product saturates, because an overflow must not make it small.
                let place = (depth + 1, times.saturating_mul(entries));
                selected.below = Some(self.select(below, &sets, place)?);
            }
            Leaf::Scalar(_) | Leaf::Enum(_) => self.count(times)?,
        }
        Ok(selected)
    }

    /// Adds leaves to the complexity.
    fn count(&mut self, times: u64) -> Result<(), GraphqlError> {
        self.complexity = self.complexity.saturating_add(times);
        let found = usize::try_from(self.complexity).unwrap_or(usize::MAX);
        within(found, GRAPHQL_COMPLEXITY, "the operation may be answered with more")
    }
}

/// Returns how many entries a field counts for: the number that is requested, else a page's default length or the
/// assumed length of a list without pages.
fn entries(entries: Entries, params: &mut Map) -> u64 {
    if entries == Entries::One {
        return 1;
    }
    let asked = ["first", "last"].iter().find_map(|name| params.keyword(name)?.as_int());
    if let Some(asked) = asked {
        // At least one: no number may make the fields below free.
        return u64::try_from(asked).unwrap_or(0).max(1);
    }
    if entries == Entries::Listed {
        return GRAPHQL_LIST_ENTRIES.value;
    }
    let page = i64::try_from(GRAPHQL_PAGE.value).unwrap_or(i64::MAX);
    // Also passed on as an argument, so that the page has no more entries than are counted here.
    params.insert(Value::keyword("first"), page.into());
    GRAPHQL_PAGE.value
}

/// Checks that two fields with one response key are equal in name and arguments. Source: the specification, §5.3.2.
fn is_mergeable(key: &str, first: &Positioned<Field>, other: &Positioned<Field>) -> Result<(), GraphqlError> {
    // async-graphql makes this check for the fields of one selection set only. It misses fields that meet when the
    // selection sets of merged fields are collected together.
    let conflict = |why: String| {
        let message = format!(
            "Fields \"{key}\" conflict because {why}. Use different aliases on the fields to fetch both if this was \
             intentional."
        );
        let locations = vec![(first.pos.line, first.pos.column), (other.pos.line, other.pos.column)];
        Err(GraphqlError { locations, ..GraphqlError::new(Code::Document, message) })
    };
    if first.node.name.node != other.node.name.node {
        let (one, two) = (&first.node.name.node, &other.node.name.node);
        return conflict(format!("\"{one}\" and \"{two}\" are different fields"));
    }
    let is_same = first.node.arguments.len() == other.node.arguments.len()
        && first.node.arguments.iter().all(|(name, value)| {
            other.node.get_argument(&name.node).is_some_and(|other| other.node == value.node)
        });
    if is_same { Ok(()) } else { conflict("they have differing arguments".into()) }
}

/// The position of a value in the map of its row.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::surface::graphql) struct Locator {
    /// The placeholder that contains the value; `None` if it is in the row itself.
    pub(in crate::surface::graphql) within: Option<Value>,
    pub(in crate::surface::graphql) key: Value,
    /// The index of the entry, if no entry before it is missing.
    pub(in crate::surface::graphql) place: usize,
}

impl Default for Locator {
    fn default() -> Self {
        // No entry has this index, so that a lookup goes by the key.
        Self { within: None, key: Value::Nil, place: usize::MAX }
    }
}
