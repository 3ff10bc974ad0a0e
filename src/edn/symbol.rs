//! The symbol: a name with an optional namespace.
//!
//! Lives here: the checked type. Does not live here: the rule it is checked by, see
//! `name.rs`.
//!
//! Invariant: a `Symbol` that exists can be printed and read back.

use std::fmt;

use super::name::{self, NameError};

/// A symbol, such as `task/title`.
///
/// ```
/// use reveille::edn::Symbol;
/// let symbol = Symbol::new("task/title").unwrap();
/// assert_eq!((symbol.namespace(), symbol.name()), (Some("task"), "title"));
/// assert_eq!(symbol.to_string(), "task/title");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(Box<str>);

impl Symbol {
    /// Makes a symbol from its text.
    ///
    /// # Errors
    ///
    /// The rule of names that `text` breaks.
    pub fn new(text: &str) -> Result<Self, NameError> {
        name::check_symbol(text)?;
        Ok(Self(text.into()))
    }

    /// Makes a symbol of text that the caller has checked.
    pub(super) fn checked(text: &str) -> Self {
        debug_assert!(name::check_symbol(text).is_ok(), "not a symbol: {text:?}");
        Self(text.into())
    }

    /// Returns the whole text: `task/title`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the part before `/`, if there is one: `task`.
    pub fn namespace(&self) -> Option<&str> {
        name::split(&self.0).0
    }

    /// Returns the part after `/`, or all of it: `title`.
    pub fn name(&self) -> &str {
        name::split(&self.0).1
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}
