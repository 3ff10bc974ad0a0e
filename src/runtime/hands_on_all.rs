//! What an operator does to all schedules of a session at once: calls them off, pauses them, lets them go on.
//!
//! Each is changed by itself, in its own step: one that cannot be is left as it is and counted. What is created meanwhile is
//! not among them; a session that is to get no more work is closed, or its grant is taken away.

use super::hands::{CallerHands, refused};
use crate::domain::{Refusal, ScheduleId, SessionId};
use crate::edn::{Map, Value};
use crate::engine::{Command, Input, ScheduleRecord, State, Which};
use crate::graph::registry::ResolverError;
use crate::port::Ticket;

impl CallerHands<'_> {
    /// Cancels all that has not ended and is not with a host.
    pub(super) fn cancel_all(&self, session: Option<SessionId>) -> Result<Value, ResolverError> {
        self.each(session, |_| true, Command::CancelSchedule)
    }

    /// Pauses all that is not paused.
    pub(super) fn pause_all(
        &self,
        session: Option<SessionId>,
        reason: Option<&str>,
    ) -> Result<Value, ResolverError> {
        let runs = |record: &ScheduleRecord| record.course().paused.is_none();
        self.each(session, runs, |which| Command::PauseSchedule { which, reason: reason.map(Into::into) })
    }

    /// Resumes all that is paused.
    pub(super) fn resume_all(&self, session: Option<SessionId>) -> Result<Value, ResolverError> {
        let stands = |record: &ScheduleRecord| record.course().paused.is_some();
        self.each(session, stands, Command::ResumeSchedule)
    }

    fn each(
        &self,
        session: Option<SessionId>,
        is_meant: impl Fn(&ScheduleRecord) -> bool,
        command: impl Fn(Which) -> Command,
    ) -> Result<Value, ResolverError> {
        let session = self.session(session, "session-id")?;
        let meant = self.handle.view(|state| meant(state, &session, &is_meant));
        let meant = meant.ok_or_else(|| refused(&Refusal::UnknownSession { session: session.clone() }))?;
        let (mut changed, mut left) = (0_i64, 0_i64);
        let mut tickets: Vec<Ticket> = Vec::new();
        for id in meant {
            let command = command(Which::any(self.actor(), id));
            match self.handle.submit_unawaited(Input::Command(command)) {
                Ok(ticket) => {
                    changed += 1;
                    tickets.extend(ticket);
                }
                Err(refusal @ Refusal::StoreUnavailable { .. }) => return Err(refused(&refusal)),
                Err(_) => left += 1,
            }
        }
        // All are on their way to the disk together, and promised together.
        for ticket in tickets {
            ticket
                .wait()
                .map_err(|fault| refused(&Refusal::StoreUnavailable { detail: fault.to_string().into() }))?;
        }
        let answer = Map::new().with("psi.agent-session/session-id", session.as_str());
        Ok(answer
            .with("psi.agent-session/changed-count", changed)
            .with("psi.agent-session/left-count", left)
            .into())
    }
}

/// The unfinished schedules of a session that are meant, in the order in which they are listed; `None` if it is not open.
fn meant(
    state: &State,
    session: &SessionId,
    is_meant: &impl Fn(&ScheduleRecord) -> bool,
) -> Option<Vec<ScheduleId>> {
    state.session(session)?;
    let live = state.live_schedules_of(session).into_iter();
    Some(live.filter(|record| is_meant(record)).map(|record| record.schedule().id.clone()).collect())
}
