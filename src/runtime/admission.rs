//! Whether a caller may make a call at all, before its tool looks at it.
//!
//! What lives elsewhere: whether what it names exists for the caller (`engine`), what is wrong with it (`dialect`).
//! Invariant: a call that is not known to read counts as one that changes.

use super::handle::Handle;
use crate::dialect::psi;
use crate::domain::{Caller, Scope, Span};
use crate::edn::{Keyword, Value};

/// Why a call is not even looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// The caller may look, and the call would change something.
    #[error("this token may read only")]
    ReadOnly,
    /// The caller's session creates schedules too fast.
    #[error("this session creates schedules too fast")]
    TooFast {
        /// When the next one would be taken.
        wait: Span,
    },
}

impl Handle {
    /// Admits a call of a tool, or says why not. `metered` callers, those with a session's token, keep to
    /// `limits::CREATES_PER_MINUTE`.
    ///
    /// # Errors
    /// [`Denial`]; the call must not be made then.
    pub fn admit_call(&self, caller: &Caller, metered: bool, tool: &str, args: &Value) -> Result<(), Denial> {
        let deed = Deed::of(tool, args);
        if deed != Deed::Read && !caller.may_change() {
            return Err(Denial::ReadOnly);
        }
        match &caller.scope {
            Scope::Session(session) if metered && deed == Deed::Create => {
                let taken = self.shared.pace.take(session, self.now().boot);
                taken.map_err(|wait| Denial::TooFast { wait })
            }
            Scope::Session(_) | Scope::Operator => Ok(()),
        }
    }
}

/// What a call would do if its tool takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Read,
    Create,
    Change,
}

impl Deed {
    fn of(tool: &str, args: &Value) -> Deed {
        match (tool, word(args, "action"), word(args, "op")) {
            (psi::TOOL, Some("query"), _) | (psi::TOOL, Some("scheduler"), Some("list")) => Deed::Read,
            (psi::TOOL, Some("scheduler"), Some("create")) => Deed::Create,
            _ => Deed::Change,
        }
    }
}

/// A name given as a string or a keyword, under a key that is either.
fn word<'a>(args: &'a Value, key: &str) -> Option<&'a str> {
    let map = args.as_map()?;
    let value = map.keyword(key).or_else(|| map.text(key))?;
    value.as_keyword().map(Keyword::as_str).or_else(|| value.as_str())
}
