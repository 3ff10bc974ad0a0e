//! The arguments of one call, looked up by name.
//!
//! A name is a keyword or a string, in either notation. Invariant: no name that we know is given as both.

use super::problem::Problem;
use crate::edn::{Keyword, Map, Value};

/// The arguments of one call.
pub(super) struct Args<'a>(&'a Map);

/// Every argument there is. Others are ignored, as psi ignores them.
const NAMES: [&str; 11] = [
    "action",
    "op",
    "kind",
    "message",
    "label",
    "delay-ms",
    "at",
    "schedule-id",
    "session-config",
    "query",
    "entity",
];

impl<'a> Args<'a> {
    pub(super) fn new(args: &'a Value) -> Result<Args<'a>, Problem> {
        let map = args.as_map().ok_or(Problem::NotAMap { found: args.type_name() })?;
        let is_twice = |name: &&str| map.keyword(name).is_some() && map.text(name).is_some();
        match NAMES.into_iter().find(is_twice) {
            Some(name) => Err(Problem::GivenTwice { name }),
            None => Ok(Args(map)),
        }
    }

    /// The argument's value; `nil` if it is absent.
    pub(super) fn get(&self, name: &str) -> &'a Value {
        self.0.keyword(name).or_else(|| self.0.text(name)).unwrap_or(&Value::Nil)
    }
}

/// The text of a string, or of a keyword without its colon.
pub(super) fn word(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.as_keyword().map(Keyword::as_str))
}
