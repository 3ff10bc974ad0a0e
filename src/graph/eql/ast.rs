//! The query as a tree.
//!
//! Lives here: the types. Does not live here: reading (`parse.rs`) and printing (`print.rs`) them.
//!
//! Invariant: every tree that can be built is a valid query in the sense of EQL's specification, up to
//! the names in it. Source: `edn-query-language.core`, `::query`.

use crate::edn::{Keyword, Map, Symbol, Value};

/// A query: what is asked of one entity, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// What is asked for.
    pub exprs: Vec<Expr>,
    /// The metadata of the vector: `^{:task/limit 10} [:task/title]`.
    pub meta: Option<Map>,
}

/// One thing asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// `*`: whatever is known of the entity anyhow.
    Wildcard,
    /// `:task/title`, or an ident alone.
    Prop(Prop),
    /// `{:task/kids [:task/title]}`.
    Join(Join),
    /// `(task/done {:task/id 4})`.
    Call(Call),
}

/// An attribute as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prop {
    /// What is asked for.
    pub key: Key,
    /// The parameters, if there is a parameter list at all.
    pub params: Option<Map>,
}

/// An attribute, and what is asked of the entities under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// What is asked for.
    pub key: Key,
    /// The parameters, if there is a parameter list at all.
    pub params: Option<Map>,
    /// What is asked of the entities under it.
    pub target: Target,
}

/// A mutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The mutation's name.
    pub name: Symbol,
    /// The parameters; none are an empty map.
    pub params: Map,
    /// What is asked of the result.
    pub query: Option<Query>,
}

/// What a property or join goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// An attribute.
    Attr(Keyword),
    /// An entity, by the value of an attribute that identifies it: `[:task/id 1]`.
    Ident(Keyword, Value),
}

/// What a join asks of the entities under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The same of each.
    Query(Query),
    /// Depending on which attribute an entity has; at least one entry.
    Union(Vec<(Keyword, Query)>),
    /// The query that the join stands in, so many levels down.
    Depth(u64),
    /// The query that the join stands in, down to the leaves.
    Unbounded,
}

impl Expr {
    /// Returns what a property or join goes by.
    pub fn key(&self) -> Option<&Key> {
        match self {
            Self::Prop(prop) => Some(&prop.key),
            Self::Join(join) => Some(&join.key),
            Self::Wildcard | Self::Call(_) => None,
        }
    }

    /// Returns what a join asks of the entities under it.
    pub fn target(&self) -> Option<&Target> {
        match self {
            Self::Join(join) => Some(&join.target),
            Self::Wildcard | Self::Prop(_) | Self::Call(_) => None,
        }
    }
}

impl Key {
    /// Returns the attribute that the key goes by.
    pub fn attr(&self) -> &Keyword {
        match self {
            Self::Attr(attr) | Self::Ident(attr, _) => attr,
        }
    }

    /// Returns the key as it stands in queries and answers.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Attr(attr) => Value::Keyword(attr.clone()),
            Self::Ident(attr, value) => Value::vector([Value::Keyword(attr.clone()), value.clone()]),
        }
    }
}
