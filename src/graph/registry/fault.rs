//! The faults of a set of declarations.
//!
//! Invariant: the builder returns all faults, not only the first one.

use std::fmt;

/// One fault of a registry's declarations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RegistryFault {
    /// Two attributes, entities or mutations have one name.
    Duplicate(String),
    /// A name is not a valid keyword or symbol.
    Name(String),
    /// An entity or mutation names an attribute that is not declared.
    UndeclaredAttribute {
        /// The attribute.
        ident: String,
        /// The entity or mutation that names it.
        by: String,
    },
    /// An attribute refers to an entity that is not declared, or that has no key.
    DanglingReference {
        /// The attribute.
        ident: String,
        /// The entity.
        entity: String,
    },
    /// Nothing provides an attribute, and it is neither a key nor a seed.
    Unprovided(String),
    /// An attribute or mutation has no rule for who may see it.
    NoVisibility(String),
    /// An attribute, entity or mutation has no doc.
    NoDoc(String),
    /// An enum has no values, or one that is not a valid keyword.
    EnumValues(String),
}

impl fmt::Display for RegistryFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate(name) => write!(out, "{name} is declared twice"),
            Self::Name(name) => write!(out, "{name:?} is not a valid name"),
            Self::UndeclaredAttribute { ident, by } => {
                write!(out, "{by} names {ident}, which is not declared")
            }
            Self::DanglingReference { ident, entity } => {
                write!(out, "{ident} refers to {entity}, which is not an entity with a key")
            }
            Self::Unprovided(ident) => write!(out, "nothing provides {ident}"),
            Self::NoVisibility(name) => write!(out, "{name} has no rule for who may see it"),
            Self::NoDoc(name) => write!(out, "{name} has no doc"),
            Self::EnumValues(ident) => write!(out, "{ident} has no values, or an invalid one"),
        }
    }
}
