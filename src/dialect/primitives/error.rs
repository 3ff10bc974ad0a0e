//! Prints the answers to refused calls, and the errors of single items.

use crate::dialect::args::{ArgError, ArgErrorKind, NO_SESSION, TOOL_WORDS, wordings};
use crate::dialect::{Answer, echo, tool_error};
use crate::domain::{Code, Moment, Refusal, TaskEnd, ToolName};
use crate::edn::Value;
use crate::limits;

/// The answer to a caller that is not a session.
pub fn no_session() -> Answer {
    ArgError::own("", NO_SESSION, "").answer(&TOOL_WORDS, None)
}

/// The answer to a call that the engine refused.
pub fn refused(refusal: &Refusal) -> Answer {
    tool_error::refused(refusal)
}

/// The answer if none of so many items could be called; `results` says why for each.
pub fn all_failed(count: usize, results: Vec<Value>) -> Answer {
    let message = format!("All {count} parallel action(s) failed before execution");
    let error = tool_error::error("nothing_called", Code::Validation, &message)
        .with("hint", "each result has its own error: name tools that this session can call")
        .with("results", results);
    tool_error::finish(error, Code::Validation)
}

/// The answer to a launch that is refused for what is said of the tool.
pub fn not_launched(code: Code, message: &str) -> Answer {
    let kind = if code == Code::NotFound { "no_such_tool" } else { "tool_not_allowed" };
    let error = tool_error::error(kind, code, message).with("field", "name").with("hint", LAUNCH_HINT);
    tool_error::finish(error, code)
}

/// The answer to a launch whose task failed at once.
pub fn failed_at_once(tool: &str, error: &str) -> Answer {
    let message = format!("Background task failed immediately: {error}");
    let error = tool_error::error("task_failed", Code::Conflict, &message)
        .with("tool_name", tool)
        .with("hint", "nothing runs; put the arguments right, or try again later");
    tool_error::finish(error, Code::Conflict)
}

/// The answer to a call about a task that the session does not have.
pub(crate) fn unknown_task(id: &str) -> Answer {
    let message = format!("Task '{}' not found", short(id));
    let error = tool_error::error("no_such_task", Code::NotFound, &message)
        .with("field", "task_id")
        .with("value", echo(&Value::from(id)))
        .with("hint", "background_run with list_tasks: true has the ids of your tasks");
    tool_error::finish(error, Code::NotFound)
}

/// The answer to a call about a task of the session that was lost with its process. The process started again `at` this instant.
/// `end` is how its call had ended, if that is known.
pub fn lost_task(id: &str, at: Moment, end: Option<TaskEnd>) -> Answer {
    let (known, hint) = match end {
        None => ("its call may have been made, and its outcome is unknown", RELAUNCH_HINT),
        Some(TaskEnd::Completed) => ("its call had succeeded, and its result is lost", FOR_RESULT_HINT),
        Some(TaskEnd::Failed) => ("its call had failed, and its error is lost", RELAUNCH_HINT),
        Some(TaskEnd::Cancelled) => ("its call had been cancelled", CANCELLED_HINT),
    };
    let message = format!("Task '{}' was lost at the restart of {}: {known}", short(id), at.brief());
    let error = tool_error::error("task_lost", Code::NotFound, &message)
        .with("field", "task_id")
        .with("value", echo(&Value::from(id)))
        .with("hint", hint);
    tool_error::finish(error, Code::NotFound)
}

/// What is said of a tool that does not exist for the caller. `near` has the names that are like it.
pub(crate) fn tool_not_found(name: &str, near: &[ToolName]) -> String {
    let name = short(name);
    match near {
        [] => format!("Tool '{name}' not found."),
        [one] => format!("Tool '{name}' not found. Did you mean '{one}'?"),
        several => format!("Tool '{name}' not found. There are {}.", listed(several)),
    }
}

/// What is said of a name that several tools might have.
pub fn ambiguous_tool(name: &str, candidates: &[ToolName]) -> String {
    format!("Tool '{}' could be any of {}: write one of these names.", short(name), listed(candidates))
}

/// What is said of a tool that the caller may not call.
pub fn blocked(name: &str) -> String {
    format!("Tool '{name}' is blocked by security policy.")
}

/// What is said of a tool of which an operator approves each call.
pub fn needs_approval(name: &str) -> String {
    format!("Tool '{name}' requires approval but no approval queue available.")
}

/// What is said of a tool of which an operator approves each call, where the call cannot wait for that.
pub fn waits_for_approval(name: &str) -> String {
    format!(
        "Tool '{name}' requires approval, which run_parallel does not wait for: call it with background_run."
    )
}

/// The message for a tool while an operator holds everything, where the call cannot wait for the release.
pub fn held(name: &str, reason: Option<&str>) -> String {
    let why = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!(
        "Tool '{name}' is not called now, because an operator holds everything{why}: call it with background_run, \
         which waits for the release."
    )
}

/// The message for a tool where the operator's guard decides on each call, and the call cannot wait for its answer.
pub fn asks_guard(name: &str) -> String {
    format!(
        "Tool '{name}' is called only if the guard of this daemon allows it, and run_parallel does not ask the \
         guard: call it with background_run."
    )
}

fn listed(names: &[ToolName]) -> String {
    let names: Vec<&str> = names.iter().take(LISTED).map(ToolName::as_str).collect();
    names.join(", ")
}

/// The beginning of a name that a caller wrote.
fn short(name: &str) -> &str {
    let max = usize::try_from(limits::CALLED_NAME_BYTES.value).unwrap_or(usize::MAX);
    &name[..name.floor_char_boundary(max.min(name.len()))]
}

/// All errors of these tools, with name, class and a sample, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let error = ArgError::new;
    let errors = [
        error("", ArgErrorKind::NotAMap { found: "string" }).with(&Value::from("http.get")),
        error("actions", ArgErrorKind::Missing),
        ArgError::own("actions", NOT_ACTIONS, ""),
        ArgError::own("actions", EMPTY, ""),
        ArgError::own("task_id", TASK_NEEDED, "wait"),
        ArgError::own("", LAUNCH_NEEDS_NAME, ""),
        ArgError::own("", NO_SESSION, ""),
    ];
    let errors = errors.into_iter().map(|error| (error.name(&TOOL_WORDS), error.answer(&TOOL_WORDS, None)));
    let others = [
        ("nothing_called", all_failed(1, Vec::new())),
        ("no_such_tool", not_launched(Code::NotFound, &tool_not_found("http.gett", &[]))),
        ("tool_not_allowed", not_launched(Code::Forbidden, &blocked("ci.deploy"))),
        ("no_such_task", unknown_task("a1b2c3d4e5f6")),
        ("task_lost", lost_task("a1b2c3d4e5f6", Moment::EPOCH, None)),
        ("task_failed", failed_at_once("ci.build", "exit code 2")),
    ];
    errors.chain(others).map(|(name, answer)| tool_error::entry(name, &answer)).collect()
}

const LISTED: usize = 8;
const RELAUNCH_HINT: &str = "nothing waits for it; launch the task again if a second call does no harm";
const FOR_RESULT_HINT: &str =
    "nothing waits for it; launch the task again only if you need its result and a second call does no harm";
const CANCELLED_HINT: &str = "nothing waits for it; launch the task again if it is still wanted";
const LAUNCH_HINT: &str = "name a tool that this session can call";

wordings! {
    NOT_ACTIONS "not_actions" "{field} must be a list of 1 to 50 actions"
        "write a list of objects, each with the name of a tool and its params";
    EMPTY "no_actions" "{field} is empty: there is nothing to call" "name at least one tool";
    TASK_NEEDED "task_id_missing" "{detail} needs {field}" "give the task_id that the launch answered";
    LAUNCH_NEEDS_NAME "nothing_asked" "nothing is asked for: give name to begin a task, or task_id, or list_tasks"
        "say what to do: name, task_id or list_tasks";
}
