//! Errors of the stream itself, as data. Refusals of tools are printed by their `dialect`.

use crate::dialect::args::{ArgError, ArgErrorKind, ArgWords, TOOL_WORDS, arg_words};
use crate::dialect::refusal_data;
use crate::domain::Refusal;
use crate::edn::{Map, Value};
use crate::service::{Denial, HostError};

/// An invalid or refused request.
pub(super) struct RequestError {
    message: String,
    class: &'static str,
    phase: &'static str,
    data: Map,
}

impl RequestError {
    /// Creates the error for an invalid request.
    pub(super) fn invalid(message: impl Into<String>, data: Map) -> RequestError {
        RequestError { message: message.into(), class: "request", phase: "validate", data }
    }

    /// Creates the error for the outcome of a call that is not with the connection, or not any more.
    pub(super) fn not_in_flight(call: &str) -> RequestError {
        let data =
            Map::new().with("code", "not-in-flight").with("call-id", crate::dialect::echo(&call.into()));
        let message = "no call of this id waits for a result from here".to_owned();
        RequestError { message, class: "refusal", phase: "scheduler", data }
    }

    /// Prints the error as data.
    pub(super) fn print(self) -> Value {
        Map::new()
            .with("message", self.message)
            .with("class", self.class)
            .with("phase", Value::keyword(self.phase))
            .with("data", self.data)
            .into()
    }
}

impl From<ArgError> for RequestError {
    fn from(error: ArgError) -> RequestError {
        let ArgErrorKind::NotA { expected, found } = error.kind() else {
            return RequestError::invalid(error.message(&WORDS), error.with_unknown_keys(Map::new()));
        };
        // A value of the right type that is refused all the same is not refused for its type.
        let is_of_type = expected.contains(found) || expected.starts_with(':');
        let words = if is_of_type { &OF_TYPE } else { &WORDS };
        let data = Map::new()
            .with("field", Value::keyword(error.path()))
            .with("value", error.value().cloned().unwrap_or(Value::Nil))
            .with("expected", *expected);
        RequestError::invalid(error.message(words), data)
    }
}

/// The texts of argument errors. The parser of requests only produces the two kinds that are replaced here.
const WORDS: ArgWords = arg_words! {
    @whole "a request";
    @list (":", " ");
    ..TOOL_WORDS;
    not_a "wrong-type" ":{field} must be {expected}, not {found}" "";
    unknown_keys "unsupported-keys" "unsupported keys: {keys}; this request may have {known}{suggestion}" "";
};

const OF_TYPE: ArgWords = arg_words! {
    @whole "a request";
    @list (":", " ");
    ..WORDS;
    not_a "wrong-type" ":{field} must be {expected}" "";
};

impl From<&Denial> for RequestError {
    fn from(denial: &Denial) -> RequestError {
        let mut data = Map::new().with("code", denial.code().name());
        data.extend(denial.data());
        RequestError { message: denial.to_string(), class: "refusal", phase: "validate", data }
    }
}

impl From<HostError> for RequestError {
    fn from(error: HostError) -> RequestError {
        match error {
            HostError::Denied(denial) => RequestError::from(&denial),
            HostError::Refused(refusal) => RequestError::from(&refusal),
            HostError::NotInFlight { ref refusal, state, reason } => {
                let plain = RequestError::from(refusal);
                let reason = reason.map(|reason| Value::keyword(reason.name()));
                let data = plain.data.with("state", Value::keyword(state.name())).with("reason", reason);
                RequestError { message: error.to_string(), data, ..plain }
            }
            HostError::Zone(fault) => {
                let data = Map::new().with("key", fault.code()).with("hint", fault.hint());
                RequestError::invalid(fault.to_string(), data)
            }
        }
    }
}

impl From<&Refusal> for RequestError {
    fn from(refusal: &Refusal) -> RequestError {
        let data = Map::new().with("code", refusal.code().name()).with("hint", refusal.hint());
        let data = data.into_iter().chain(refusal_data(refusal, "delivery-id")).collect();
        RequestError { message: refusal.to_string(), class: "refusal", phase: "scheduler", data }
    }
}
