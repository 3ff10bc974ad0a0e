//! Errors in the configuration of a session.
//!
//! The answer around them is in `psi/error.rs`. Invariant: the data names the top-level key, the message the exact
//! path.

use std::fmt;

use crate::dialect::args::{ArgError, ArgErrorKind, ArgWords, TOOL_WORDS, arg_words, wordings};
use crate::dialect::psi::value::integer;
use crate::edn::{Map, ReadError, Value};

/// Why a configuration was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(ArgError);

impl ConfigError {
    pub(super) fn new(error: ArgError) -> ConfigError {
        ConfigError(error)
    }

    /// The value is neither a map nor a string.
    pub(in crate::dialect::psi) fn not_a_map(found: &Value) -> ConfigError {
        ConfigError(ArgError::own("", NOT_A_MAP, found.type_name()))
    }

    /// The value is a string that is not EDN.
    pub(super) fn unreadable(error: &ReadError) -> ConfigError {
        ConfigError(ArgError::own("", UNREADABLE, error.to_string()))
    }

    /// The data of the error: `:field`, and the details of its kind.
    pub(crate) fn data(&self) -> Map {
        error_data(&self.0, Some(ROOT))
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message(&PSI_WORDS))
    }
}

impl std::error::Error for ConfigError {}

/// The data of an argument error in psi's shape: the first name of the path, or `root` if the path is empty, and the
/// details of the kind.
pub(in crate::dialect::psi) fn error_data(error: &ArgError, root: Option<&str>) -> Map {
    let top = error.place().split(['.', '[']).next().filter(|top| !top.is_empty());
    let data = match top.or(root) {
        Some(field) => Map::new().with("field", Value::keyword(field)),
        None => Map::new(),
    };
    // Without the value, which would make the answer long as well.
    if let ArgErrorKind::TooLong { limit } = error.kind() {
        return data.with("limit", limit.name).with("max", integer(limit.value));
    }
    if let ArgErrorKind::UnknownKeys { .. } = error.kind() {
        return error.with_unknown_keys(data);
    }
    data.with_some("value", error.value().cloned())
}

const ROOT: &str = "session-config";

/// The texts of argument errors in psi's words.
pub(in crate::dialect::psi) const PSI_WORDS: ArgWords = arg_words! {
    @whole ROOT;
    @list (":", " ");
    ..TOOL_WORDS;
    not_a_map "not-a-map" "{field} must be a map, not {value}" "";
    unknown_keys "unsupported-keys"
        "{place} has unsupported keys: {keys}; supported are {known}{suggestion}" "";
    given_twice "given-twice" "{field} is given twice, as a keyword and as a string" "";
    not_text "not-text" "{field} must be a string, not {value}" "";
    not_a_boolean "not-a-boolean" "{field} must be true or false, not {value}" "";
    not_a_list "not-a-list" "{field} must be {set}a vector, not {value}" "";
    not_a "wrong-type" "{field} must be {expected}, not {value}" "";
    not_one_of "not-one-of" "{field} must be one of {known}, not {value}" "";
    not_an_instant "not-an-instant"
        "{field} must be an instant of the years 0000 to 9999, as #inst or as an ISO 8601 string with seconds, \
         not {value}" "";
    too_long "too-long" "{field} is too long: {limit} is {max} {unit}" "" Limit;
};

wordings! {
    NOT_A_MAP "config" "{field} must be a map, or a string that holds one as EDN, not {detail}" "";
    UNREADABLE "config" "{field} is a string that is not EDN: {detail}" "";
}
