//! Writes the graph's answer as JSON, in the order of the selection.
//!
//! A field that fails is null. If it may not be null, its parent is null instead, and so on upwards; the error has the
//! path of the field. Source: the GraphQL specification, §6.4.4, and graphql-js where the specification leaves a choice.
//! Invariant: the answer is written once; text that null replaces is cut off the end of the output.

use async_graphql::Pos;

use super::write;
use crate::domain::Code as Class;
use crate::edn::{Map, Value};
use crate::surface::graphql::error::{Code, GraphqlError, Segment};
use crate::surface::graphql::operation::select::Locator;
use crate::surface::graphql::operation::select::{Selected, SelectedKind, Selection};
use crate::surface::graphql::schema::model::{Field, FieldSource, Leaf, Object, SchemaModel};

/// The sources of the answers to a root's fields.
pub(in crate::surface::graphql) struct Answers<'a> {
    /// The row of the root.
    pub(in crate::surface::graphql) row: &'a Map,
    /// The results of the root's mutations, by the positions of their fields.
    pub(in crate::surface::graphql) root_results: &'a [Option<RootResult>],
    /// async-graphql's answer to the introspection fields.
    pub(in crate::surface::graphql) introspected: Option<&'a async_graphql::Value>,
}

/// The result of one mutation.
pub(in crate::surface::graphql) enum RootResult {
    Result(Map),
    Failed(GraphqlError),
}

/// Writes the answer to an operation: `data`, and `errors` if there are any.
pub(in crate::surface::graphql) fn write(
    model: &SchemaModel,
    selection: &Selection,
    answers: &Answers<'_>,
    bytes_max: u32,
) -> String {
    let (out, errors, path) = (String::with_capacity(ROOM), Vec::new(), Vec::new());
    let mut writer =
        Writer { model, answers, out, errors, path, bytes_max: bytes_max as usize, is_full: false };
    writer.out.push_str("{\"data\":");
    let mark = writer.out.len();
    // Null has reached the root, so the data as a whole is null (§6.4.4).
    if writer.object(selection, answers.row).is_err() {
        writer.out.truncate(mark);
        writer.out.push_str("null");
    }
    // `errors` comes last, because it is complete only when the data is written.
    let Writer { mut out, errors, .. } = writer;
    if !errors.is_empty() {
        out.push_str(",\"errors\":");
        crate::surface::graphql::error::list(&errors, &mut out);
    }
    out.push('}');
    out
}

/// A step of the path. It borrows, because most answers have no error that needs the path.
enum PathStep<'a> {
    Key(&'a str),
    Index(usize),
}

/// A null that propagates to the parent. Its error is already recorded.
struct Bubble;

struct Writer<'a> {
    model: &'a SchemaModel,
    answers: &'a Answers<'a>,
    out: String,
    errors: Vec<GraphqlError>,
    path: Vec<PathStep<'a>>,
    bytes_max: usize,
    /// Whether the answer has reached its bound: nothing more is written. One value may be selected under many keys, so
    /// what was read says nothing about what is written.
    is_full: bool,
}

/// A field as it is declared and as it is selected.
#[derive(Clone, Copy)]
struct FieldContext<'a> {
    object: &'a Object,
    field: &'a Field,
    selected: &'a Selected,
}

impl<'a> Writer<'a> {
    fn object(&mut self, selection: &'a Selection, row: &'a Map) -> Result<(), Bubble> {
        let object = &self.model.objects[selection.object];
        self.out.push('{');
        for (place, selected) in selection.fields.iter().enumerate() {
            if place > 0 {
                self.out.push(',');
            }
            self.out.push_str(&selected.prefix);
            match selected.what {
                SelectedKind::Typename => write::text(&object.name, &mut self.out),
                SelectedKind::Introspection => self.introspected(&selected.key),
                SelectedKind::Field(number) => {
                    let asked = FieldContext { object, field: &object.fields[number], selected };
                    self.field(asked, row, place)?;
                }
            }
        }
        self.out.push('}');
        Ok(())
    }

    /// Writes a field. If that fails and the field may be null, null takes the place of the text written so far.
    fn field(&mut self, asked: FieldContext<'a>, row: &'a Map, place: usize) -> Result<(), Bubble> {
        self.path.push(PathStep::Key(&asked.selected.key));
        let mark = self.out.len();
        let written = self.value(asked, row, place);
        self.path.pop();
        if written.is_ok() || !asked.field.out.is_nullable {
            return written;
        }
        self.out.truncate(mark);
        self.out.push_str("null");
        Ok(())
    }

    /// Writes async-graphql's answer to an introspection field.
    fn introspected(&mut self, key: &str) {
        // Only the root has introspection fields, so the response key alone finds the answer.
        let value = match self.answers.introspected {
            Some(async_graphql::Value::Object(map)) => map.get(key),
            Some(_) | None => None,
        };
        let text = value.and_then(|value| serde_json::to_string(value).ok());
        self.out.push_str(text.as_deref().unwrap_or("null"));
    }

    /// Writes the value of a field from its source.
    fn value(&mut self, asked: FieldContext<'a>, row: &'a Map, place: usize) -> Result<(), Bubble> {
        // The error was recorded once; the fields behind it become null without errors of their own.
        if self.is_full {
            return Err(Bubble);
        }
        if self.out.len() > self.bytes_max {
            self.is_full = true;
            let message =
                format!("the answer exceeds the limit of {} bytes; ask for it in pages", self.bytes_max);
            return self.fail(asked, GraphqlError::new(Class::Limit, message));
        }
        match &asked.field.source {
            FieldSource::Attr(_) => match lookup(row, &asked.selected.at) {
                Some(value) => self.complete(asked, value),
                None => self.missing(asked, row),
            },
            FieldSource::Itself if self.is_gone(asked, row) => self.nothing(asked),
            FieldSource::Itself | FieldSource::Subscription => self.below(asked, row),
            FieldSource::Entity { witness, .. } => {
                // The graph answers an ident with a map even if no entity has the key.
                match lookup(row, &asked.selected.at).and_then(Value::as_map) {
                    Some(found) if is_there(found, witness.as_ref()) => self.below(asked, found),
                    Some(_) | None => self.nothing(asked),
                }
            }
            // `place` is the position in the selection of the root, as in the list that `Graphql::mutate` fills.
            FieldSource::Mutation(_) => match self.answers.root_results.get(place) {
                Some(Some(RootResult::Result(row))) => self.below(asked, row),
                Some(Some(RootResult::Failed(error))) => self.fail(asked, error.clone()),
                Some(None) | None => self.nothing(asked),
            },
        }
    }

    /// Returns whether the entity that a mutation's result identifies no longer exists, such as a closed session: it lacks
    /// an attribute that every such entity has.
    fn is_gone(&self, asked: FieldContext<'_>, row: &Map) -> bool {
        // Only a field that may be null can say that its entity is gone.
        let Some(selection) = asked.selected.below.as_ref().filter(|_| asked.field.out.is_nullable) else {
            return false;
        };
        let object = &self.model.objects[selection.object];
        selection.fields.iter().any(|selected| {
            let SelectedKind::Field(number) = selected.what else { return false };
            let field = &object.fields[number];
            let is_required = matches!(field.source, FieldSource::Attr(_)) && !field.out.is_nullable;
            is_required && lookup(row, &selected.at).is_none() && failure(row, &selected.at).is_none()
        })
    }

    /// Writes the selection below a field from a row.
    fn below(&mut self, asked: FieldContext<'a>, row: &'a Map) -> Result<(), Bubble> {
        match &asked.selected.below {
            Some(selection) => self.object(selection, row),
            None => self.nothing(asked),
        }
    }

    /// Writes a value that was found: one, or a list of them.
    fn complete(&mut self, asked: FieldContext<'a>, value: &'a Value) -> Result<(), Bubble> {
        if value.is_nil() {
            return self.nothing(asked);
        }
        if !asked.field.out.is_list {
            return self.item(asked, value);
        }
        self.out.push('[');
        if let Some(items) = value.as_items() {
            self.items(asked, items.iter())?;
        } else if let Some(items) = value.as_set() {
            self.items(asked, items.iter())?;
        } else {
            let FieldContext { object, field, .. } = asked;
            let message = format!(
                "Expected Iterable, but did not find one for field \"{}.{}\".",
                object.name, field.name
            );
            return self.fail(asked, GraphqlError::new(Code::Internal, message));
        }
        self.out.push(']');
        Ok(())
    }

    fn items(
        &mut self,
        asked: FieldContext<'a>,
        items: impl Iterator<Item = &'a Value>,
    ) -> Result<(), Bubble> {
        // Entries are never null in this schema, so the failure of one fails the list.
        for (at, item) in items.enumerate() {
            self.out.push_str(if at > 0 { "," } else { "" });
            self.path.push(PathStep::Index(at));
            let written = if item.is_nil() { self.not_null(asked) } else { self.item(asked, item) };
            self.path.pop();
            written?;
        }
        Ok(())
    }

    fn item(&mut self, asked: FieldContext<'a>, value: &'a Value) -> Result<(), Bubble> {
        let written = match asked.field.out.leaf {
            Leaf::Scalar(scalar) => write::scalar(scalar, value, &mut self.out),
            Leaf::Enum(number) => write::constant(&self.model.enums[number], value, &mut self.out),
            Leaf::Object(_) => match value.as_map() {
                Some(row) => return self.below(asked, row),
                None => Err(format!("Expected an entity for field \"{}\".", asked.field.name)),
            },
        };
        written.or_else(|why| self.fail(asked, GraphqlError::new(Code::Internal, why)))
    }

    /// Writes null, or fails if the field may not be null.
    fn nothing(&mut self, asked: FieldContext<'a>) -> Result<(), Bubble> {
        if !asked.field.out.is_nullable {
            return self.not_null(asked);
        }
        self.out.push_str("null");
        Ok(())
    }

    fn not_null(&mut self, asked: FieldContext<'a>) -> Result<(), Bubble> {
        let FieldContext { object, field, .. } = asked;
        let message = format!("Cannot return null for non-nullable field {}.{}.", object.name, field.name);
        self.fail(asked, GraphqlError::new(Code::Internal, message))
    }

    /// Writes an attribute that the row lacks: as the error of its reader, or as null.
    fn missing(&mut self, asked: FieldContext<'a>, row: &Map) -> Result<(), Bubble> {
        match failure(row, &asked.selected.at) {
            Some(error) => self.fail(asked, error),
            None => self.nothing(asked),
        }
    }

    /// Records an error at the current path, and lets null propagate.
    fn fail(&mut self, asked: FieldContext<'a>, error: GraphqlError) -> Result<(), Bubble> {
        // An error has the positions of all fields that were merged into this one, as in graphql-js.
        let locations =
            asked.selected.positions.iter().map(|Pos { line, column }| (*line, *column)).collect();
        let path = self.path.iter().map(|step| match step {
            PathStep::Key(key) => Segment::Key((*key).to_owned()),
            PathStep::Index(index) => Segment::Index(*index),
        });
        self.errors.push(GraphqlError { locations, path: path.collect(), ..error });
        Err(Bubble)
    }
}

/// Finds a value in a row.
fn lookup<'a>(row: &'a Map, at: &Locator) -> Option<&'a Value> {
    let row = match &at.within {
        Some(placeholder) => row.get(placeholder)?.as_map()?,
        None => row,
    };
    // Entries are in the order of the query, unless one is missing, so the expected index is tried first.
    match row.iter().nth(at.place) {
        Some((key, value)) if *key == at.key => Some(value),
        Some(_) | None => row.get(&at.key),
    }
}

/// Returns whether an entity exists: its witness is in the row, or the witness's reader failed.
fn is_there(row: &Map, witness: Option<&Value>) -> bool {
    let at = |key: &Value| Locator { within: None, key: key.clone(), place: usize::MAX };
    // A reader runs only for an entity that was found, so its failure is a proof too.
    witness.is_none_or(|witness| row.contains_key(witness) || failure(row, &at(witness)).is_some())
}

/// Returns the error of a missing attribute's reader, if it failed.
fn failure(row: &Map, at: &Locator) -> Option<GraphqlError> {
    let row = match &at.within {
        Some(placeholder) => row.get(placeholder)?.as_map()?,
        None => row,
    };
    let error = row.keyword(ATTRIBUTE_ERRORS)?.as_map()?.get(&at.key)?.as_map()?;
    let details = error.keyword(NODE_ERROR_DETAILS)?.as_map()?;
    // Details are keyed by the number of a call; the graph reports one call for an attribute.
    let exception = details.iter().find_map(|(_, detail)| detail.as_map()?.keyword(EXCEPTION))?;
    exception.as_map().map(exception_error)
}

/// Converts an error of a reader from the graph's form.
fn exception_error(exception: &Map) -> GraphqlError {
    let message = exception.keyword(ERROR_MESSAGE).and_then(Value::as_str).unwrap_or_default();
    let data = exception.keyword(ERROR_DATA).cloned().unwrap_or(Value::Nil);
    let class = exception.keyword(ERROR_CODE).and_then(Value::as_str).and_then(Class::parse);
    let code = class.map(Code::from).or_else(|| Code::of(&data)).unwrap_or(Code::Internal);
    GraphqlError::of_graph(code, message, data)
}

/// The initial capacity in bytes.
const ROOM: usize = 1_024;

// Pathom's keywords, under which the graph reports errors of attributes.
const ATTRIBUTE_ERRORS: &str = "com.wsscode.pathom3.connect.runner/attribute-errors";
const NODE_ERROR_DETAILS: &str = "com.wsscode.pathom3.error/node-error-details";
const EXCEPTION: &str = "com.wsscode.pathom3.error/exception";
const ERROR_CODE: &str = "reveille.error/code";
const ERROR_MESSAGE: &str = "com.wsscode.pathom3.error/error-message";
const ERROR_DATA: &str = "com.wsscode.pathom3.error/error-data";
