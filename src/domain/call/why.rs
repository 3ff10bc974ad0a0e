//! Why a check of a watch is told.

use crate::domain::Span;

/// Why a check is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Every check is.
    Every,
    /// The result is another one than was told last.
    Changed(Option<Lasted>),
    /// The check failed.
    Failed(Option<Lasted>),
    /// The checks work again.
    Recovered {
        /// After so many that failed.
        errors: u32,
        /// If the recovery had to last.
        lasted: Option<Lasted>,
    },
    /// The condition holds.
    Holds(Option<Lasted>),
    /// The condition has ceased to hold.
    Ceased(Option<Lasted>),
    /// A summary is complete, or the last check was made.
    Batch,
    /// Nothing was heard for so long.
    Silent(Span),
    /// Something was heard again after that.
    Heard,
}

/// How long a state had lasted when it was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lasted {
    /// For so many checks.
    pub checks: u32,
    /// From the first of them to the last.
    pub span: Span,
    /// Of which nobody looked for so long, because the process was not running.
    pub unseen: Span,
}
