//! Who carries calls out.

use crate::domain::names;
use crate::limits::{self, Limit};

names! {
    /// Who carries calls out. The kinds stand in order of precedence: of two tools of one name, a session gets the first.
    ExecutorKind {
        /// A program that the operator has configured, or an executor of the embedding program.
        Operator = "operator",
        /// Reveille's own tools.
        Own = "own",
        /// The host that the session is attached to.
        Host = "host",
        /// A tool that is built in, and that the operator has switched on.
        BuiltIn = "built-in",
        /// A server of the Model Context Protocol that the operator has configured.
        Server = "server",
    }
}

impl ExecutorKind {
    /// Returns how many calls one executor of this kind carries out at the same time.
    pub const fn places(self) -> Limit {
        match self {
            ExecutorKind::Operator => limits::CALLS_OF_PROGRAMS,
            ExecutorKind::Own => limits::CALLS_OWN,
            ExecutorKind::Host => limits::CALLS_OF_HOST,
            ExecutorKind::BuiltIn => limits::CALLS_BUILT_IN,
            ExecutorKind::Server => limits::CALLS_OF_SERVER,
        }
    }
}
