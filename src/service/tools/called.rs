//! Whether a tool can be called later, for those who have it called without them.

use crate::dialect::{Answer, called};
use crate::domain::{Caller, CallerRole, SessionId, ToolName, ToolSpec};
use crate::edn::Value;
use crate::runtime::Handle;

/// The tool, if an executor offers it to the session and the caller may have it called. `field` names it in the call.
///
/// # Errors
/// The complete error answer.
pub(super) fn known_tool(
    handle: &Handle,
    session: &SessionId,
    caller: &Caller,
    (field, tool): (&'static str, &ToolName),
    (args_field, args): (&'static str, &Value),
) -> Result<ToolSpec, Answer> {
    let specs = handle.tool_specs(session);
    let Some(spec) = specs.iter().find(|spec| spec.name == *tool) else {
        let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        return Err(called::unknown_tool(field, tool, &names));
    };
    if caller.role == CallerRole::Session && !spec.agents {
        return Err(called::blocked_tool(field, tool));
    }
    called::check_arguments(args_field, args, &spec.input_schema)?;
    Ok(spec.clone())
}
