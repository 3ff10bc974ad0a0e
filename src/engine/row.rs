//! What is stored of a schedule and of a session beside the log.
//!
//! A row is all that the state knows of one thing that outlives the process. What does not is left out: hosts, turns,
//! deadlines on the boot clock; `apply/restored.rs` computes those anew. Invariant: a state restored from rows behaves like
//! the one that wrote them, but for what was with a host, which `step/awake.rs` decides on.

use std::sync::Arc;

use super::record::Course;
use super::state::State;
use crate::domain::{
    Awaits, BootTime, Checks, Moment, Reason, Run, Schedule, ScheduleId, SessionConfig, SessionId,
    SessionProvenance, Status,
};

/// A schedule as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleRow {
    /// What was asked for.
    pub schedule: Schedule,
    /// Where it stands.
    pub status: Status,
    /// Why it ended otherwise than by delivery.
    pub ended_for: Option<Reason>,
    /// The slot that comes next.
    pub next: Option<Moment>,
    /// What it has been through; `None` while that says nothing.
    pub course: Option<Box<Course>>,
    /// Its runs that are kept, oldest first.
    pub runs: Vec<Run>,
}

/// A session as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// What it is.
    pub config: Arc<SessionConfig>,
    /// The schedule it came from, if one opened it.
    pub provenance: Option<Box<SessionProvenance>>,
    /// When it was opened.
    pub opened_at: Moment,
    /// Whether its turns are run by the built-in host; a connected one has to come back for it.
    pub built_in: bool,
    /// When a person last spoke in it.
    pub last_user_activity: Option<Moment>,
}

impl State {
    /// What is to be kept of a schedule.
    pub fn schedule_row(&self, id: &ScheduleId) -> Option<ScheduleRow> {
        let record = self.schedule(id)?;
        let mut runs: Vec<Run> = self.runs_of(record).map(|(_, run)| kept(&run.run)).collect();
        runs.reverse();
        Some(ScheduleRow {
            schedule: record.schedule.clone(),
            status: record.status,
            ended_for: record.ended_for,
            next: record.next,
            course: record.course.clone(),
            runs,
        })
    }

    /// What is to be kept of a session.
    pub fn session_row(&self, id: &SessionId) -> Option<SessionRow> {
        let record = self.session(id)?;
        Some(SessionRow {
            id: record.id.clone(),
            config: record.config.clone(),
            provenance: record.provenance.clone(),
            opened_at: record.opened_at,
            built_in: !record.host.is_attached(),
            last_user_activity: record.last_user_activity,
        })
    }

    /// Every session that is open, by number: for whoever keeps them.
    pub fn session_ids(&self) -> impl Iterator<Item = &SessionId> {
        self.sessions.iter().map(|(_, session)| &session.id)
    }
}

/// A run as it is kept. What a guard outside was asked, or has said, is not: it is asked again.
fn kept(run: &Run) -> Run {
    let mut run = run.clone();
    if let Some(checks) = &mut run.checks {
        checks.allowed = None;
        checks.waits = checks.waits.take().filter(|hold| hold.awaits == Awaits::Operator);
        if let Some(hold) = &mut checks.waits {
            hold.due = BootTime::ZERO;
        }
    }
    run.checks = run.checks.filter(|checks| **checks != Checks::default());
    run
}
