//! Cancels, pauses or resumes many schedules: all of a session, or all that a filter admits.
//!
//! Each schedule is changed in a step of its own, and counts as a change of its own for the rate of the session. One that
//! cannot be changed, or is one too many for the rate, is left as it is and counted. Schedules created meanwhile are not
//! included: to keep a session from getting more work, close it or take its grant away.

use super::{CallerMutator, reason, refused};
use crate::domain::{Code, Refusal, ScheduleId, SessionId};
use crate::edn::{Map, Value};
use crate::engine::{Command, Input, ScheduleRecord, State, Which};
use crate::graph::mutation::{BulkAction, ChangeMany, ReasonParams};
use crate::graph::registry::ResolverError;
use crate::graph::schedule_filter::unfinished;
use crate::port::Ticket;

impl CallerMutator<'_> {
    /// Cancels every schedule that has not ended and is not being delivered.
    pub(super) fn cancel_all(&self, session: Option<SessionId>) -> Result<Value, ResolverError> {
        self.each(session, |_| true, Command::CancelSchedule)
    }

    /// Pauses every schedule that is not paused.
    pub(super) fn pause_all(
        &self,
        session: Option<SessionId>,
        reason: Option<&str>,
    ) -> Result<Value, ResolverError> {
        let runs = |record: &ScheduleRecord| record.progress().paused.is_none();
        self.each(session, runs, |which| Command::PauseSchedule { which, reason: reason.map(Into::into) })
    }

    /// Resumes every schedule that is paused.
    pub(super) fn resume_all(&self, session: Option<SessionId>) -> Result<Value, ResolverError> {
        let stands = |record: &ScheduleRecord| record.progress().paused.is_some();
        self.each(session, stands, Command::ResumeSchedule)
    }

    fn each(
        &self,
        session: Option<SessionId>,
        is_meant: impl Fn(&ScheduleRecord) -> bool,
        command: impl Fn(Which) -> Command,
    ) -> Result<Value, ResolverError> {
        let session = self.session(session, "session-id")?;
        // Collected first: no lock is held while the schedules are changed.
        let meant = self.handle().view(|state| meant(state, &session, &is_meant));
        let meant = meant.ok_or_else(|| refused(&Refusal::UnknownSession { session: session.clone() }))?;
        let (changed, left) = self.change(meant, command)?;
        let answer = Map::new().with("psi.agent-session/session-id", session.as_str());
        Ok(answer
            .with("psi.agent-session/changed-count", changed)
            .with("psi.agent-session/left-count", left)
            .into())
    }

    /// Changes each of these schedules; returns how many were changed, and how many could not be.
    fn change(
        &self,
        meant: Vec<ScheduleId>,
        command: impl Fn(Which) -> Command,
    ) -> Result<(i64, i64), ResolverError> {
        let (mut changed, mut left) = (0_i64, 0_i64);
        let mut tickets: Vec<Ticket> = Vec::new();
        for (place, id) in meant.into_iter().enumerate() {
            // The first is counted with the admission of the whole.
            if place > 0 && !self.service.take_another(self.admitted) {
                left += 1;
                continue;
            }
            let command = command(Which::any(self.actor(), id));
            match self.handle().submit_unawaited(Input::Command(command)) {
                Ok(ticket) => {
                    changed += 1;
                    tickets.extend(ticket);
                }
                // The rest would most likely fail as well.
                Err(refusal @ Refusal::StoreUnavailable { .. }) => return Err(refused(&refusal)),
                Err(_) => left += 1,
            }
        }
        // All batches are submitted before the first wait, so that the store can commit them together.
        for ticket in tickets {
            ticket.wait().map_err(|fault| refused(&Refusal::StoreUnavailable { detail: fault.why() }))?;
        }
        Ok((changed, left))
    }

    /// Changes all schedules that a filter admits, if they are as many as the caller says.
    pub(super) fn change_many(&self, params: ChangeMany) -> Result<Value, ResolverError> {
        let ChangeMany { which, how } = params;
        let reason = reason(ReasonParams { reason: how.why.clone() })?;
        let needs = |record: &ScheduleRecord| match how.action {
            BulkAction::Cancel => true,
            BulkAction::Pause => record.progress().paused.is_none(),
            BulkAction::Resume => record.progress().paused.is_some(),
        };
        // A caller that acts for a session changes only the schedules of that session.
        let own = self.caller().scope.session();
        let meant: Vec<ScheduleId> = self.handle().view(|state| {
            let found = unfinished(state, own, &which).into_iter().filter(|record| needs(record));
            found.map(|record| record.schedule().id.clone()).collect()
        });
        let found = i64::try_from(meant.len()).unwrap_or(i64::MAX);
        let answer = Map::new().with("psi.scheduler/matched-count", found);
        let (changed, unchanged) = if how.dry_run.unwrap_or(false) {
            (0, 0)
        } else {
            expect(how.expected, found)?;
            let command = |which: Which| match how.action {
                BulkAction::Cancel => Command::CancelSchedule(which),
                BulkAction::Pause => Command::PauseSchedule { which, reason: reason.clone() },
                BulkAction::Resume => Command::ResumeSchedule(which),
            };
            self.change(meant, command)?
        };
        Ok(answer
            .with("psi.scheduler/changed-count", changed)
            .with("psi.scheduler/unchanged-count", unchanged)
            .into())
    }
}

/// Checks that the caller knows how many schedules will be changed.
fn expect(expected: Option<u32>, found: i64) -> Result<(), ResolverError> {
    let data = Map::new().with("matched-count", found);
    match expected {
        Some(expected) if i64::from(expected) == found => Ok(()),
        Some(expected) => {
            let message =
                format!("the filter admits {found} schedules and not {expected}: nothing was changed");
            Err(ResolverError::new(message, data.with("hint", "look at them again, then give their number"))
                .coded(Code::Conflict))
        }
        None => {
            let message = "expect-count is missing: how many schedules are to be changed";
            let hint = format!("a dry-run says how many there are; now it is {found}");
            Err(ResolverError::new(message, data.with("hint", hint)).coded(Code::Validation))
        }
    }
}

/// The unfinished schedules of a session that `is_meant` selects, in the order of lists; `None` if
/// the session is not open.
fn meant(
    state: &State,
    session: &SessionId,
    is_meant: &impl Fn(&ScheduleRecord) -> bool,
) -> Option<Vec<ScheduleId>> {
    state.session(session)?;
    let live = state.live_schedules_of(session).into_iter();
    Some(live.filter(|record| is_meant(record)).map(|record| record.schedule().id.clone()).collect())
}
