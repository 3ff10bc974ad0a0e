//! Executor of an operator's programs: the arguments as one line of JSON on standard input, standard output as the result.
//!
//! What lives elsewhere: how a program runs and how its group is killed (`program.rs` beside this folder). Invariant: what a
//! program prints is data: it is read up to a bound, and what is no JSON is a text.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::ToolTasks;
use crate::adapter::outbound::program::{Ended, Program, ProgramOutput};
use crate::dialect::REQUEST_CAPS;
use crate::dialect::json::{self, JsonError};
use crate::domain::{Outcome, SessionId, Span, ToolName, ToolSpec};
use crate::edn::{Caps, Map, Value};
use crate::engine::Invocation;
use crate::limits;
use crate::port::{Executor, Returned};

/// One tool, and the program that it is. Its time is that of each call.
pub struct ProgramTool {
    /// What the tool is.
    pub spec: ToolSpec,
    /// The program.
    pub program: Program,
}

/// The programs of one configuration.
pub struct ProgramTools {
    tasks: Arc<ToolTasks>,
    programs: BTreeMap<ToolName, Program>,
    specs: Arc<[ToolSpec]>,
}

impl ProgramTools {
    /// Makes an executor of these tools.
    pub fn new(tasks: Arc<ToolTasks>, tools: Vec<ProgramTool>) -> ProgramTools {
        let specs = tools.iter().map(|tool| tool.spec.clone()).collect();
        let programs = tools.into_iter().map(|tool| (tool.spec.name, tool.program)).collect();
        ProgramTools { tasks, programs, specs }
    }
}

impl Executor for ProgramTools {
    fn specs(&self, _session: &SessionId) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    fn call(&self, invocation: Invocation, returned: Returned) {
        // Dropped without an outcome, which says that there is none.
        let Some(program) = self.programs.get(&invocation.tool) else { return };
        let mut program = program.clone();
        program.environment.push((CALL_ID.to_owned(), invocation.id.to_string()));
        program.time = Duration::from_nanos(invocation.timeout.nanos());
        let mut input = String::new();
        json::write(&invocation.args, &mut input);
        input.push('\n');
        self.tasks.begin(&invocation.id, returned, async move {
            let max = usize::try_from(limits::OUTCOME_BYTES.value).unwrap_or(usize::MAX);
            match program.run_keeping(input.as_bytes(), max).await {
                Ok(output) => outcome(output, max),
                Err(fault) => Outcome::of_error(fault.to_string(), Span::ZERO),
            }
        });
    }

    fn cancel(&self, id: &str) {
        self.tasks.cancel(id);
    }
}

/// What a program that has ended came to.
fn outcome(output: ProgramOutput, max: usize) -> Outcome {
    let ProgramOutput { ended, output, errors } = output;
    let cut = output.len() >= max;
    let read = printed(&output, max).map(|(value, _)| value);
    let bytes = output.len() as u64;
    match (ended, read) {
        (Ended::Code(0), Ok(value)) => Outcome { cut, ..Outcome::of_value(value, bytes, Span::ZERO) },
        (Ended::Code(0), Err(error)) => Outcome::of_error(error, Span::ZERO),
        (ended, read) => {
            let code = match ended {
                Ended::Code(code) => Some(code),
                Ended::Signal(_) => None,
            };
            let value = read.ok().filter(|value| !value.is_nil()).map(Arc::new);
            Outcome { code, value, bytes, cut, ..Outcome::of_error(why(ended, &errors), Span::ZERO) }
        }
    }
}

/// The result in what was printed, up to a bound: JSON, or else a text; and whether it was cut there.
pub(super) fn printed(output: &[u8], max: usize) -> Result<(Value, bool), String> {
    let cut = output.len() >= max;
    // JSON that was cut cannot be parsed, so it is taken as a text.
    let read = if cut { text(&output[..whole(output)]) } else { value(output) };
    read.map(|value| (value, cut))
}

/// The end of what it printed as errors, or how it ended.
fn why(ended: Ended, errors: &[u8]) -> String {
    let errors = String::from_utf8_lossy(errors);
    let errors = errors.trim();
    if errors.is_empty() {
        return match ended {
            Ended::Code(code) => format!("it ended with exit code {code}"),
            Ended::Signal(signal) => format!("it was ended by signal {signal}"),
        };
    }
    let from = errors.len().saturating_sub(ERRORS_SHOWN);
    errors[errors.ceil_char_boundary(from)..].to_owned()
}

/// The result in what a program printed: JSON, or else a text.
fn value(output: &[u8]) -> Result<Value, String> {
    let printed = text(output)?;
    let trimmed = output.trim_ascii();
    if trimmed.is_empty() {
        return Ok(Value::Nil);
    }
    match json::read(trimmed, &CAPS) {
        Ok(value) => Ok(value),
        Err(error @ (JsonError::TooDeep { .. } | JsonError::TooLong { .. })) => {
            Err(format!("its output is refused: {error}"))
        }
        // What is JSON and is refused all the same has a key twice. Which one counts nobody can say.
        Err(error) if serde_json::from_slice::<serde::de::IgnoredAny>(trimmed).is_ok() => {
            Err(format!("its output is refused: {error}"))
        }
        Err(_) => Ok(printed),
    }
}

fn text(output: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(output).map_err(|_| "its output is not UTF-8".to_owned())?;
    Ok(Map::new().with("output", text.trim_end()).into())
}

/// How many bytes of a text that was cut are whole characters.
fn whole(output: &[u8]) -> usize {
    match std::str::from_utf8(output) {
        // Only the last character was cut in two.
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => output.len(),
    }
}

/// The variable with the id of the call, by which a program recognizes one that is made again.
const CALL_ID: &str = "REVEILLE_CALL_ID";
/// How much is shown of what a program printed as errors.
const ERRORS_SHOWN: usize = 2_000;
#[expect(clippy::cast_possible_truncation, reason = "far below 4 GB")]
const CAPS: Caps = Caps { bytes_max: limits::OUTCOME_BYTES.value as u32, ..REQUEST_CAPS };

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ended: Ended, output: &[u8], errors: &str, expected: (bool, &str, &str)) {
        let output = ProgramOutput { ended, output: output.to_vec(), errors: errors.as_bytes().to_vec() };
        let outcome = outcome(output, 100);
        let value = outcome.value.map(|value| value.to_string()).unwrap_or_default();
        assert_eq!((outcome.ok, value.as_str(), outcome.error.as_deref().unwrap_or_default()), expected);
    }

    #[test]
    fn what_a_program_prints_is_its_result() {
        check(Ended::Code(0), b" {\"a\": [1]}\n", "", (true, "{\"a\" [1]}", ""));
        check(Ended::Code(0), b"all is well\n", "", (true, "{:output \"all is well\"}", ""));
        check(Ended::Code(0), b"[INFO] started\n", "", (true, "{:output \"[INFO] started\"}", ""));
        check(Ended::Code(0), b"\n", "", (true, "", ""));
        check(Ended::Code(0), b"\xff\xfe", "", (false, "", "its output is not UTF-8"));
        let deep = ["[".repeat(40), "]".repeat(40)].concat();
        let twice = "its output is refused: duplicate key: a at line 1 column 11";
        let error = |output: &[u8]| {
            let output = ProgramOutput { ended: Ended::Code(0), output: output.to_vec(), errors: Vec::new() };
            outcome(output, 1_000).error.unwrap_or_default()
        };
        assert!(error([deep.clone(), deep].concat().as_bytes()).is_empty(), "two texts are no JSON");
        let deep = ["[".repeat(200), "]".repeat(200)].concat();
        assert!(error(deep.as_bytes()).starts_with("its output is refused: the input is nested deeper"));
        assert!(error(b"{\"a\":1,\"a\":2}").starts_with(&twice[..22]));
    }

    #[test]
    fn an_exit_code_other_than_0_is_an_error() {
        check(Ended::Code(2), b"", "", (false, "", "it ended with exit code 2"));
        check(Ended::Code(2), b"{\"step\":1}", "no such branch\n", (false, "{\"step\" 1}", "no such branch"));
        check(Ended::Signal(9), b"", "", (false, "", "it was ended by signal 9"));
        let long = "é".repeat(3_000);
        check(Ended::Code(1), b"", &long, (false, "", &long[..2_000]));
    }

    #[test]
    fn a_long_output_is_cut_between_characters() {
        let long = format!("x{}", "é".repeat(60));
        let output = ProgramOutput {
            ended: Ended::Code(0),
            output: long.as_bytes()[..100].to_vec(),
            errors: Vec::new(),
        };
        let outcome = outcome(output, 100);
        assert!(outcome.cut && outcome.ok);
        let kept = outcome.value.and_then(|value| Some(value.as_map()?.keyword("output")?.as_str()?.len()));
        assert_eq!(kept, Some(99));
    }
}
