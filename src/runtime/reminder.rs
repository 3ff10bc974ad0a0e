//! One call of a tool of reminders: arguments in, the tool's own answer out.
//!
//! What lives elsewhere: words and shapes (`dialect::reminder`), rules (`engine`). Invariant: an answer shows a reminder as
//! the change left it, read before anything else could happen.

use super::handle::Handle;
use crate::dialect::reminder::{self, Call, Draft, Reminder, Tool};
use crate::dialect::{Answer, Notation};
use crate::domain::{Caller, Dialect, Durability, Moment, Refusal, ScheduleId, SessionId, Status};
use crate::edn::Value;
use crate::engine::{Command, Input, NewSchedule, Which};

impl Handle {
    pub(super) fn call_reminder(
        &self,
        tool: Tool,
        caller: &Caller,
        args: &Value,
        notation: Notation,
    ) -> Answer {
        let call = match reminder::parse(tool, args, notation) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        let Some(session) = caller.scope.session() else { return reminder::no_session(tool) };
        let now = self.now().wall;
        let done = match call {
            Call::Add(draft) => self.add_reminder(draft, caller, session, now),
            Call::List => self.reminders(session, now).map(|reminders| reminder::listed(&reminders)),
            Call::Remove { pattern } => self.remove_reminders(&pattern, caller, session, now),
        };
        done.unwrap_or_else(|refusal| reminder::refused(&refusal))
    }

    fn reminders(&self, session: &SessionId, now: Moment) -> Result<Vec<Reminder>, Refusal> {
        self.view(|state| match state.session(session) {
            Some(_) => Ok(reminder::active(state, session, now)),
            None => Err(Refusal::UnknownSession { session: session.clone() }),
        })
    }

    fn add_reminder(
        &self,
        draft: Draft,
        caller: &Caller,
        session: &SessionId,
        now: Moment,
    ) -> Result<Answer, Refusal> {
        let id = ScheduleId::fresh(Durability::Durable, || now, self.draw());
        let new = draft.into_new(id.clone(), session.clone(), now).ok_or(Refusal::BeyondCalendar)?;
        let new = NewSchedule { made_by: caller.maker(session, Some(Dialect::Reminder)), ..new };
        let created = self.submit_with(Input::Command(Command::CreateSchedule(new)), |state| {
            state.schedule(&id).and_then(|record| Reminder::of(state, record, now))
        });
        match created {
            Ok(created) => Ok(reminder::added(&created.expect("a reminder that was just set is there"))),
            Err(Refusal::SessionFull { max }) => Ok(reminder::full(&self.reminders(session, now)?, max)),
            Err(refusal) => Err(refusal),
        }
    }

    /// Cancels all that match. One that has come to its end meanwhile is not among those that the answer lists.
    fn remove_reminders(
        &self,
        pattern: &str,
        caller: &Caller,
        session: &SessionId,
        now: Moment,
    ) -> Result<Answer, Refusal> {
        let active = self.reminders(session, now)?;
        let mut cancelled = Vec::new();
        for reminder in reminder::matching(&active, pattern) {
            match self.cancel_reminder(Which::any(caller.actor_with(Dialect::Reminder), reminder.id.clone()))
            {
                Ok(true) => cancelled.push(reminder),
                Ok(false) => {}
                // What was cancelled stays so, and is told; what was not still matches when this is tried again.
                Err(refusal) if cancelled.is_empty() => return Err(refusal),
                Err(_) => break,
            }
        }
        if cancelled.is_empty() {
            return Ok(reminder::not_found(pattern, &self.reminders(session, now)?));
        }
        Ok(reminder::removed(&cancelled))
    }

    /// Whether there was anything left to cancel.
    fn cancel_reminder(&self, which: Which) -> Result<bool, Refusal> {
        let outcome = self.submit(Input::Command(Command::CancelSchedule(which.clone())));
        match outcome {
            // The agent has it: that turn goes on, and nothing comes after it.
            Err(Refusal::NotCancellable { status: Status::InFlight, .. }) => {
                self.submit(Input::Command(Command::DeleteSchedule(which))).map(|()| true)
            }
            Err(Refusal::NotCancellable { .. } | Refusal::UnknownSchedule { .. }) => Ok(false),
            outcome => outcome.map(|()| true),
        }
    }
}
