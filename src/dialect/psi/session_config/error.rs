//! Why a configuration is refused.
//!
//! What lives elsewhere: the error answer around it (`problem.rs`). Invariant: the data names the key of the
//! configuration, the message the exact place inside it.

use std::fmt;

use crate::dialect::psi::data::integer;
use crate::edn::{Map, ReadError, Value};
use crate::limits::Limit;

/// Why a configuration is refused. Values are echoes of what was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// It is neither a map nor a string.
    #[error("session-config must be a map, or a string that holds one as EDN, not {found}")]
    NotAMap {
        /// The type of what was given.
        found: &'static str,
    },
    /// It is a string that is not EDN.
    #[error("session-config is a string that is not EDN: {0}")]
    Unreadable(ReadError),
    /// It has keys that no session can be configured with.
    #[error("{path} has unsupported keys: {}; supported are {}", Words(keys), Keys(supported))]
    UnsupportedKeys {
        /// The key of the configuration, or `session-config`.
        field: &'static str,
        /// Where the keys stand.
        path: String,
        /// The keys, sorted by their text.
        keys: Vec<Value>,
        /// The keys that there are.
        supported: &'static [&'static str],
    },
    /// A value is not of its type, or not one of the values that there are.
    #[error("{path} must be {expected}, not {value}")]
    Unsuitable {
        /// The key of the configuration.
        field: &'static str,
        /// Where the value stands.
        path: String,
        /// What belongs there.
        expected: Expected,
        /// What was given.
        value: Value,
    },
    /// A text or a list is too long.
    #[error("{path} is too long: {} is {} {}", limit.name, limit.value, limit.unit)]
    TooLong {
        /// The key of the configuration.
        field: &'static str,
        /// Where it stands.
        path: String,
        /// The bound.
        limit: Limit,
    },
}

/// What belongs in a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Any string.
    Text,
    /// True or false.
    Flag,
    /// A map.
    Map,
    /// A vector.
    Vector,
    /// A set, or a vector in its place.
    Set,
    /// What a message says.
    Content,
    /// An instant that `#inst` can express.
    Instant,
    /// One of these names.
    OneOf(Vec<&'static str>),
}

impl ConfigError {
    /// The data of the error: `:field` and what belongs to the case.
    pub fn data(&self) -> Map {
        let about = |field: &str| Map::new().with("field", Value::keyword(field));
        match self {
            ConfigError::NotAMap { .. } | ConfigError::Unreadable(_) => about("session-config"),
            ConfigError::UnsupportedKeys { field, keys, .. } => {
                about(field).with("unsupported-keys", keys.clone())
            }
            ConfigError::Unsuitable { field, value, .. } => about(field).with("value", value.clone()),
            ConfigError::TooLong { field, limit, .. } => {
                about(field).with("limit", limit.name).with("max", integer(limit.value))
            }
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Expected::Text => "a string",
            Expected::Flag => "true or false",
            Expected::Map => "a map",
            Expected::Vector => "a vector",
            Expected::Set => "a set or a vector",
            Expected::Content => "a string or a vector of {:type :text :text \"…\"}",
            Expected::Instant => {
                "an instant of the years 0000 to 9999, as #inst or as an ISO 8601 string with seconds"
            }
            Expected::OneOf(names) => return write!(f, "one of {}", Keys(names)),
        })
    }
}

/// Values, the first few of them.
struct Words<'a>(&'a [Value]);

/// Names as keywords.
struct Keys<'a>(&'a [&'static str]);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, value) in self.0.iter().take(WORDS_SHOWN).enumerate() {
            write!(f, "{}{value}", if index > 0 { " " } else { "" })?;
        }
        match self.0.len().checked_sub(WORDS_SHOWN) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, " and {more} more"),
        }
    }
}

impl fmt::Display for Keys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            write!(f, "{}:{name}", if index > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

/// The data has them all.
const WORDS_SHOWN: usize = 8;
