//! Why a form is not a query, and where.
//!
//! Invariant: an error names the rule, the offending form, and the path to it from the query's vector.

use std::fmt;

use super::request_keys::{REQUEST_KEYS, nearest_key};
use crate::edn::{Caps, Map, Value, locate};

/// A form that is not a valid query.
///
/// ```
/// use reveille::edn::{Caps, read};
/// use reveille::graph::eql::parse;
/// let caps = Caps { bytes_max: 1024, depth_max: 8, digits_max: 32, forms_max: 100 };
/// let text = b"[:a {:b [7]}]";
/// let error = parse(&read(text, &caps).unwrap()).unwrap_err();
/// assert_eq!(error.to_string(), "an integer is not an expression: 7, at [1 :b 0]");
/// assert_eq!(error.offset(text, &caps), Some(9));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The rule that the form breaks.
    pub kind: ParseErrorKind,
    /// The offending form.
    pub(crate) form: Value,
    /// The path to the form: indexes into vectors and lists, keys into maps, as for `get-in`.
    pub path: Vec<Value>,
}

/// The rules of queries. Each variant states the rule that was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParseErrorKind {
    /// A query is a vector.
    Query,
    /// An expression is a keyword, ident, join, list or `*`.
    Expression,
    /// A symbol names a mutation only inside a list.
    Symbol,
    /// An ident is a keyword and a value.
    Ident,
    /// A join has one entry.
    JoinEntries,
    /// A join's key is a keyword, an ident, or a list of one of these or a symbol, and parameters.
    JoinKey,
    /// A join's subquery is a query, a union, a depth or `...`.
    JoinTarget,
    /// The join of a mutation has a query.
    CallTarget,
    /// A union has at least one entry.
    UnionEmpty,
    /// A union's keys are keywords.
    UnionKey,
    /// A list has an expression and at most a map of parameters.
    ListLength,
    /// A list begins with a keyword, ident, join or symbol.
    ListHead,
    /// Parameters are a map.
    Params,
    /// A node of an AST is a map with a key.
    Node,
    /// A request is a query, or a map with `:pathom/eql` or `:pathom/ast`.
    Request,
    /// A request's map has only keys of a request.
    RequestKey,
    /// A mode of a request is true or false.
    Flag,
    /// An entity is a map.
    Entity,
    /// The instant to query is `#inst` or an ISO string.
    AsOf,
}

impl ParseError {
    /// Returns the offset in bytes of the offending form, in the text that the query was read from.
    pub fn offset(&self, text: &[u8], caps: &Caps) -> Option<usize> {
        locate(text, &self.path, caps)
    }

    /// Returns the error message of the `eql` library, as Pathom's boundary answers it.
    pub(crate) fn eql_message(&self) -> String {
        match self.kind {
            // The library has two messages; only this rule of joins has the first one.
            ParseErrorKind::JoinTarget => format!("Invalid join, {}", self.form),
            ParseErrorKind::Query
            | ParseErrorKind::Expression
            | ParseErrorKind::Symbol
            | ParseErrorKind::Ident
            | ParseErrorKind::JoinEntries
            | ParseErrorKind::JoinKey
            | ParseErrorKind::CallTarget
            | ParseErrorKind::UnionEmpty
            | ParseErrorKind::UnionKey
            | ParseErrorKind::ListLength
            | ParseErrorKind::ListHead
            | ParseErrorKind::Params
            | ParseErrorKind::Node
            | ParseErrorKind::Request
            | ParseErrorKind::RequestKey
            | ParseErrorKind::Flag
            | ParseErrorKind::Entity
            | ParseErrorKind::AsOf => {
                let text = self.form.as_str().map_or_else(|| self.form.to_string(), str::to_owned);
                format!("Invalid expression {}", if self.form.is_nil() { "" } else { &text })
            }
        }
    }

    /// Returns the data for [`ParseError::eql_message`], with the path added.
    pub(crate) fn eql_data(&self) -> Map {
        let is_join = self.kind == ParseErrorKind::JoinTarget;
        let kind = if is_join { "error/invalid-join" } else { "error/invalid-expression" };
        Map::new().with("type", Value::keyword(kind)).with("path", self.path.clone())
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = self.form.type_name();
        let article = if noun.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        match self.kind {
            ParseErrorKind::Query => write!(out, "a query is a vector, not {article} {noun}"),
            ParseErrorKind::Expression => write!(out, "{article} {noun} is not an expression"),
            ParseErrorKind::Symbol => out.write_str("a mutation must be in a list, as in (task/done {})"),
            ParseErrorKind::Ident => out.write_str("an ident is a keyword and a value, as in [:task/id 1]"),
            ParseErrorKind::JoinEntries => out.write_str("a join has one entry, as in {:tasks [:task/id]}"),
            ParseErrorKind::JoinKey => {
                out.write_str("the key of a join is a keyword, an ident, or a list with one")
            }
            ParseErrorKind::JoinTarget => {
                out.write_str("the value of a join is a query, a union, a depth or '...'")
            }
            ParseErrorKind::CallTarget => out.write_str("the value of a mutation's join is a query"),
            ParseErrorKind::UnionEmpty => out.write_str("a union has at least one entry"),
            ParseErrorKind::UnionKey => write!(out, "a union's key is a keyword, not {article} {noun}"),
            ParseErrorKind::ListLength => out.write_str("a list is an expression and its parameters"),
            ParseErrorKind::ListHead => write!(out, "{article} {noun} takes no parameters"),
            ParseErrorKind::Params => write!(out, "parameters are a map, not {article} {noun}"),
            ParseErrorKind::Node => out.write_str("a node of a query's tree is a map with a key"),
            ParseErrorKind::Request => out.write_str("a request is a query, or a map with :pathom/eql"),
            ParseErrorKind::RequestKey => match nearest_key(&self.form) {
                Some(near) => write!(out, "a request has no such key, the nearest is :{near}"),
                None => {
                    let known = REQUEST_KEYS.map(|key| format!(":{key}")).join(" ");
                    write!(out, "a request has no such key, but these: {known}")
                }
            },
            ParseErrorKind::Flag => write!(out, "a mode is true or false, not {article} {noun}"),
            ParseErrorKind::Entity => write!(out, "an entity is a map, not {article} {noun}"),
            ParseErrorKind::AsOf => {
                write!(out, "the instant to query is #inst or an ISO string, not {article} {noun}")
            }
        }?;
        write!(out, ": {}, at {}", shown(&self.form), Value::vector(self.path.clone()))
    }
}

impl std::error::Error for ParseError {}

/// Returns the form as text, truncated for a message.
fn shown(form: &Value) -> String {
    let text = form.to_string();
    if text.len() <= SHOWN_BYTES_MAX {
        return text;
    }
    format!("{}…", &text[..text.floor_char_boundary(SHOWN_BYTES_MAX)])
}

/// Bytes of the offending form that a message repeats at most.
const SHOWN_BYTES_MAX: usize = 80;
