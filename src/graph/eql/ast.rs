//! The query as a tree.
//!
//! Contains the types. Parsing is in `parse.rs`, printing in `print.rs`.
//!
//! Invariant: every tree that can be built is a valid query in the sense of EQL's specification, except that its
//! names need not exist. Source: `edn-query-language.core`, `::query`.

use crate::edn::{Keyword, Map, Symbol, Value};

/// A query: what one entity is asked for, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The expressions, in the order of the query.
    pub exprs: Vec<Expr>,
    /// The metadata of the vector: `^{:task/limit 10} [:task/title]`.
    pub meta: Option<Map>,
}

/// One expression of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// `*`: the attributes of the entity that are known without being named.
    Wildcard,
    /// `:task/title`, or an ident alone.
    Prop(Prop),
    /// `{:task/kids [:task/title]}`.
    Join(Join),
    /// `(task/done {:task/id 4})`.
    Call(MutationCall),
}

/// An attribute without a subquery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prop {
    /// The attribute or ident.
    pub key: ExprKey,
    /// The parameters; `None` if the query has no parameter list, not even an empty one.
    pub params: Option<Map>,
}

/// An attribute with a subquery for the entities that it refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The attribute or ident.
    pub key: ExprKey,
    /// The parameters; `None` if the query has no parameter list, not even an empty one.
    pub params: Option<Map>,
    /// The subquery.
    pub target: JoinTarget,
}

/// A mutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutationCall {
    /// The mutation's name.
    pub name: Symbol,
    /// The parameters; empty if there are none.
    pub params: Map,
    /// The subquery of the result, if the call is a join.
    pub query: Option<Query>,
}

/// The key of a property or join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKey {
    /// An attribute.
    Attr(Keyword),
    /// An ident: an entity, named by the value of an identifying attribute: `[:task/id 1]`.
    Ident(Keyword, Value),
}

/// The subquery of a join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinTarget {
    /// One query for every entity.
    Query(Query),
    /// A query per kind of entity, chosen by which of these attributes the entity has; at least one entry.
    Union(Vec<(Keyword, Query)>),
    /// Recursion: the enclosing query, at most this many levels deeper.
    Depth(u64),
    /// Recursion: the enclosing query, without a bound of its own.
    Unbounded,
}

impl Expr {
    /// Returns the key of a property or join; `None` for a wildcard or a call.
    pub(crate) fn key(&self) -> Option<&ExprKey> {
        match self {
            Self::Prop(prop) => Some(&prop.key),
            Self::Join(join) => Some(&join.key),
            Self::Wildcard | Self::Call(_) => None,
        }
    }

    /// Returns the subquery of a join; `None` for everything else.
    pub(crate) fn target(&self) -> Option<&JoinTarget> {
        match self {
            Self::Join(join) => Some(&join.target),
            Self::Wildcard | Self::Prop(_) | Self::Call(_) => None,
        }
    }
}

impl ExprKey {
    /// Returns the attribute; of an ident, its identifying attribute.
    pub(crate) fn attr(&self) -> &Keyword {
        match self {
            Self::Attr(attr) | Self::Ident(attr, _) => attr,
        }
    }

    /// Returns the key as EDN, as it appears in queries and answers.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Attr(attr) => Value::Keyword(attr.clone()),
            Self::Ident(attr, value) => Value::vector([Value::Keyword(attr.clone()), value.clone()]),
        }
    }
}
