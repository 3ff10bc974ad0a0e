//! From the graph's answer to JSON, in the order of the selection.
//!
//! A field that fails is null, and so is what holds it as far up as null is not allowed; the error says where. Source:
//! the GraphQL specification, §6.4.4, and graphql-js where it leaves things open. Invariant: the answer is written once,
//! and what null swallows is cut off the end of what has been written.

use async_graphql::Pos;

use super::error::{Code, GraphqlError, Segment};
use super::lower::Locator;
use super::model::{Field, FieldSource, Leaf, Object, SchemaModel};
use super::select::{Selected, SelectedKind, Selection};
use super::write;
use crate::edn::{Map, Value};

/// What the fields of a root are answered from.
pub(super) struct Answers<'a> {
    /// The row of the root.
    pub(super) row: &'a Map,
    /// What the mutations of the root have answered, by the places of their fields.
    pub(super) root_results: &'a [Option<RootResult>],
    /// What the schema answered to introspection.
    pub(super) introspected: Option<&'a async_graphql::Value>,
}

/// What a field of the root is answered from that the row does not hold.
pub(super) enum RootResult {
    Result(Map),
    Failed(GraphqlError),
}

/// Writes the answer to an operation: data, and errors if there are any.
pub(super) fn write(model: &SchemaModel, selection: &Selection, answers: &Answers<'_>) -> String {
    let mut writer =
        Writer { model, answers, out: String::with_capacity(ROOM), errors: Vec::new(), path: Vec::new() };
    writer.out.push_str("{\"data\":");
    let mark = writer.out.len();
    if writer.object(selection, answers.row).is_err() {
        writer.out.truncate(mark);
        writer.out.push_str("null");
    }
    let Writer { mut out, errors, .. } = writer;
    if !errors.is_empty() {
        out.push_str(",\"errors\":");
        super::error::list(&errors, &mut out);
    }
    out.push('}');
    out
}

/// A step of the path; texts are made only when an error needs them.
enum PathStep<'a> {
    Key(&'a str),
    Index(usize),
}

/// A null on its way up. Its error has been noted.
struct Bubble;

struct Writer<'a> {
    model: &'a SchemaModel,
    answers: &'a Answers<'a>,
    out: String,
    errors: Vec<GraphqlError>,
    path: Vec<PathStep<'a>>,
}

/// A field as it is declared and as it is asked for.
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

    /// Writes a field, or null in its place where that is allowed.
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

    fn introspected(&mut self, key: &str) {
        let value = match self.answers.introspected {
            Some(async_graphql::Value::Object(map)) => map.get(key),
            Some(_) | None => None,
        };
        let text = value.and_then(|value| serde_json::to_string(value).ok());
        self.out.push_str(text.as_deref().unwrap_or("null"));
    }

    fn value(&mut self, asked: FieldContext<'a>, row: &'a Map, place: usize) -> Result<(), Bubble> {
        match &asked.field.source {
            FieldSource::Attr(_) => match lookup(row, &asked.selected.at) {
                Some(value) => self.complete(asked, value),
                None => self.missing(asked, row),
            },
            FieldSource::True => {
                self.out.push_str("true");
                Ok(())
            }
            FieldSource::Itself | FieldSource::Subscription => self.below(asked, row),
            FieldSource::Entity { witness, .. } => {
                match lookup(row, &asked.selected.at).and_then(Value::as_map) {
                    Some(found) if is_there(found, witness.as_ref()) => self.below(asked, found),
                    Some(_) | None => self.nothing(asked),
                }
            }
            FieldSource::Mutation(_) => match self.answers.root_results.get(place) {
                Some(Some(RootResult::Result(row))) => self.below(asked, row),
                Some(Some(RootResult::Failed(error))) => self.fail(asked, error.clone()),
                Some(None) | None => self.nothing(asked),
            },
        }
    }

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

    /// Null, where that is allowed.
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

    /// An attribute that is not there: its reader failed, or there is nothing to say.
    fn missing(&mut self, asked: FieldContext<'a>, row: &Map) -> Result<(), Bubble> {
        match failure(row, &asked.selected.at) {
            Some(error) => self.fail(asked, error),
            None => self.nothing(asked),
        }
    }

    fn fail(&mut self, asked: FieldContext<'a>, error: GraphqlError) -> Result<(), Bubble> {
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

fn lookup<'a>(row: &'a Map, at: &Locator) -> Option<&'a Value> {
    let row = match &at.within {
        Some(placeholder) => row.get(placeholder)?.as_map()?,
        None => row,
    };
    // Entries stand in the order of the query, unless something is missing.
    match row.iter().nth(at.place) {
        Some((key, value)) if *key == at.key => Some(value),
        Some(_) | None => row.get(&at.key),
    }
}

/// Whether an entity was found: its witness is there, or has failed.
fn is_there(row: &Map, witness: Option<&Value>) -> bool {
    let at = |key: &Value| Locator { within: None, key: key.clone(), place: usize::MAX };
    witness.is_none_or(|witness| row.contains_key(witness) || failure(row, &at(witness)).is_some())
}

/// What the reader of a missing attribute said.
fn failure(row: &Map, at: &Locator) -> Option<GraphqlError> {
    let row = match &at.within {
        Some(placeholder) => row.get(placeholder)?.as_map()?,
        None => row,
    };
    let error = row.keyword(ATTRIBUTE_ERRORS)?.as_map()?.get(&at.key)?.as_map()?;
    let details = error.keyword(NODE_ERROR_DETAILS)?.as_map()?;
    let exception = details.iter().find_map(|(_, detail)| detail.as_map()?.keyword(EXCEPTION))?;
    exception.as_map().map(exception_error)
}

/// The error that a reader or mutation has returned, as the graph prints it.
fn exception_error(exception: &Map) -> GraphqlError {
    let message = exception.keyword(ERROR_MESSAGE).and_then(Value::as_str).unwrap_or_default();
    let data = exception.keyword(ERROR_DATA).cloned().unwrap_or(Value::Nil);
    let code = Code::of(&data).unwrap_or(Code::Internal);
    GraphqlError { data, ..GraphqlError::new(code, message) }
}

/// Bytes to begin with.
const ROOM: usize = 1_024;

const ATTRIBUTE_ERRORS: &str = "com.wsscode.pathom3.connect.runner/attribute-errors";
const NODE_ERROR_DETAILS: &str = "com.wsscode.pathom3.error/node-error-details";
const EXCEPTION: &str = "com.wsscode.pathom3.error/exception";
const ERROR_MESSAGE: &str = "com.wsscode.pathom3.error/error-message";
const ERROR_DATA: &str = "com.wsscode.pathom3.error/error-data";
