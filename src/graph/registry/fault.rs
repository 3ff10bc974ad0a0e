//! What is wrong with a set of declarations.
//!
//! Invariant: the builder lists every fault, not the first one.

use std::fmt;

/// One fault of a registry's declarations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RegistryFault {
    /// Two attributes, entities or operations go by one name.
    Duplicate(String),
    /// A name is no keyword or symbol, or an attribute's is not qualified.
    Name(String),
    /// An operation or entity names an attribute that nobody declares.
    UndeclaredAttribute {
        /// The attribute.
        ident: String,
        /// Who names it.
        by: String,
    },
    /// An attribute refers to an entity that nobody declares, or to one without a key.
    DanglingReference {
        /// The attribute.
        ident: String,
        /// The entity.
        entity: String,
    },
    /// Nothing provides an attribute, and it is neither a key nor a seed.
    Unprovided(String),
    /// An attribute or mutation says not who may see it.
    NoVisibility(String),
    /// An attribute, entity or mutation has no doc.
    NoDoc(String),
    /// An enumeration has no value, or one that is no keyword.
    EnumValues(String),
}

impl fmt::Display for RegistryFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate(name) => write!(out, "{name} is declared twice"),
            Self::Name(name) => write!(out, "{name:?} is no name for this"),
            Self::UndeclaredAttribute { ident, by } => {
                write!(out, "{by} names {ident}, which is not declared")
            }
            Self::DanglingReference { ident, entity } => {
                write!(out, "{ident} refers to {entity}, which is no entity with a key")
            }
            Self::Unprovided(ident) => write!(out, "nothing provides {ident}"),
            Self::NoVisibility(name) => write!(out, "{name} says not who may see it"),
            Self::NoDoc(name) => write!(out, "{name} has no doc"),
            Self::EnumValues(ident) => write!(out, "{ident} lists no values, or a wrong one"),
        }
    }
}
