//! The answer type that every dialect returns, and the notation of a call's arguments.
//!
//! Turning an answer into bytes is up to the surfaces. Invariant: an answer is complete; a surface prints it and adds
//! nothing.

use crate::domain::{Code, Span};
use crate::edn::{Map, Value};

/// The result of one tool call, successful or refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The content of the answer, usually an EDN map.
    pub value: Value,
    /// True if the call was refused.
    pub is_error: bool,
    /// The class of the refusal; `None` if the call succeeded.
    pub code: Option<Code>,
    /// True if nothing of it is to be cut: the call asked for one thing by its id, or the answer was found to fit.
    pub(crate) is_whole: bool,
    /// How long to wait before the same call can succeed, if it was refused for its rate.
    pub(crate) retry_after: Option<Span>,
}

impl Answer {
    /// Creates the answer to a call that succeeded.
    pub(crate) fn done(value: impl Into<Value>) -> Answer {
        Answer { value: value.into(), is_error: false, code: None, is_whole: false, retry_after: None }
    }

    /// Creates the answer to a call that asked for one thing by its id.
    pub(crate) fn whole(value: impl Into<Value>) -> Answer {
        Answer { is_whole: true, ..Answer::done(value) }
    }

    /// Creates the answer to a refused call.
    pub(crate) fn refused(value: impl Into<Value>, code: Code) -> Answer {
        Answer { is_error: true, code: Some(code), ..Answer::done(value) }
    }

    /// Says how long to wait before the same call can succeed.
    #[must_use]
    pub(crate) fn after(self, wait: Option<Span>) -> Answer {
        Answer { retry_after: wait, ..self }
    }

    /// Adds a warning to the answer under this key, if there is one.
    #[must_use]
    pub(crate) fn warned(self, key: &str, warning: Option<String>) -> Answer {
        // Replaces what stands under the key: the answers that are warned have no warnings of their own.
        let (Some(warning), Value::Map(answer)) = (warning, &self.value) else { return self };
        Answer { value: answer.clone().with(key, vec![Value::from(warning)]).into(), ..self }
    }

    /// The call that an error shows as right.
    pub fn example(&self) -> Option<&Value> {
        self.value.as_map()?.keyword(ERROR)?.as_map()?.keyword(EXAMPLE)
    }

    /// Replaces the example of an error, or removes it.
    #[must_use]
    pub(crate) fn with_example(self, example: Option<Value>) -> Answer {
        let error = self.value.as_map().and_then(|map| map.keyword(ERROR)?.as_map().cloned());
        let (Some(error), Value::Map(answer)) = (error, &self.value) else { return self };
        // Rebuilt without the old example, so that the new one comes last.
        let is_other = |(key, _): &(Value, Value)| key.as_keyword().is_none_or(|key| key.as_str() != EXAMPLE);
        let error: Map = error.into_iter().filter(is_other).collect();
        let error = example.into_iter().fold(error, |error, example| error.with(EXAMPLE, example));
        Answer { value: answer.clone().with(ERROR, error).into(), ..self }
    }
}

/// The notation in which a tool's arguments were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// EDN: names are keywords.
    Edn,
    /// JSON: objects arrive as maps with string keys, arrays as vectors, names as strings.
    Json,
}

const ERROR: &str = "error";
const EXAMPLE: &str = "example";
