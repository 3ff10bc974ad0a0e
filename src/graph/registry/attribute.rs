//! One attribute, as it is declared.
//!
//! Lives here: the declaration, pure data. Does not live here: how the value is read, see `entity.rs`.

use super::{ParamGroups, Record};

/// An attribute: what it is called, what its values are, and who may see them.
///
/// ```
/// use reveille::graph::registry::{Attribute, Type, Visibility};
/// let title = Attribute::new("task/title", Type::String)
///     .doc("What the task is called.")
///     .visible_to(Visibility::Everyone);
/// assert!(!title.nullable);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The qualified keyword, without the colon.
    pub ident: &'static str,
    /// What one value is.
    pub kind: Type,
    /// The unit of a number: `ms`, `bytes`, or what is counted.
    pub unit: Option<&'static str>,
    /// Whether there is one value or a vector of them.
    pub cardinality: Cardinality,
    /// Whether the value may be nil.
    pub nullable: bool,
    /// One sentence for people.
    pub doc: &'static str,
    /// What callers may rely on.
    pub stability: Stability,
    /// Who may see it; without a rule no registry is built.
    pub visibility: Option<Visibility>,
    /// Whether callers give it to begin with, instead of asking for it.
    pub is_seed: bool,
    /// The parameters that it takes.
    pub params: ParamGroups,
}

/// What one value of an attribute is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Text.
    String,
    /// One of these keywords, written without the colon.
    Enum(&'static [&'static str]),
    /// Any keyword.
    Keyword,
    /// Any symbol.
    Symbol,
    /// True or false.
    Boolean,
    /// A whole number.
    Integer,
    /// A number with a fraction.
    Float,
    /// An instant of wall time.
    Instant,
    /// Another entity, by the name that it is declared under. A reader may return the value of its key,
    /// or a map.
    Reference(&'static str),
    /// A map with declared fields, whose keys are bare keywords.
    Record(&'static Record),
    /// A map whose keys are not attributes.
    Map,
    /// Anything.
    Any,
}

/// How many values there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// One.
    One,
    /// A vector of any length.
    Many,
}

/// What callers may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// It stays.
    Stable,
    /// It may change.
    Experimental,
    /// It will go.
    Deprecated,
}

/// Who may see an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Every caller.
    Everyone,
    /// The session that the entity belongs to, and operators. Which session that is, the reader decides.
    Owner,
    /// Operators.
    Operator,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// A caller without any right.
    Nobody,
    /// A session.
    Session,
    /// An operator.
    Operator,
}

impl Attribute {
    /// Declares an attribute that is one value, never nil, stable, and not yet visible to anyone.
    pub fn new(ident: &'static str, kind: Type) -> Self {
        Self {
            ident,
            kind,
            unit: None,
            cardinality: Cardinality::One,
            nullable: false,
            doc: "",
            stability: Stability::Stable,
            visibility: None,
            is_seed: false,
            params: &[],
        }
    }

    /// Says in one sentence what the attribute is.
    #[must_use]
    pub fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// Gives the unit of a number.
    #[must_use]
    pub fn unit(self, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..self }
    }

    /// Makes it a vector of values.
    #[must_use]
    pub fn many(self) -> Self {
        Self { cardinality: Cardinality::Many, ..self }
    }

    /// Lets the value be nil.
    #[must_use]
    pub fn nullable(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// Says what callers may rely on.
    #[must_use]
    pub(crate) fn stability(self, stability: Stability) -> Self {
        Self { stability, ..self }
    }

    /// Says who may see it.
    #[must_use]
    pub fn visible_to(self, visibility: Visibility) -> Self {
        Self { visibility: Some(visibility), ..self }
    }

    /// Declares the parameters that it takes.
    #[must_use]
    pub fn params(self, params: ParamGroups) -> Self {
        Self { params, ..self }
    }

    /// Marks what callers give to begin with.
    #[must_use]
    pub fn seed(self) -> Self {
        Self { is_seed: true, ..self }
    }
}

impl Visibility {
    /// Every name.
    pub const NAMES: &'static [&'static str] = &["everyone", "owner", "operator"];

    /// Returns whether this viewer may see such an attribute at all.
    pub(crate) fn admits(self, viewer: Viewer) -> bool {
        match (self, viewer) {
            (Self::Everyone, _) | (_, Viewer::Operator) | (Self::Owner, Viewer::Session) => true,
            (Self::Owner, Viewer::Nobody) | (Self::Operator, Viewer::Nobody | Viewer::Session) => false,
        }
    }

    /// Returns the keyword's text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Everyone => "everyone",
            Self::Owner => "owner",
            Self::Operator => "operator",
        }
    }
}

impl Stability {
    /// Every name.
    pub const NAMES: &'static [&'static str] = &["stable", "experimental", "deprecated"];

    /// Returns the keyword's text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Experimental => "experimental",
            Self::Deprecated => "deprecated",
        }
    }
}

impl Type {
    /// Every name.
    pub const NAMES: &'static [&'static str] = &[
        "string",
        "enum",
        "keyword",
        "symbol",
        "boolean",
        "integer",
        "float",
        "instant",
        "reference",
        "map",
        "any",
    ];

    /// The record that a value is.
    pub fn record(self) -> Option<&'static Record> {
        if let Self::Record(record) = self { Some(record) } else { None }
    }

    /// Returns the keyword's text.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Enum(_) => "enum",
            Self::Keyword => "keyword",
            Self::Symbol => "symbol",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Instant => "instant",
            Self::Reference(_) => "reference",
            Self::Record(_) | Self::Map => "map",
            Self::Any => "any",
        }
    }
}
