//! Declarations of the root fields: the entry points of `Query`, `Mutation` and `Subscription`, as plain data.
//!
//! Everything below a root is generated from the registry; only the entry points and their arguments are declared.
//! Does not live here: the checks of the declarations; see `build.rs`.

use crate::graph::registry::{ParamGroups, ParamType};

/// All root fields of a schema.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    /// The fields of `Query`.
    pub queries: Vec<QueryRoot>,
    /// The fields of `Mutation`.
    pub mutations: Vec<MutationRoot>,
    /// The fields of `Subscription`.
    pub subscriptions: Vec<SubscriptionRoot>,
    /// Entities that are pages of a list.
    pub pages: Vec<Pages>,
    /// Attributes that are not fields of their types, because they are valid only in a mutation's result or within one
    /// query.
    pub hidden: Vec<&'static str>,
}

/// A field of `Query`.
#[derive(Clone, Debug)]
pub struct QueryRoot {
    /// Its name.
    pub name: &'static str,
    /// One sentence for people.
    pub doc: &'static str,
    /// What it returns.
    pub kind: QueryKind,
}

/// What a field of `Query` returns.
#[derive(Clone, Debug)]
pub enum QueryKind {
    /// The entity with the given key: `schedule(scheduleId: ID!): Schedule`.
    Entity(&'static str),
    /// An attribute of a root.
    Attribute(&'static str),
    /// All attributes of a root as an object: `engine: Engine!`.
    Root(&'static str),
}

/// An entity that is a page of a list. A reference to it becomes a Relay connection. Its other attributes must be named
/// `total-count`, `has-next?`, `has-previous?`, `start-cursor` and `end-cursor`, in the namespace of its entries.
#[derive(Clone, Debug)]
pub struct Pages {
    /// The entity.
    pub entity: &'static str,
    /// Its attribute that holds the entries.
    pub entries: &'static str,
    /// The attribute of an entry that holds its cursor.
    pub cursor: &'static str,
}

/// A field of `Mutation`.
#[derive(Clone, Debug)]
pub struct MutationRoot {
    /// Its name.
    pub name: &'static str,
    /// The mutation's symbol in the registry, which provides its documentation and parameters.
    pub symbol: &'static str,
    /// Whether all parameters form one argument, `input`, of a type named after the mutation.
    pub has_input: bool,
    /// The fields of its payload.
    pub payload: Vec<(&'static str, RootPayload)>,
}

/// A field of a mutation's payload, or of an item that a subscription pushes.
#[derive(Clone, Debug)]
pub enum RootPayload {
    /// The entity that the result identifies; null if it identifies none.
    Entity(&'static str),
    /// An attribute of the result.
    Attribute(&'static str),
    /// An attribute that the result may lack.
    Maybe(&'static str),
    /// A list of entities that the result contains under this keyword.
    Entities(&'static str, &'static str),
    /// A value that is no attribute, which the result contains under this keyword; it may be nil.
    Given(&'static str, ParamType),
}

/// A field of `Subscription`.
#[derive(Clone, Debug)]
pub struct SubscriptionRoot {
    /// Its name.
    pub(crate) name: &'static str,
    /// One sentence for people.
    pub(crate) doc: &'static str,
    /// Its parameters.
    pub(crate) params: ParamGroups,
    /// The type that it pushes: a name with fields, or the name of an entity with no fields.
    pub(crate) payload: (&'static str, Vec<(&'static str, RootPayload)>),
}
