//! The texts for one kind of error.

use crate::domain::Code;

/// The texts for one kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wording {
    /// The name of the kind in error data.
    pub(crate) name: &'static str,
    /// The message.
    pub(crate) message: &'static str,
    /// How to fix the call; empty in dialects without hints.
    pub(crate) hint: &'static str,
    /// The class of the error.
    pub(crate) code: Code,
}

impl Wording {
    pub(crate) const fn new(name: &'static str, message: &'static str, hint: &'static str) -> Wording {
        Wording { name, message, hint, code: Code::Validation }
    }

    /// Replaces the class of the error.
    pub(crate) const fn coded(self, code: Code) -> Wording {
        Wording { code, ..self }
    }
}
