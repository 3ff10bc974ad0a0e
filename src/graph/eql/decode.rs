//! From the tree of the `eql` library, as EDN, to a query.
//!
//! Pathom sends this (`:pathom/ast`) when it asks a graph that it has joined as a foreign one.
//!
//! Lives here: the tree's form. The query's own rules are kept by printing what a node means as a query and
//! parsing that, so there is one grammar.

use super::{ParseError, ParseErrorKind, Query, parse};
use crate::edn::{Keyword, Map, Value};

impl Query {
    /// Makes a query of a tree: `{:type :root :children […]}`.
    ///
    /// # Errors
    ///
    /// A node that is no map or has no key, or one that means what is no query. The path leads into the
    /// query that the tree stands for.
    pub fn from_ast(ast: &Value) -> Result<Self, ParseError> {
        let Some(root) = ast.as_map() else {
            return Err(fault(ast));
        };
        parse(&children(root)?)
    }
}

fn children(node: &Map) -> Result<Value, ParseError> {
    let children = node.keyword("children").and_then(Value::as_items).unwrap_or_default();
    Ok(Value::vector(children.iter().map(expr).collect::<Result<Vec<_>, _>>()?))
}

/// What a node means, as a form.
fn expr(node: &Value) -> Result<Value, ParseError> {
    let map = node.as_map().ok_or_else(|| fault(node))?;
    let key = map.keyword("key").cloned().ok_or_else(|| fault(node))?;
    let params = map.keyword("params").filter(|params| !params.is_nil());
    let is_call = map.keyword("type") == Some(&Value::keyword("call"));
    let key = match params {
        Some(params) => list(key, params),
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
        return Ok(node.keyword("query").filter(|_| kind == Some("join")).cloned());
    };
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
        Some(map) if map.is_empty() => Value::list([key]),
        Some(_) | None => Value::list([key, params.clone()]),
    }
}

fn fault(node: &Value) -> ParseError {
    ParseError { kind: ParseErrorKind::Node, form: node.clone(), path: Vec::new() }
}
