//! The example of an error: a call that the engine would accept at this moment, or none.
//!
//! A family of tools puts one fault of a call right. Whether anything else is wrong with the call is found out here, by making
//! it without effect. Invariant: an example that leaves this file would have been accepted.

use super::super::Service;
use super::ToolCall;
use crate::dialect::Answer;
use crate::domain::Code;
use crate::edn::Value;
use crate::runtime::Rehearsal;

impl Service {
    /// The answer to a call that changes nothing. It is no error if the call would be accepted.
    pub(super) fn rehearse(&self, call: ToolCall<'_>) -> Answer {
        let (handle, rehearsal) = Rehearsal::on(self.handle());
        let service = Service { handle, ..self.clone() };
        let answer = service.carry_out(call);
        if rehearsal.is_accepted() { Answer::done(Value::Nil) } else { answer }
    }
}

/// Replaces the example of an error by the call with all its faults put right, or takes it away if one cannot be.
pub(super) fn with_tried_example(answer: Answer, rehearse: impl Fn(&Value) -> Answer) -> Answer {
    let mut example = answer.example().cloned();
    if example.is_none() {
        return answer;
    }
    // Each round tries the last example. If that fails too, its own error has an example with one fault less.
    for _ in 0..FAULTS_MAX {
        let fits = |call: &Value| call.to_string().len() <= EXAMPLE_BYTES_MAX;
        let Some(call) = example.filter(fits) else { return answer.with_example(None) };
        let tried = rehearse(&call);
        if !tried.is_error {
            return answer.with_example(Some(call));
        }
        // Somebody else has changed it meanwhile. The caller has not heard so, and would overwrite that unseen.
        if tried.code == Some(Code::Conflict) && answer.code != tried.code {
            break;
        }
        example = tried.example().cloned();
    }
    answer.with_example(None)
}

/// The most faults of one call that an example corrects. Each costs a rehearsal.
const FAULTS_MAX: usize = 6;
/// A longer call is not repeated: its author has it, and the hint says what to change.
const EXAMPLE_BYTES_MAX: usize = 4_096;
