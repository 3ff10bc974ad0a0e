//! GraphQL's errors, and the closed set of their codes.
//!
//! Lives here: the type and its JSON. Does not live here: the checks that raise errors.

use super::execution::write::text;
use super::schema::names;
use crate::domain::Code as Class;
use crate::edn::{Map, Value};
use crate::surface::json;

/// An entry of `errors`.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphqlError {
    /// What happened, for people.
    pub(crate) message: String,
    /// Positions in the document: lines and columns, from 1.
    pub(crate) locations: Vec<(usize, usize)>,
    /// The path of the failed field in the answer.
    pub(crate) path: Vec<Segment>,
    /// The kind of error, for programs.
    pub code: Option<Code>,
    /// Details: a map, or nil.
    pub(crate) data: Value,
}

/// A step of a path in the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A response key.
    Key(String),
    /// The index of a list entry.
    Index(usize),
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The document is no GraphQL.
    Syntax,
    /// The request is malformed, or its document breaks a rule of GraphQL.
    Document,
    /// The request is refused, for a reason of this class.
    Refused(Class),
    /// The server failed.
    Internal,
}

impl Code {
    /// Returns the code as `extensions` contains it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Syntax => "GRAPHQL_PARSE_FAILED",
            Self::Document => "GRAPHQL_VALIDATION_FAILED",
            Self::Refused(class) => class.name(),
            Self::Internal => "INTERNAL",
        }
    }

    /// Derives the code from an error's data, if possible; errors of attributes have no code of their own.
    pub(super) fn of(data: &Value) -> Option<Self> {
        let data = data.as_map()?;
        // Only refusals of a limit and of a parameter have these keys.
        let class = |key: &str, class| data.keyword(key).map(|_| Self::Refused(class));
        class("limit", Class::Limit).or_else(|| class("parameter", Class::Validation))
    }
}

impl From<Class> for Code {
    fn from(class: Class) -> Self {
        Self::Refused(class)
    }
}

impl GraphqlError {
    /// Creates an error without positions and path.
    pub(crate) fn new(code: impl Into<Code>, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            locations: Vec::new(),
            path: Vec::new(),
            code: Some(code.into()),
            data: Value::Nil,
        }
    }

    /// Creates the error for a refusal of the graph. Its message names parameters as this schema does; its data stays, because
    /// it is the same in all languages.
    pub(super) fn of_graph(code: Code, message: &str, data: Value) -> Self {
        let named = data.as_map().and_then(|data| data.keyword("parameter")).and_then(Value::as_keyword);
        let message = match named {
            Some(named) => names::in_camel_case(message, named.name()),
            None => message.to_owned(),
        };
        Self { data, ..Self::new(code, message) }
    }

    /// Creates the error for an exceeded limit, with the limit's name and value as data.
    pub(crate) fn limit(limit: crate::limits::Limit, message: impl Into<String>) -> Self {
        let value = i64::try_from(limit.value).unwrap_or(i64::MAX);
        let data = Map::new().with("limit", limit.name).with("max", value).with("unit", limit.unit);
        Self { data: data.into(), ..Self::new(Class::Limit, message) }
    }

    /// Sets the position in the document.
    #[must_use]
    pub(super) fn at(self, pos: async_graphql::Pos) -> Self {
        Self { locations: vec![(pos.line, pos.column)], ..self }
    }

    /// Writes the error as JSON.
    pub(super) fn write(&self, out: &mut String) {
        out.push_str("{\"message\":");
        text(&self.message, out);
        if !self.locations.is_empty() {
            let places = self.locations.iter();
            let places = places.map(|(line, column)| format!("{{\"line\":{line},\"column\":{column}}}"));
            out.push_str(&format!(",\"locations\":[{}]", places.collect::<Vec<_>>().join(",")));
        }
        if !self.path.is_empty() {
            out.push_str(",\"path\":[");
            for (place, segment) in self.path.iter().enumerate() {
                out.push_str(if place > 0 { "," } else { "" });
                match segment {
                    Segment::Key(key) => text(key, out),
                    Segment::Index(index) => out.push_str(&index.to_string()),
                }
            }
            out.push(']');
        }
        // `extensions` is the only place that the specification leaves for data of a server's own (§7.1.2).
        if let Some(code) = self.code {
            out.push_str(&format!(",\"extensions\":{{\"code\":\"{}\"", code.name()));
            if !self.data.is_nil() {
                out.push_str(",\"data\":");
                json::write(&self.data, out);
            }
            out.push('}');
        }
        out.push('}');
    }
}

/// Writes an answer that has errors and no data.
pub fn refusal(errors: &[GraphqlError]) -> String {
    // The absence of `data` marks the failure of the request as a whole (specification, §7.1.2, "Request errors").
    let mut out = String::from("{\"errors\":");
    list(errors, &mut out);
    out.push('}');
    out
}

/// Writes errors as a JSON list.
pub(super) fn list(errors: &[GraphqlError], out: &mut String) {
    out.push('[');
    for (place, error) in errors.iter().enumerate() {
        out.push_str(if place > 0 { "," } else { "" });
        error.write(out);
    }
    out.push(']');
}

/// Converts async-graphql's errors, sorted by position. It iterates over hash maps, so its own order varies.
pub(super) fn in_order(errors: Vec<async_graphql::ServerError>) -> Vec<GraphqlError> {
    let mut errors: Vec<GraphqlError> = errors.into_iter().map(GraphqlError::from).collect();
    errors.sort_by(|a, b| (&a.locations, &a.message).cmp(&(&b.locations, &b.message)));
    errors
}

impl From<async_graphql::ServerError> for GraphqlError {
    fn from(error: async_graphql::ServerError) -> Self {
        let locations = error.locations.iter().map(|pos| (pos.line, pos.column)).collect();
        Self { locations, ..Self::new(Code::Document, error.message) }
    }
}
