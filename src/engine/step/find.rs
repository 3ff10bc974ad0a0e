//! The schedule that a command is about, for the caller that gives it.

use crate::domain::Refusal;
use crate::engine::input::Which;
use crate::engine::record::ScheduleRecord;
use crate::engine::slab::Key;
use crate::engine::state::State;

/// The schedule, if it exists for the caller and is at the revision that the caller has seen.
pub(super) fn find<'a>(state: &'a State, which: &Which) -> Result<(Key, &'a ScheduleRecord), Refusal> {
    let schedule = which.schedule.clone();
    let key = state.schedule_key(&schedule);
    let found = key.and_then(|key| Some((key, state.schedules.get(key)?)));
    // Somebody else's schedule answers like one that does not exist.
    let found = found.filter(|(_, record)| which.by.scope.reaches(&record.schedule));
    let Some((key, record)) = found else {
        return Err(Refusal::UnknownSchedule { schedule });
    };
    let revision = record.course().revision;
    match which.base {
        Some(base) if base != revision => Err(Refusal::RevisionConflict { schedule, base, revision }),
        Some(_) | None => Ok((key, record)),
    }
}

/// The same, if it can be given another definition.
pub(super) fn find_changeable<'a>(
    state: &'a State,
    which: &Which,
) -> Result<(Key, &'a ScheduleRecord), Refusal> {
    let (key, record) = find(state, which)?;
    if record.is_changeable() {
        return Ok((key, record));
    }
    Err(Refusal::WrongStatus { schedule: which.schedule.clone(), status: record.status })
}

/// The same, if it has not ended.
pub(super) fn find_live<'a>(state: &'a State, which: &Which) -> Result<(Key, &'a ScheduleRecord), Refusal> {
    let (key, record) = find(state, which)?;
    if record.status.is_terminal() {
        return Err(Refusal::WrongStatus { schedule: which.schedule.clone(), status: record.status });
    }
    Ok((key, record))
}
