//! Values in psi's answers: echoes of arguments, and numbers.

use crate::dialect::args::Arg;
use crate::dialect::echo;
use crate::edn::Value;

/// The echo of an argument for an error; nil if it is absent.
pub(super) fn given(arg: Option<Arg<'_>>) -> Value {
    arg.map_or(Value::Nil, |arg| echo(arg.value()))
}

/// Converts a number to EDN. The numbers here are far below the upper bound.
pub(super) fn integer(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}
