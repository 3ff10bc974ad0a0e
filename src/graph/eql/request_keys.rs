//! The keys of a request's map: Pathom's, and ours.
//!
//! What lives elsewhere: reading their values (`boundary.rs`). Invariant: a key that is not here is refused, because it would
//! leave the caller with the answer to another question.

use crate::domain::nearest;
use crate::edn::{Keyword, Value};

/// Returns whether a request has this key.
pub(super) fn is_known(key: &Value) -> bool {
    key.as_keyword().is_some_and(|key| REQUEST_KEYS.contains(&key.as_str()))
}

/// The key that an unknown one is a slip of, also if its namespace is missing.
pub(super) fn nearest_key(wrong: &Value) -> Option<&'static str> {
    let wrong = wrong.as_keyword().map(Keyword::as_str).or_else(|| wrong.as_str())?;
    let whole = REQUEST_KEYS.iter().map(|key| (*key, *key));
    let names = REQUEST_KEYS.iter().filter_map(|key| Some((*key, key.split_once('/')?.1)));
    nearest(whole.chain(names), wrong)
}

/// All of them.
pub(super) const REQUEST_KEYS: [&str; 6] =
    ["pathom/eql", "pathom/ast", "pathom/entity", "pathom/lenient-mode?", "pathom/include-stats?", AS_OF];

/// The key for the past instant to query.
pub(super) const AS_OF: &str = "reveille/as-of";
