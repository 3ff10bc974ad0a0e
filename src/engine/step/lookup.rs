//! Finds the schedule that a command names, with the caller's permissions and revision checked.

use crate::domain::{Dialect, Refusal, Scope};
use crate::engine::input::Which;
use crate::engine::record::ScheduleRecord;
use crate::engine::slab::Key;
use crate::engine::state::State;

/// Returns the schedule if the caller may see it and has seen its current revision.
pub(super) fn lookup<'a>(state: &'a State, which: &Which) -> Result<(Key, &'a ScheduleRecord), Refusal> {
    let schedule = which.schedule.clone();
    let key = state.schedule_key(&schedule);
    let found = key.and_then(|key| Some((key, state.schedules.get(key)?)));
    // A schedule that the caller may not see answers like one that does not exist.
    let found = found.filter(|(_, record)| reaches(state, &which.by.scope, record));
    let Some((key, record)) = found else {
        // A caller that could have seen a lost schedule learns that it was lost, and when.
        let lost = state.lost(&schedule).filter(|(_, lost)| which.by.scope.covers(&lost.session));
        return Err(match lost {
            Some((at, _)) => Refusal::ScheduleLost { schedule, at },
            None => Refusal::UnknownSchedule { schedule },
        });
    };
    let revision = record.progress().revision;
    match which.base {
        Some(base) if base != revision => Err(Refusal::RevisionConflict { schedule, base, revision }),
        Some(_) | None => Ok((key, record)),
    }
}

/// Returns whether a schedule exists for a caller of this scope who wants to change it. The name of a job of the scheduler
/// belongs to the app, so a session that may change the jobs of others can name one that it does not see.
fn reaches(state: &State, scope: &Scope, record: &ScheduleRecord) -> bool {
    let is_named =
        |own| record.schedule.dialect == Dialect::Scheduler && state.effective_grant(own).cron_others;
    record.is_for(scope) || scope.session().is_some_and(is_named)
}

/// Like [`lookup`], and checks that the schedule can be redefined.
pub(super) fn lookup_changeable<'a>(
    state: &'a State,
    which: &Which,
) -> Result<(Key, &'a ScheduleRecord), Refusal> {
    let (key, record) = lookup(state, which)?;
    if record.is_changeable() {
        return Ok((key, record));
    }
    Err(Refusal::WrongStatus { schedule: which.schedule.clone(), status: record.status })
}

/// Like [`lookup`], and checks that the schedule has not ended.
pub(super) fn lookup_live<'a>(state: &'a State, which: &Which) -> Result<(Key, &'a ScheduleRecord), Refusal> {
    let (key, record) = lookup(state, which)?;
    if record.status.is_terminal() {
        return Err(Refusal::WrongStatus { schedule: which.schedule.clone(), status: record.status });
    }
    Ok((key, record))
}
