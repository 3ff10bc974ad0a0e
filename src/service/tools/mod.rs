//! Calls of tools: arguments in, the tool's own answer out. One file per family of tools.

mod called;
mod catalog;
mod channels;
mod claude_cron;
mod cron;
mod memory;
mod native;
mod own;
mod parallel;
mod primitives;
mod psi;
mod rehearsal;
mod reminder;
mod scheduler;
mod session_action;
mod tasks;
mod watch;

use self::channels::ChannelCall;
use self::claude_cron::ClaudeCronCall;
use self::cron::CronCall;
use self::memory::MemoryCall;
use self::native::NativeCall;
use self::primitives::PrimitivesCall;
use self::psi::PsiCall;
use self::reminder::ReminderCall;
use self::scheduler::SchedulerCall;
use self::session_action::ActionCall;
use self::watch::WatchCall;
use super::Service;
use super::admission::{Admitted, op_of};
use super::denial::{Denial, DenialReason};
use super::later::Called;
use crate::dialect::{self, Answer, Notation, names};
#[cfg(feature = "http")]
use crate::domain::Op;
use crate::domain::{Caller, Span};
use crate::edn::Value;

pub use self::catalog::{TOOLBOX, ToolEffect, ToolInfo};
pub(super) use self::own::OwnTools;

/// How a call is made.
#[derive(Clone, Copy, Debug)]
pub struct CallStyle {
    /// The notation of its arguments and of the answer.
    pub notation: Notation,
    /// How long the caller waits for the answer at most, if that is known.
    pub patience: Option<Span>,
}

/// A call of a tool that was admitted.
#[derive(Clone, Copy)]
struct ToolCall<'a> {
    admitted: Admitted<'a>,
    tool: &'a str,
    args: &'a Value,
    notation: Notation,
}

impl Service {
    /// Calls a tool for a caller, and waits for the answer on this thread; `None` if there is no tool of that name. The answer
    /// is in the tool's own words, also when it is a refusal.
    ///
    /// # Errors
    /// [`Denial`]: the caller may not make the call, and the tool has not seen it.
    pub fn call_tool(
        &self,
        tool: &str,
        caller: &Caller,
        args: &Value,
        notation: Notation,
    ) -> Result<Option<Answer>, Denial> {
        let style = CallStyle { notation, patience: None };
        Ok(self.begin_tool(tool, caller, args, style)?.map(Called::wait))
    }

    /// Calls a tool for a caller, as [`call_tool`](Service::call_tool), and waits for nothing: the answer may come later.
    ///
    /// # Errors
    /// [`Denial`]: the caller may not make the call, and the tool has not seen it.
    pub fn begin_tool(
        &self,
        tool: &str,
        caller: &Caller,
        args: &Value,
        style: CallStyle,
    ) -> Result<Option<Called>, Denial> {
        let Some(known) = self.tool(caller, tool) else {
            self.note_withheld(caller, tool, args);
            return Ok(None);
        };
        let tool = known.name;
        let (op, dialect) = op_of(tool, args);
        let admitted = self.admit(caller, op, dialect)?;
        // A tool is a session's, or an operator's. A host reaches what its sessions have by speaking for one of them.
        if caller.scope.is_nothing() {
            return Err(Denial::new(DenialReason::NoSession, caller, op));
        }
        let call = ToolCall { admitted, tool, args, notation: style.notation };
        // One bound for all tools, errors included.
        Ok(self.call_admitted(call, style.patience).map(|called| called.map(dialect::within_bound)))
    }

    /// Whether a call of a tool changes nothing.
    #[cfg(feature = "http")]
    pub(crate) fn only_reads(&self, tool: &str, args: &Value) -> bool {
        op_of(names::canonical(tool), args).0 == Op::Query
    }

    /// Records the call of a tool that the caller's grant withholds. To the caller the tool does not exist.
    fn note_withheld(&self, caller: &Caller, tool: &str, args: &Value) {
        let (op, dialect) = op_of(names::canonical(tool), args);
        if let Some(dialect) = dialect.filter(|dialect| self.is_withheld(caller, *dialect)) {
            self.record_denial(caller, op, Some(dialect));
        }
    }

    fn call_admitted(&self, call: ToolCall<'_>, patience: Option<Span>) -> Option<Called> {
        let ToolCall { admitted, args, notation, .. } = call;
        let called = match dialect::primitives::Tool::parse(call.tool) {
            Some(tool) => PrimitivesCall { service: self, admitted, patience }.call(tool, args, notation),
            None => Called::Now(self.carry_out(call)?),
        };
        let answer = match called {
            Called::Now(answer) => answer,
            later @ Called::Later(_) => return Some(later),
        };
        // What an error shows as right has to be right by now, not only in its words.
        let tried = rehearsal::with_tried_example(answer, |args| self.rehearse(ToolCall { args, ..call }));
        Some(Called::Now(tried))
    }

    fn carry_out(&self, call: ToolCall<'_>) -> Option<Answer> {
        let ToolCall { admitted, tool, args, notation } = call;
        if tool == dialect::psi::TOOL {
            return Some(PsiCall { service: self, admitted }.call(args, notation));
        }
        if let Some(tool) = dialect::cron::Tool::parse(tool) {
            return Some(CronCall { service: self, admitted, args }.call(tool, notation));
        }
        if let Some(tool) = dialect::reminder::Tool::parse(tool) {
            return Some(ReminderCall { service: self, admitted }.call(tool, args, notation));
        }
        if let Some(tool) = dialect::claude_cron::Tool::parse(tool) {
            return Some(ClaudeCronCall { service: self, admitted }.call(tool, args, notation));
        }
        if let Some(tool) = dialect::channels::Tool::parse(tool) {
            return Some(ChannelCall { service: self, admitted }.call(tool, args, notation));
        }
        if let Some(tool) = dialect::memory::Tool::parse(tool) {
            return Some(MemoryCall { service: self, admitted }.call(tool, args, notation));
        }
        if let Some(tool) = dialect::native::Tool::parse(tool) {
            return Some(NativeCall { service: self, admitted }.call(tool, args, notation));
        }
        if let Some(tool) = dialect::primitives::Tool::parse(tool) {
            // A rehearsal: tools that others carry out have none.
            return Some(primitives::check(tool, args, notation));
        }
        if let Some(tool) = dialect::watch::Tool::parse(tool) {
            return Some(WatchCall { service: self, admitted }.call(tool, args, notation));
        }
        if let Some(tool) = dialect::scheduler::Tool::parse(tool) {
            return Some(SchedulerCall { service: self, admitted }.call(tool, args, notation));
        }
        let tool = dialect::session_action::Tool::parse(tool)?;
        Some(ActionCall { service: self, admitted }.call(tool, args, notation))
    }
}
