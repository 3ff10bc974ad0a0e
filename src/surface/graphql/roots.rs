//! What `QueryRoot`, `MutationRoot` and `SubscriptionRoot` begin with: declarations, pure data.
//!
//! Everything below a root is a walk over the registry; only where it begins, and what is taken in there, has to be
//! said. Does not live here: checks of the declarations, see `schema.rs`.

use crate::graph::registry::{ParamGroups, ParamType};

/// All roots.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    /// Fields of `QueryRoot`.
    pub queries: Vec<QueryRoot>,
    /// Fields of `MutationRoot`.
    pub mutations: Vec<MutationRoot>,
    /// Fields of `SubscriptionRoot`.
    pub subscriptions: Vec<SubscriptionRoot>,
    /// Entities that are pages.
    pub pages: Vec<Pages>,
    /// Attributes that are no fields of their types: they are given in a mutation's answer only.
    pub hidden: Vec<&'static str>,
    /// Integers that outgrow 32 bits although their unit does not say so.
    pub longs: Vec<&'static str>,
}

/// A field of `QueryRoot`.
#[derive(Clone, Debug)]
pub struct QueryRoot {
    /// Its name.
    pub name: &'static str,
    /// One sentence for people.
    pub doc: &'static str,
    /// What it answers.
    pub kind: QueryKind,
}

/// What a field of `QueryRoot` answers.
#[derive(Clone, Debug)]
pub enum QueryKind {
    /// The entity whose key is given: `schedule(scheduleId: ID!): Schedule`.
    Entity(&'static str),
    /// An attribute of a root.
    Attribute(&'static str),
    /// All attributes of a root as an object: `engine: Engine!`.
    Root(&'static str),
}

/// An entity that is a page of a list: what refers to it becomes a connection, as Relay wants it. Its other attributes
/// are called `total-count`, `has-next?`, `has-previous?`, `start-cursor` and `end-cursor`, beside its entries.
#[derive(Clone, Debug)]
pub struct Pages {
    /// The entity.
    pub entity: &'static str,
    /// Its attribute that holds the entries.
    pub entries: &'static str,
    /// The attribute of an entry that is its cursor.
    pub cursor: &'static str,
}

/// A field of `MutationRoot`.
#[derive(Clone, Debug)]
pub struct MutationRoot {
    /// Its name.
    pub name: &'static str,
    /// The mutation's symbol in the registry, which has its documentation and its parameters.
    pub symbol: &'static str,
    /// Whether it takes all that as one argument, `input`, of a type named after it.
    pub has_input: bool,
    /// What it answers.
    pub payload: Vec<(&'static str, RootPayload)>,
}

/// A part of what a mutation or a source of events answers.
#[derive(Clone, Debug)]
pub enum RootPayload {
    /// The entity that the result names; null where the result is not of that.
    Entity(&'static str),
    /// An attribute of the result.
    Attribute(&'static str),
    /// An attribute of the result that may be missing there.
    Maybe(&'static str),
    /// Entities in the result itself, under this keyword.
    Entities(&'static str, &'static str),
    /// True.
    True,
    /// Something that is no attribute and stands in the result itself, under this keyword; it may be nil.
    Given(&'static str, ParamType),
}

/// A field of `SubscriptionRoot`.
#[derive(Clone, Debug)]
pub struct SubscriptionRoot {
    /// Its name.
    pub name: &'static str,
    /// One sentence for people.
    pub doc: &'static str,
    /// What it takes.
    pub params: ParamGroups,
    /// What it pushes: the name of the type, and its parts; or an entity, which has none here.
    pub payload: (&'static str, Vec<(&'static str, RootPayload)>),
}
