//! Calls of tools: arguments in, the tool's own answer out. One file per family of tools.

mod called;
mod catalog;
mod channels;
mod claude_cron;
mod cron;
mod memory;
mod native;
mod op;
mod own;
mod parallel;
mod primitives;
mod psi;
mod rehearsal;
mod reminder;
mod scheduler;
mod session_action;
mod tasks;
mod tool;
mod watch;

use self::channels::ChannelCall;
use self::claude_cron::ClaudeCronCall;
use self::cron::CronCall;
use self::memory::MemoryCall;
use self::native::NativeCall;
#[cfg(feature = "http")]
use self::op::is_own_list;
use self::op::op_of;
use self::primitives::PrimitivesCall;
use self::psi::PsiCall;
use self::reminder::ReminderCall;
use self::scheduler::SchedulerCall;
use self::session_action::ActionCall;
pub(super) use self::tool::Tool;
use self::watch::WatchCall;
use super::Service;
use super::admission::Admitted;
use super::denial::{Denial, DenialReason};
use super::later::Called;
use crate::dialect::{self, Answer, Notation};
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
    tool: Tool,
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
        name: &str,
        caller: &Caller,
        args: &Value,
        notation: Notation,
    ) -> Result<Option<Answer>, Denial> {
        let style = CallStyle { notation, patience: None };
        Ok(self.begin_tool(name, caller, args, style)?.map(Called::wait))
    }

    /// Calls a tool for a caller, as [`call_tool`](Service::call_tool), and waits for nothing: the answer may come later.
    ///
    /// # Errors
    /// [`Denial`]: the caller may not make the call, and the tool has not seen it.
    pub fn begin_tool(
        &self,
        name: &str,
        caller: &Caller,
        args: &Value,
        style: CallStyle,
    ) -> Result<Option<Called>, Denial> {
        let Some(known) = self.tool(caller, name) else {
            self.note_withheld(caller, name, args);
            return Ok(None);
        };
        let op = op_of(known.tool, args);
        // A grant has to cover what the tool makes as well; if it leaves that family out, the denial names it.
        let withheld = known.tool.makes().filter(|made| self.is_family_withheld(caller, *made));
        let dialect = withheld.unwrap_or(known.dialect);
        let admitted = self.admit(caller, op, Some(dialect))?;
        // A tool is a session's, or an operator's. A host reaches what its sessions have by speaking for one of them.
        if caller.scope.is_nothing() {
            return Err(Denial::new(DenialReason::NoSession, caller, op));
        }
        let call = ToolCall { admitted, tool: known.tool, args, notation: style.notation };
        // One bound for all tools, errors included.
        Ok(Some(self.call_admitted(call, style.patience).map(dialect::within_bound)))
    }

    /// Whether a call of the tool of this name may read much, if the tool exists for the caller. psi's list does not: it shows
    /// the unfinished schedules of one session, and is asked for often.
    #[cfg(feature = "http")]
    pub(crate) fn may_take_long(&self, caller: &Caller, name: &str, args: &Value) -> bool {
        let known = self.tool(caller, name);
        known.is_some_and(|known| op_of(known.tool, args) == Op::Query && !is_own_list(known.tool, args))
    }

    /// Whether a call of the tool of this name may wait for other calls, if the tool exists for the caller.
    #[cfg(feature = "http")]
    pub(crate) fn may_wait(&self, caller: &Caller, name: &str) -> bool {
        self.tool(caller, name).is_some_and(|known| matches!(known.tool, Tool::Primitives(_)))
    }

    /// Records the call of a tool that the caller's grant withholds. To the caller the tool does not exist.
    fn note_withheld(&self, caller: &Caller, name: &str, args: &Value) {
        // One that is switched off does not exist for anybody.
        let is_withheld = |known: &&ToolInfo| self.is_there(caller, known) && self.is_withheld(caller, known);
        if let Some(known) = ToolInfo::named(name).filter(is_withheld) {
            self.record_denial(caller, op_of(known.tool, args), Some(known.dialect));
        }
    }

    fn call_admitted(&self, call: ToolCall<'_>, patience: Option<Span>) -> Called {
        let ToolCall { admitted, args, notation, .. } = call;
        let called = if let Tool::Primitives(tool) = call.tool {
            PrimitivesCall { service: self, admitted, patience }.call(tool, args, notation)
        } else {
            Called::Now(self.carry_out(call))
        };
        let answer = match called {
            Called::Now(answer) => answer,
            later @ Called::Later(_) => return later,
        };
        // What an error shows as right has to be right by now, not only in its words.
        Called::Now(rehearsal::with_tried_example(answer, |args| self.rehearse(ToolCall { args, ..call })))
    }

    fn carry_out(&self, ToolCall { admitted, tool, args, notation }: ToolCall<'_>) -> Answer {
        let service = self;
        match tool {
            Tool::Psi => PsiCall { service, admitted }.call(args, notation),
            Tool::Cron(tool) => CronCall { service, admitted, args }.call(tool, notation),
            Tool::Reminder(tool) => ReminderCall { service, admitted }.call(tool, args, notation),
            Tool::SessionAction(tool) => ActionCall { service, admitted }.call(tool, args, notation),
            Tool::ClaudeCron(tool) => ClaudeCronCall { service, admitted }.call(tool, args, notation),
            Tool::Watch(tool) => WatchCall { service, admitted }.call(tool, args, notation),
            Tool::Scheduler(tool) => SchedulerCall { service, admitted }.call(tool, args, notation),
            Tool::Native(tool) => NativeCall { service, admitted }.call(tool, args, notation),
            Tool::Channels(tool) => ChannelCall { service, admitted }.call(tool, args, notation),
            Tool::Memory(tool) => MemoryCall { service, admitted }.call(tool, args, notation),
            // A rehearsal: what others carry out is checked, and not called.
            Tool::Primitives(tool) => {
                PrimitivesCall { service, admitted, patience: None }.check(tool, args, notation)
            }
        }
    }
}
