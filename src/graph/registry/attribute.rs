//! The declaration of an attribute.
//!
//! Lives here: the declaration, which is pure data. Does not live here: how the value is read, see `entity.rs`.

use super::{ParamGroups, Record};

/// The declaration of an attribute: its name, type, documentation, visibility and parameters.
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
    /// The name: a qualified keyword, without the colon.
    pub ident: &'static str,
    /// The type of one value.
    pub kind: Type,
    /// The unit of a number: `ms`, `bytes`, or what is counted.
    pub unit: Option<&'static str>,
    /// Whether there is one value or a vector of them.
    pub cardinality: Cardinality,
    /// Whether the value may be nil.
    pub nullable: bool,
    /// The documentation, for people.
    pub doc: &'static str,
    /// Whether the attribute may change.
    pub stability: Stability,
    /// Who may see it. An attribute without a rule is a fault of the registry, so that none is visible by mistake.
    pub visibility: Option<Visibility>,
    /// Whether callers provide its value as the starting point of a query.
    pub is_seed: bool,
    /// Whether reading it may have to wait for the log, which is on a disk.
    pub reads_log: bool,
    /// The parameters that it takes.
    pub params: ParamGroups,
}

/// The type of one value of an attribute.
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
    /// A reference to the entity with this name. A reader may return the entity's number, the value of its key, or
    /// a map.
    Reference(&'static str),
    /// A map with declared fields, whose keys are bare keywords.
    Record(&'static Record),
    /// A map whose keys are not attributes.
    Map,
    /// Anything.
    Any,
}

/// How many values an attribute has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// One.
    One,
    /// A vector of any length.
    Many,
}

/// Whether an attribute may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// It will not be removed or changed incompatibly.
    Stable,
    /// It may change or be removed.
    Experimental,
    /// It will be removed.
    Deprecated,
}

/// Who may see an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Every caller.
    Everyone,
    /// The session that the entity belongs to, and operators. The reader decides which session that is.
    Owner,
    /// Hosts that act for no session, and operators.
    Host,
    /// Operators.
    Operator,
}

/// The kind of caller that a query is answered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// A caller without any right.
    Nobody,
    /// A session.
    Session,
    /// A host that acts for no session.
    Host,
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
            reads_log: false,
            params: &[],
        }
    }

    /// Sets the documentation.
    #[must_use]
    pub fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// Sets the unit of a number.
    #[must_use]
    pub fn unit(self, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..self }
    }

    /// Makes the value a vector.
    #[must_use]
    pub fn many(self) -> Self {
        Self { cardinality: Cardinality::Many, ..self }
    }

    /// Allows the value to be nil.
    #[must_use]
    pub fn nullable(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// Sets whether the attribute may change.
    #[must_use]
    pub(crate) fn stability(self, stability: Stability) -> Self {
        Self { stability, ..self }
    }

    /// Sets who may see the attribute.
    #[must_use]
    pub fn visible_to(self, visibility: Visibility) -> Self {
        Self { visibility: Some(visibility), ..self }
    }

    /// Sets the parameters.
    #[must_use]
    pub fn params(self, params: ParamGroups) -> Self {
        Self { params, ..self }
    }

    /// Marks an attribute whose value callers provide as the starting point of a query.
    #[must_use]
    pub fn seed(self) -> Self {
        Self { is_seed: true, ..self }
    }

    /// Marks an attribute for which the log may have to be read: a query with it never runs where requests are read.
    #[must_use]
    pub(crate) fn read_from_log(self) -> Self {
        Self { reads_log: true, ..self }
    }
}

impl Visibility {
    /// All names.
    pub(crate) const NAMES: &'static [&'static str] = &["everyone", "owner", "host", "operator"];

    /// Returns whether a viewer of this kind may see the attribute at all.
    pub(crate) fn admits(self, viewer: Viewer) -> bool {
        // `Owner` admits every session, because the rule does not know the entity. Readers hide those of other sessions.
        match self {
            Self::Everyone => true,
            Self::Owner => viewer != Viewer::Nobody,
            Self::Host => matches!(viewer, Viewer::Host | Viewer::Operator),
            Self::Operator => viewer == Viewer::Operator,
        }
    }

    /// Returns the keyword's text.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Everyone => "everyone",
            Self::Owner => "owner",
            Self::Host => "host",
            Self::Operator => "operator",
        }
    }
}

impl Stability {
    /// All names.
    pub(crate) const NAMES: &'static [&'static str] = &["stable", "experimental", "deprecated"];

    /// Returns the keyword's text.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Experimental => "experimental",
            Self::Deprecated => "deprecated",
        }
    }
}

impl Type {
    /// All names.
    pub(crate) const NAMES: &'static [&'static str] = &[
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

    /// Returns the record that a value is; `None` for every other type.
    pub fn record(self) -> Option<&'static Record> {
        if let Self::Record(record) = self { Some(record) } else { None }
    }

    /// Returns the keyword's text.
    pub(crate) fn name(self) -> &'static str {
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
