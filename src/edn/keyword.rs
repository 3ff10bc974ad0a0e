//! The keyword: a name with an optional namespace.
//!
//! Lives here: the checked type. Does not live here: the rule it is checked by, see
//! `name.rs`.
//!
//! Invariant: a `Keyword` that exists can be printed and read back.

use std::fmt;
use std::sync::Arc;

use super::name::{self, NameError};

/// A keyword, such as `:task/title`. Clones share the text: keywords are keys, and one key stands in many maps.
///
/// ```
/// use reveille::edn::Keyword;
/// let keyword = Keyword::new("task/title").unwrap();
/// assert_eq!((keyword.namespace(), keyword.name()), (Some("task"), "title"));
/// assert_eq!(keyword.to_string(), ":task/title");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Keyword(Arc<str>);

impl Keyword {
    /// Makes a keyword from its text, without the colon.
    ///
    /// # Errors
    ///
    /// The rule of names that `text` breaks.
    pub fn new(text: &str) -> Result<Self, NameError> {
        name::check_keyword(text)?;
        Ok(Self(text.into()))
    }

    /// Makes a keyword of text that the caller has checked.
    pub(super) fn checked(text: &str) -> Self {
        debug_assert!(name::check_keyword(text).is_ok(), "not a keyword: {text:?}");
        Self(text.into())
    }

    /// Returns the whole text, without the colon: `task/title`.
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

impl fmt::Display for Keyword {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, ":{}", self.0)
    }
}

impl fmt::Debug for Keyword {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}
