//! One call of a tool that calls other tools: arguments in, the tool's own answer out, now or later.
//!
//! What lives elsewhere: words and shapes (`dialect::primitives`), who carries calls out and their bounds (`runtime`), tasks
//! (`tasks.rs`), several at once (`parallel.rs`). Invariant: whether a tool may be called is asked right before each call.

use super::super::Service;
use super::super::admission::Admitted;
use super::super::later::Called;
use crate::dialect::primitives::{self, Call, Item, Tool};
use crate::dialect::tool_arguments::{self, WrongArgument};
use crate::dialect::{Answer, Notation, names};
use crate::domain::{Caller, Code, Dialect, Ruling, SessionId, Span};
use crate::edn::Value;
use crate::engine::State;
use crate::runtime::{Handle, KnownTool, Resolved, SessionKit};

/// A call of a tool of the family.
pub(super) struct PrimitivesCall<'a> {
    pub(super) service: &'a Service,
    pub(super) admitted: Admitted<'a>,
    /// How long the caller waits at most, if that is known.
    pub(super) patience: Option<Span>,
}

/// Why a tool is not called.
pub(super) enum NotCalled {
    /// For what is said of the tool.
    Tool(Code, String),
    /// For an argument that the tool would not take.
    Argument(WrongArgument),
}

impl NotCalled {
    /// What is wrong, in one sentence.
    pub(super) fn message(&self) -> &str {
        match self {
            NotCalled::Tool(_, message) => message,
            NotCalled::Argument(wrong) => wrong.message(),
        }
    }

    /// The complete error answer to a launch.
    pub(super) fn answer(&self) -> Answer {
        match self {
            NotCalled::Tool(code, message) => primitives::not_launched(*code, message),
            NotCalled::Argument(wrong) => wrong.answer(),
        }
    }
}

impl<'a> PrimitivesCall<'a> {
    pub(super) fn caller(&self) -> &'a Caller {
        self.admitted.caller()
    }

    pub(super) fn handle(&self) -> &'a Handle {
        self.service.handle()
    }

    pub(super) fn call(&self, tool: Tool, args: &Value, notation: Notation) -> Called {
        match self.read(tool, args, notation) {
            Ok((Call::Parallel(parallel), session)) => self.parallel(parallel, session),
            Ok((Call::Background(asked), session)) => self.background(asked, session),
            Err(answer) => Called::Now(answer),
        }
    }

    /// Checks a call without making it: whether its shape is right, and whether there is what it names.
    pub(super) fn check(&self, tool: Tool, args: &Value, notation: Notation) -> Answer {
        match self.read(tool, args, notation) {
            Ok((Call::Parallel(parallel), session)) => self.check_parallel(&parallel, session),
            Ok((Call::Background(asked), session)) => self.check_background(asked, session),
            Err(answer) => answer,
        }
    }

    /// The call, and the session that it is made for.
    fn read(&self, tool: Tool, args: &Value, notation: Notation) -> Result<(Call, &'a SessionId), Answer> {
        let call = primitives::parse(tool, args, notation)?;
        Ok((call, self.caller().scope.session().ok_or_else(primitives::no_session)?))
    }

    /// The tool of an item, if the caller may call it now with these arguments.
    pub(super) fn callable(
        &self,
        kit: &SessionKit,
        session: &SessionId,
        (item, may_wait): (&Item, bool),
    ) -> Result<KnownTool, NotCalled> {
        let tool = self.allowed(kit, session, (&item.name, may_wait))?;
        tool_arguments::check("params", &item.args, &tool.spec.input_schema).map_err(NotCalled::Argument)?;
        Ok(tool)
    }

    /// The tool of a name, if the caller may call it now.
    fn allowed(
        &self,
        kit: &SessionKit,
        session: &SessionId,
        (name, may_wait): (&str, bool),
    ) -> Result<KnownTool, NotCalled> {
        let not_found = |message| NotCalled::Tool(Code::NotFound, message);
        let forbidden = |message| Err(NotCalled::Tool(Code::Forbidden, message));
        let whole = names::canonical(name);
        // It would call itself without end, and its items have no bound together.
        if Tool::parse(whole).is_some() {
            return forbidden(format!("Tool '{name}' cannot be called by another call."));
        }
        let known = match kit.resolve(whole) {
            Resolved::Known(known) => *known,
            Resolved::Ambiguous(names) => return Err(not_found(primitives::ambiguous_tool(name, &names))),
            Resolved::Unknown(near) => return Err(not_found(primitives::tool_not_found(name, &near))),
        };
        // The setting binds sessions and the hosts that run them: an operator may call a tool that is closed to agents.
        if self.caller().is_bound() && !known.is_open_to_agents() {
            return forbidden(primitives::blocked(name));
        }
        let (now, zones) = (self.handle().now().wall, self.handle().zones());
        let (ruling, obstacle) = self.handle().view(|state| {
            let of = (Dialect::Primitives, &known.spec.name);
            let ruling = state.rule_of_call(session, of, zones, now).map(|rule| rule.then);
            (ruling, at_once(state, name))
        });
        // A task is a run, so the engine holds it, or asks the guard, before the call is made.
        if let Some(obstacle) = obstacle.filter(|_| !may_wait) {
            return forbidden(obstacle);
        }
        // Only a task may wait for an approval, because nobody waits for its answer.
        match ruling {
            Some(Ruling::Refuse) => forbidden(primitives::blocked(name)),
            Some(Ruling::Hold) if may_wait && self.has_approvals() => Ok(known),
            Some(Ruling::Hold) if self.has_approvals() => forbidden(primitives::waits_for_approval(name)),
            Some(Ruling::Hold) => forbidden(primitives::needs_approval(name)),
            Some(Ruling::Allow) | None if known.spec.approval => forbidden(primitives::needs_approval(name)),
            Some(Ruling::Allow) | None => Ok(known),
        }
    }

    /// Whether what needs an operator's approval waits for it.
    fn has_approvals(&self) -> bool {
        self.handle().view(|state| state.guard().is_some_and(|policy| policy.approval.is_some()))
    }

    /// Twelve random hexadecimal digits.
    pub(super) fn fresh_id(&self) -> String {
        self.handle().random_bits().short()
    }
}

/// Returns why no call of this tool may be made outside a run, where neither a hold nor the guard would stop it.
fn at_once(state: &State, name: &str) -> Option<String> {
    if let Some(hold) = state.held() {
        return Some(primitives::held(name, hold.reason.as_deref()));
    }
    let asks = state.guard().is_some_and(|policy| policy.asks.is_some());
    asks.then(|| primitives::asks_guard(name))
}
