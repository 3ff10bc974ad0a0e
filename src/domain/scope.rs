//! Who is asking, as far as the engine must know.

use super::SessionId;

/// Whose things a caller may see and change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything.
    Operator,
    /// One session's own things; anything else answers as if it did not exist.
    Session(SessionId),
}

impl Scope {
    /// Whether something that belongs to `owner` exists for this caller.
    pub fn covers(&self, owner: &SessionId) -> bool {
        match self {
            Scope::Operator => true,
            Scope::Session(own) => own == owner,
        }
    }
}
