//! Converts a query back to EDN: as a query form, and as the AST of the `eql` library.
//!
//! Invariant: a printed query parses to an equal tree. Source: `edn-query-language.core`, `ast->query` and
//! `query->ast`.

use super::{Expr, ExprKey, Join, JoinTarget, MutationCall, Prop, Query};
use crate::edn::{Map, Symbol, Value};

impl Query {
    /// Returns the query as a form, with its metadata.
    pub fn to_value(&self) -> Value {
        let form = Value::vector(self.exprs.iter().map(Expr::to_value).collect::<Vec<_>>());
        match &self.meta {
            Some(meta) => form.with_meta(meta.clone()),
            None => form,
        }
    }

    /// Returns the AST of the `eql` library: `{:type :root :children […]}`.
    pub fn to_ast(&self) -> Value {
        let ast = Map::new().with("type", Value::keyword("root")).with("children", children(self));
        Value::Map(ast.with_some("meta", self.meta.clone()))
    }
}

impl Expr {
    /// Returns the expression as a form.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Wildcard => wildcard(),
            Self::Prop(prop) => parameterized(prop.key.to_value(), prop.params.as_ref()),
            Self::Join(join) => {
                parameterized(entry(join.key.to_value(), join.target.to_value()), join.params.as_ref())
            }
            Self::Call(call) => {
                let head = parameterized(Value::Symbol(call.name.clone()), Some(&call.params));
                match &call.query {
                    Some(query) => entry(head, query.to_value()),
                    None => head,
                }
            }
        }
    }

    fn to_ast(&self) -> Value {
        match self {
            // The library gives a wildcard no type.
            Self::Wildcard => Value::Map(Map::new().with("dispatch-key", wildcard()).with("key", wildcard())),
            Self::Prop(prop) => prop.to_ast(),
            Self::Join(join) => join.to_ast(),
            Self::Call(call) => call.to_ast(),
        }
    }
}

impl JoinTarget {
    /// Returns the subquery as a form.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Query(query) => query.to_value(),
            Self::Union(entries) => {
                let entries = entries.iter().map(|(key, query)| (key.clone().into(), query.to_value()));
                Value::Map(entries.collect())
            }
            Self::Depth(depth) => Value::Int(i64::try_from(*depth).unwrap_or(i64::MAX)),
            Self::Unbounded => symbol("..."),
        }
    }

    fn to_children(&self) -> Option<Value> {
        match self {
            Self::Query(query) => Some(children(query)),
            Self::Union(entries) => {
                let entries = entries.iter().map(|(key, query)| {
                    let entry = Map::new().with("type", Value::keyword("union-entry"));
                    let entry = entry.with("union-key", key.clone()).with("query", query.to_value());
                    Value::Map(entry.with("children", children(query)))
                });
                let union = Map::new().with("type", Value::keyword("union")).with("query", self.to_value());
                let union = union.with("children", entries.collect::<Vec<_>>());
                Some(Value::vector([Value::Map(union)]))
            }
            // The library gives a recursion no children; the depth is in the query of its node.
            Self::Depth(_) | Self::Unbounded => None,
        }
    }
}

impl Prop {
    fn to_ast(&self) -> Value {
        Value::Map(with_params(node("prop", &self.key), self.params.as_ref()))
    }
}

impl Join {
    fn to_ast(&self) -> Value {
        let node = node("join", &self.key).with("query", self.target.to_value());
        let node = node.with_some("children", self.target.to_children());
        Value::Map(with_params(node, self.params.as_ref()))
    }
}

impl MutationCall {
    fn to_ast(&self) -> Value {
        let node = Map::new().with("dispatch-key", self.name.clone()).with("key", self.name.clone());
        let node = node.with("params", self.params.clone()).with("type", Value::keyword("call"));
        Value::Map(match &self.query {
            Some(query) => node.with("query", query.to_value()).with("children", children(query)),
            None => node,
        })
    }
}

fn children(query: &Query) -> Value {
    Value::vector(query.exprs.iter().map(Expr::to_ast).collect::<Vec<_>>())
}

fn node(kind: &str, key: &ExprKey) -> Map {
    let node = Map::new().with("type", Value::keyword(kind));
    node.with("dispatch-key", key.attr().clone()).with("key", key.to_value())
}

fn with_params(node: Map, params: Option<&Map>) -> Map {
    node.with_some("params", params.cloned())
}

fn parameterized(form: Value, params: Option<&Map>) -> Value {
    match params {
        None => form,
        // An empty parameter list is printed too: it makes `(:a)` differ from `:a` in the tree.
        Some(params) if params.is_empty() => Value::list([form]),
        Some(params) => Value::list([form, params.clone().into()]),
    }
}

fn entry(key: Value, value: Value) -> Value {
    Value::Map([(key, value)].into_iter().collect())
}

fn wildcard() -> Value {
    symbol("*")
}

fn symbol(text: &str) -> Value {
    Symbol::new(text).map_or(Value::Nil, Value::Symbol)
}
