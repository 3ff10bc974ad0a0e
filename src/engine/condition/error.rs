//! Why a text is no condition: what is wrong, where, and what to write instead.

use crate::limits;

/// Why a text is no condition, and at which character.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} at character {at}")]
pub struct ConditionError {
    /// What is wrong.
    pub fault: ConditionFault,
    /// The character at which it was found, from 1.
    pub at: usize,
}

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionFault {
    /// There is nothing.
    #[error("the condition is empty")]
    Empty,
    /// It is longer than `limits::CONDITION_BYTES`.
    #[error("a condition has at most {} bytes: too long", limits::CONDITION_BYTES.value)]
    TooLong,
    /// Brackets and `not` are nested deeper than `limits::CONDITION_DEPTH`.
    #[error("brackets and `not` are nested deeper than {} levels", limits::CONDITION_DEPTH.value)]
    TooDeep,
    /// It has more comparisons than `limits::CONDITION_COMPARISONS`.
    #[error("a condition has at most {} comparisons: one too many", limits::CONDITION_COMPARISONS.value)]
    TooMany,
    /// A path has more steps than `limits::PATH_STEPS`.
    #[error("a path has at most {} steps: one too many", limits::PATH_STEPS.value)]
    LongPath,
    /// A path stands where a comparison is needed.
    #[error("nothing is compared: an operator is missing")]
    NoOperator,
    /// What stands between two values is no operator.
    #[error("{found:?} is no operator")]
    UnknownOperator {
        /// What was found.
        found: Box<str>,
    },
    /// A path was expected.
    #[error("a path into the result is missing")]
    NoPath,
    /// A name was expected, behind a dot or in brackets.
    #[error("a name or a place is missing in the path")]
    NoName,
    /// A value was expected, behind an operator.
    #[error("a value to compare with is missing")]
    NoValue,
    /// A quote or a bracket is not closed.
    #[error("{opened} is not closed: it was opened")]
    Unclosed {
        /// What was opened.
        opened: char,
    },
    /// A text without quotes contains an operator.
    #[error("a text without quotes contains an operator")]
    OperatorInText,
    /// An order is asked for to a text that begins with a number, such as `499 ms`.
    #[error("a text that begins with a number has no order to one: write {number}")]
    NotANumber {
        /// The number that it begins with.
        number: Box<str>,
    },
    /// Something follows where nothing can.
    #[error("`and`, `or` or the end is missing")]
    Surplus,
    /// The argument of a function begins where it cannot.
    #[error("{function} takes a path into the result")]
    Argument {
        /// The function.
        function: &'static str,
    },
}

impl ConditionFault {
    /// Returns the fault's code, in kebab case.
    pub const fn code(&self) -> &'static str {
        match self {
            ConditionFault::Empty => "condition-empty",
            ConditionFault::TooLong => "condition-too-long",
            ConditionFault::TooDeep => "condition-too-deep",
            ConditionFault::TooMany => "condition-too-many",
            ConditionFault::LongPath => "condition-long-path",
            ConditionFault::NoOperator => "condition-no-operator",
            ConditionFault::UnknownOperator { .. } => "condition-unknown-operator",
            ConditionFault::NoPath => "condition-no-path",
            ConditionFault::NoName => "condition-no-name",
            ConditionFault::NoValue => "condition-no-value",
            ConditionFault::Unclosed { .. } => "condition-unclosed",
            ConditionFault::OperatorInText => "condition-operator-in-text",
            ConditionFault::NotANumber { .. } => "condition-not-a-number",
            ConditionFault::Surplus => "condition-surplus",
            ConditionFault::Argument { .. } => "condition-argument",
        }
    }

    /// Returns what the caller can do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            ConditionFault::Empty | ConditionFault::NoOperator => {
                "compare a path with a value, such as result.status_code != 200"
            }
            ConditionFault::TooLong | ConditionFault::TooMany => {
                "say less in one condition, or have the tool answer less"
            }
            ConditionFault::TooDeep => "use fewer brackets",
            ConditionFault::LongPath => "have the tool answer something flatter",
            ConditionFault::UnknownOperator { .. } => "use one of == != >= <= > < contains in",
            ConditionFault::NoPath => {
                "begin with a path, such as result.status_code, error or previous.count"
            }
            ConditionFault::NoName => "name a key, or a place from 0, such as result.items[0].id",
            ConditionFault::NoValue => {
                "write a number, true, false, null, a text in quotes, or a list in brackets"
            }
            ConditionFault::Unclosed { .. } => "close it; in quotes, write a quote as \\\"",
            ConditionFault::OperatorInText => {
                "put the text in quotes, or join comparisons with `and` or `or`, in lower case"
            }
            ConditionFault::NotANumber { .. } => {
                "write the number alone, without a unit, or put the text in quotes"
            }
            ConditionFault::Surplus => "join comparisons with `and` or `or`, and put texts in quotes",
            ConditionFault::Argument { .. } => {
                "name a path without `previous`; changed and delta compare with the check before by themselves"
            }
        }
    }
}
