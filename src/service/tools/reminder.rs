//! One call of a tool of reminders: arguments in, the tool's own answer out.
//!
//! What lives elsewhere: words and shapes (`dialect::reminder`), rules (`engine`). Invariant: an answer shows a reminder as
//! the change left it, read before anything else could happen.

use super::super::Service;
use super::super::admission::Admitted;
use crate::dialect::reminder::{self, Call, Match, Reminder, ReminderDraft, Tool};
use crate::dialect::{Answer, Notation, unreachable};
use crate::domain::{Caller, Dialect, Durability, Moment, Refusal, ScheduleId, SessionId, Status};
use crate::edn::Value;
use crate::engine::{Command, Input, NewSchedule, Which};
use crate::runtime::Handle;

/// A call of a tool of reminders.
pub(super) struct ReminderCall<'a> {
    pub(super) service: &'a Service,
    pub(super) admitted: Admitted<'a>,
}

impl<'a> ReminderCall<'a> {
    fn handle(&self) -> &'a Handle {
        self.service.handle()
    }

    fn caller(&self) -> &'a Caller {
        self.admitted.caller()
    }

    pub(super) fn call(&self, tool: Tool, args: &Value, notation: Notation) -> Answer {
        let call = match reminder::parse(tool, args, notation) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        let Some(session) = self.caller().scope.session() else { return reminder::no_session() };
        let now = self.handle().now().wall;
        let done = match call {
            Call::Add(draft) => self.add_reminder(draft, session, now),
            Call::List(page) => {
                self.reminders(session, now).map(|reminders| reminder::listed(&reminders, &page))
            }
            Call::Remove { pattern } => self.remove_reminders(&pattern, session, now),
        };
        done.unwrap_or_else(|refusal| reminder::refused(&refusal))
    }

    fn reminders(&self, session: &SessionId, now: Moment) -> Result<Vec<Reminder>, Refusal> {
        self.handle().view(|state| match state.session(session) {
            Some(_) => Ok(reminder::active(state, session, now)),
            None => Err(Refusal::UnknownSession { session: session.clone() }),
        })
    }

    fn add_reminder(
        &self,
        draft: ReminderDraft,
        session: &SessionId,
        now: Moment,
    ) -> Result<Answer, Refusal> {
        let id = ScheduleId::fresh(Durability::Durable, || now, self.handle().random_bits());
        let new = draft.into_new(id.clone(), session.clone(), now).ok_or(Refusal::BeyondCalendar)?;
        let new = NewSchedule { made_by: self.caller().maker(session, Some(Dialect::Reminder), None), ..new };
        let created = self.handle().submit_with(Input::Command(Command::CreateSchedule(new)), |state| {
            let record = state.schedule(&id)?;
            let added = reminder::added(&Reminder::of(state, record, now)?);
            Some(added.warned("warnings", unreachable(state, record)))
        });
        match created {
            Ok(added) => Ok(added.expect("a reminder that was just set is there")),
            // The tool's answer lists the reminders, so that one can be removed.
            Err(Refusal::SessionFull { max }) => Ok(reminder::full(&self.reminders(session, now)?, max)),
            Err(refusal) => Err(refusal),
        }
    }

    /// Cancels all reminders that match. The answer omits those that have ended meanwhile.
    fn remove_reminders(&self, pattern: &str, session: &SessionId, now: Moment) -> Result<Answer, Refusal> {
        let meant = match reminder::matching(&self.reminders(session, now)?, pattern) {
            Match::These(reminders) => reminders,
            other @ (Match::Several(_) | Match::Perhaps(_)) => {
                return Ok(reminder::not_found(pattern, &other));
            }
        };
        let mut cancelled = Vec::new();
        for reminder in meant {
            match self
                .cancel_reminder(Which::any(self.caller().actor_with(Dialect::Reminder), reminder.id.clone()))
            {
                Ok(true) => cancelled.push(reminder),
                Ok(false) => {}
                // What has been cancelled stays cancelled and is reported. The rest still matches
                // when the caller tries again.
                Err(refusal) if cancelled.is_empty() => return Err(refusal),
                Err(_) => break,
            }
        }
        if cancelled.is_empty() {
            return Ok(reminder::not_found(pattern, &Match::Perhaps(self.reminders(session, now)?)));
        }
        Ok(reminder::removed(&cancelled))
    }

    /// Cancels a reminder. Returns whether there was anything left to cancel.
    fn cancel_reminder(&self, which: Which) -> Result<bool, Refusal> {
        let outcome = self.handle().submit(Input::Command(Command::CancelSchedule(which.clone())));
        match outcome {
            // It is being delivered: that turn goes on, and deleting the schedule prevents any other.
            Err(Refusal::NotCancellable { status: Status::InFlight, .. }) => {
                self.handle().submit(Input::Command(Command::DeleteSchedule(which))).map(|()| true)
            }
            Err(
                Refusal::NotCancellable { .. }
                | Refusal::UnknownSchedule { .. }
                | Refusal::ScheduleLost { .. },
            ) => Ok(false),
            outcome => outcome.map(|()| true),
        }
    }
}
