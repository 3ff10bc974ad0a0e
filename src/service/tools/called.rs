//! Whether a tool can be called later, for those who have it called without them.

use crate::dialect::{Answer, called, tool_arguments};
use crate::domain::{
    CallPurpose, CallVia, Caller, Dialect, ExecutorKind, Payload, Recovery, Risk, Ruling, SessionId,
    ToolName, ToolSpec,
};
use crate::edn::Value;
use crate::engine::NewSchedule;
use crate::runtime::{Handle, Resolved};

/// A tool that can be called later, and where its executor is looked for then.
pub(super) struct CallLater {
    pub(super) spec: ToolSpec,
    via: CallVia,
}

impl CallLater {
    /// Finds the tool of this name, if the caller may have it called for the session with these arguments, by a tool of this
    /// dialect. The fields name the tool and its arguments in the caller's call.
    ///
    /// # Errors
    /// The complete error answer.
    pub(super) fn find(
        handle: &Handle,
        (session, caller): (&SessionId, &Caller),
        dialect: Dialect,
        (field, tool): (&'static str, &ToolName),
        (args_field, args): (&'static str, &Value),
    ) -> Result<CallLater, Answer> {
        let found = CallLater::allowed(handle, (session, caller), dialect, (field, tool))?;
        tool_arguments::check(args_field, args, &found.spec.input_schema).map_err(|wrong| wrong.answer())?;
        Ok(found)
    }

    /// As [`CallLater::find`], whatever the arguments will be.
    ///
    /// # Errors
    /// The complete error answer.
    pub(super) fn allowed(
        handle: &Handle,
        (session, caller): (&SessionId, &Caller),
        dialect: Dialect,
        (field, tool): (&'static str, &ToolName),
    ) -> Result<CallLater, Answer> {
        let found = find(handle, session, tool).map_err(|near| {
            let near: Vec<&str> = near.iter().map(ToolName::as_str).collect();
            called::unknown_tool(field, tool, &near)
        })?;
        // What a session's host offers, the session could do anyway.
        let is_hosts = found.via == CallVia::Host;
        let is_closed = caller.is_bound() && !found.spec.agents && !is_hosts;
        let (now, zones) = (handle.now().wall, handle.zones());
        let ruling = handle.view(|state| {
            let of = (dialect, &found.spec.name);
            state.rule_of_call(session, of, zones, now).map(|rule| rule.then)
        });
        if is_closed || ruling == Some(Ruling::Refuse) {
            return Err(called::blocked_tool(field, tool));
        }
        let spec = ToolSpec { approval: found.spec.approval || ruling == Some(Ruling::Hold), ..found.spec };
        Ok(CallLater { spec, via: found.via })
    }

    /// Gives the call of a new schedule the tool's whole name, and the place of its executor. A job's call whose end a crash
    /// left unknown is not made again if a second one could do harm.
    pub(super) fn of(&self, new: NewSchedule) -> NewSchedule {
        let mut settings = new.settings;
        let payload = match new.payload {
            Payload::Call(mut call) => {
                (call.tool, call.via) = (self.spec.name.clone(), self.via);
                // A tool that only reads, or is idempotent, may be called twice without a further effect.
                let does_harm = !self.spec.idempotent && self.spec.risk != Risk::Read;
                if let Some(settings) =
                    settings.as_mut().filter(|_| does_harm && call.purpose == CallPurpose::Job)
                {
                    settings.policy.recovery = Recovery::Fail;
                }
                Payload::Call(call)
            }
            other @ (Payload::Turn { .. } | Payload::NewSession(_) | Payload::Notice(_)) => other,
        };
        NewSchedule { payload, settings, ..new }
    }
}

/// The tool of this name, or names that are near.
fn find(handle: &Handle, session: &SessionId, tool: &ToolName) -> Result<CallLater, Vec<ToolName>> {
    match handle.tools().of(session).resolve(tool.as_str()) {
        Resolved::Known(known) => {
            let via = if known.kind == ExecutorKind::Host { CallVia::Host } else { CallVia::Any };
            Ok(CallLater { spec: known.spec, via })
        }
        Resolved::Ambiguous(names) | Resolved::Unknown(names) => Err(names),
    }
}
