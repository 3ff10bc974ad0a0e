//! Converts the AST of the `eql` library, given as EDN, to a query.
//!
//! Pathom sends an AST (`:pathom/ast`) when it queries a graph that it has joined as a foreign one.
//!
//! Contains the form of the AST. The rules of queries are checked by converting each node to a query form and parsing
//! that, so there is one grammar.

use super::{ParseError, ParseErrorKind, Query, parse};
use crate::edn::{Keyword, Map, Value};

impl Query {
    /// Converts an AST: `{:type :root :children […]}`.
    ///
    /// # Errors
    ///
    /// Returns a node that is not a map or has no key, or a form that is not a valid query. The path leads into the
    /// query that the AST stands for.
    pub fn from_ast(ast: &Value) -> Result<Self, ParseError> {
        let Some(root) = ast.as_map() else {
            return Err(fault(ast));
        };
        parse(&children(root)?)
    }
}

fn children(node: &Map) -> Result<Value, ParseError> {
    // A node without children is an empty query.
    let children = node.keyword("children").and_then(Value::as_items).unwrap_or_default();
    Ok(Value::vector(children.iter().map(expr).collect::<Result<Vec<_>, _>>()?))
}

/// Converts a node to the form of its expression.
fn expr(node: &Value) -> Result<Value, ParseError> {
    let map = node.as_map().ok_or_else(|| fault(node))?;
    let key = map.keyword("key").cloned().ok_or_else(|| fault(node))?;
    let params = map.keyword("params").filter(|params| !params.is_nil());
    let is_call = map.keyword("type") == Some(&Value::keyword("call"));
    let key = match params {
        Some(params) => list(key, params),
        // A mutation is a list even without parameters: a bare symbol is not a valid expression.
        None if is_call => Value::list([key]),
        None => key,
    };
    match target(map)? {
        Some(target) => Ok(Value::Map([(key, target)].into_iter().collect())),
        None => Ok(key),
    }
}

fn target(node: &Map) -> Result<Option<Value>, ParseError> {
    let kind = node.keyword("type").and_then(Value::as_keyword).map(Keyword::as_str);
    if !matches!(kind, Some("join" | "call")) {
        return Ok(None);
    }
    let Some(below) = node.keyword("children").and_then(Value::as_items) else {
        // Recursion has no children; its depth or `...` is in the node's query.
        return Ok(node.keyword("query").filter(|_| kind == Some("join")).cloned());
    };
    // A union is the only child of its join.
    let union = below.first().and_then(Value::as_map).filter(|node| is_union(node));
    let Some(union) = union else {
        return children(node).map(Some);
    };
    let mut entries = Map::new();
    for entry in union.keyword("children").and_then(Value::as_items).unwrap_or_default() {
        let node = entry.as_map().ok_or_else(|| fault(entry))?;
        let key = node.keyword("union-key").cloned().ok_or_else(|| fault(entry))?;
        entries.insert(key, children(node)?);
    }
    Ok(Some(Value::Map(entries)))
}

fn is_union(node: &Map) -> bool {
    node.keyword("type") == Some(&Value::keyword("union"))
}

fn list(key: Value, params: &Value) -> Value {
    match params.as_map() {
        // Printed back without the map: `(:a)` and `(:a {})` are one AST.
        Some(map) if map.is_empty() => Value::list([key]),
        Some(_) | None => Value::list([key, params.clone()]),
    }
}

fn fault(node: &Value) -> ParseError {
    ParseError { kind: ParseErrorKind::Node, form: node.clone(), path: Vec::new() }
}
