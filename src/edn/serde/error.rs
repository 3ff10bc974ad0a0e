//! Error of converting between Rust types and values.
//!
//! Lives here: the error of both directions. Does not live here: positions, which a value no longer
//! has.
//!
//! Invariant: messages are lower case and one line.

use std::fmt::Display;

use crate::edn::NameError;

/// A type that cannot become a value, or a value that is not of the type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SerdeError {
    /// The message of the type, or of serde on its behalf.
    #[error("{0}")]
    Type(Box<str>),
    /// A field or variant whose name is not a keyword.
    #[error("{name:?} is not a keyword: {error}")]
    Name {
        /// The field's or variant's name.
        name: Box<str>,
        /// The rule that it breaks.
        error: NameError,
    },
    /// A variant that is given by a map with other than one entry.
    #[error("a variant with content is a map of one entry, not of {0}")]
    VariantEntries(u64),
}

impl ::serde::ser::Error for SerdeError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Type(message.to_string().into())
    }
}

impl ::serde::de::Error for SerdeError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Type(message.to_string().into())
    }
}
